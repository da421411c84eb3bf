"""What newcomers type, and the line to type or the answer that they get instead of a riddle."""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
import typer.main

from outperform.cli.app import COMMANDS, app
from outperform.cli.groups import typed_line
from outperform.cli.guesses import plain
from outperform.cli.main import main
from tests.cli.conftest import write_csv

# A line that answers, and its words but for the guess.
COMPARED = "compare preds.csv --truth label --a bert --b gpt"
GATED = "gate preds.csv --truth label --candidate new --baseline old"
DATA = 3

ANSWERS = {
    f"{COMPARED} --metric macro-f1": "bert",
    f"{COMPARED} --metric F1_Macro": "bert",
    f"{COMPARED} --metric mcc": "bert",
    f"{COMPARED} --rope ±0.01": "bert",
    f"{COMPARED} --rope +-0.01": "bert",
    "compare --truth label --a bert --b gpt preds.csv": "bert",
    "compare scores.csv --truth label --a bert --b gpt --metric auc": "bert",
    "--help compare": "Usage",
    "explain mcnemar": "p-value",
    "explain p-value": "p-value",
    "explain ROPE": "ROPE",
    "explain confidence interval": "HDI",
    "explain f1-score": "f1",
    "explain equivalence": "ROPE",
    "explain metric": "f1_macro",
    f"{COMPARED} -o answer.json": "",
    f"{COMPARED} -o answer.md": "",
}

