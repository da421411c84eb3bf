"""Every command with every option that it offers: no crash, no word of Python, none in vain.

The options are read off the commands. Each must work in one of the ways that ``TRIED`` lists;
the others may be refused, but only in the words of the command line.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import shlex
import sqlite3
from pathlib import Path

import pytest
import typer

import outperform as op
from outperform.cli.app import OPTIONS, app
from outperform.cli.main import main
from outperform.findings import TEMPLATES
from tests.loops import each

CLASSES = ("ham", "news", "spam")
MODELS = ("bert", "gpt", "new", "old", "fifth", "sixth")
ROWS = 60

# How each command names its models, given their columns.
NAMED = {
    "estimate": ("--model",),
    "rank": ("--model", "--model", "--model"),
    "count": ("--model", "--model"),
    "noise": ("--model", "--model"),
    "runs": ("--a", "--a", "--b", "--b"),
    "gate": ("--candidate", "--baseline"),
}
ASKED = "--metric accuracy --draws 100 --seed 1"
# What each command is asked besides its files and models.
BESIDE = {
    "scorecard": "--metrics accuracy --draws 100 --seed 1",
    "slices": f"--by country {ASKED}",
    "gate": f"{ASKED} --rope 0.4",
    "watch": f"{ASKED} --once",
    "count": "",
    "noise": "--rope 0.1 --draws 100 --seed 1",
    "report": f"{ASKED} -o page.html --force",
    "propose": "--budget 20 --metric accuracy",
    "plan": "--metric accuracy --rope 0.01 --simulations 100 --seed 1",
}
# Commands without files of predictions.
ALONE = {
    "doctor": "preds.csv",
    "cv-counts": "folds.csv --rope 0.01 --draws 100",
    "ledger": "show decisions.jsonl",
    "power": "--theta-pos .3,.3,.2,.2 --theta-neg .2,.2,.3,.3 --rope 0.05 --sizes 20 "
    "--simulations 100 --draws 100",
    "example": "news20",
    "skill": "--write",
}
SUSPECTED = "--accuracies .9,.7 --agreement .75 --rope 0.01 --simulations 100 --seed 1"
RATES = "--theta-pos .3,.3,.2,.2 --theta-neg .2,.2,.3,.3 --rope 0.05 --simulations 100 --seed 1"

# Ways to give an option, each after the kind of files that it needs; one of them must work.
TRIED = {
    "--a": ["plain: --a fifth", "folds: --a crf"],
    "--accuracies": ["accuracies: --accuracies .9,.7"],
    "--agreement": ["accuracies: --agreement .75"],
    "--allow": ["plain: --allow undecided"],
    "--at-least": ["plain: --at-least 0.1"],
    "--at-most": ["plain: --at-most 0.99"],
    "--anytime": ["plain: --anytime"],
    "--b": ["plain: --b sixth", "folds: --b lstm"],
    "--baseline": ["plain: --baseline gpt"],
    "--budget": ["plain: --budget 10"],
    "--by": ["plain: --by times"],
    "--by-class": ["plain: --by-class"],
    "--candidate": ["plain: --candidate bert"],
    "--chosen-from": ["plain: --chosen-from 3"],
    "--confusion": ["matrices: --confusion"],
    "--correct": ["right: --correct sixth"],
    "--correlation": ["folds: --correlation integrated"],
    "--cost": ["plain: --cost spam:ham=5,ham:spam=1 --rope 0.1"],
    "--count": ["plain: --count times"],
    "--draws": ["plain: --draws 120", "folds: --draws 120"],
    "--encoding": ["plain: --encoding utf-8"],
    "--every": ["plain: --every 1"],
    "--force": ["plain: --force", "folds: --force"],
    "--format": [f"plain: --format {style}" for style in ("json", "github", "html")]
    + [f"folds: --format {style}" for style in ("json", "markdown")],
    "--goal": ["plain: --goal better", "folds: --goal better"],
    "--groups": [
        "plain: --groups author",
        "sliced: --groups author",
    ],
    "--guard": ["plain: --guard recall:spam:0.4"],
    "--hdi-prob": ["plain: --hdi-prob 0.8", "folds: --hdi-prob 0.8"],
    "--id": ["plain: --id id"],
    "--items": ["plain: --items flips.csv", "plain: --id id --items flips.csv"],
    "--junit": ["plain: --junit junit.xml"],
    "--label": ["joined: --label label"],
    "--label-separator": ["sets: --label-separator |"],
    "--labels": [
        "plain: --labels ham,spam --metric f1_macro",
        "plain: --labels ham,spam --metrics f1_macro",
    ],
    "--metric": ["plain: --metric f1_macro", "folds: --metric precision", "rates: --metric recall"],
    "--metrics": ["plain: --metrics accuracy,f1_macro"],
    "--model-version": ["plain: --output counts.json --model-version bert=v7"],
    "--ledger": ["plain: --ledger gates.jsonl"],
    "--max-items": ["plain: --max-items 100000"],
    "--never-true": ["plain: --never-true refusal", "folds: --never-true refusal"],
    "--no-header": ["headless: --no-header"],
    "--model": ["plain: --model old"],
    "--on-missing": ["joined: --on-missing drop --label label"],
    "--on-null": ["plain: --on-null drop"],
    "--na": ["plain: --na NA"],
    "--no-na": ["plain: --no-na"],
    "--empty-is-label": ["plain: --empty-is-label"],
    "--once": ["plain: --once"],
    "--output": ["plain: --output answer.out", "folds: --output answer.out"],
    "--policy": ["plain: --policy policy.toml --by country"],
    "--pool": ["chosen: --pool pool.csv"],
    "--human": ["right: --human people.csv --id id"],
    "--drawn": ["right: --human people.csv --id id --drawn by_ratings"],
    "--judge": ["binary: --judge label"],
    "--p-value": ["plain: --p-value"],
    "--pos-label": [
        "plain: --pos-label spam --metric f1",
        "plain: --pos-label spam --metrics f1",
        "binary: --pos-label spam",
    ],
    "--prevalence": [
        "plain: --prevalence 0.2 --pos-label spam --metric f1",
        "plain: --prevalence ham=1,news=1,spam=2",
        "rates: --prevalence 0.4",
        "folds: --prevalence 0.4",
    ],
    "--prior": [
        "plain: --prior bootstrap",
        "plain: --prior unit",
        "plain: --prior 2",
        "plain: --prior uniform --unpaired",
        "folds: --prior jeffreys",
        "pair: --prior jeffreys",
    ],
    "--priors": ["plain: --priors 2,jeffreys"],
    "--query": ["database: --query 'select * from preds'"],
    "--read-as": ["folds: --read-as csv", "plain: --read-as csv"],
    "--report": ["plain: --report answer.html", "folds: --report answer.html"],
    "--verbose": ["plain: --verbose", "folds: --verbose"],
    "--verdicts": ["right: --verdicts"],
    "--require": ["plain: --require better"],
    "--model-column": ["plain: --model-column label", "long: --model-column model"],
    "--score": ["plain: --score acc", "logs: --score acc"],
    "--skip-failed": ["plain: --skip-failed", "logs: --skip-failed"],
    "--last": ["days: --last 7d"],
    "--since": ["days: --since 2026-09-01"],
    "--latest": ["plain: --latest", "logs: --latest"],
    "--rope": ["plain: --rope 0.02", "folds: --rope 0.02"],
    "--recount": ["plain: --recount preds.csv --update parts"],
    "--verify": ["plain: --verify --update parts"],
    "--ropes": ["plain: --ropes 0.01,0.05"],
    "--seed": ["plain: --seed 3", "folds: --seed 3"],
    "--simulations": ["plain: --simulations 100", "folds: --simulations 100"],
    "--sizes": ["folds: --sizes 20,40"],
    "--stop": ["plain: --stop width=0.9"],
    "--table": ["database: --table preds"],
    "--target": ["plain: --target 0.6"],
    "--trials": ["plain: --trials 3"],
    "--theta-neg": [
        "rates: --prevalence .5 --theta-neg .2,.2,.3,.3",
        "folds: --theta-neg .2,.2,.3,.3",
    ],
    "--theta-pos": [
        "rates: --prevalence .5 --theta-pos .3,.3,.2,.2",
        "folds: --theta-pos .3,.3,.2,.2",
    ],
    "--title": ["plain: --title Which?"],
    "--top": ["plain: --top 2"],
    "--truth": ["plain: --truth label"],
    "--unit": ["plain: --unit EUR --cost spam:ham=5 --rope 0.1"],
    "--unpaired": ["plain: --unpaired", "folds: --unpaired"],
    "--update": ["plain: --update parts"],
    "--weight": ["plain: --weight times"],
    "--weights": ["plain: --weights size --by country"],
    "--where": ["plain: --where country=DE"],
    "--write": ["folds: --write"],
}


def rows():
    """Yield rows that follow from their number, all columns in one table."""
    for k in range(ROWS):
        truth, wrong = CLASSES[k % 3], CLASSES[(k + 1) % 3]
        missed = {"bert": k % 11 in (3, 7), "gpt": k % 7 in (2, 5), "new": k % 5 == 1}
        missed |= {"old": k % 4 == 3, "fifth": k % 13 < 2, "sixth": k % 9 == 0}
        yield {
            "id": f"d{k}",
            "label": truth,
            **{name: wrong if missed[name] else truth for name in MODELS},
            "times": 1 + k % 3,
            "author": f"a{k // 2}",
            "country": ("DE", "FR", "UK")[k % 5 % 3],
            "times2": 2,
        }


def write(path, table, *, header=True):
    lines = [list(table[0])] if header else []
    lines += [list(row.values()) for row in table]
    Path(path).write_text("".join(",".join(map(str, line)) + "\n" for line in lines), "utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make every file that any option needs, once; commands write beside them."""
    place, table = tmp_path_factory.mktemp("options"), list(rows())
    seen = op.Outcomes.from_labels(
        [row["label"] for row in table], {m: [row[m] for row in table] for m in MODELS}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        write("preds.csv", table)
        write("headless.csv", table, header=False)
        write("gold.csv", [{"id": row["id"], "label": row["label"]} for row in table])
        for name in MODELS:
            write(f"{name}.csv", [{"id": row["id"], "label": row[name]} for row in table])
            matrix = seen.confusion(name)
            lines = [",".join(["", *CLASSES])]
            lines += [
                ",".join([c, *map(str, map(int, row))])
                for c, row in zip(CLASSES, matrix, strict=True)
            ]
            Path(f"matrix-{name}.csv").write_text("\n".join(lines) + "\n", "utf-8")
        write(
            "sets.csv",
            [{k: f"{v}|odd" if v in CLASSES else v for k, v in row.items()} for row in table],
        )
        write(
            "two.csv", [{k: "ham" if v == "news" else v for k, v in row.items()} for row in table]
        )
        right = [row | {m: int(row[m] == row["label"]) for m in MODELS} for row in table]
        write("right.csv", right)
        told = [
            {"id": row["id"], "model": m, "right": row[m], "country": row["country"]}
            for row in right
            for m in MODELS
        ]
        write("long.csv", told)
        for name in MODELS:
            own = [
                {"doc_id": row["id"], "doc": {"country": row["country"]}, "acc": row["right"]}
                for row in told
                if row["model"] == name
            ]
            path = Path("logs", name, "samples_t_2026-01-01T00-00-00.jsonl")
            path.parent.mkdir(parents=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in own), "utf-8")
        for day, items in (("2026-08-20", table[1:]), ("2026-09-01", table)):
            path = Path("arrived", f"day={day}", "preds.csv")
            path.parent.mkdir(parents=True)
            write(path, items)
        models = [word for name in MODELS for word in ("--model", name)]
        counted = ["arrived", "--truth", "label", "--by", "country", "--update", "days"]
        assert main(["count", *counted, *models]) == 0
        write("pool.csv", [*table, *table])
        write("people.csv", right[:40])
        Path("policy.toml").write_text('[tasks]\nDE = "advisory"\n', "utf-8")
        with sqlite3.connect("data.sqlite") as base:
            base.execute(f"create table preds ({', '.join(table[0])})")
            marks = ", ".join("?" * len(table[0]))
            base.executemany(
                f"insert into preds values ({marks})", [list(r.values()) for r in table]
            )
        folds = [
            {"model": name, "tp": 80 - k, "fp": 10 + k, "fn": 20 + k}
            for name in ("crf", "lstm")
            for k in range(6)
        ]
        write("folds.csv", folds)
        Path("counts").mkdir()
        Path("counts", "one.json").write_text(seen.to_json(), "utf-8")
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(table), "preds.parquet")
        Path("decisions.jsonl").touch()
    return place


