"""Does an answer depend on threads or on the order of rows? It must not, to the last byte.

    python -m verification.answers.bytes               # some thirty questions, each asked four times
    python -m verification.answers.bytes --only groups

Each question is asked with one thread, with four, and with the rows in two other orders; the JSON
must be the same text. A question whose name is in ``KNOWN`` fails today, for the reason given there;
once it no longer does, the reason must be deleted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import outperform as op
from verification.answers import inputs as data

DRAWS = 1_000
ORDERS = (11, 12)  # seeds of the orders
ASKED = {"n_draws": DRAWS, "rope": 0.01, "random_state": 1}


class Rows:
    """An order of rows, which every column is put into."""

    def __init__(self, seed: int | None) -> None:
        self.seed = seed

    def order(self, n: int) -> np.ndarray:
        return (
            np.arange(n) if self.seed is None else np.random.default_rng(self.seed).permutation(n)
        )

    def of(self, column: Any) -> Any:
        """Return an array, a list, or a mapping of them in this order."""
        if isinstance(column, Mapping):
            return {name: self.of(one) for name, one in column.items()}
        order = self.order(len(column))
        return [column[k] for k in order] if isinstance(column, list) else np.asarray(column)[order]


Case = Callable[[Rows, int], Any]
CASES: dict[str, Case] = {}

# Which cases are not the same bytes, and why.
KNOWN: dict[str, str] = {
    "scores/ece_debiased": "items are not merged, since squares of their weights count, and keep their order",
    "annotators": "the latent truth is fitted to the items in their order",
}


def labelled(rows: Rows, data_set: Callable[[], tuple[Any, Any]], **columns: Any) -> op.Outcomes:
    """Return outcomes of (truth, predictions), with columns beside them, in an order."""
    truth, said = data_set()
    return op.Outcomes.from_labels(rows.of(truth), rows.of(dict(said)), **rows.of(columns))


def ab(seen: Any, n_jobs: int, metric: str, **options: Any) -> op.Comparison:
    return op.compare(seen, "A", "B", metric=metric, n_jobs=n_jobs, **{**ASKED, **options})


def compares(name: str, data_set: Callable[[], tuple[Any, Any]], metric: str,
             columns: Callable[[], dict[str, Any]] = dict, **options: Any) -> None:  # fmt: skip
    CASES[name] = lambda rows, jobs: ab(
        labelled(rows, data_set, **columns()), jobs, metric, **options
    )


compares("binary/f1", data.binary, "f1", n_draws=4_000)
compares("binary/accuracy", data.binary, "accuracy")
compares("binary/unpaired", data.binary, "f1", paired=False)
for _prior in ("uniform", "jeffreys", "hierarchical", "bootstrap"):
    compares(f"binary/{_prior}", data.binary, "f1", prior=_prior)
compares("three/learned", data.three, "f1_macro")
compares("twenty/learned", data.twenty, "f1_macro")
compares("twenty/unit", data.twenty, "f1_macro", prior="unit")
compares("zipf/learned", data.zipf, "f1_macro", n_draws=300)
compares("zipf/bootstrap", data.zipf, "f1_macro", prior="bootstrap")
compares("groups", data.binary, "f1", lambda: {"groups": data.groups()})
compares("groups/few", data.binary, "f1", lambda: {"groups": data.groups(600, 75)})
compares("weights", data.binary, "f1", lambda: {"sample_weight": data.weights()})
compares("groups/weights", data.binary, "accuracy",
         lambda: {"groups": data.groups(), "sample_weight": data.weights()})  # fmt: skip
CASES["groups/three"] = lambda rows, jobs: ab(
    labelled(rows, data.three, groups=data.groups(700, 7)), jobs, "f1_macro"
)
CASES["proportions"] = lambda rows, jobs: ab(
    labelled(rows, data.words).at_prevalence({"spam": 0.05}), jobs, "f1", pos_label="spam"
)
CASES["label errors"] = lambda rows, jobs: ab(
    labelled(rows, data.binary), jobs, "accuracy"
).with_label_errors(0.03)
CASES["correct"] = lambda rows, jobs: ab(
    op.Outcomes.from_correct(rows.of(data.correct())), jobs, "accuracy"
)
for _metric, _prior in (("f1_macro", None), ("f1_samples", None), ("f1_micro", "uniform")):
    CASES[f"sets/{_metric}"] = lambda rows, jobs, m=_metric, p=_prior: ab(
        op.Outcomes.from_label_sets(*map(rows.of, data.label_sets())), jobs, m, prior=p
    )
CASES["spans"] = lambda rows, jobs: ab(
    op.Outcomes.from_tags(*map(rows.of, data.tags()), scheme="IOB2"), jobs, "f1"
)
for _metric in ("roc_auc", "average_precision", "log_loss", "ece_debiased"):
    CASES[f"scores/{_metric}"] = lambda rows, jobs, m=_metric: ab(
        op.Scores.from_arrays(*map(rows.of, data.probabilities())), jobs, m
    )
CASES["scores/groups"] = lambda rows, jobs: ab(
    op.Scores.from_arrays(
        *map(rows.of, data.probabilities()), groups=rows.of(np.arange(500) // 5)
    ),
    jobs, "roc_auc",
)  # fmt: skip
CASES["grades"] = lambda rows, jobs: ab(
    op.Scores.from_values(rows.of(data.grades())), jobs, "mean", rope=0.1
)
CASES["grades/p90"] = lambda rows, jobs: ab(
    op.Scores.from_values(rows.of(data.seconds())), jobs, "p90", rope=0.1
)
CASES["targets"] = lambda rows, jobs: ab(
    op.Scores.from_targets(*map(rows.of, data.regression())), jobs, "rmse", rope=0.05
)
CASES["judged"] = lambda rows, jobs: ab(
    op.Outcomes.from_judged(
        rows.of(data.judged_answers()[0]), human=rows.of(data.judged_answers()[1])
    ),
    jobs, "accuracy",
)  # fmt: skip
CASES["annotators"] = lambda rows, jobs: ab(
    op.Outcomes.from_annotators(*map(rows.of, data.annotated()), truth="latent"), jobs, "accuracy"
)


def _pool(rows: Rows, jobs: int) -> op.Comparison:
    truth, said = data.pool()
    order = rows.order(len(truth))
    which = rows.of(np.argsort(order)[data.chosen()])  # where the labelled items now are
    seen = op.Outcomes.from_pool(truth[order][which], rows.of(dict(said)), which=which)
    return ab(seen, jobs, "accuracy")


CASES["pool"] = _pool
CASES["rank"] = lambda rows, jobs: op.rank(
    labelled(rows, data.three), metric="f1_macro", n_jobs=jobs, **ASKED
)
CASES["scorecard"] = lambda rows, jobs: op.scorecard(
    labelled(rows, data.three), "A", "B", metrics=["accuracy", "f1_macro"], n_jobs=jobs, **ASKED
)
CASES["slices"] = lambda rows, jobs: op.compare_slices(
    op.Outcomes.from_labels(*map(rows.of, data.sliced()[:2]), by=rows.of(data.sliced()[2])),
    "A", "B", metric="accuracy", n_jobs=jobs, **ASKED,
)  # fmt: skip
CASES["runs"] = lambda rows, jobs: op.compare_runs(
    rows.of(data.runs()[0]), *([rows.of(run) for run in runs] for runs in data.runs()[1:]),
    metric="accuracy", n_jobs=jobs, **ASKED,
)  # fmt: skip


def text_of(result: Any) -> str:
    """Return the JSON of a result, byte by byte."""
    return json.dumps(result.to_dict(), sort_keys=True, ensure_ascii=False)


def failures(name: str, orders: tuple[int, ...] = ORDERS) -> list[str]:
    """Return what changes the bytes of an answer: threads, an order of rows."""
    case = CASES[name]
    base = text_of(case(Rows(None), 1))
    found = [] if text_of(case(Rows(None), 4)) == base else ["four threads"]
    for order in orders:
        if text_of(case(Rows(order), 1)) != base:
            found.append(f"rows in order {order}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only", default="", metavar="PREFIX", help="only cases whose name begins so"
    )
    only = parser.parse_args().only
    names = [name for name in CASES if name.startswith(only)]
    wrong = 0
    for name in names:
        found = failures(name)
        if found or name in KNOWN:
            wrong += bool(found) != (name in KNOWN)
            known = f" (known: {KNOWN[name]})" if name in KNOWN else ""
            print(f"{name}: {', '.join(found) or 'the same bytes'}{known}")
    print(f"{len(names)} questions, {wrong} not as expected, {len(KNOWN)} known to change")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