# The line to type, which must be right: it is typed next.
LINES = {
    # no command, another one, or in the wrong place
    "preds.csv --truth label --a bert --b gpt": COMPARED,
    "preds.csv compare --truth label --a bert --b gpt": COMPARED,
    "--truth label compare preds.csv --a bert --b gpt": "compare --truth label preds.csv --a bert "
    "--b gpt",
    "preds.csv --truth label --candidate new --baseline old": GATED,
    "diff preds.csv --truth label --a bert --b gpt": COMPARED,
    "test preds.csv --truth label --a bert --b gpt": f"{COMPARED} --p-value",
    "ab preds.csv --gold label --model-a bert --model-b gpt": COMPARED,
    "slice log.csv --truth label --a bert --b gpt --by country": "slices log.csv --truth label "
    "--a bert --b gpt --by country",
    "cv folds.csv": "cv-counts folds.csv",
    "cv_counts folds.csv": "cv-counts folds.csv",
    "leaderboard preds.csv --truth label --model bert --model gpt": "rank preds.csv --truth label "
    "--model bert --model gpt",
    "eval preds.csv --truth label --model bert": "estimate preds.csv --truth label --model bert",
    "plot preds.csv --truth label --a bert --b gpt": "report preds.csv --truth label --a bert "
    "--b gpt",
    "sample-size --accuracies .9,.8 --agreement .85": "plan --accuracies .9,.8 --agreement .85",
    "help": "--help",
    "help compare": "compare --help",
    "version": "--version",
    "-v": "--version",
    "better preds.csv --truth label --a bert --b gpt": COMPARED,
    "compare_slices log.csv --truth label --a bert --b gpt --by country": "slices log.csv "
    "--truth label --a bert --b gpt --by country",
    "intervals preds.csv --truth label --model bert": "estimate preds.csv --truth label "
    "--model bert",
    "metrics": "explain metrics",
    "--list": "explain metrics",
    "explain --metric f1": "explain f1",
    "example news20 out.csv": "example news20 -o out.csv",
    # columns without options
    "compare gold.csv bert.csv gpt.csv id label": "compare gold.csv bert.csv gpt.csv --id id "
    "--label label",
    "propose preds.csv bert gpt --budget 10": "propose preds.csv --budget 10 --a bert --b gpt",
    "slices log.csv --truth label --a bert --b gpt country": "slices log.csv --truth label "
    "--a bert --b gpt --by country",
    "compare preds.csv bert gpt": COMPARED,
    "compare preds.csv label bert gpt": COMPARED,
    "compare preds.csv --truth label bert gpt": COMPARED,
    "rank preds.csv bert gpt": "rank preds.csv --truth label --model bert --model gpt",
    "estimate preds.csv bert": "estimate preds.csv --truth label --model bert",
    "gate preds.csv old new": GATED,
    "slices log.csv bert gpt --by country": "slices log.csv --by country --truth label --a bert "
    "--b gpt",
    # the truth
    "compare preds.csv --gold label --a bert --b gpt": COMPARED,
    "compare preds.csv --target label --a bert --b gpt": COMPARED,
    "compare preds.csv --y_true label --a bert --b gpt": COMPARED,
    "compare preds.csv --labels-column label --a bert --b gpt": COMPARED,
    "compare preds.csv --reference=label --a bert --b gpt": COMPARED,
    "compare preds.csv --label label --a bert --b gpt": COMPARED,
    # the models
    "compare preds.csv --truth label --model-a bert --model-b gpt": COMPARED,
    "compare preds.csv --truth label --pred bert --pred gpt": COMPARED,
    "compare preds.csv --truth label --model bert --model gpt": COMPARED,
    "compare preds.csv --truth label --models bert,gpt": COMPARED,
    "compare preds.csv --truth label --models bert gpt": COMPARED,
    "compare preds.csv --truth label -a bert -b gpt": COMPARED,
    "compare preds.csv --truth label --A bert --B gpt": COMPARED,
    "compare preds.csv --truth label --candidate bert --baseline gpt": COMPARED,
    "compare preds.csv --truth label --a bert,gpt": COMPARED,
    "compare preds.csv --truth label --models bert,gpt,old": "rank preds.csv --truth label "
    "--model bert --model gpt --model old",
    "rank preds.csv --truth label --models bert,gpt": "rank preds.csv --truth label --model bert "
    "--model gpt",
    "rank preds.csv --truth label --model bert,gpt": "rank preds.csv --truth label --model bert "
    "--model gpt",
    "estimate preds.csv --truth label --a bert": "estimate preds.csv --truth label --model bert",
    "gate preds.csv --truth label --a new --b old": GATED,
    "gate preds.csv --truth label --new new --old old": GATED,
    "gate preds.csv --truth label --pr new --main old": GATED,
    "compare preds.csv --truth label --system-a bert --system-b gpt": COMPARED,
    "compare preds.csv --truth label --left bert --right gpt": COMPARED,
    "runs all.csv --truth label --a bert-1,bert-2 --b gpt-1,gpt-2": "runs all.csv --truth label "
    "--a bert-1 --a bert-2 --b gpt-1 --b gpt-2",
    # files
    "compare bert.csv gpt.csv --truth gold.csv --id id --label label": "compare gold.csv bert.csv "
    "gpt.csv --truth gold.csv --id id --label label",
    "compare --a bert.csv --b gpt.csv --truth gold.csv": "compare gold.csv bert.csv gpt.csv "
    "--id id --label label",
    "compare gold.csv bert.csv gpt.csv --on id --label label": "compare gold.csv bert.csv gpt.csv "
    "--id id --label label",
    "compare --file preds.csv --truth label --a bert --b gpt": COMPARED,
    "compare -i preds.csv --truth label --a bert --b gpt": COMPARED,
    # slices and groups
    "compare log.csv --truth label --a bert --b gpt --country DE": "compare log.csv --truth label "
    "--a bert --b gpt --where country=DE",
    "compare log.csv --truth label --a bert --b gpt --where country DE": "compare log.csv --truth "
    "label --a bert --b gpt --where country=DE",
    "slices log.csv --truth label --a bert --b gpt --by country,id": "slices log.csv --truth label "
    "--a bert --b gpt --by country --by id",
    "slices log.csv --truth label --a bert --b gpt --slice country": "slices log.csv --truth label "
    "--a bert --b gpt --by country",
    "compare log.csv --truth label --a bert --b gpt --by-slice country": "compare log.csv --truth "
    "label --a bert --b gpt --by country",
    f"{COMPARED} --group id": f"{COMPARED} --groups id",
    f"{COMPARED} --cluster id": f"{COMPARED} --groups id",
    f"{COMPARED} --filter old=ham": f"{COMPARED} --where old=ham",
    # the ROPE and the interval
    f"{COMPARED} --margin 0.01": f"{COMPARED} --rope 0.01",
    f"{COMPARED} --epsilon 0.01": f"{COMPARED} --rope 0.01",
    f"{COMPARED} --rope -0.01 0.01": f"{COMPARED} --rope -0.01,0.01",
    f"{COMPARED} --rope-width 0.01": f"{COMPARED} --rope 0.01",
    f"{GATED} --max-drop 0.01": f"{GATED} --rope 0.01",
    f"{GATED} --min-diff -0.02": f"{GATED} --rope 0.02",
    f"{COMPARED} --ci": f"{COMPARED} --hdi-prob 0.95",
    f"{COMPARED} --ci 0.9": f"{COMPARED} --hdi-prob 0.9",
    f"{COMPARED} --equivalence-bounds -0.01 0.01": f"{COMPARED} --rope -0.01,0.01",
    f"{COMPARED} --credible-interval 0.9": f"{COMPARED} --hdi-prob 0.9",
    f"{COMPARED} --conf-level 0.9": f"{COMPARED} --hdi-prob 0.9",
    f"{COMPARED} --ci 90": f"{COMPARED} --hdi-prob 0.9",
    f"{COMPARED} --alpha 0.05": f"{COMPARED} --hdi-prob 0.95",
    # metrics and classes
    f"{COMPARED} --pos spam --metric f1": f"{COMPARED} --pos-label spam --metric f1",
    f"{COMPARED} --positive-class spam --metric f1": f"{COMPARED} --pos-label spam --metric f1",
    f"{COMPARED} --class spam --metric f1": f"{COMPARED} --pos-label spam --metric f1",
    f"{COMPARED} --average macro": f"{COMPARED} --metric f1_macro",
    f"{COMPARED} --metric recall --average macro": f"{COMPARED} --metric recall_macro",
    f"{COMPARED} --metric f1 --pos-label spam --average binary": f"{COMPARED} --metric f1 "
    "--pos-label spam",
    "rank preds.csv --truth label --id id --sort accuracy": "rank preds.csv --truth label --id id "
    "--metric accuracy",
    "rank preds.csv --truth label --id id --top 3": "rank preds.csv --truth label --id id",
    f"{COMPARED} --measure accuracy": f"{COMPARED} --metric accuracy",
    f"{COMPARED} --metrics accuracy,f1_macro": "scorecard preds.csv --truth label --a bert --b gpt "
    "--metrics accuracy,f1_macro",
    f"{COMPARED} --metric accuracy,f1_macro": "scorecard preds.csv --truth label --a bert --b gpt "
    "--metrics accuracy,f1_macro",
    f"{COMPARED} --metric accuracy --metric f1_macro": "scorecard preds.csv --truth label --a bert "
    "--b gpt --metrics accuracy,f1_macro",
    f"{GATED} --metric accuracy --metric f1_macro": f"{GATED} --metric accuracy "
    "--guard f1_macro:0.01",
    f"{COMPARED} --labels ham spam": f"{COMPARED} --labels ham,spam",
    "scorecard preds.csv --truth label --a bert --b gpt --per-class": "scorecard preds.csv --truth "
    "label --a bert --b gpt --by-class",
    # computation
    f"{COMPARED} --random-state 1": f"{COMPARED} --seed 1",
    f"{COMPARED} --random_state=1": f"{COMPARED} --seed 1",
    f"{COMPARED} --n-draws 1000": f"{COMPARED} --draws 1000",
    f"{COMPARED} --samples 1000": f"{COMPARED} --draws 1000",
    f"{COMPARED} --bootstrap 1000": f"{COMPARED} --prior bootstrap",
    f"{COMPARED} --jobs 2": COMPARED,
    f"{COMPARED} --no-color": COMPARED,
    f"{COMPARED} --mcmc": COMPARED,
    f"{COMPARED} --header": COMPARED,
    f"{COMPARED} --skip-na": f"{COMPARED} --on-null drop",
    f"{COMPARED} --bf": f"{COMPARED} --verbose",
    f"{COMPARED} --round 3": COMPARED,
    f"{COMPARED} --higher-is-better": COMPARED,
    f"{COMPARED} --paired": COMPARED,
    f"{COMPARED} --quiet": COMPARED,
    f"{COMPARED} --sep ;": COMPARED,
    f"{COMPARED} --verbose 2": f"{COMPARED} --verbose",
    "sensitivity preds.csv --truth label --a bert --b gpt --prior uniform,jeffreys": "sensitivity "
    "preds.csv --truth label --a bert --b gpt --priors uniform,jeffreys",
    f"{COMPARED} --dropna": f"{COMPARED} --on-null drop",
    # output
    f"{COMPARED} --json": f"{COMPARED} --format json",
    f"{COMPARED} --output json": f"{COMPARED} --format json",
    f"{COMPARED} --format md": f"{COMPARED} --format markdown",
    f"{COMPARED} --export answer.txt": f"{COMPARED} --output answer.txt",
    f"{COMPARED} --as json": f"{COMPARED} --format json",
    f"{COMPARED} --out answer.txt": f"{COMPARED} --output answer.txt",
    f"{COMPARED} --html": f"{COMPARED} --report report.html",
    f"{COMPARED} --plot": f"{COMPARED} --output figure.png",
    f"{COMPARED} --plot a.svg": f"{COMPARED} --output a.svg",
    f"{COMPARED} --format png": f"{COMPARED} -o figure.png",
    f"{COMPARED} --format json -o figure.png": f"{COMPARED} -o figure.png",
    f"{COMPARED} -o answer.xlsx": f"{COMPARED} -o answer.html",
    f"{COMPARED} --mcnemar": f"{COMPARED} --p-value",
    COMPARED.replace("compare", "mcnemar", 1): f"{COMPARED} --p-value",
    f"{GATED} --metric accuracy -o gate.html": f"{GATED} --metric accuracy --report gate.html",
    f"{GATED} --metric accuracy -o gate.png": f"{GATED} --metric accuracy",
    "report preds.csv --truth label --a bert --b gpt --format html": "report preds.csv --truth "
    "label --a bert --b gpt",
    # gates and plans
    f"{GATED} --metric accuracy --allow-undecided": f"{GATED} --metric accuracy --allow undecided",
    f"{GATED} --metric accuracy --require not-worse": f"{GATED} --metric accuracy "
    "--require not_worse",
    "plan --accuracies .9 .8 --agreement .85": "plan --accuracies .9,.8 --agreement .85",
    "plan --acc-a .9 --acc-b .8 --agreement .85": "plan --accuracies .9,.8 --agreement .85",
    "power --n 500 --theta-pos .3,.3,.2,.2 --theta-neg .2,.2,.3,.3": "power --sizes 500 "
    "--theta-pos .3,.3,.2,.2 --theta-neg .2,.2,.3,.3",
    "propose preds.csv --a bert --b gpt -n 20": "propose preds.csv --a bert --b gpt --budget 20",
}

