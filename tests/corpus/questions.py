"""What is asked of stored files: once by the version that wrote them, and by every later one.

A question is a function of the folder of a corpus and of a seed. It reads a file and returns any
result, outcomes or scores. Only public names are used, since it runs with several versions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import outperform as op

Question = Callable[[Path, int], Any]

FEW: dict[str, Any] = {"n_draws": 500, "rope": 0.02}

# Outcomes: what is compared in each file of outcomes/
ASKED: dict[str, dict[str, Any]] = {
    "binary": {"metric": "f1"},
    "binary-ids": {"metric": "accuracy"},
    "three": {"metric": "f1_macro"},
    "three-unit": {"metric": "f1_macro", "prior": "unit"},
    "levels": {"metric": "ordinal_mae"},
    "booleans": {"metric": "recall"},
    "odd-names": {"metric": "accuracy"},
    "more-labels": {"metric": "f1_macro", "prior": "unit"},
    "never-true": {"metric": "f1_macro", "prior": "unit"},
    "groups": {"metric": "accuracy"},
    "weights": {"metric": "f1"},
    "groups-weights": {"metric": "accuracy"},
    "sliced": {"metric": "f1"},
    "sliced-twice": {"metric": "accuracy"},
    "counts": {"metric": "f1", "pos_label": "spam"},
    "huge": {},  # read only: a closed form of 10**26 items takes half a minute
    "confusion": {"metric": "f1"},
    "unpaired": {"metric": "accuracy"},
    "binarized": {"metric": "f1"},
    "selected": {"metric": "accuracy"},
    "sum": {"metric": "accuracy"},
    "prevalence": {"metric": "f1", "pos_label": "spam"},
    "prevalence-counts": {"metric": "accuracy"},
    "correct": {"metric": "accuracy"},
    "correct-groups": {"metric": "accuracy"},
    "correct-weights": {"metric": "accuracy"},
    "correct-sliced": {"metric": "accuracy"},
    "sets": {"metric": "f1_macro"},
    "sets-samples": {"metric": "f1_samples"},
    "sets-uniform": {"metric": "f1_micro", "prior": "uniform"},
    "sets-groups": {"metric": "f1_micro"},
    "sets-weights": {"metric": "hamming_loss"},
    "tags": {"metric": "f1"},
    "tags-groups": {"metric": "f1_macro"},
    "spans": {"metric": "recall"},
    "span-counts": {"metric": "f1"},
    "tp-fp-fn": {"metric": "f1"},
    "pool": {"metric": "accuracy"},
    "judged": {"metric": "accuracy"},
    "judged-labels": {"metric": "f1_macro"},
    "annotators-random": {"metric": "accuracy"},
    "annotators-majority": {"metric": "f1"},
    "counted": {"metric": "accuracy"},  # by the command
}

# Monitors: what each folder of monitors/ watches
WATCHED: dict[str, dict[str, Any]] = {
    "labels": {"metric": "f1", "stop": ("width", 0.1)},
    "three": {"metric": "f1_macro", "stop": "decision"},
    "correct": {"metric": "accuracy", "stop": ("bayes_factor", 10)},
    "groups": {"metric": "accuracy"},
    "weights": {"metric": "accuracy"},
    "sets": {"metric": "f1_micro"},
    "spans": {"metric": "f1"},
    "prevalence": {"metric": "f1", "prevalence": {1: 0.1}},
    "probabilities": {"metric": "roc_auc"},
    "class-probabilities": {"metric": "log_loss"},
    "grades": {"metric": "mean"},
    "targets": {"metric": "rmse"},
    "statistics": {"metric": "mean:right"},
    "weighted-grades": {"metric": "mean"},
}

STORES = {"days": {}, "sliced-days": {"by": "country"}}  # what is asked besides COUNTED
COUNTED = ["--truth", "label", "--model", "new", "--model", "old"]
TREES = ("binary", "three", "pool")


def outcomes(folder: Path, name: str) -> op.Outcomes:
    """Read stored outcomes."""
    return op.Outcomes.from_json((folder / "outcomes" / f"{name}.json").read_bytes())


def monitor(folder: Path, name: str, seed: int) -> op.Monitor:
    """Open a monitor on a folder of batches."""
    return op.Monitor(folder / "monitors" / name, "new", "old", random_state=seed,
                      **FEW, **WATCHED[name])  # fmt: skip


def two(folder: Path, name: str, seed: int, **asked: Any) -> op.Comparison:
    """Compare the two models of stored outcomes."""
    return op.compare(outcomes(folder, name), "new", "old", random_state=seed,
                      **{**FEW, **ASKED[name], **asked})  # fmt: skip


def watched(folder: Path, name: str, seed: int) -> dict[str, Any]:
    """Return what a monitor says: its looks, where it stopped, and what it has counted."""
    found = monitor(folder, name, seed)
    return {
        "facts": found.to_dict(),
        "stopped": found.stopped and found.stopped.number,
        "at 2": found.at(2).to_dict(),
        "n": found.outcomes.n,
    }


def tree(folder: Path, name: str) -> op.Comparison:
    """Take a comparison back from a tree of arrays; needs xarray and h5netcdf."""
    import xarray as xr

    found = xr.load_datatree(folder / "trees" / f"{name}.nc", engine="h5netcdf")
    return op.from_datatree(found)


def suite(folder: Path) -> op.Suite:
    tasks = {name: outcomes(folder, name) for name in ("binary", "three", "correct", "sets")}
    metrics = {name: ASKED[name]["metric"] for name in tasks}
    return op.Suite(tasks, metrics=metrics, ropes=0.02)


QUESTIONS: dict[str, Question] = {}
for _name in ASKED:
    QUESTIONS[f"outcomes/{_name}"] = lambda folder, _, name=_name: outcomes(folder, name)
    if ASKED[_name]:
        QUESTIONS[f"compare/{_name}"] = lambda folder, seed, name=_name: two(folder, name, seed)
for _name in WATCHED:
    QUESTIONS[f"monitor/{_name}"] = lambda folder, seed, name=_name: watched(folder, name, seed)
for _name in STORES:
    QUESTIONS[f"store/{_name}"] = lambda folder, _, name=_name: op.read(folder / "stores" / name)
    QUESTIONS[f"store/{_name}/compare"] = lambda folder, seed, name=_name: op.compare(
        op.read(folder / "stores" / name), "new", "old", metric="accuracy", random_state=seed, **FEW
    )

# One question for each kind of result, whose JSON is stored as that version wrote it
RESULTS: dict[str, Question] = {
    "comparison": lambda folder, seed: two(folder, "three", seed),
    "comparisons": lambda folder, seed: op.scorecard(
        outcomes(folder, "binary"), "new", "old", metrics=["f1", "recall"], random_state=seed, **FEW
    ),
    "by-class": lambda folder, seed: two(folder, "three-unit", seed).by_class(),
    "coverage": lambda folder, seed: two(folder, "three", seed).expected_coverage(),
    "curve": lambda folder, seed: monitor(folder, "probabilities", seed).at(3).curve("roc"),
    "estimate": lambda folder, seed: op.estimate(
        outcomes(folder, "three"), "new", metric="f1_macro", n_draws=500, random_state=seed
    ),
    "fragility": lambda folder, seed: two(folder, "correct", seed).fragility(),
    "gate": lambda folder, seed: op.gate(
        outcomes(folder, "binary"), "new", "old", metric="accuracy", guards=[("recall", 1, 0.05)],
        random_state=seed, **FEW,
    ),
    "gate-policy": lambda folder, seed: op.gate(
        suite(folder), "new", "old", policy=folder / "policy.toml", n_draws=500, random_state=seed
    ),
    "items": lambda folder, seed: monitor(folder, "targets", seed).at(3).item_table(top=5),
    "joint": lambda folder, seed: op.scorecard(
        outcomes(folder, "binary"), "new", "old", metrics=["precision", "recall"],
        random_state=seed, **FEW,
    ).joint("precision", "recall"),
    "more-data": lambda folder, seed: two(folder, "binary", seed).more_data(
        n_simulations=100, n_draws=100, random_state=seed
    ),
    "plan": lambda folder, seed: op.plan(
        pilot=outcomes(folder, "binary"), a="new", b="old", metric="accuracy", rope=0.02,
        n_simulations=100, n_draws=100, random_state=seed,
    ),
    "power": lambda folder, seed: op.power(
        outcomes(folder, "binary"), "new", "old", sizes=[200, 400], metric="accuracy", rope=0.02,
        n_simulations=100, n_draws=100, random_state=seed,
    ),
    "proposal": lambda folder, seed: op.propose(
        *_pool(folder), budget=20, metric="accuracy", random_state=seed
    ),
    "ranking": lambda folder, seed: op.rank(
        outcomes(folder, "three"), metric="accuracy", random_state=seed, **FEW
    ),
    "ratio": lambda folder, seed: two(folder, "binary", seed).ratio(rope=0.05),
    "sensitivity": lambda folder, seed: two(folder, "binary", seed).sensitivity(),
    "slices": lambda folder, seed: op.compare_slices(
        outcomes(folder, "sliced-twice"), "new", "old", metric="accuracy", random_state=seed, **FEW
    ),
    "suite": lambda folder, seed: op.compare(
        suite(folder), "new", "old", n_draws=500, random_state=seed
    ),
    "suite-ranking": lambda folder, seed: op.rank(suite(folder), n_draws=500, random_state=seed),
    "runs": lambda folder, seed: op.compare_runs(
        outcomes(folder, "three"), ["new"], ["old", "base"], metric="accuracy", random_state=seed,
        **FEW,
    ),
    "fold-scores": lambda folder, seed: op.compare_cv_scores(
        *_folds(folder), test_share=0.2, rope=0.005, random_state=seed
    ),
    "folds": lambda folder, seed: op.compare_cv_counts(
        *_fold_counts(folder), rope=0.01, n_draws=500, random_state=seed
    ),
}  # fmt: skip
QUESTIONS |= {f"result/{name}": question for name, question in RESULTS.items()}


def _inputs(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "inputs.json").read_text(encoding="utf-8")))


def _pool(folder: Path) -> list[list[str]]:
    return [_inputs(folder)["pool"][model] for model in ("new", "old")]


def _folds(folder: Path) -> list[list[float]]:
    return [_inputs(folder)["fold_scores"][model] for model in ("new", "old")]


def _fold_counts(folder: Path) -> list[list[list[int]]]:
    return [_inputs(folder)["fold_counts"][model] for model in ("new", "old")]
