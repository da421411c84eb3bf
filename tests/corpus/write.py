"""Write a corpus: every kind of stored file, and what the version that wrote them answers.

It is run once per version, in an environment with that version, and its files stay as they are::

    git worktree add ../old 7e908e4
    PYTHONPATH=../old/src:. python -m tests.corpus.write tests/corpus/7e908e4

``tests/corpus/test_corpus.py`` reads the files with the version of today. Trees are written where
xarray and h5netcdf are installed.
"""

# ruff: noqa: E501

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import outperform as op
from outperform.cli.main import main as command
from tests.corpus.questions import (
    COUNTED,
    QUESTIONS,
    RESULTS,
    STORES,
    TREES,
    WATCHED,
    two,
)
from verification.answers.facts import answer
from verification.answers.record import BASE_SEED, OTHER_SEEDS, sorted_out

MODELS = ("new", "old", "base")
SHARES = (0.9, 0.8, 0.78)


def answers(
    rng: np.random.Generator, truth: np.ndarray, classes: list[Any]
) -> dict[str, np.ndarray]:
    """Return the predictions of three models that fail on the same hard items."""
    hard, names = rng.random(truth.size), np.array(classes)
    code = np.searchsorted(names, truth)
    found = {}
    for model, share in zip(MODELS, SHARES, strict=True):
        wrong = 0.6 * hard + 0.4 * rng.random(truth.size) > np.quantile(hard, share)
        other = (code + rng.integers(1, names.size, truth.size)) % names.size
        found[model] = names[np.where(wrong, other, code)]
    return found


def some(values: Mapping[str, np.ndarray], rows: slice | np.ndarray) -> dict[str, np.ndarray]:
    return {model: column[rows] for model, column in values.items()}


RNG = np.random.default_rng(7_908)
N = 120
BINARY = RNG.integers(0, 2, N)
ON_BINARY = answers(RNG, BINARY, [0, 1])
THREE = RNG.choice(["x", "y", "z"], N, p=[0.5, 0.3, 0.2])
ON_THREE = answers(RNG, THREE, ["x", "y", "z"])
WORDS = np.array(["ham", "spam"])[BINARY]
ON_WORDS = {model: np.array(["ham", "spam"])[one] for model, one in ON_BINARY.items()}
LEVELS = RNG.integers(1, 5, N)
ON_LEVELS = {model: np.clip(LEVELS + RNG.integers(-1, 2, N), 1, 4) for model in MODELS}
RIGHT = {model: ON_BINARY[model] == BINARY for model in MODELS}
GROUP = np.arange(N) // 3
WEIGHT = RNG.choice([0.5, 1.0, 2.25], N)
COUNTRY = np.array(["de", "fr"])[np.arange(N) % 2]
DAY = np.arange(N) % 3
SETS = RNG.random((60, 4)) < 0.4
ON_SETS = {
    model: SETS ^ (RNG.random(SETS.shape) < wrong)
    for model, wrong in zip(MODELS, (0.05, 0.15, 0.2), strict=True)
}
PROBABILITY = {
    model: np.round(1 / (1 + np.exp(-lift * (2 * BINARY - 1) - RNG.normal(size=N))), 6)
    for model, lift in zip(MODELS, (1.5, 1.0, 0.9), strict=True)
}
SIMPLEX = {model: RNG.dirichlet([2, 1, 1], N) for model in MODELS}
GRADE = {
    model: np.round(6 + plus + RNG.normal(size=N), 2)
    for model, plus in zip(MODELS, (0.5, 0, 0), strict=True)
}
SPENT = {
    model: {"right": RIGHT[model], "cents": np.round(RNG.gamma(2, 1, N), 3)} for model in MODELS
}


def tags() -> tuple[list[list[str]], dict[str, list[list[str]]]]:
    gold = [["B-PER", "I-PER", "O"] if k % 2 else ["B-LOC", "O"] for k in range(60)]
    found = {}
    for model, share in zip(MODELS, SHARES, strict=True):
        lucky = RNG.random(60) < share
        found[model] = [
            row if ok else ["O"] * len(row) for row, ok in zip(gold, lucky, strict=True)
        ]
    return gold, found