# What to type is part of the message.
MESSAGES = {
    "compare": "Example: outperform compare preds.csv --truth label --a bert --b gpt",
    "power": "Example: outperform power --theta-pos .3,.3,.2,.2 --theta-neg",
    "propose preds.csv --a bert --b gpt": "Example: outperform propose preds.csv --a bert",
    "explain": "Example: outperform explain rope hdi",
    "compare preds.csv": "pass --truth, --a, --b",
    "compare nofile.csv --truth label --a bert --b gpt": "no file 'nofile.csv'",
    "compare pred.csv --truth label --a bert --b gpt": "did you mean 'preds.csv'?",
    "compare preds.csv --truth Label --a bert --b gpt": "did you mean 'label'?",
    "compare bert.csv gpt.csv": "pass --id, the column to join the files on, and --label",
    "compare prices.csv --truth price --a bert --b gpt": "rmse, mae or r2",
    "compare prices.csv --truth price --a bert --b gpt --metric rmse": "--rope",
    f"{COMPARED} --metric f1": "use 'f1_macro', 'f1_micro' or 'f1_weighted'",
    f"{COMPARED} --rope 1%": "did you mean 0.01?",
    f"{COMPARED} --rope 0,01": "did you mean 0.01?",
    f"{COMPARED} --rope 1": "did you mean 0.01?",
    f"{COMPARED} --hdi-prob 95": "did you mean 0.95?",
    f"{COMPARED} --wilcoxon": "outperform compare --p-value",
    "gate preds.csv --truth label": "pass --candidate and --baseline",
    f"{GATED} --guard recall=0.02": "did you mean recall:0.02?",
    f"{GATED} --exit-zero": "use --allow undecided",
    "plan --accuracies .9,.8 --agreement 85": "did you mean 0.85?",
    f"{COMPARED} --query 'old = 1'": "to select rows, use --where",
    "rank preds.csv": "--truth label",
    "rank preds.csv --truth label": "--id id",
    "rank preds.csv --truth label --exclude id": "pass the id column as --id",
    "slices log.csv --truth label --a bert --b gpt": "pass --by",
    "plan": "--accuracies and --agreement",
    "plan --effect 0.02": "outperform plan --accuracies .9,.88 --agreement .9",
    "plan --n 1000": "use outperform power --sizes",
    "watch preds.csv --a bert --b gpt": "pass the folder with the batches",
    "example iris": "Known: news20",
    f"{COMPARED} --prior flat": "uniform",
    f"{COMPARED} --format yaml": "'markdown'",
    f"{COMPARED} --by-task": "--by",
    "frobnicate": "See outperform --help",
    f"{COMPARED} --frobnicate 1": "See outperform compare --help-all",
}