def arguments(command, kind):
    """Return what a command needs at least, with files of a kind; None where there is no such."""
    if kind in ("accuracies", "rates"):
        if command != "plan":
            return None
        return shlex.split(SUSPECTED if kind == "accuracies" else RATES)
    if command in ALONE:
        return shlex.split(ALONE[command]) if kind == "folds" else None
    if kind == "folds":
        return None
    options = NAMED.get(command, ("--a", "--b"))
    models = list(MODELS[: len(options)])
    beside = shlex.split(BESIDE.get(command, ASKED))
    files = {
        "joined": ["gold.csv", *(f"{name}.csv" for name in models)],
        "matrices": [f"matrix-{name}.csv" for name in models],
        "database": [f"sqlite://{Path.cwd()}/data.sqlite"],
        "headless": ["headless.csv"],
        "parquet": ["preds.parquet"],
        "sets": ["sets.csv"],
        "binary": ["two.csv"],
        "right": ["right.csv"],
        "long": ["long.csv"],
        "logs": ["logs"],
        "days": ["days"],
    }.get(kind, ["preds.csv"])
    if kind == "matrices":
        models = [f"matrix-{name}" for name in models]
    named = [part for pair in zip(options, models, strict=True) for part in pair]
    truth = ["--truth", "label"]
    if command == "watch":
        files, truth = ["counts"], []
    if command == "propose" or kind == "matrices":
        truth = []
    if kind == "days":
        truth = []
    if kind == "right" and command != "propose":
        truth = [part for name in models for part in ("--correct", name)]
        named = [] if command == "count" else named
    if kind in ("long", "logs"):
        truth = ["--read-as", "long", "--id", "id", "--model-column", "model", "--score", "right"]
        truth = [] if kind == "logs" else truth
        named = [] if command == "count" else named
    if kind == "joined":
        truth = ["--id", "id", "--label", "label"]
    if kind == "headless":
        columns = dict(zip(next(rows()), map(str, range(20)), strict=False))
        named = [columns.get(part, part) for part in named]
        truth = ["--truth", "1"] if truth else []
        beside = [columns.get(part, part) for part in beside]
    if kind == "pair":
        named = named[:4]
    return [*files, *truth, *named, *beside]