GOLD, TAGGED = tags()


def all_outcomes() -> Iterator[tuple[str, op.Outcomes]]:
    """Yield outcomes of every kind."""
    read, right = op.Outcomes.from_labels, op.Outcomes.from_correct
    binary = read(BINARY, ON_BINARY)
    yield "binary", binary
    yield "binary-ids", read(BINARY, ON_BINARY, ids=np.arange(N))
    yield "three", read(THREE, ON_THREE)
    yield "three-unit", read(THREE, ON_THREE)
    yield "levels", read(LEVELS, ON_LEVELS)
    yield "booleans", read(BINARY == 1, {m: one == 1 for m, one in ON_BINARY.items()})
    odd = np.array(["NA", "01", "", "é\n"])
    yield "odd-names", read(odd[LEVELS - 1], {m: odd[one - 1] for m, one in ON_LEVELS.items()})
    yield "more-labels", read(THREE, ON_THREE, labels=["x", "y", "z", "w"])
    refusing = np.where(np.arange(N) % 20 == 0, "sorry", ON_THREE["new"])
    yield "never-true", read(THREE, {**ON_THREE, "new": refusing})
    yield "groups", read(BINARY, ON_BINARY, groups=GROUP)
    yield "weights", read(BINARY, ON_BINARY, sample_weight=WEIGHT)
    yield "groups-weights", read(BINARY, ON_BINARY, groups=GROUP, sample_weight=WEIGHT)
    yield "sliced", read(BINARY, ON_BINARY, by={"country": COUNTRY})
    yield "sliced-twice", read(BINARY, ON_BINARY, by={"country": COUNTRY, "day": DAY})
    words = ["spam", "spam", "ham", "ham"]
    said = {"new": ["spam", "ham", "ham", "spam"], "old": ["ham", "spam", "ham", "spam"]}
    yield "counts", op.Outcomes.from_counts(words, said, [170, 25, 1900, 60])
    yield (
        "huge",
        op.Outcomes.from_counts(
            [1, 1, 0, 0],
            {"new": [1, 1, 0, 0], "old": [1, 0, 0, 1]},
            [2**64 + 1, 2**53 + 1, 10**26, 7],
        ),
    )
    yield (
        "confusion",
        op.Outcomes.from_confusion({"new": [[50, 4], [6, 40]], "old": [[47, 7], [9, 37]]}),
    )
    yield "unpaired", binary.unpair()
    yield "binarized", read(THREE, ON_THREE).binarize("y")
    yield "selected", binary.select(["old", "new"])
    yield (
        "sum",
        read(BINARY[:60], some(ON_BINARY, slice(60)))
        + read(BINARY[60:], some(ON_BINARY, slice(60, N))),
    )
    yield "prevalence", read(WORDS, ON_WORDS).at_prevalence({"spam": 0.05})
    yield "prevalence-counts", read(WORDS, ON_WORDS).at_prevalence({"spam": 4, "ham": 76})
    yield "correct", right(RIGHT)
    yield "correct-groups", right(RIGHT, groups=GROUP)
    yield "correct-weights", right(RIGHT, sample_weight=WEIGHT)
    yield "correct-sliced", right(RIGHT, by={"country": COUNTRY})
    sets = op.Outcomes.from_label_sets
    names = np.array(list("pqrs"))
    named = [[list(names[row]) for row in rows] for rows in (SETS, *ON_SETS.values())]
    yield "sets", sets(named[0], dict(zip(MODELS, named[1:], strict=True)))
    for name in ("sets-samples", "sets-uniform"):
        yield name, sets(SETS, ON_SETS)
    yield "sets-groups", sets(SETS, ON_SETS, groups=GROUP[:60])
    yield "sets-weights", sets(SETS, ON_SETS, sample_weight=WEIGHT[:60])
    yield "tags", op.Outcomes.from_tags(GOLD, TAGGED, scheme="IOB2")
    yield "tags-groups", op.Outcomes.from_tags(GOLD, TAGGED, scheme="IOB2", groups=GROUP[:60])
    spans = [[(0, 2, "PER")] if k % 2 else [(0, 1, "LOC")] for k in range(60)]
    found = {
        m: [row if RNG.random() < s else [] for row in spans]
        for m, s in zip(MODELS, SHARES, strict=True)
    }
    yield "spans", op.Outcomes.from_spans(spans, found)
    counted = {
        "new": ["X", "X", None, None, "X", "X", None],
        "old": ["X", None, "X", None, "X", None, "X"],
    }
    yield (
        "span-counts",
        op.Outcomes.from_span_counts(
            ["X", "X", "X", "X", None, None, None], counted, [68, 12, 2, 18, 8, 2, 7]
        ),
    )
    yield "tp-fp-fn", op.Outcomes.from_tp_fp_fn({"new": (80, 10, 20), "old": (70, 15, 30)})
    which = RNG.choice(N, 40, replace=False)
    yield (
        "pool",
        op.Outcomes.from_pool(WORDS[which], {m: ON_WORDS[m] for m in ("new", "old")}, which=which),
    )
    judge = {m: RIGHT[m] ^ (RNG.random(N) < 0.1) for m in ("new", "old")}
    human = {m: np.where(np.arange(N) < 50, RIGHT[m], np.nan) for m in judge}
    yield "judged", op.Outcomes.from_judged(judge, human=human)
    labels = {m: ON_THREE[m] for m in ("new", "old")}
    people = np.where(np.arange(N) < 50, THREE, None)
    yield "judged-labels", op.Outcomes.from_judged(labels, human=people, judge=ON_THREE["base"])
    several = np.stack([ON_BINARY["base"], ON_BINARY["old"], BINARY], axis=1)
    for truth in ("random", "majority"):
        yield f"annotators-{truth}", op.Outcomes.from_annotators(several, ON_BINARY, truth=truth)