@pytest.fixture
def tables(folder):
    """Return the folder with a table of probabilities and one of prices too."""
    rows = [(k % 2, 0.2 + 0.6 * (k % 2) + (k % 7 - 3) / 40, 0.3 + k % 2 / 3) for k in range(60)]
    write_csv(folder / "scores.csv", rows, ("label", "bert", "gpt"))
    rows = [(100 + k, 100.2 + k + k % 3, 99.8 + k + k % 2) for k in range(60)]
    write_csv(folder / "prices.csv", rows, ("price", "bert", "gpt"))
    return folder


@pytest.mark.parametrize("typed", ANSWERS)
def test_a_guess_is_answered(tables, capsys, typed):
    assert main(shlex.split(typed)) == 0
    written = capsys.readouterr()
    assert ANSWERS[typed] in written.out
    assert written.err == ""


@pytest.mark.parametrize("typed", LINES)
def test_a_guess_gets_the_line_to_type(tables, capsys, typed):
    assert main(shlex.split(typed)) == 2
    written = capsys.readouterr()
    assert written.out == ""
    (line,) = written.err.splitlines()
    assert re.search("[;?] [Tt]ype: (.*)", line)[1] == typed_line(shlex.split(LINES[typed])), line


@pytest.mark.parametrize("line", dict.fromkeys(LINES.values()))
def test_the_line_to_type_is_right(tables, capsys, line):
    fewer = {"plan": ["--simulations", "100"], "power": ["--simulations", "100"]}
    words = shlex.split(line)
    code = main([*words, *fewer.get(words[0], [])])
    assert code in ((0, 1, 4) if words[0] == "gate" else (0,)), capsys.readouterr().err


