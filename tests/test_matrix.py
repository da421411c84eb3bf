"""What works with what: every verb on every kind of data works, or says in a sentence why not.

The table is the page ``docs/reference/what-works.md``; write it anew with

    UPDATE_GOLDEN=1 python -m pytest -n 0 -m slow tests/test_matrix.py
"""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import outperform as op
from outperform.errors import OutperformError

pytestmark = pytest.mark.slow  # 500 cells
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "what-works.md"
N = 160
MODELS = ("A", "B", "C")
AB = ("A", "B")
FAST = {"n_draws": 400, "random_state": 1}


@dataclass(frozen=True)
class Kind:
    """One kind of data, and what is asked of it."""

    name: str
    made_by: str
    data: op.Outcomes | op.Scores
    metric: object
    rope: float
    other: object
    truth: object = None
    columns: object = None
    beside: Mapping[str, object] = field(default_factory=dict)


def _labels(rng, truth, n_classes, wrong):
    other = (truth + rng.integers(1, n_classes, len(truth))) % n_classes
    return np.where(rng.random(len(truth)) < wrong, other, truth)


def words_wrong(means):
    return means[0] / means[1]


def words_right(means):
    return 1 - means[0] / means[1]


def kinds() -> dict[str, Kind]:
    """Return one example of each kind, three models each."""
    rng = np.random.default_rng(7)
    shares = dict(zip(MODELS, (0.1, 0.2, 0.25), strict=True))
    two, many = rng.integers(0, 2, N), rng.integers(0, 4, N)
    of_two = {model: _labels(rng, two, 2, wrong) for model, wrong in shares.items()}
    of_many = {model: _labels(rng, many, 4, wrong) for model, wrong in shares.items()}
    right = {model: (rng.random(N) > wrong).astype(int) for model, wrong in shares.items()}
    sets = [[name for name in "xyz" if rng.random() < 0.4] for _ in range(N)]
    of_sets = {
        model: [[one for one in own if rng.random() > wrong] or ["x"] for own in sets]
        for model, wrong in shares.items()
    }
    tags = [["B-PER", "I-PER", "O", "B-LOC" if rng.random() < 0.5 else "O"] for _ in range(N)]
    of_tags = {
        model: [["O"] * 4 if rng.random() < wrong else own for own in tags]
        for model, wrong in shares.items()
    }
    scored = {
        model: np.clip(0.5 + 0.3 * (two - 0.5) + rng.normal(0, 0.3 + wrong, N), 0.02, 0.98)
        for model, wrong in shares.items()
    }
    grades = {model: rng.normal(7 - 3 * wrong, 1, N).round(1) for model, wrong in shares.items()}
    target = rng.normal(10, 3, N)
    predicted = {model: target + rng.normal(0, 1 + wrong, N) for model, wrong in shares.items()}
    length = rng.integers(3, 12, N)
    edits = {
        model: np.stack([rng.binomial(length, wrong), length], axis=1)
        for model, wrong in shares.items()
    }
    texts = ["the cat sat on the mat", "hello world", "a b c d", "one two three"] * (N // 4)
    of_texts = {
        model: [" ".join(word for word in text.split() if rng.random() > wrong) for text in texts]
        for model, wrong in shares.items()
    }
    statistics = {
        model: op.metrics.statistics("wer", texts, said) for model, said in of_texts.items()
    }
    scores, outcomes = op.Scores, op.Outcomes
    found = [
        Kind("two classes", "Outcomes.from_labels", outcomes.from_labels(two, of_two), "f1", 0.05,
             "recall", two, of_two),
        Kind("many classes", "Outcomes.from_labels", outcomes.from_labels(many, of_many),
             "f1_macro", 0.05, "accuracy", many, of_many),
        Kind("right or wrong", "Outcomes.from_correct", outcomes.from_correct(right), "accuracy",
             0.05, "accuracy", None, right),
        Kind("label sets", "Outcomes.from_label_sets", outcomes.from_label_sets(sets, of_sets),
             "f1_micro", 0.05, "f1_macro", sets, of_sets),
        Kind("spans", "Outcomes.from_tags", outcomes.from_tags(tags, of_tags, scheme="IOB2"), "f1",
             0.05, "recall", tags, of_tags),
        Kind("scores and classes", "Scores.from_arrays", scores.from_arrays(two, scored), "roc_auc",
             0.05, "log_loss", two, scored),
        Kind("grades", "Scores.from_values", scores.from_values(grades), "mean", 0.2, "median",
             None, grades),
        Kind("targets", "Scores.from_targets", scores.from_targets(target, predicted), "rmse", 0.1,
             "r2", target, predicted),
        Kind("statistics", "Scores.from_statistics", scores.from_statistics(edits), words_wrong,
             0.05, words_right),
        Kind("texts", 'metrics.statistics("wer", …)',
             scores.from_statistics(statistics, columns=("errors", "words")), "wer", 0.05, "wer",
             texts, of_texts),
    ]  # fmt: skip
    return {one.name: one for one in found}


def properties() -> dict[str, Kind]:
    """Return what else may be known of the items, one example each, two models or three."""
    rng = np.random.default_rng(8)
    two, levels = rng.integers(0, 2, N), dict(zip(MODELS, (0.1, 0.2, 0.25), strict=True))
    said = {model: _labels(rng, two, 2, wrong) for model, wrong in levels.items()}
    right = {model: said[model] == two for model in AB}
    pair = {model: said[model] for model in AB}
    people = np.where(rng.random(N) < 0.5, two, np.nan)
    annotators = np.stack([_labels(rng, two, 2, 0.1) for _ in range(3)], axis=1)
    first = rng.integers(0, 3, 3 * N)
    second = (first + rng.integers(1, 3, 3 * N)) % 3
    won = np.where(rng.random(3 * N) < 0.5 + 0.1 * (second - first), first, second)
    votes = (np.array(MODELS)[each] for each in (first, second, won))
    outcomes = op.Outcomes
    plain = outcomes.from_labels(two, said)

    def beside(name, **known):
        made = f"Outcomes.from_labels(…, {next(iter(known))}=…)"
        data = outcomes.from_labels(two, said, **known)
        return Kind(name, made, data, "f1", 0.05, "recall", two, said, known)

    def of(name, made_by, data, metric, other="recall"):
        return Kind(name, made_by, data, metric, 0.05, other)

    found = [
        beside("groups", groups=np.arange(N) // 4),
        beside("importance weights", sample_weight=rng.lognormal(0, 0.5, N)),
        beside("slices", by={"g": np.arange(N) % 4}),
        of("different class proportions", "outcomes.at_prevalence", plain.at_prevalence(0.3), "f1"),
        of("a pool", "Outcomes.from_pool", outcomes.from_pool(people, pair), "f1"),
        of("a judge", "Outcomes.from_judged", judged(right, rng), "accuracy", "accuracy"),
        of("annotators", "Outcomes.from_annotators",
           outcomes.from_annotators(annotators, said, truth="majority"), "f1"),
        of("unpaired", "Outcomes.from_confusion",
           outcomes.from_confusion({m: plain.confusion(m) for m in MODELS}), "f1"),
        of("votes", "Scores.from_votes", op.Scores.from_votes(*votes), "win_rate", "win_rate"),
    ]  # fmt: skip
    return {one.name: one for one in found}


def judged(right, rng):
    """Return what a judge says of all items and people of a random half."""
    asked = rng.random(N) < 0.5
    seen = {model: np.where(rng.random(N) < 0.9, bits, ~bits) for model, bits in right.items()}
    human = {model: np.where(asked, bits, np.nan) for model, bits in right.items()}
    return op.Outcomes.from_judged(seen, human=human, drawn="random")


OF_ITEMS, BESIDE = kinds(), properties()
KINDS = OF_ITEMS | BESIDE


def compared(kind: Kind) -> op.Comparison:
    # A prior that is learned would take its time in every test set of more_data.
    prior = {"prior": "unit"} if kind.name == "many classes" else {}
    return op.compare(kind.data, *AB, metric=kind.metric, rope=kind.rope, **prior, **FAST)


class Told:
    """An estimator that was told what to predict for item i, whose features are ``[i]``."""

    def __init__(self, answers=None):
        self.answers = answers

    def get_params(self, deep=True):
        return {"answers": self.answers}

    def set_params(self, **params):
        self.answers = params["answers"]
        return self

    def fit(self, x, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, x):
        return [self.answers[int(place)] for (place,) in x]

    def predict_proba(self, x):
        p = np.array(self.predict(x))
        return np.stack([1 - p, p], axis=1)


def trained(kind: Kind) -> op.Comparison:
    if kind.columns is None or kind.truth is None:
        raise Absent("there is no truth to train on, only what was made of it")
    scheme = {"scheme": "IOB2"} if kind.name == "spans" else {}
    a, b = (Told(kind.columns[model]) for model in AB)
    return op.cross_compare(
        a, b, np.arange(N)[:, None], kind.truth, metric=kind.metric, rope=kind.rope, names=AB,
        **scheme, **FAST,
    )  # fmt: skip


class Absent(Exception):
    """What a kind of data has not got, so that the question cannot even be put."""


def sliced(kind: Kind) -> object:
    by = {"g": np.array(["x", "y", "z", "w"])[np.arange(N) % 4]}
    asked = {"metric": kind.metric, "rope": kind.rope, **FAST}
    if isinstance(kind.data, op.Scores):
        return op.compare_slices(kind.data, *AB, by=by, **asked)
    if kind.name == "right or wrong":
        return op.compare_slices(op.Outcomes.from_correct(kind.columns, by=by), *AB, **asked)
    if kind.name == "label sets":
        sets = op.Outcomes.from_label_sets(kind.truth, kind.columns, by=by)
        return op.compare_slices(sets, *AB, **asked)
    if kind.name == "spans":
        spans = op.Outcomes.from_tags(kind.truth, kind.columns, scheme="IOB2", by=by)
        return op.compare_slices(spans, *AB, **asked)
    if kind.name in ("two classes", "many classes", *BESIDE) and kind.truth is not None:
        divided = op.Outcomes.from_labels(kind.truth, kind.columns, **{"by": by, **kind.beside})
        return op.compare_slices(divided, *AB, **asked)
    return op.compare_slices(kind.data, *AB, **asked)


def watched(kind: Kind, folder: Path) -> object:
    monitor = op.Monitor(folder / "batches", *AB, metric=kind.metric, rope=kind.rope, n_draws=400)
    monitor.add(kind.data, key="Monday")
    return monitor.looks[0].decision


def proposed(kind: Kind) -> object:
    if kind.columns is None:
        raise Absent("there are no predicted labels to choose items by")
    a, b = (kind.columns[model] for model in AB)
    return op.propose(a, b, budget=40, metric=kind.metric, random_state=1)


def planned(kind: Kind) -> object:
    return op.plan(
        pilot=kind.data, a="A", b="B", metric=kind.metric, rope=kind.rope, n_simulations=100,
        n_draws=200, random_state=1,
    )  # fmt: skip


def powered(kind: Kind) -> object:
    return op.power(
        kind.data, *AB, metric=kind.metric, rope=kind.rope, sizes=[100, 200], n_simulations=100,
        n_draws=200, random_state=1,
    )  # fmt: skip


def reported(kind: Kind, folder: Path) -> object:
    return op.write_report(compared(kind), folder / "report.html")


def valid(kind: Kind) -> object:
    jsonschema = pytest.importorskip("jsonschema")
    facts = json.loads(json.dumps(compared(kind).to_dict()))
    jsonschema.validate(facts, op.results.json_schema("comparison"))
    return facts


def thawed(kind: Kind) -> object:
    again = pickle.loads(pickle.dumps(compared(kind)))
    assert again.mean == compared(kind).mean
    return again


def suite_of(kind: Kind) -> op.Suite:
    return op.Suite({"one": kind.data, "two": kind.data}, metrics=kind.metric, ropes=kind.rope)


VERBS: dict[str, Callable[..., object]] = {
    "`compare`": compared,
    "`estimate`": lambda kind: op.estimate(kind.data, "A", metric=kind.metric, **FAST),
    "`rank`": lambda kind: op.rank(kind.data, metric=kind.metric, rope=kind.rope, **FAST),
    "`scorecard`": lambda kind: op.scorecard(
        kind.data, *AB, metrics=[kind.metric, kind.other], rope=kind.rope, **FAST
    ),
    "`gate`": lambda kind: op.gate(kind.data, *AB, metric=kind.metric, rope=kind.rope, **FAST),
    "`compare_slices`": sliced,
    "`cross_compare`": trained,
    "`compare_runs`": lambda kind: op.compare_runs(
        kind.data, ["A"], ["B", "C"], metric=kind.metric, rope=kind.rope, **FAST
    ),
    "`plan`": planned,
    "`power`": powered,
    "`Monitor`": watched,
    "`propose`": proposed,
    "`Suite`, `compare`": lambda kind: op.compare(suite_of(kind), *AB, **FAST),
    "`Suite`, `rank`": lambda kind: op.rank(suite_of(kind), **FAST),
    "`Suite`, `gate`": lambda kind: op.gate(suite_of(kind), *AB, **FAST),
    "`write_report`": reported,
    "`c.with_rope`": lambda kind: compared(kind).with_rope(2 * kind.rope),
    "`c.with_metric`": lambda kind: compared(kind).with_metric(kind.other),
    "`c.with_label_errors`": lambda kind: compared(kind).with_label_errors(0.03),
    "`c.at_prevalence`": lambda kind: compared(kind).at_prevalence(
        0.3 if kind.data.n_classes in (2, None) else {0: 0.4, 1: 0.2, 2: 0.2, 3: 0.2}
    ),
    "`c.item_table`": lambda kind: compared(kind).item_table().to_frame(),
    "`c.more_data`": lambda kind: compared(kind).more_data(n_simulations=100, n_draws=200),
    "`c.sensitivity`": lambda kind: compared(kind).sensitivity(),
    "`c.fragility`": lambda kind: compared(kind).fragility(),
    "`c.expected_coverage`": lambda kind: op.compare(  # by the default prior
        kind.data, *AB, metric=kind.metric, rope=kind.rope, **FAST
    ).expected_coverage(),
    "`c.to_dict`, JSON schema": valid,
    "pickle": thawed,
}
IN_FOLDER = (watched, reported)


def tried(verb: str, kind: Kind, folder: Path) -> str:
    """Return an empty string if it works, and the sentence if it is refused."""
    run = VERBS[verb]
    try:
        if run in IN_FOLDER:
            run(kind, folder)
        else:
            run(kind)
    except (OutperformError, Absent) as error:
        return str(error)
    return ""


CELLS = [(verb, kind) for verb in VERBS for kind in KINDS]


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict[tuple[str, str], str]:
    """Return what every cell said."""
    return {
        (verb, kind): tried(verb, KINDS[kind], tmp_path_factory.mktemp("cell"))
        for verb, kind in CELLS
    }


def as_page(said: dict[tuple[str, str], str]) -> str:
    """Return the table as a page, each refusal as a numbered sentence under it."""
    notes: dict[str, int] = {}

    def grid(names: Iterable[str]) -> list[str]:
        rows = [f"| | {' | '.join(names)} |", "|---|" + ":-:|" * len(list(names))]
        for verb in VERBS:
            marks = []
            for kind in names:
                sentence = beginning(said[verb, kind])
                number = notes.setdefault(sentence, len(notes) + 1) if sentence else 0
                marks.append(f"[{number}](#refused)" if number else "✓")
            rows.append(f"| {verb} | {' | '.join(marks)} |")
        return rows

    works = {
        part: sum(not said[verb, kind] for verb in VERBS for kind in names)
        for part, names in (("items", OF_ITEMS), ("beside", BESIDE))
    }
    size = len(VERBS) * len(OF_ITEMS)
    made = [f"| {kind.name} | `{kind.made_by}` | `{name_of(kind)}` |" for kind in KINDS.values()]
    return "\n".join(
        [
            "# What works with what",
            "",
            "Every verb and every kind of data, tried one by one: ✓ works, a number refers to the",
            f"sentence with which it is refused. {works['items']} of {size} work.",
            "",
            *grid(OF_ITEMS),
            "",
            "The same for what may be known besides labels, each with two classes:",
            f"{works['beside']} of {len(VERBS) * len(BESIDE)} work.",
            "",
            *grid(BESIDE),
            "",
            "Each kind was asked for one metric:",
            "",
            "| kind | made by | metric |",
            "|---|---|---|",
            *made,
            "",
            "## Refused",
            "",
            *(f"{number}. {note}" for note, number in notes.items()),
            "",
        ]
    )


def beginning(sentence: str) -> str:
    """Return the first clause of a sentence, without the name of the metric that was asked for."""
    first = sentence.split(";")[0].split(". ")[0]
    for kind in KINDS.values():
        name = name_of(kind)
        first = re.sub(
            rf"(?<!\w)'?{re.escape(name)}'?(?= (is a metric|is computed|of one class))",
            "this",
            first,
        )
    first = re.sub(r"contains [\d.]+, which", "contains a number that", first)
    return first.strip()


def name_of(kind: Kind) -> str:
    return kind.metric if isinstance(kind.metric, str) else kind.metric.__name__


def test_the_page_is_what_was_tried(said):
    page = as_page(said)
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


def test_most_cells_work(said):
    for names, least in ((OF_ITEMS, 0.8), (BESIDE, 0.75)):
        cells = [said[verb, kind] for verb in VERBS for kind in names]
        assert sum(not sentence for sentence in cells) >= least * len(cells)


def test_refusals_are_sentences(said):
    for cell, sentence in said.items():
        assert not sentence or len(sentence.split()) > 5, cell
