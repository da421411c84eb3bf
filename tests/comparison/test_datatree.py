"""A comparison as a tree of labelled arrays, and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.comparison.result import summarize_comparison
from outperform.errors import DataError, UsageError
from outperform.inference.engine import Answer
from outperform.posterior.pymc.sampling import Chain

xr = pytest.importorskip("xarray")


def assert_same(back, there):
    assert back.to_dict() == there.to_dict()
    assert np.array_equal(back.draws, there.draws)


@pytest.mark.parametrize(
    "chosen",
    [
        {"metric": "f1_macro"},
        {"metric": "accuracy", "prior": "hierarchical", "rope": (-0.02, 0.01)},
        {"metric": "f1", "pos_label": "spam", "prior": "jeffreys", "paired": False},
        {"metric": "recall", "pos_label": "ham", "hdi_prob": 0.9},
        {"metric": "f1_macro", "labels": ["ham", "spam"], "prior": np.eye(4) + 0.5},
        {"metric": "f1_macro", "prior": "bootstrap"},
        {"metric": "f1_macro", "groups": np.arange(800) // 4},
        {"metric": "f1_macro", "sample_weight": np.linspace(0.5, 2.5, 800)},
        {"metric": op.metrics.fbeta(2, average="macro"), "labels": np.array(["ham", "jam"])},
    ],
)
def test_there_and_back(four, chosen):
    there = op.compare(*four, n_draws=1000, random_state=1, names=("new", "old"), **chosen)
    assert_same(op.from_datatree(there.to_datatree()), there)


def test_other_class_proportions(four):
    asked = {"n_draws": 1000, "random_state": 1}
    one = op.compare(*four, metric="f1", pos_label=np.str_("spam"), **asked).at_prevalence(0.1)
    assert_same(op.from_datatree(one.to_datatree()), one)
    counts = {"ham": 30, "jam": 5, "lamb": 6, "spam": 9}
    two = op.compare(*four, metric="f1_macro", **asked).at_prevalence(counts)
    assert_same(op.from_datatree(two.to_datatree()), two)


@pytest.mark.parametrize("metric", ["f1_macro", "f1_samples", "accuracy"])
def test_label_sets(metric):
    rng = np.random.default_rng(1)
    truth, a, b = (rng.random((3, 60, 3)) < 0.4).astype(int)
    there = op.compare(truth, a, b, metric=metric, n_draws=1000, random_state=1)
    tree = there.to_datatree()
    assert "confusion" not in tree["observed_data"]
    assert_same(op.from_datatree(tree), there)


def test_spans():
    gold = [["B-X", "O", "B-Y"], ["O", "O", "B-Y"]] * 20
    said = {"a": [["B-X", "O", "B-Y"], ["O", "B-X", "O"]] * 20, "b": [["O", "O", "B-Y"]] * 40}
    seen = op.Outcomes.from_tags(gold, said, scheme="IOB2")
    there = op.compare(seen, "a", "b", metric="f1", n_draws=1000, random_state=1)
    tree = there.to_datatree()
    missed = tree["observed_data"]["confusion"].sel(classifier="b", truth="X")
    assert int(missed.sel(prediction="(no span)")) == 20
    assert_same(op.from_datatree(tree), there)


@pytest.mark.parametrize("seed", [np.random.default_rng(1), np.random.SeedSequence([1, 2**80])])
def test_any_seed(two, seed):
    there = op.compare(*two, metric="f1", n_draws=1000, random_state=seed)
    back = op.from_datatree(there.to_datatree())
    assert_same(back, there)
    assert np.array_equal(back.with_metric("recall").draws, there.with_metric("recall").draws)


def test_labels_and_counts_that_numpy_cannot_hold():
    seen = op.Outcomes.from_counts(
        [10**25, 1, 1], {"a": [10**25, 1, 1], "b": [10**25, 1, 10**25]}, [10**26, 10**25, 3]
    )
    there = op.compare(seen, "a", "b", metric="accuracy", n_draws=1000, random_state=1)
    tree = there.to_datatree()
    counts = tree["observed_data"]["confusion"]
    assert float(counts.sel(classifier="a", truth=str(10**25), prediction=str(10**25))) == 1e26
    assert_same(op.from_datatree(tree), there)


@pytest.mark.filterwarnings("ignore")  # of zarr about text that is not ASCII
@pytest.mark.parametrize(
    ("library", "suffix", "engine"), [("h5netcdf", "nc", None), ("zarr", "zarr", "zarr")]
)
def test_through_a_file(four, tmp_path, library, suffix, engine):
    pytest.importorskip(library)
    there = op.compare(*four, metric="f1_macro", n_draws=1000, random_state=1, names=("é≫", "b/c"))
    path, tree = tmp_path / f"tree.{suffix}", there.to_datatree()
    tree.to_zarr(path) if suffix == "zarr" else tree.to_netcdf(path)
    with xr.open_datatree(path, engine=engine) as opened:
        assert_same(op.from_datatree(opened), there)


def test_through_inference_data(four):
    az = pytest.importorskip("arviz")
    if not az.__version__.startswith("0."):
        pytest.skip("ArviZ 1 takes the tree itself")
    there = op.compare(*four, metric="f1_macro", n_draws=1000, random_state=1)
    assert_same(op.from_datatree(az.from_datatree(there.to_datatree())), there)


def test_the_order_of_classifiers_is_kept(two):
    there = op.compare(*two, metric="f1", n_draws=1000, random_state=1)
    tree = there.to_datatree()
    turned = tree.map_over_datasets(lambda one: one.isel(classifier=[1, 0]) if one else one)
    turned.attrs = tree.attrs
    assert float(turned["posterior"]["value"][0, 0, 0]) == there.b.draws[0]
    assert_same(op.from_datatree(turned), there)


def test_groups_and_coordinates(four):
    there = op.compare(*four, metric="f1_macro", n_draws=1000, random_state=1, names=("n", "o"))
    tree = there.to_datatree()
    assert set(tree.children) == {"posterior", "prior", "observed_data"}
    posterior = tree["posterior"]
    assert posterior["value"].dims == ("chain", "draw", "classifier")
    assert posterior["value"].sel(classifier="n").values.ravel().tolist() == there.a.draws.tolist()
    assert posterior["difference"].values.ravel().tolist() == there.draws.tolist()
    seen = tree["observed_data"]["confusion"]
    assert (
        int(seen.sel(classifier="o", truth="ham", prediction="jam")) == there.confusions()[1][0, 1]
    )
    assert float(tree["observed_data"]["value"].sel(classifier="n")) == there.a.observed


def test_the_prior_is_the_models_prior(four):
    there = op.compare(*four, metric="recall", pos_label="ham", n_draws=1000, random_state=1)
    before = there.to_datatree()["prior"]["value"].values
    # Beta(½, ½) for each classifier, whose sd is √⅛
    sd = 0.125**0.5
    assert before.mean() == pytest.approx(0.5, abs=5 * sd / before[..., 0].size ** 0.5)
    assert before[..., 0].std() == pytest.approx(sd, rel=0.06)


def test_an_improper_prior_is_no_group(four):
    there = op.compare(*four, metric="f1_macro", prior="bootstrap", n_draws=1000)
    assert "prior" not in there.to_datatree().children


def test_a_chain_keeps_its_diagnostics(two):
    exact = op.compare(*two, metric="f1", n_draws=1000, random_state=1)
    engine = op.PyMC(draws=500, chains=2)
    given = replace(exact.spec.choices, engine=engine)
    chains = tuple(
        Chain(sampler="nuts", n_draws=1000, rhat=1.0, ess=ess, mcse=0.001, divergences=0)
        for ess in (500.0, 600.0, 700.0)
    )
    values = np.stack([exact.a.draws, exact.b.draws])
    answered = Answer(values=values, of_models=(None, None), of_difference=None, chains=chains)
    there = summarize_comparison(
        replace(exact.spec, choices=given), answered, rope=exact.rope, prob=0.95, seed=exact.seed
    )
    tree = there.to_datatree()
    assert tree["posterior"].sizes["chain"] == 2
    assert_same(op.from_datatree(tree), there)


def errors(confusion):
    return confusion[0, 1] + confusion[1, 0]


def accuracy(confusion):
    return confusion[0, 0]


@pytest.mark.parametrize("metric", [errors, accuracy, op.metrics.cost([[0, 1], [5, 0]])])
def test_a_metric_of_ones_own_is_given_again(two, metric):
    there = op.compare(*two, metric=metric, rope=0.05, n_draws=1000, random_state=1)
    tree = there.to_datatree()
    assert_same(op.from_datatree(tree, metric=metric), there)
    with pytest.raises(UsageError, match=r"is user-defined.*metric="):
        op.from_datatree(tree)
    with pytest.raises(DataError, match="must be the metric of the tree"):
        op.from_datatree(tree, metric="recall")


@pytest.mark.slow
def test_a_model_of_ones_own_is_given_again(two):
    pm = pytest.importorskip("pymc")
    with pm.Model() as prior:
        cells = pm.Dirichlet("cells", np.ones((2, 4)))
        pm.Deterministic("confusion", cells.reshape((2, 2, 2)))
    engine = op.PyMC(draws=200, tune=100, chains=2, progress=False)
    there = op.compare(*two, metric="f1", engine=engine, prior=prior, random_state=1, n_jobs=1)
    tree = there.to_datatree()
    assert "prior" not in tree.children
    assert_same(op.from_datatree(tree, prior=prior), there)
    with pytest.raises(UsageError, match=r"custom concentrations.*prior="):
        op.from_datatree(tree)


def test_a_model_that_is_known_is_not_given(two):
    tree = op.compare(*two, metric="f1", n_draws=1000).to_datatree()
    with pytest.raises(UsageError, match="omit prior="):
        op.from_datatree(tree, prior=object())


def runs(truth, a, b):
    return op.compare_runs(truth, [a, b], [b, a], metric="accuracy", random_state=1, n_draws=1000)


def folds(truth, a, b):
    return op.compare_cv_counts(
        [[10, 11, 9]] * 6, [[10, 12, 8]] * 6, counts="gold_predicted_correct"
    )


def scores(truth, a, b):
    return op.compare(truth, a + 0.5, b + 0.1, metric="roc_auc", n_draws=1000)


def distribution(truth, a, b):
    from scipy.stats import beta

    c = op.compare(truth, a, b, metric="f1", n_draws=1000)
    return c.at_prevalence(beta(2, 18))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (runs, r"the counts of compare_runs\(\)"),
        (folds, r"the counts of compare_cv_counts\(\)"),
        (scores, "scores are not stored"),
        (distribution, "the prevalence is a distribution"),
    ],
)
def test_what_has_no_way_back_says_why(two, make, why):
    there = make(*two)
    tree = there.to_datatree()
    assert tree["posterior"]["difference"].values.ravel().tolist() == there.draws.tolist()
    with pytest.raises(DataError, match=f"cannot be converted back.*{why}.*again"):
        op.from_datatree(tree)


@pytest.mark.parametrize("what", [3, None, {}, [1.0]])
def test_what_is_no_tree_is_refused(what):
    with pytest.raises(DataError, match="not a tree from"):
        op.from_datatree(what)


def test_a_tree_that_was_cut_is_refused(two):
    tree = op.compare(*two, metric="f1", n_draws=1000, random_state=1).to_datatree()
    with pytest.raises(DataError, match=r"not a tree from .*its complete"):
        op.from_datatree(tree["posterior"])
    for cut, why in (
        ({"draw": slice(0, 200)}, "all 1,000 original draws; got 800"),
        ({"chain": slice(0, 2)}, "all 1,000 original draws; got 500"),
        ({"classifier": slice(0, 1)}, "'A' and 'B'"),
    ):
        part = xr.DataTree.from_dict(
            {name: one.to_dataset().isel(cut, missing_dims="ignore") for name, one in tree.items()}
        )
        part.attrs = tree.attrs
        with pytest.raises(DataError, match=why):
            op.from_datatree(part)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "damaged"),
        ("[]", "damaged"),
        ("[" * 100_000, "damaged: the text is nested too deeply"),
        ('{"schema": 9}', "schema 9"),
        ('{"schema": true}', "an object with a schema"),
        ('{"schema": 3}', "content was changed, and the checksum"),
    ],
)
def test_a_damaged_tree_is_refused(two, text, why):
    tree = op.compare(*two, metric="f1", n_draws=1000, random_state=1).to_datatree()
    tree.attrs["outperform"] = text
    with pytest.raises(DataError, match=why):
        op.from_datatree(tree)


def test_an_edited_tree_is_refused(two):
    tree = op.compare(*two, metric="f1", n_draws=1000, random_state=1).to_datatree()
    tree.attrs["outperform"] = tree.attrs["outperform"].replace('"n_draws": 1000', '"n_draws": 999')
    with pytest.raises(DataError, match="content was changed, and the checksum"):
        op.from_datatree(tree)


def test_arviz_summarises_it(four):
    az = pytest.importorskip("arviz")
    there = op.compare(*four, metric="f1_macro", n_draws=4000, random_state=1)
    draws = there.to_datatree()["posterior"]["difference"].values
    assert float(az.rhat(draws)) < 1.01
