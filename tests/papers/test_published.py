"""The papers' figures are all there."""

from __future__ import annotations

import pytest

from outperform.errors import UsageError
from papers.published import PAPERS, published

PAIRS = ["table_4_nb_bern_vs_nb_mult", "table_5_svm_l1_vs_svm_l2", "table_6_nb_mult_vs_svm_l2"]


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_names_its_source(name):
    assert name[-4:] in published(name)["source"]


@pytest.mark.parametrize("table", PAIRS)
def test_sigir_tables_have_all_categories_and_consistent_numbers(table):
    rows = published("sigir2016")[table]["rows"]
    assert [row["category"] for row in rows] == list(range(20))
    for row in rows:
        low, high = row["hdi"]
        assert low <= row["mean"] <= high
        assert row["pct_below_zero"] + row["pct_above_zero"] == pytest.approx(100, abs=0.11)
        assert 0 <= row["sign_test_p"] <= 1
        assert 0 <= row["t_test_p"] <= 1


def test_sigir_power_table():
    table = published("sigir2016")["table_3_power"]
    for scenario in ("scenario_a", "scenario_b"):
        for kind in ("paired", "unpaired"):
            assert len(table[scenario][kind]) == len(table["dataset_sizes"]) == 7


def test_icdm_averages_follow_from_the_categories():
    table = published("icdm2015")["table_2_f1"]
    for name, scores in table["per_category"].items():
        assert len(scores) == 20
        # The mean of scores rounded to 0.001, itself rounded to 0.001.
        assert sum(scores) / 20 == pytest.approx(table["macro"][name], abs=0.00101)


def test_icdm_tests_and_posteriors_cover_the_same_comparisons():
    tables = published("icdm2015")
    keys = [
        [(row["a"], row["b"], row["metric"]) for row in rows]
        for rows in (tables["table_3_nhst"], tables["table_4_bayes"]["rows"])
    ]
    assert keys[0] == keys[1]
    assert len(keys[0]) == 6


def test_acl_has_six_folds_of_sensible_counts():
    tables = published("acl2019")
    for task in ("cws", "ner", "org"):
        for folds in tables[task]["counts"].values():
            assert len(folds) == 6
            for gold, predicted, correct in folds:
                assert 0 < correct <= min(gold, predicted)
        gold_a, gold_b = (
            [fold[0] for fold in tables[task]["counts"][model]] for model in ("A", "B")
        )
        assert gold_a == gold_b


def test_each_call_is_fresh():
    published("icdm2015").clear()
    assert "table_2_f1" in published("icdm2015")


def test_misspelt_name():
    with pytest.raises(UsageError, match=r"unknown paper 'sigir'.*'sigir2016'"):
        published("sigir")
