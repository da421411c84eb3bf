from __future__ import annotations

import numpy as np

from outperform import metrics
from tests.loops import each

SHARES = [
    name for name in [*metrics.names(), "f2", "f0.5", "f2_micro"] if metrics.get(name).how.parts
]


def parts_of(table, one):
    total = table.sum(axis=(0, 1))
    tp = table[one, one]
    fn = table[one].sum(axis=0) - tp
    fp = table[:, one].sum(axis=0) - tp
    correct = table[np.arange(len(table)), np.arange(len(table))].sum(axis=0)
    return {
        "tp": tp,
        "fn": fn,
        "fp": fp,
        "tn": total - tp - fn - fp,
        "correct": correct,
        "wrong": total - correct,
    }


@each("name", SHARES)
def test_the_share_is_the_metric(name, draws):
    metric = metrics.get(name)
    classes = [3] if metric.average == "binary" else None
    parts = parts_of(draws, 3)
    top = parts[metric.how.parts.top]
    bottom = top + sum(weight * parts[part] for part, weight in metric.how.parts.rest)
    value = metric.evaluate(metrics.Margins.from_confusion(draws), classes)
    assert np.allclose(top / bottom, value, rtol=0, atol=1e-14)


def test_which_metrics_are_shares():
    assert set(SHARES) == {
        "accuracy",
        *(
            f"{name}{average}"
            for name in ("f1", "precision", "jaccard")
            for average in ("", "_micro")
        ),
        "recall",
        "recall_micro",
        "recall_weighted",
        "specificity",
        "f2",
        "f0.5",
        "f2_micro",
    }


@each("name", SHARES)
def test_pooled_shares_need_all_classes(name):
    metric = metrics.get(name)
    assert metric.share_over(all_classes=True) == metric.how.parts
    pooled = metric.average in ("micro", "weighted")
    assert metric.share_over(all_classes=False) == (None if pooled else metric.how.parts)


def test_over_some_classes_a_micro_average_is_no_share_of_items(draws):
    some = metrics.get("f1_micro").evaluate(metrics.Margins.from_confusion(draws), [0, 1])
    parts = parts_of(draws, 0)
    assert not np.allclose(some, parts["correct"], atol=1e-3)


def test_weights_of_f_beta():
    assert metrics.get("f1").how.parts == metrics.Share("tp", (("fn", 0.5), ("fp", 0.5)))
    assert metrics.get("f2").how.parts == metrics.Share("tp", (("fn", 0.8), ("fp", 0.2)))


def test_a_share_lists_its_parts():
    assert metrics.get("jaccard").how.parts.parts == ("tp", "fn", "fp")
    assert hash(metrics.get("f1").how.parts) == hash(metrics.fbeta(1).how.parts)
