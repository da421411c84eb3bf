"""What each command writes in each format, its help, its options; stdin and completion.

The expected outputs are the files in ``golden``. After a change that is meant::

    UPDATE_GOLDEN=1 python -m pytest tests/cli/test_commands.py
"""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import outperform as op
from outperform.cli import exit_codes
from outperform.cli.app import COMMANDS, spelled_option
from outperform.cli.groups import command_line
from outperform.cli.main import main
from outperform.errors import either, param, spelled
from tests.loops import each

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "UPDATE_GOLDEN"
ENDINGS = {"text": "txt", "json": "json", "markdown": "md", "latex": "tex", "html": "html"}

TWO = ["preds.csv", "--truth", "label", "--a", "bert", "--b", "gpt", "--seed", "1"]
ASKED = {
    "compare": [*TWO, "--metric", "f1_macro", "--rope", "0.02"],
    "estimate": [*TWO[:3], "--model", "bert", "--metric", "accuracy", "--seed", "1"],
    "scorecard": [*TWO, "--metrics", "accuracy,f1_macro", "--rope", "0.02"],
    "scorecard --by-class": [*TWO, "--rope", "0.05"],
    "sensitivity": [*TWO, "--metric", "f1_macro", "--rope", "0.02", "--priors", "2,learned"],
    "rank": [
        "preds.csv",
        *TWO[1:3],
        *shlex.split("--id id --metric f1_macro --rope 0.02 --seed 1"),
    ],
    "runs": [
        "all.csv",
        *TWO[1:3],
        *shlex.split("--a bert-1 --a bert-2 --a bert-3 --b gpt-1 --b gpt-2 --b gpt-3"),
        *shlex.split("--metric f1_macro --rope 0.02 --seed 1"),
    ],
    "doctor": ["preds.csv"],
    "cv-counts": ["folds.csv", "--rope", "0.005", "--seed", "1"],
    "plan": shlex.split(
        "--accuracies .9,.8 --agreement .85 --rope 0.01 --goal better --simulations 100 --seed 1"
    ),
    "power": shlex.split(
        "--theta-pos .3,.3,.2,.2 --theta-neg .2,.2,.3,.3 --rope 0.05 --sizes 100,200 "
        "--simulations 100 --seed 1"
    ),
}


def unhurried(stderr):
    """Return what was said, without how long it takes on a busy machine."""
    return re.sub(rb"outperform: \w+( takes about|: ).* s\b.*\n", b"", stderr)


def normal(text):
    """Return an output without what depends on versions, the clock and the last digits."""
    text = re.sub(r"<style>.*?</style>", "<style>…</style>", text, flags=re.DOTALL)
    text = re.sub(r' (d|x|x1|x2|cx|width|viewBox)="[^"]*"', r' \1="…"', text)  # of pictures
    text = re.sub(r"numpy[= ]\d[\w.]*", "numpy …", text)
    text = re.sub(r"(outperform|\"version\":) \"?\d+\.\d+\.\w+\"?", r"\1 …", text)
    text = re.sub(r"\d[\d.,]* m?s\b(?: a table)?", "… s", text)
    return re.sub(r"-?\d+\.\d{7,}(?:e-?\d+)?|-?\d+\.\d+e-\d+", lambda n: f"{float(n[0]):.5g}", text)


def hold_against(name, text):
    path = GOLDEN / name
    if os.environ.get(UPDATE):
        path.write_text(normal(text), encoding="utf-8")
    assert normal(text) == path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outputs():
    """Return what each command wrote in each format, by both."""
    return {}


@pytest.fixture
def written(outputs, folder, capsys):
    """Return a function that runs a command with a format, once."""

    def run(command, style):
        if (command, style) not in outputs:
            assert main([*command.split(), *ASKED[command], "--format", style]) == 0
            outputs[command, style] = capsys.readouterr()
        return outputs[command, style]

    return run


@pytest.mark.parametrize("style", ENDINGS)
@pytest.mark.parametrize("command", ASKED)
def test_every_command_in_every_format(written, command, style):
    out, err = written(command, style)
    assert err == ""
    hold_against(f"{command.split('--')[-1]}.{ENDINGS[style]}", out)


