"""Files, folders and answers of earlier versions: read for ever, and answered as then."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import outperform as op
from tests.corpus.questions import (
    ASKED,
    COUNTED,
    QUESTIONS,
    RESULTS,
    STORES,
    TREES,
    WATCHED,
    Question,
    monitor,
    outcomes,
    tree,
)
from verification.answers.check import ABSENT, differences
from verification.answers.facts import answer
from verification.answers.record import BASE_SEED

HERE = Path(__file__).parent
CORPORA = [path.parent for path in sorted(HERE.glob("*/answers.json"))]

# What answers otherwise today than when a corpus was written, on purpose: the beginning of a
# question's name and a pattern of the path of the value, with the reason.
UNEVEN = "intervals of uneven importance weights are wider"
FEW = "few items with scores know their spread as badly as few groups do"
DECISIONS = (
    "decisions lean where two thirds of the posterior lie, with a sign for 'probably equivalent'"
)
RANGE = "numbers of items are a range from face value to safe"
CHANGED: dict[str, dict[tuple[str, str], str]] = {
    "7e908e4": {
        ("", r"(^|/)(needed|more_items)(/|$)"): RANGE,
        ("", r"(^|/)decisions?(/|$)"): DECISIONS,
        ("compare/levels", "^prior$"): "metrics of ordered levels have the default prior unit",
        ("compare/more-labels", "class_without_truth"): "a class that nobody saw is a warning",
        ("compare/weights", ""): UNEVEN,
        ("compare/groups-weights", ""): UNEVEN,
        ("compare/correct-weights", ""): UNEVEN,
        ("monitor/weights", "^(at 2|facts)/"): UNEVEN,
        ("monitor/weighted-grades", "^(at 2|facts)/"): UNEVEN,
        ("monitor/probabilities", "^(at 2|facts)/"): FEW,
        ("monitor/statistics", "^(at 2|facts)/"): FEW,
        ("result/items", "^right/"): "who does better on an item is found by swapping the answers",
        ("result/fragility", "^(changes|other|n$)"): DECISIONS,
        ("result/slices", "^counts/"): DECISIONS,
        (
            "result/slices",
            "^(rows|whole)/",
        ): "slices may differ in all classes alike",
        ("result/ranking", "^(models|pairs)/"): "pairs of a ranking are not pooled",
        ("result/suite-ranking", "^models/"): "models have a population with heavier tails",
        ("result/plan", ""): "a plan simulates no more test sets than n_simulations",
        ("result/more-data", ""): RANGE,
        ("result/sensitivity", "^rows/"): DECISIONS,
    }
}

# Keys that have another name since a corpus was written, before the first release.
RENAMED = {
    "7e908e4": {
        "errors": "mc_errors",
        "expected_wrong": "expected_false_alarms",
        "judgement": "status",
        "like_whole": "p_like_overall",
        "most": "max_items",
        "own_decision": "unpooled_decision",
        "own_hdi": "unpooled_hdi",
        "p_missed": "p_best_not_tied",
    }
}

pytestmark = pytest.mark.parametrize("folder", CORPORA, ids=lambda folder: folder.name)


def renamed(folder: Path, path: str) -> str:
    """Return a path with the names that its keys have now."""
    names = RENAMED.get(folder.name, {})
    return re.sub(r"\w+", lambda key: names.get(key[0], key[0]), path)


def recorded(folder: Path, name: str) -> dict[str, Any]:
    """Return the answer to a question as recorded, under the names that its keys have now."""
    parts = json.loads((folder / "answers.json").read_text(encoding="utf-8"))[name]
    return {
        part: {renamed(folder, path): value for path, value in values.items()}
        if isinstance(values, dict)
        else [renamed(folder, path) for path in values]
        for part, values in parts.items()
    }


@cache
def asked(question: Question, folder: Path, seed: int) -> Any:
    return question(folder, seed)


def is_changed(folder: Path, name: str, path: str) -> bool:
    """Say whether a value is listed; what was read and observed never may be."""
    return not path.endswith(("observed", "/n_items")) and any(
        name.startswith(begin) and re.search(pattern, path)
        for begin, pattern in CHANGED.get(folder.name, {})
    )


@pytest.mark.parametrize("kind", ["outcomes", "compare", "monitor", "store", "result"])
def test_every_stored_file_is_read_and_answered_as_then(folder, kind):
    if kind in ("store", "result"):
        pytest.importorskip("duckdb")
    found = []
    for name, question in QUESTIONS.items():
        if not name.startswith(f"{kind}/"):
            continue
        facts, _ = answer(lambda seed, ask=question: asked(ask, folder, seed), BASE_SEED)
        found += [
            (name, *difference)
            for difference in differences(recorded(folder, name), facts)
            if difference[1] != ABSENT and not is_changed(folder, name, difference[0])
        ]
    assert found == []


@pytest.mark.parametrize("name", ASKED)
def test_stored_outcomes_are_written_again_as_the_same_text(folder, name):
    text = (folder / "outcomes" / f"{name}.json").read_text(encoding="utf-8")
    assert json.loads(outcomes(folder, name).to_json()) == json.loads(text)


@pytest.mark.parametrize("name", WATCHED)
def test_a_monitor_goes_on_in_its_folder(folder, name, tmp_path):
    shutil.copytree(folder / "monitors" / name, tmp_path / "monitors" / name)
    watch = monitor(tmp_path, name, BASE_SEED)
    before = watch.looks
    batch = op.Monitor(folder / "monitors" / name, "new", "old").outcomes
    watch.add(batch, key="2026-11-04")
    assert watch.outcomes.n == 2 * batch.n
    assert [look.mean for look in watch.looks[:3]] == [look.mean for look in before]


@pytest.mark.parametrize("name", STORES)
def test_a_folder_of_counts_is_updated(folder, name, tmp_path, capsys):
    pytest.importorskip("duckdb")
    pytest.importorskip("typer")
    from outperform.cli.main import main

    shutil.copytree(folder / "stores" / name, tmp_path / "counts")
    shutil.copytree(folder / "days", tmp_path / "days")
    options = [word for option, value in STORES[name].items() for word in (f"--{option}", value)]
    more = (folder / "days" / "day-0.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "days" / "day-3.csv").write_text("\n".join(more[:11]) + "\n", encoding="utf-8")
    days = [str(path) for path in sorted((tmp_path / "days").iterdir())]
    assert main(["count", *days, *COUNTED, *options, "--update", str(tmp_path / "counts")]) == 0
    assert "1 partition counted" in capsys.readouterr().out
    before, after = (op.read(path) for path in (folder / "stores" / name, tmp_path / "counts"))
    assert (before.n, after.n) == (120, 130)


def keys_of(value, path=""):
    """Return the paths of all keys below a value; elements of a list are alike."""
    if isinstance(value, dict):
        below = [keys_of(inner, f"{path}/{key}") for key, inner in value.items()]
        return {f"{path}/{key}" for key in value}.union(*below)
    if isinstance(value, list):
        return set().union(*(keys_of(inner, f"{path}[]") for inner in value))
    return set()


def test_stored_results_have_no_key_that_is_gone(folder):
    gone = {}
    for name, question in RESULTS.items():
        then = json.loads((folder / "results" / f"{name}.json").read_text(encoding="utf-8"))
        now = json.loads(json.dumps(asked(question, folder, BASE_SEED).to_dict()))
        missing = {
            key
            for key in {renamed(folder, key) for key in keys_of(then)} - keys_of(now)
            if not is_changed(folder, f"result/{name}", key)
        }
        if missing or then["kind"] != now["kind"] or then["schema"] != now["schema"]:
            gone[name] = sorted(missing)
    assert gone == {}


@pytest.mark.parametrize("name", TREES)
def test_a_comparison_comes_back_from_its_tree(folder, name):
    pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    found = tree(folder, name)
    then = json.loads((folder / "trees" / f"{name}.json").read_text(encoding="utf-8"))
    assert [found.mean, found.sd, found.hdi.low, found.hdi.high] == pytest.approx(then, rel=1e-9)
