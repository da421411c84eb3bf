"""A folder with the small files that the commands are run on."""

from __future__ import annotations

import functools

import pytest
import typer.main

CLASSES = ("ham", "news", "spam")


def predictions(n=90):
    """Return rows of id, truth and four columns of predictions that follow from the row number."""
    rows = []
    for k in range(n):
        truth = CLASSES[k % 3]
        wrong = CLASSES[(k + 1) % 3]
        bert = wrong if k % 11 in (3, 7) else truth
        gpt = wrong if k % 7 in (2, 5) else truth
        rows.append((f"d{k}", truth, bert, gpt, gpt, bert))
    return rows


def run_rows(n=120):
    """Return rows of truth and three runs of two models, which follow from the row number."""
    rows = []
    for k in range(n):
        truth, wrong = CLASSES[k % 3], CLASSES[(k + 1) % 3]
        bert = [wrong if k % 11 == 3 or k % 13 < run else truth for run in (0, 1, 3)]
        gpt = [wrong if k % 7 == 2 or k % 17 < run else truth for run in (1, 2, 4)]
        rows.append((truth, *bert, *gpt))
    return rows


FOLDS = {
    "crf": ((80, 10), (78, 12), (81, 9), (77, 11), (80, 10), (79, 12)),
    "lstm": ((88, 11), (86, 12), (89, 10), (85, 12), (90, 9), (86, 11)),
}


def write_csv(path, rows, header, separator=","):
    lines = [header, *rows]
    path.write_text("".join(separator.join(map(str, row)) + "\n" for row in lines), "utf-8")
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder, in which the commands run, with predictions, folds and matrices."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    rows = predictions()
    write_csv(tmp_path / "preds.csv", rows, ("id", "label", "bert", "gpt", "old", "new"))
    write_csv(tmp_path / "gold.csv", [row[:2] for row in rows], ("id", "label"))
    write_csv(tmp_path / "bert.csv", [(row[0], row[2]) for row in rows], ("id", "label"))
    write_csv(tmp_path / "gpt.csv", [(row[0], row[3]) for row in rows], ("id", "label"))
    logged = [(*row[:4], ("DE", "FR", "UK")[k % 5 % 3]) for k, row in enumerate(predictions(300))]
    write_csv(tmp_path / "log.csv", logged, ("id", "label", "bert", "gpt", "country"))
    runs = ("bert-1", "bert-2", "bert-3", "gpt-1", "gpt-2", "gpt-3")
    write_csv(tmp_path / "all.csv", run_rows(), ("label", *runs))
    folds = [(name, tp, fp, 100 - tp) for name, counts in FOLDS.items() for tp, fp in counts]
    write_csv(tmp_path / "folds.csv", folds, ("model", "tp", "fp", "fn"))
    (tmp_path / "old.csv").write_text(",ham,spam\nham,50,3\nspam,7,40\n")
    (tmp_path / "new.csv").write_text(",spam,ham\nspam,45,2\nham,4,49\n")
    return tmp_path


@pytest.fixture(autouse=True, scope="session")
def built_once():
    """Build the commands once: typer builds all of them for every call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture(autouse=True)
def in_time(monkeypatch, few_positions):
    """Keep progress off stderr, so that what is said does not depend on how busy the machine is."""
    monkeypatch.setattr("outperform.cli.exit_codes.EVERY", float("inf"))