def batches(name: str, rows: slice) -> tuple[Any, ...]:
    """Return what one batch of a monitor gives to ``add``."""
    some_sets = slice(rows.start // 2, rows.stop // 2)
    read, pair = op.Outcomes, ("new", "old")
    return {
        "labels": lambda: (BINARY[rows], some(ON_BINARY, rows)),
        "three": lambda: (THREE[rows], some(ON_THREE, rows)),
        "correct": lambda: (read.from_correct(some(RIGHT, rows)),),
        "groups": lambda: (read.from_labels(BINARY[rows], some(ON_BINARY, rows), groups=GROUP[rows]),),
        "weights": lambda: (read.from_labels(BINARY[rows], some(ON_BINARY, rows), sample_weight=WEIGHT[rows]),),
        "sets": lambda: (read.from_label_sets(SETS[some_sets], some(ON_SETS, some_sets)),),
        "spans": lambda: (read.from_tags(GOLD[some_sets], {m: TAGGED[m][some_sets] for m in pair}, scheme="IOB2"),),
        "prevalence": lambda: (BINARY[rows], some(ON_BINARY, rows)),
        "probabilities": lambda: (BINARY[rows], some(PROBABILITY, rows)),
        "class-probabilities": lambda: (THREE[rows], some(SIMPLEX, rows)),
        "grades": lambda: (None, some(GRADE, rows)),
        "targets": lambda: (GRADE["base"][rows], {m: GRADE[m][rows] for m in pair}),
        "statistics": lambda: (op.Scores.from_statistics(
            {m: {k: v[rows] for k, v in SPENT[m].items()} for m in pair}),),
        "weighted-grades": lambda: (op.Scores.from_values(
            some(GRADE, rows), sample_weight=WEIGHT[rows], ids=np.arange(N)[rows]),),
    }[name]()  # fmt: skip


def write_inputs(folder: Path) -> None:
    """Write tables for the command, and lists for verbs that take no stored file."""
    (folder / "days").mkdir()
    for day in range(3):
        lines = ["label,new,old,country"]
        for k in range(40 * day, 40 * (day + 1)):
            lines.append(f"{WORDS[k]},{ON_WORDS['new'][k]},{ON_WORDS['old'][k]},{COUNTRY[k]}")
        (folder / "days" / f"day-{day}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    inputs = {
        "pool": {m: ON_WORDS[m].tolist() for m in ("new", "old")},
        "fold_scores": {
            "new": [0.84, 0.86, 0.83, 0.87, 0.85], "old": [0.82, 0.83, 0.83, 0.84, 0.81],
        },
        "fold_counts": {
            "new": [[43, 5, 6], [42, 6, 7], [44, 6, 5], [41, 5, 8]],
            "old": [[41, 6, 8], [40, 6, 9], [41, 5, 8], [40, 7, 9]],
        },
    }  # fmt: skip
    (folder / "inputs.json").write_text(json.dumps(inputs) + "\n", encoding="utf-8")
    (folder / "policy.toml").write_text(
        '[tasks]\nbinary = 0.05\nthree = "advisory"\ncorrect = "better"\nsets = "not_worse"\n',
        encoding="utf-8",
    )


def write_files(folder: Path) -> None:
    """Write what is read back."""
    (folder / "outcomes").mkdir()
    for name, seen in all_outcomes():
        (folder / "outcomes" / f"{name}.json").write_text(seen.to_json(), encoding="utf-8")
    days = [str(path) for path in sorted((folder / "days").iterdir())]
    run("count", *days, *COUNTED, "-o", str(folder / "outcomes" / "counted.json"))
    for name, asked in STORES.items():
        options = [word for option, value in asked.items() for word in (f"--{option}", value)]
        for upto in (2, 3):  # an update after the first counting
            run(
                "count", *days[:upto], *COUNTED, *options, "--update", str(folder / "stores" / name)
            )
    for name, asked in WATCHED.items():
        watch = op.Monitor(folder / "monitors" / name, "new", "old", **asked)
        for k in range(3):
            watch.add(*batches(name, slice(40 * k, 40 * (k + 1))), key=f"2026-11-{k + 1:02}")


def run(*words: str) -> None:
    if command(list(words)):
        raise SystemExit(f"{words} failed")


def write_trees(folder: Path) -> None:
    """Write trees of arrays, of which all draws come back."""
    try:
        import h5netcdf  # noqa: F401
        import xarray  # noqa: F401
    except ImportError:
        print("no trees: xarray and h5netcdf are not installed")
        return
    (folder / "trees").mkdir()
    for name in TREES:
        found = two(folder, name, 1, n_draws=100)
        found.to_datatree().to_netcdf(folder / "trees" / f"{name}.nc", engine="h5netcdf")
        values = [found.mean, found.sd, found.hdi.low, found.hdi.high]
        (folder / "trees" / f"{name}.json").write_text(json.dumps(values) + "\n", encoding="utf-8")


def write_answers(folder: Path) -> None:
    """Ask every question with nine seeds, and keep the answers; store one result of each kind."""
    (folder / "results").mkdir()
    for name, question in RESULTS.items():
        path = folder / "results" / f"{name}.json"
        text = json.dumps(question(folder, BASE_SEED).to_dict(), ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
    kept = {}
    for name, question in QUESTIONS.items():
        found = [
            answer(lambda seed, ask=question: ask(folder, seed), seed)
            for seed in (BASE_SEED, *OTHER_SEEDS)
        ]
        if "error" in found[0][0]:
            raise SystemExit(f"{name}: {found[0][0]}")
        kept[name] = sorted_out(found)
    text = json.dumps(kept, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    (folder / "answers.json").write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")


def main(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    write_inputs(folder)
    write_files(folder)
    write_trees(folder)
    write_answers(folder)
    print(f"{sum(path.is_file() for path in folder.rglob('*'))} files, {op.__file__}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