def test_the_example_begins_like_this(capsys):
    assert main(["example", "news20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7533
    hold_against("example.csv", "\n".join(lines[:5]) + "\n")


@pytest.mark.parametrize("command", ASKED)
def test_the_json_is_what_the_library_says(written, command):
    facts = json.loads(written(command, "json").out)
    seen = op.read("preds.csv", truth="label", models=["bert", "gpt"])
    if command == "compare":
        same = op.compare(seen, "bert", "gpt", metric="f1_macro", rope=0.02, random_state=1)
        assert facts == json.loads(json.dumps(same.to_dict(), default=str))
    assert "outperform" in json.dumps(facts)


@pytest.mark.parametrize("command", ASKED)
def test_github_is_markdown(written, command):
    assert written(command, "github").out == written(command, "markdown").out


def test_a_file_gets_what_stdout_would(folder, capsys):
    assert main(["compare", *ASKED["compare"]]) == 0
    shown = capsys.readouterr().out
    assert main(["compare", *ASKED["compare"], "-o", "answer.txt"]) == 0
    assert capsys.readouterr().out == ""
    assert Path("answer.txt").read_text(encoding="utf-8") == shown


def test_counts_add_up_to_the_same_answer(folder, capsys):
    lines = Path("preds.csv").read_text("utf-8").splitlines()
    counted = ["--truth", "label", "--model", "bert", "--model", "gpt"]
    for day, part in (("mo", lines[1:40]), ("tu", lines[40:])):
        Path(f"{day}.csv").write_text("\n".join([lines[0], *part]) + "\n", "utf-8")
        Path("counts").mkdir(exist_ok=True)
        assert main(["count", f"{day}.csv", *counted, "-o", f"counts/{day}.json"]) == 0
    assert main(["compare", *ASKED["compare"]]) == 0
    shown = capsys.readouterr().out
    asked = ["--metric", "f1_macro", "--rope", "0.02", "--seed", "1"]
    for named in ([], ["--a", "bert", "--b", "gpt"]):
        assert main(["compare", "counts", *asked, *named]) == 0
        assert capsys.readouterr().out == shown
    assert main(["count", "preds.csv", *counted, "--by", "old", "--where", "gpt=spam"]) == 0
    hold_against("count.json", capsys.readouterr().out)


SLICES = shlex.split(
    "log.csv --truth label --a bert --b gpt --by country --metric f1_macro --rope 0.02 --seed 1"
)


@pytest.mark.parametrize("style", [*ENDINGS, "csv"])
def test_slices_in_every_format(folder, capsys, style):
    assert main(["slices", *SLICES, "--format", style]) == 0
    written = capsys.readouterr()
    assert written.err == ""
    hold_against(f"slices.{ENDINGS.get(style, style)}", written.out)


def test_slices_are_what_the_library_says(folder, capsys):
    assert main(["slices", *SLICES, "-f", "json", "--top", "1", "--draws", "500"]) == 0
    facts = json.loads(capsys.readouterr().out)
    same = op.compare_slices(
        "log.csv",
        a="bert",
        b="gpt",
        truth="label",
        by="country",
        metric="f1_macro",
        rope=0.02,
        n_draws=500,
        random_state=1,
    )
    said = json.loads(json.dumps(same.to_dict()))
    assert len(facts["rows"]) == 1
    assert len(said["rows"]) == 3
    assert facts == {**said, "rows": said["rows"][:1]}
    counted = ["count", "log.csv", "--truth", "label", "--id", "id", "--by", "country"]
    assert main([*counted, "-o", "mo.json"]) == 0
    assert main(["slices", "mo.json", *SLICES[3:7], *SLICES[9:], "-f", "csv"]) == 0
    assert capsys.readouterr().out.startswith("country,n,")
    assert (
        main(
            [
                "count",
                "log.csv",
                "--truth",
                "label",
                "--model",
                "bert",
                "--model",
                "gpt",
                "-o",
                "tu.json",
            ]
        )
        == 0
    )
    assert main(["slices", "tu.json", *SLICES[3:7]]) == 2
    assert "no slices; count them with --by" in capsys.readouterr().err


@pytest.mark.parametrize("left_out", ["--by", "--b"])
def test_slices_need_two_models_and_columns(folder, capsys, left_out):
    place = SLICES.index(left_out)
    assert main(["slices", *SLICES[:place], *SLICES[place + 2 :]]) == 2
    assert f"pass {left_out}" in capsys.readouterr().err


def test_where_counts_and_databases(folder, capsys):
    import duckdb

    with duckdb.connect("preds.duckdb") as connection:
        connection.execute("CREATE TABLE preds AS SELECT *, 2 AS times FROM 'preds.csv'")
    asked = ["--truth", "label", "--model", "bert", "--where", "gpt=spam", "--where", "gpt=ham"]
    assert main(["count", "preds.csv", *asked]) == 0
    plain = json.loads(capsys.readouterr().out)["tables"][0]
    for more in (["--table", "preds"], ["--query", "SELECT * FROM preds"]):
        assert main(["count", "preds.duckdb", *asked, "--count", "times", *more]) == 0
        double = json.loads(capsys.readouterr().out)["tables"][0]
        assert double["cells"] == plain["cells"]
        assert double["counts"] == [2 * count for count in plain["counts"]]


def test_weights_are_importance(folder, capsys):
    header, *rows = Path("preds.csv").read_text(encoding="utf-8").splitlines()
    Path("weighed.csv").write_text(
        "\n".join([f"{header},w", *(f"{row},4" for row in rows)]), encoding="utf-8"
    )
    asked = ["weighed.csv", "--truth", "label", "--model", "bert", "--weight", "w"]
    assert main(["count", *asked]) == 0
    seen = op.Outcomes.from_json(capsys.readouterr().out)
    assert (seen.n, seen.weighted) == (len(rows), True)


# Other ways in


def run(*arguments, **more):
    command = [sys.executable, "-m", "outperform", *arguments]
    return subprocess.run(command, capture_output=True, check=False, **more)


def test_the_same_from_stdin(folder, capsys):
    assert main(["compare", *ASKED["compare"]]) == 0
    shown = capsys.readouterr().out
    data = Path("preds.csv").read_bytes()
    done = run("compare", "-", *ASKED["compare"][1:], input=data)
    assert (done.returncode, unhurried(done.stderr)) == (0, b"")
    assert done.stdout.decode() == shown


def test_the_same_from_three_files_and_without_a_header(folder, capsys):
    asked = ["--metric", "accuracy", "--seed", "1", "--rope", "0.02", "-f", "json"]
    lines = Path("preds.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("bare").write_text("".join(lines[1:]), encoding="utf-8")
    joined = ["gold.csv", "bert.csv", "gpt.csv", "--id", "id", "--label", "label"]
    bare = ["bare", "--read-as", "csv", "--no-header", "--truth", "1", "--a", "2", "--b", "3"]
    answers = []
    for arguments in (["preds.csv", *TWO[1:]], joined, bare):
        assert main(["compare", *arguments, *asked]) == 0
        facts = json.loads(capsys.readouterr().out)
        answers.append((facts["n"], facts["observed"], facts["hdi"]))
    assert answers[0] == answers[1] == answers[2]


def test_missing_labels_and_items_are_dropped_on_demand(folder, capsys):
    rows = Path("gpt.csv").read_text(encoding="utf-8").splitlines()
    Path("gpt.csv").write_text("\n".join(rows[:-4]) + "\n", encoding="utf-8")
    arguments = ["gold.csv", "bert.csv", "gpt.csv", "--id", "id", "--label", "label"]
    assert main(["compare", *arguments, "--metric", "accuracy", "--on-missing", "drop"]) == 0
    assert "86 items" in capsys.readouterr().out
    lines = [{"label": "a", "m": "a"}, {"label": None, "m": "a"}, {"label": "b", "m": "b"}]
    Path("nulls.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    one = ["nulls.jsonl", "--truth", "label", "--model", "m", "--metric", "accuracy"]
    assert main(["estimate", *one, "--on-null", "drop"]) == 0
    assert "2 items" in capsys.readouterr().out


def test_another_encoding(folder, capsys):
    text = "label,m\ncafé,café\nthé,café\n"
    Path("latin.csv").write_bytes(text.encode("latin-1"))
    one = ["latin.csv", "--truth", "label", "--model", "m", "--metric", "recall"]
    assert main(["estimate", *one, "--encoding", "latin-1", "--pos-label", "thé"]) == 0
    assert "0.0000" in capsys.readouterr().out


def test_confusion_matrices_are_matched_by_class_and_not_by_position(folder, capsys):
    asked = ["--confusion", "--metric", "recall", "--pos-label", "spam", "-f", "json"]
    assert main(["compare", "old.csv", "new.csv", *asked]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["a"]["observed"] == pytest.approx(40 / 47)
    assert facts["b"]["observed"] == pytest.approx(45 / 47)


# Help and completion


def examples_of(command):
    """Return the example in a command's help, as arguments."""
    return shlex.split(re.search(r"Example: outperform (.*)", COMMANDS[command].__doc__)[1])


# The example of mcp, which waits for a client, runs in tests/agents/test_server.py.
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "mcp"])
def test_the_example_in_the_help_works(folder, capsys, command):
    arguments = examples_of(command)
    if command == "example":
        Path("preds.csv").unlink()
    if command == "ledger":
        decided = "gate preds.csv --truth label --baseline gpt --candidate bert --rope 0.4"
        main([*shlex.split(decided), "--ledger", arguments[-1]])
    if command == "watch":
        Path("labels").mkdir()
        counted = shlex.split(
            "preds.csv --truth label --model bert --model gpt -o labels/monday.json"
        )
        assert main(["count", *counted]) == 0
    more = {
        "plan": ["--simulations", "100"],
        "power": ["--simulations", "100", "--sizes", "100"],
        "watch": ["--once"],
    }
    code = main([*arguments, *more.get(command, [])])
    judged = command in ("gate", "watch")
    assert code in ((0, 1, 4) if judged else (0,)), capsys.readouterr().err
    written = capsys.readouterr()
    where = arguments[arguments.index("-o") + 1] if "-o" in arguments else None
    assert written.out or Path(where).stat().st_size > 0


@each("command", COMMANDS)
def test_the_help_shows_the_example(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    assert main([command, "--help"]) == 0
    written = capsys.readouterr()
    assert f"outperform {shlex.join(examples_of(command))}" in " ".join(written.out.split())
    assert written.err == ""


def test_help_without_a_command(capsys):
    assert main(["--help"]) == 0
    assert main(["-h"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)
    assert main([]) == 2
    assert "Compare" in capsys.readouterr().out


def test_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"outperform {op.__version__}\n"


def test_help_and_completion_load_no_numbers():
    code = (
        "import sys\nfrom outperform.cli.main import main\n"
        "code = main(sys.argv[1:])\n"
        "heavy = {'numpy', 'scipy', 'narwhals', 'duckdb'} & set(sys.modules)\n"
        "sys.exit(f'{heavy} were loaded' if heavy else code)\n"
    )
    for arguments in (["--help"], ["compare", "--help"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )
        assert "were loaded" not in done.stderr
        assert done.returncode == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell):
    environment = os.environ | {"_OUTPERFORM_COMPLETE": f"source_{shell}"}
    code = "import sys; from outperform.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "_OUTPERFORM_COMPLETE=complete_" in done.stdout


def test_completion_knows_the_commands():
    environment = os.environ | {
        "_OUTPERFORM_COMPLETE": "complete_bash",
        "COMP_WORDS": "outperform comp",
        "COMP_CWORD": "1",
    }
    done = run(env=environment, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["compare"])


@each(
    ("parameter", "values", "python", "typed"),
    [
        ("rope", (), "rope", "--rope"),
        ("pos_label=", (), "pos_label=", "--pos-label"),
        ("on_null=", ("drop",), "on_null='drop'", "--on-null drop"),
        ("na_values=", (["NA", "a b"],), "na_values=['NA', 'a b']", "--na NA --na 'a b'"),
        ("na_values=", ([],), "na_values=[]", "--no-na"),
        ("empty_is_label=", (True,), "empty_is_label=True", "--empty-is-label"),
        ("pos_label=", ("ham", "spam"), "pos_label='ham' or 'spam'", "--pos-label ham or spam"),
        ("pos_label=", ("a b",), "pos_label='a b'", "--pos-label 'a b'"),
        ("n_draws=", (20_000,), "n_draws=20000", "--draws 20000"),
        ("models=", (["bert", "a b"],), "models=['bert', 'a b']", "--model bert --model 'a b'"),
        ("where=", ({"country": "DE"},), "where={'country': 'DE'}", "--where country=DE"),
        ("dialect=", ({"header": False},), "dialect={'header': False}", "--no-header"),
        ("dialect=", ({"encoding": "cp1252"},), "dialect={'encoding': 'cp1252'}",
         "--encoding cp1252"),
        ("paired=", (False,), "paired=False", "--unpaired"),
        ("overwrite=", (True,), "overwrite=True", "--force"),
    ],
)  # fmt: skip
def test_parameters_are_spelled_as_they_are_typed(parameter, values, python, typed):
    assert param(parameter, *values) == python
    with spelled(spelled_option):
        assert param(parameter, *values) == typed
        assert either("in Python", "typed") == "typed"
    assert param(parameter, *values) == python


def test_data_are_never_taken_for_parameters(tmp_path, capsys):
    file = tmp_path / "rope= n_draws.csv"
    file.write_text("label,a,b\n1,1,0\n", encoding="utf-8")
    assert main(["compare", str(file), "--truth", "pos_label=", "--a", "a", "--b", "b"]) == 2
    assert "no column 'pos_label='" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compare", "rank", "plan", "sensitivity"])
def test_a_page_comes_beside_the_answer_and_names_the_command(folder, capsys, command):
    arguments = [*command.split(), *ASKED[command], "--report", "page.html"]
    assert main(arguments) == 0
    hold_against(f"{command}.txt", capsys.readouterr().out)
    page = html.unescape(Path("page.html").read_text(encoding="utf-8"))
    assert shlex.join(["outperform", *arguments]) in page
    if command != "plan":
        assert "<dt>Data</dt>\n<dd>preds.csv</dd>" in page


@pytest.mark.parametrize("command", ["compare", "rank", "plan", "sensitivity", "scorecard"])
def test_output_named_html_is_a_page_and_named_png_a_figure(folder, capsys, command):
    asked = [*command.split(), *ASKED[command]]
    assert main([*asked, "-o", "answer.html"]) == 0
    page = Path("answer.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    for part in ('<meta charset="utf-8">', "<title>", "<style>"):
        assert part in page
    assert main([*asked, "--format", "html"]) == 0
    assert capsys.readouterr().out.startswith('<div class="outperform')  # to put into a page
    assert main([*asked, "-o", "answer.png"]) == 0
    drawn = Path("answer.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    assert main([*asked, "-o", "answer.png"]) == 0
    assert Path("answer.png").read_bytes() == drawn


def test_figures_of_slices_and_suites(folder):
    asked = [*shlex.split("log.csv --truth label --a bert --b gpt --metric accuracy --by country")]
    assert main(["slices", *asked, "-o", "slices.svg"]) == 0
    assert main(["compare", *asked, "-o", "suite.pdf"]) == 0
    assert b"<svg" in Path("slices.svg").read_bytes()
    assert Path("suite.pdf").read_bytes().startswith(b"%PDF")
    assert main(["slices", *asked, "-o", "slices.html"]) == 0
    assert Path("slices.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_p_value_is_mcnemars(folder, capsys):
    asked = ["compare", *ASKED["compare"], "--p-value"]
    assert main(asked) == 0
    said = " ".join(capsys.readouterr().out.split())
    data = op.read("preds.csv", truth="label", models=["bert", "gpt"])
    test = op.compare(data, "bert", "gpt", metric="f1_macro").mcnemar()
    _, only_a, only_b, _ = data.agreement()
    assert test == op.nhst.mcnemar(only_a, only_b)
    assert f"p = {test.p_value:.2g} (items that only bert got right: {only_a}; only gpt: " in said
    assert main([*asked, "--format", "markdown"]) == 0
    assert "McNemar's exact test" in capsys.readouterr().out
    assert main([*asked, "--format", "json"]) == 2


@each(
    "word",
    [
        "postgresql://me:hunter2@host/db",
        "--pool=postgresql://me:hunter2@host/db",
        "host=db password=hunter2 user=me",
        "mysql://host/db?password=hunter2",
        "token=hunter2",
    ],
)
def test_no_page_tells_a_password(word):
    exit_codes.typed.set(("compare", word, "--truth", "y"))
    assert "hunter2" not in command_line()
    assert command_line().startswith("outperform compare ")
    assert command_line().endswith(" --truth y")
