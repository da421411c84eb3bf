"""The chain gives the exact engine's posterior."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import ResourceError, UsageError
from outperform.posterior.pymc.models import class_rates, per_item_paired, unpaired

pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore")  # of PyTensor, ArviZ and JAX about themselves

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_ERRORS = 5.0


def data(n_classes, n, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    said = [
        np.where(rng.random(n) < rate, truth, rng.integers(0, n_classes, n)) for rate in (0.85, 0.7)
    ]
    return truth, *said


def label_sets(n, n_labels, seed):
    rng = np.random.default_rng(seed)
    truth = rng.random((n, n_labels)) < 0.3
    said = [truth ^ (rng.random((n, n_labels)) < rate) for rate in (0.1, 0.2)]
    return tuple(table.astype(int) for table in (truth, *said))


def assert_agree(chained, exact):
    """Mean, sd, five quantiles and two probabilities within five joint Monte Carlo errors."""
    assert chained.chain.converged, chained.chain
    assert chained.chain.rhat < 1.01
    assert chained.chain.divergences == 0
    pairs = {"mean": (chained.mean, exact.mean), "sd": (chained.sd, exact.sd)}
    for name in ("p_greater", "p_equivalent"):
        pairs[name] = getattr(chained, name), getattr(exact, name)
    for name, (one, other) in pairs.items():
        error = np.hypot(chained.mc_errors[name], exact.mc_errors[name])
        assert abs(one - other) <= MOST_ERRORS * error, (name, one, other, error)
    worth = 1 / chained.n_effective + 1 / exact.n_effective
    ordered = np.sort(exact.draws)
    for level in LEVELS:
        # The chain's quantile, looked up in the exact draws, is a level with a known error.
        found = np.searchsorted(ordered, np.quantile(chained.draws, level)) / ordered.size
        assert abs(found - level) <= MOST_ERRORS * (level * (1 - level) * worth) ** 0.5, level


def ask(seen, sampler, **chosen):
    exact = op.compare(*seen, n_draws=40_000, random_state=3, **chosen)
    chained = op.compare(*seen, engine=sampler, random_state=4, n_jobs=1, **chosen)
    return chained, exact


SHORT = op.PyMC(draws=500, tune=500, progress=False)


def test_the_paired_binary_model():
    chained, exact = ask(data(2, 300, 1), SHORT, metric="f1", rope=0.05)
    assert type(chained) is type(exact)
    assert_agree(chained, exact)
    assert chained.draws.size == 2_000
    assert "engine=pymc" in chained.signature


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(
    ("n_classes", "metric", "prior"),
    [
        (2, "f1", "uniform"),
        (3, "accuracy", "uniform"),
        (3, "f1_macro", "unit"),
        (4, "f1_macro", "unit"),
        (3, "f1_macro", "hierarchical"),
        (4, "matthews_corrcoef", "hierarchical"),
    ],
)
def test_every_model_of_classes(n_classes, metric, prior, paired, seed):
    chained, exact = ask(
        data(n_classes, 300, seed),
        op.PyMC(progress=False),
        metric=metric,
        prior=prior,
        paired=paired,
        rope=0.05,
    )
    assert_agree(chained, exact)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_learned_prior(n_classes):
    sampler, metric = op.PyMC(progress=False), "f1" if n_classes == 2 else "f1_macro"
    chosen = {"metric": metric, "prior": "learned", "paired": False, "rope": 0.05}
    assert_agree(*ask(data(n_classes, 200, 5), sampler, **chosen))


def test_the_learned_prior_has_no_paired_chain():
    with pytest.raises(UsageError, match="no prior 'learned'; use one of uniform, unit"):
        op.compare(*data(3, 30, 1), metric="f1_macro", prior="learned", engine="pymc")


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["unit", "hierarchical", "learned"])
def test_numpyro_compiles_what_is_learned(prior):
    pytest.importorskip("numpyro")
    sampler = op.PyMC(sampler="numpyro", draws=500, tune=500, progress=False)
    chosen = {"metric": "f1_macro", "prior": prior, "paired": False, "rope": 0.05}
    assert_agree(*ask(data(3, 100, 12), sampler, **chosen))


@pytest.mark.slow
def test_the_learned_prior_on_few_news():
    """Every 37th item, by the seven top-level groups."""
    news = op.datasets.load_news20()
    said = (news.y_true, news.predictions["nb_mult"], news.predictions["svm_l1"])
    seen = [[group.partition(".")[0] for group in one[::37]] for one in said]
    sampler = op.PyMC(draws=1_000, progress=False)
    chained, exact = ask(
        seen, sampler, metric="f1_macro", prior="learned", paired=False, rope=0.005
    )
    assert_agree(chained, exact)
    for chain, own in ((chained.a, exact.a), (chained.b, exact.b)):
        error = np.hypot(chain.mc_errors["mean"], own.mc_errors["mean"])
        assert abs(chain.mean - own.mean) <= MOST_ERRORS * error


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["uniform", "unit"])
def test_label_sets(prior):
    seen = label_sets(200, 3, 6)
    chained, exact = ask(seen, op.PyMC(progress=False), metric="f1_macro", prior=prior, rope=0.05)
    assert_agree(chained, exact)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nutpie", "numpyro"])
def test_other_samplers(name):
    pytest.importorskip(name)
    sampler = op.PyMC(sampler=name, progress=False)
    assert_agree(*ask(data(2, 300, 7), sampler, metric="f1", rope=0.05))


@pytest.mark.slow
def test_the_papers_metropolis():
    sampler = op.PyMC(sampler="metropolis", progress=False)
    chained, exact = ask(data(2, 300, 8), sampler, metric="recall", rope=0.05)
    assert chained.draws.size == 50_000
    assert_agree(chained, exact)


@pytest.mark.slow
def test_too_short_a_chain_gives_no_decision():
    sampler = op.PyMC(draws=100, tune=0, sampler="metropolis", progress=False)
    chained = op.compare(
        *data(2, 4000, 9), metric="recall", engine=sampler, random_state=1, n_jobs=1
    )
    assert chained.decision is op.Decision.UNDECIDED
    assert "chain_not_converged" in [one.name for one in chained.findings]


def tables(seen):
    outcomes = op.Outcomes.from_labels(seen[0], {"A": seen[1], "B": seen[2]})
    return outcomes, np.stack([outcomes.confusion(name) for name in outcomes.models])


@pytest.mark.slow
def test_a_model_of_ones_own_is_the_named_one_where_it_is_the_same():
    seen = data(2, 300, 10)
    own = unpaired(tables(seen)[1])
    chained = op.compare(*seen, metric="f1", rope=0.05, engine=SHORT, prior=own, random_state=4)
    exact = op.compare(*seen, metric="f1", rope=0.05, paired=False, random_state=3)
    assert_agree(chained, exact)
    assert chained.bayes_factor is None
    assert "prior=own" in chained.signature


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "density"),
    [
        ("logit_normal", lambda p: np.exp(-((np.log(p / (1 - p)) - 1) ** 2) / 2) / (p * (1 - p))),
        ("truncated_normal", lambda p: np.exp(-((p - 1) ** 2) / 2)),
    ],
)
def test_rates_with_a_normal_prior(kind, density):
    seen = data(3, 60, 11)
    outcomes, counts = tables(seen)
    own = class_rates(counts, kind=kind, mean=1.0, sd=1.0)
    chained = op.compare(
        outcomes,
        "A",
        "B",
        metric="recall_macro",
        engine=SHORT,
        prior=own,
        random_state=4,
        n_jobs=1,
    )
    grid = (np.arange(4000) + 0.5) / 4000
    means = []
    for table in counts[0]:
        right, total = int(table[len(means)]), int(table.sum())
        weight = grid**right * (1 - grid) ** (total - right) * density(grid)
        means.append(np.average(grid, weights=weight))
    error = chained.a.chain.mcse
    assert chained.chain.converged
    assert abs(chained.a.mean - np.mean(means)) <= MOST_ERRORS * error


@pytest.mark.slow
def test_a_node_for_each_item_has_the_posterior_of_the_counts():
    seen, asked = data(2, 120, 12), {"metric": "f1", "rope": 0.05}
    compact, exact = ask(seen, SHORT, **asked)
    by_item = op.compare(
        *seen,
        engine=SHORT,
        prior=per_item_paired(*seen),
        random_state=5,
        n_jobs=1,
        **asked,
    )
    assert_agree(by_item, exact)
    assert_agree(by_item, compact)


def test_a_pymc_model_needs_its_engine():
    seen = data(2, 30, 1)
    with pytest.raises(UsageError, match="pass engine='pymc'"):
        op.compare(*seen, metric="f1", prior=unpaired(tables(seen)[1]))


def test_too_few_draws_for_the_chains_are_refused():
    with pytest.raises(UsageError, match="n_draws must be at least 400"):
        op.compare(*data(2, 30, 1), metric="f1", engine="pymc", n_draws=200)


def test_too_many_cells_are_refused():
    with pytest.raises(ResourceError, match="the limit is 1,000"):
        op.compare(*data(11, 300, 1), metric="f1_macro", engine="pymc")


@pytest.mark.slow
def test_a_prior_of_ones_own_among_the_others():
    seen = data(2, 60, 12)
    outcomes, counts = tables(seen)
    sceptical = class_rates(counts, mean=0.0, sd=0.1)  # hardly better than a coin
    c = op.compare(outcomes, "A", "B", metric="recall", rope=0.05, engine=SHORT, random_state=1)
    found = c.sensitivity(priors={"sceptical": sceptical})
    assert found.priors[0] == "uniform (pymc)"
    assert {"uniform", "unit", "sceptical"} < set(found.priors)
    assert_agree(found["uniform (pymc)"], found["uniform"])
    assert found["sceptical"].draws.size == 2_000
    assert abs(found["sceptical"].mean) < abs(c.mean) / 2
