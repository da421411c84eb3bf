"""The p-values that the papers print, from the bundled predictions."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.datasets import load_news20
from outperform.nhst.items import (
    paired_t_over_classes,
    sign_test,
    sign_test_over_classes,
    welch_test,
)
from papers.published import published
from tests.loops import each

NEWS = load_news20()
CATEGORIES = range(20)


def right_or_wrong(name, category=None):
    """Whether each answer is right, over all groups or for one group against the rest."""
    answers = NEWS.predictions[name]
    if category is None:
        return answers == NEWS.y_true
    group = NEWS.target_names[category]
    return (answers == group) == (NEWS.y_true == group)


def micro_p_values(a, b, category=None):
    right_a, right_b = right_or_wrong(a, category), right_or_wrong(b, category)
    sign = sign_test((right_a & ~right_b).sum(), (right_b & ~right_a).sum())
    t = welch_test(right_a.size, right_a.sum(), right_b.sum())
    return sign.p_value, t.p_value


def macro_p_values(a, b):
    scores = []
    for name in (a, b):
        found, answers = [], NEWS.predictions[name]
        for group in NEWS.target_names:
            called, real = answers == group, group == NEWS.y_true
            found.append(2 * (called & real).sum() / (called.sum() + real.sum()))
        scores.append(np.array(found))
    return sign_test_over_classes(*scores).p_value, paired_t_over_classes(*scores).p_value


@each("table", ["table_4_nb_bern_vs_nb_mult", "table_6_nb_mult_vs_svm_l2"])
@each("category", CATEGORIES)
def test_sigir_p_values_as_printed(table, category):
    a, b = table[len("table_4_") :].split("_vs_")
    row = published("sigir2016")[table]["rows"][category]
    sign_p, t_p = micro_p_values(a, b, category)
    assert (round(sign_p, 3), round(t_p, 3)) == (row["sign_test_p"], row["t_test_p"])


@each("category", CATEGORIES)
def test_sigir_p_values_of_the_two_support_vector_machines(category):
    # The L1 machine does not converge, so a few of its answers are not the paper's:
    # in no group do they move a p-value by more than 0.07.
    row = published("sigir2016")["table_5_svm_l1_vs_svm_l2"]["rows"][category]
    sign_p, t_p = micro_p_values("svm_l1", "svm_l2", category)
    assert sign_p == pytest.approx(row["sign_test_p"], abs=0.07)
    assert t_p == pytest.approx(row["t_test_p"], abs=0.07)


@each("row", published("icdm2015")["table_3_nhst"])
def test_icdm_p_values(row):
    # As printed for naive Bayes; each machine adds the few answers that are not the paper's.
    slack = {"nb_mult": 0.0005, "svm_l2": 0.0025, "svm_l1": 0.012}
    p_values = micro_p_values if row["metric"] == "f1_micro" else macro_p_values
    sign_p, t_p = p_values(row["a"], row["b"])
    assert round(sign_p, 3) == row["sign_test_p"]
    assert t_p == pytest.approx(
        row["t_test_p"], abs=max(slack.get(m, 0) for m in (row["a"], row["b"]))
    )