# Options that change nothing in how the others are read are given all at once.
TOGETHER = {
    "--a", "--allow", "--b", "--candidate", "--baseline", "--draws", "--encoding", "--every",
    "--force", "--empty-is-label", "--hdi-prob", "--id", "--no-na", "--on-null", "--once",
    "--output", "--read-as",
    "--rope", "--seed", "--simulations", "--stop", "--target", "--title", "--top", "--truth",
    "--budget", "--correlation", "--goal", "--junit", "--max-items", "--priors", "--report",
    "--require", "--ropes",
    "--sizes", "--trials", "--verbose",
}  # fmt: skip


# What needs a store is given to the commands in tests/io/test_remote.py.
OF_STORES = {"--storage-options"}
# What needs a client is given to the server in tests/agents/test_server.py.
OF_SERVER = {"--root", "--timeout", "--max-rows"}


def offered():
    """Return the options that every command offers, alone or together."""
    found = {}
    for command, made in typer.main.get_command(app).commands.items():
        options = [
            one
            for one in made.params
            if one.param_type_name == "option"
            and one.opts[0] not in {"--help", "--help-all"}
            and name_of(one) not in OF_STORES | OF_SERVER
        ]
        alone = [[one] for one in options if name_of(one) not in TOGETHER]
        together = [one for one in options if name_of(one) in TOGETHER]
        found[command] = [group for group in (together, *alone) if group]
    return found