@pytest.mark.parametrize("typed", MESSAGES)
def test_a_guess_gets_an_explanation(tables, capsys, typed):
    assert main(shlex.split(typed)) in (2, DATA)
    written = capsys.readouterr()
    assert written.out == ""
    assert re.fullmatch(r"outperform: \S.*\n", written.err), written.err
    assert MESSAGES[typed] in written.err


def test_the_known_guesses_are_consistent():
    """Every option in the table exists, and no guess is an option of every command."""
    made = typer.main.get_command(app).commands
    known = {name for command in made.values() for param in command.params for name in param.opts}
    table = tomllib.loads(files("outperform.cli").joinpath("guesses.toml").read_text("utf-8"))
    meant = {word for key in (*table["options"], *table["flags"]) for word in key.split()}
    assert {word for word in meant if word.startswith("--")} <= known | {"--version", "--help"}
    meant = {"--version", "--help", "explain metrics", "compare --p-value"}
    assert set(table["commands"]) == {*COMMANDS, *meant}
    commands = {name for row in table["advice"] for name in row.get("commands", "").split()}
    assert commands <= set(COMMANDS)
    for section in ("commands", "options", "models"):
        words = [word for text in table[section].values() for word in text.split()]
        assert [word for word in words if word != plain(word)] == []
        assert sorted(word for word in set(words) if words.count(word) > 1) == [], section


def test_a_line_to_type_shows_no_password(capsys):
    assert main(["compare", "postgresql://me:hunter2@host/db", "--gold", "label"]) == 2
    message = capsys.readouterr().err
    assert "Type: outperform compare 'postgresql://me:***@host/db' --truth label" in message
    assert "hunter2" not in message


def test_a_file_named_like_a_column_stays_a_file(tables, capsys):
    data = Path("preds.csv").read_text("utf-8")
    for name in ("label", "label.1"):
        Path(name).write_text(data.replace("label", name, 1), "utf-8")
        assert main(["compare", name, "--truth", name, "--a", "bert", "--b", "gpt"]) == 0
    Path("named.csv").write_text(data.replace("bert", '"old,new"', 1), "utf-8")
    words = ["--truth", "label", "--model", "old,new", "--model", "gpt"]
    assert main(["rank", "named.csv", *words]) == 0
