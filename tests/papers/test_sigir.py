"""The SIGIR 2016 tables come out as published."""

from __future__ import annotations

import math

import pytest

import outperform as op
from papers.sigir import TABLES
from papers.tables import Effort, timed
from tests.loops import each

NEWS = op.datasets.load_news20()
OUTCOMES = op.Outcomes.from_labels(NEWS.y_true, dict(NEWS.predictions))

# Power of the paired model from 500 simulated data sets a cell, for sizes 500 to 3,500.
LONG_RUN = {
    "(a) ≫ paired": [0.29, 0.55, 0.71, 0.84, 0.89, 0.93, 0.97],
    "(b) ≈ paired": [0, 0.23, 0.59, 0.81, 0.89, 0.93, 0.98],
}


@pytest.fixture(scope="module", params=[4, 6])
def naive_bayes(request):
    """A table whose predictions are the paper's."""
    return TABLES[request.param](Effort())


@pytest.fixture(scope="module")
def machines():
    """Table 5: the L1 machine does not converge, so a few answers are not the paper's."""
    return TABLES[5](Effort())


def largest(table, part):
    return max(map(abs, table.differences(part)))


def equal(table, part):
    return next(found.equal for found in table.agreement() if found.part == part)


def in_group(a, b, category, n_draws, seed=0):
    """Compare two classifiers in one of the paper's groups."""
    return op.compare(
        OUTCOMES,
        a,
        b,
        metric="f1",
        pos_label=NEWS.target_names[category],
        rope=0.05,
        n_draws=n_draws,
        random_state=seed,
    )


def is_flagged(comparison):
    return "monte_carlo_too_coarse" in [finding.name for finding in comparison.findings]


# Tables 4 to 6: F1 in each group


def test_means_and_sds(naive_bayes):
    assert largest(naive_bayes, "means") <= 0.0015
    assert largest(naive_bayes, "sds") <= 0.0015


def test_hdi_ends(naive_bayes):
    assert largest(naive_bayes, "HDI ends") <= 0.004


def test_every_decision_and_p_value_is_the_printed_one(naive_bayes):
    assert equal(naive_bayes, "decisions") == 20
    assert equal(naive_bayes, "p-values") == 40


def test_kde_bayes_factors_where_the_density_at_zero_is_not_a_tail(naive_bayes):
    for row in naive_bayes.rows:
        if row.published["bf_sd"] >= 1:
            assert row.ours["bf_sd"] == pytest.approx(row.published["bf_sd"], rel=0.1)


def test_machines(machines):
    assert largest(machines, "means") <= 0.005
    assert equal(machines, "decisions") >= 19
    assert machines.rows[4].flag == "monte_carlo_too_coarse"


@each("seed", range(20))
def test_a_decision_at_the_edge_is_flagged_whatever_the_seed(seed):
    # The interval of group 4 ends 0.0001 below the ROPE's edge.
    assert is_flagged(in_group("svm_l1", "svm_l2", 4, 50_000, seed))


@pytest.mark.parametrize(
    ("a", "b", "category", "symbol"),
    [
        ("nb_bern", "nb_mult", 18, "<"),
        ("svm_l1", "svm_l2", 13, "≈"),
        ("nb_mult", "svm_l2", 11, "≈"),
    ],
)
def test_more_draws_settle_a_decision_near_the_edge(a, b, category, symbol):
    # These end 0.0007 to 0.0018 from an edge and are flagged at 50,000 draws with some seeds.
    settled = in_group(a, b, category, 2_000_000)
    assert settled.decision.symbol == symbol
    assert not is_flagged(settled)


@pytest.mark.slow
def test_many_more_draws_settle_the_decision_at_the_edge():
    # At two million draws the end is known to 0.00004 and lies 0.0001 from the edge:
    # one decision, still flagged. At 32 million it is known to 0.00001.
    coarse = [in_group("svm_l1", "svm_l2", 4, 2_000_000, seed) for seed in range(4)]
    assert {one.decision.symbol for one in coarse} == {"<"}
    settled = in_group("svm_l1", "svm_l2", 4, 32_000_000)
    assert settled.decision.symbol == "<"
    assert not is_flagged(settled)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b"), [("nb_bern", "nb_mult"), ("svm_l1", "svm_l2"), ("nb_mult", "svm_l2")]
)
def test_no_decision_changes_with_the_seed_unflagged(a, b):
    tables = [in_group(a, b, 0, 50_000, seed).by_class() for seed in range(20)]
    for group in NEWS.target_names:
        answers = [table[group] for table in tables]
        assert len({one.decision for one in answers if not is_flagged(one)}) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [4, 6])
def test_what_is_left_of_the_differences_is_the_noise_of_print(number):
    # Twenty times the draws change neither decisions nor how far print is away.
    table = TABLES[number](Effort(draws=1_000_000))
    assert largest(table, "means") <= 0.0015
    assert largest(table, "HDI ends") <= 0.004
    assert equal(table, "decisions") == 20
    assert not any(row.flag for row in table.rows)


# Table 3: power


def simulation_error(share, *sizes):
    """Return the standard error of the difference of shares of so many data sets."""
    share = min(max(share, 0.002), 0.998)
    return math.sqrt(share * (1 - share) * sum(1 / size for size in sizes))


def check_long_run(table, simulations):
    rows = {row.label: row for row in table.rows}
    for label, expected in LONG_RUN.items():
        for share, found in zip(expected, rows[label].ours.values(), strict=True):
            error = simulation_error(share, simulations, 500)
            assert abs(found - share) <= 4 * error + 0.005, label


def test_power_with_few_simulations():
    table = TABLES[3](Effort(simulations=100))
    check_long_run(table, 100)


@pytest.mark.slow
def test_power():
    table = timed(TABLES[3], Effort())
    off = [abs(found) for found in table.differences("powers")]
    assert len(off) == 28
    assert max(off) <= 0.12
    assert sum(off) / len(off) <= 0.03
    check_long_run(table, 2_000)
    # Print says 0.63 here; a long run says 0.55.
    unpaired = next(row for row in table.rows if row.label == "(b) ≈ unpaired")
    assert abs(unpaired.ours["2000"] - 0.55) <= 4 * simulation_error(0.55, 2_000, 500) + 0.005
    # Ninety seconds of two cores; on the clock that depends on who else uses them.
    assert table.cpu_seconds <= 2 * 90