def name_of(option):
    return max(option.opts, key=len)


def ways(command, option):
    """Return the ways in which to give an option."""
    found = []
    for way in TRIED[name_of(option)]:
        kind, _, words = way.partition(": ")
        least = arguments(command, kind)
        if least is not None:
            more = shlex.split(words)
            found.append((without_metric(least, more), more))
    return found


def without_metric(least, more):
    """Return the words of a command without the metric that others replace."""
    for option in ("--metric", "--metrics"):
        if option in least and {option, "--cost"}.intersection(more):
            place = least.index(option)
            least = [*least[:place], *least[place + 2 :]]
    return least


OFFERED = offered()
PARAMETERS = {
    name
    for verb in (getattr(op, name) for name in op.__all__)
    if callable(verb)
    for name in inspect.signature(verb).parameters
}
PYTHON = re.compile(
    rf"\b(?:{'|'.join(sorted(PARAMETERS))})=|\b(?:op|[A-Z]\w+)\.\w+\(|Outcomes\.|Scores\.|y_true|\w\(\)|"
    r"\barray\b|\bNone\b|Traceback|unexpected"
)


def fault(command, options, capsys):
    """Return what is wrong with a command that is given options in every way; None if nothing."""
    tried = ways(command, options[0])
    if len(options) > 1:
        least = tried[0][0]
        tried = [(least, [word for one in options for word in ways(command, one)[0][1]])]
    for least, words in tried:
        code = main([command, *least, *words])
        said = capsys.readouterr().err
        if code not in (0, 1, 2, 3, 4) or PYTHON.search(said):
            return words, code, said
        if code in (0, 1, 4):
            return None
    return f"can do nothing with {options}: {tried}"


@pytest.mark.parametrize("command", OFFERED)
def test_it_works_or_is_refused_in_the_words_of_the_command_line(
    folder, monkeypatch, capsys, command
):
    monkeypatch.chdir(folder)
    faults = {name_of(options[0]): fault(command, options, capsys) for options in OFFERED[command]}
    assert {name: found for name, found in faults.items() if found} == {}


SOURCE = Path(op.__file__).parent
SPELLED = re.compile(rf"(?<![\w'\"(])(?:{'|'.join(OPTIONS)})=(?=[\s,;.'\"\d\[{{]|$)")


LISTED = re.compile(r"(?:, | \| )\w+=")  # in a repr, or in a signature
# doctor spells every suggestion for the shell and for Python.
# No command reads a tree or calls a function wrongly; XML has an encoding of its own; commands read
# files before they call a function from `inputs`.
NOT_TOLD = {"datatree.py", "ci.py", "wrong_calls.py"}


def by_hand(node):
    """Yield the texts in a module that are not left to ``param`` or ``either``."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("param", "either"):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for inner in ast.iter_child_nodes(node):
        yield from by_hand(inner)


def test_no_message_spells_a_parameter_by_hand():
    found = [
        (path.name, words)
        for path in SOURCE.rglob("*.py")
        if not {"cli", "diagnosis", "inputs"} & {*path.parts} and path.name not in NOT_TOLD
        for words in by_hand(ast.parse(path.read_text(encoding="utf-8")))
        if " " in words and SPELLED.search(words) and not LISTED.fullmatch(words)
    ]
    assert found == []


def test_no_finding_spells_a_parameter():
    assert [one.name for one in TEMPLATES.values() if SPELLED.search(one.text)] == []


@each(
    ("words", "said"),
    [
        ("compare preds.csv --truth label --a bert --b gpt --metric accuracy --prior strata",
         "unknown prior 'strata'"),
        ("runs preds.csv --truth label --a bert --b gpt --metric accuracy",
         "or use compare for these two"),
        ("compare preds.csv --truth label --a times --b times2 --metric mean",
         "grades, which have no truth; omit --truth"),
        ("rank preds.csv --truth label --model bert --model gpt --model new --prior uniform",
         "use --prior unit\n"),
        ("count preds.csv --truth label --model bert --model bert",
         "got --model bert --model bert"),
        ("runs preds.csv --truth label --a bert --b gpt --prevalence 0.1", "no such option"),
        ("cv-counts folds.csv --correlation fixed", (
            "numbers, which only the Python interface accepts; use averaged"
        )),
        ("rank preds.csv --truth label --pool pool.csv", "no such option: --pool"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_type(folder, monkeypatch, capsys, words, said):
    monkeypatch.chdir(folder)
    assert main(shlex.split(words)) == 2
    found = capsys.readouterr().err
    assert said in found
    assert not PYTHON.search(found)


def test_a_ranking_splits_texts_that_list_labels(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    more = ["--label-separator", "|", "--metric", "f1_micro"]
    least = without_metric(arguments("rank", "sets"), more)
    assert main(["rank", *least, *more]) == 0
    assert "prior bootstrap" in " ".join(
        capsys.readouterr().out.split()
    )  # as of items with several labels
