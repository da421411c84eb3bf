"""Priors as values: what they accept, what they mean, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Outcomes, Prior
from outperform.errors import DataError, UsageError
from outperform.posterior.base import product_rows
from outperform.posterior.dirichlet import flat
from tests.loops import each


@each(
    ("given", "rows", "prevalence"),
    [
        (None, 1.0, 1.0),
        ("uniform", 1.0, 1.0),
        ("jeffreys", 0.5, 0.5),
        (0.25, 0.25, 1.0),
        (2, 2.0, 1.0),
        (Prior(rows=3.0, prevalence=4.0), 3.0, 4.0),
    ],
)
def test_names_numbers_and_priors_are_taken(given, rows, prevalence):
    prior = Prior.from_param(given)
    assert (prior.row_shapes(2, 1) == np.full((2, 2), rows)).all()
    assert (prior.row_shapes(2, 2) == np.full((2, 2, 2), rows)).all()
    assert (prior.prevalence_shapes(2) == np.full(2, prevalence)).all()


def test_an_array_is_one_models_rows_and_its_product_when_paired():
    rows = np.array([[3.0, 1.0], [0.5, 1.5]])
    prior = Prior.from_param(rows)
    assert (prior.row_shapes(2, 1) == rows).all()
    paired = prior.row_shapes(2, 2)
    assert np.allclose(paired.sum(axis=2), rows)
    assert np.allclose(paired.sum(axis=1), rows)
    assert np.allclose(paired[0], np.outer([3, 1], [3, 1]) / 4)


@pytest.mark.parametrize("n_models", [1, 2, 3])
def test_the_product_keeps_every_margin_and_every_mass(n_models):
    rows = np.random.default_rng(1).gamma(1.0, size=(3, 3))
    joint = product_rows(rows, n_models)
    assert joint.shape == (3,) * (1 + n_models)
    for model in range(n_models):
        others = tuple(1 + other for other in range(n_models) if other != model)
        assert np.allclose(joint.sum(axis=others), rows)


def test_a_joint_array_for_a_pair_is_taken_as_it_is():
    joint = np.arange(1.0, 9.0).reshape(2, 2, 2)
    assert (Prior(rows=joint).row_shapes(2, 2) == joint).all()
    with pytest.raises(UsageError, match="shape"):
        Prior(rows=joint).row_shapes(2, 1)


def test_priors_are_values():
    assert Prior(rows=1.0, prevalence=1.0) == Prior.from_param("uniform")
    assert hash(Prior(rows=1)) == hash(Prior.from_param(None))
    assert Prior(rows=[[1, 2], [3, 4]]) != Prior(rows=[[1, 2], [3, 5]])
    assert Prior() != 1.0
    assert repr(Prior(rows=np.ones((2, 2)))) == "Prior(rows=<array 2x2>, prevalence=1)"
    assert repr(Prior.from_param("jeffreys")) == "Prior('jeffreys')"
    with pytest.raises(ValueError, match="read-only"):
        Prior(rows=np.ones((2, 2))).rows[0, 0] = 5.0


@each(
    ("rows", "words"),
    [
        (-1.0, "not negative"),
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (1e-301, "below 1e-300"),
        ("one", "unknown prior 'one'.*uniform, jeffreys"),
        ([1.0, 1.0], "shape"),
        ([], "shape"),
        ([[1, 2], [3]], "numbers"),
        (["a"], "numbers"),
        ([[1.0, -1.0], [1.0, 1.0]], "not negative"),
    ],
)
def test_what_is_no_prior_is_refused(rows, words):
    with pytest.raises(UsageError, match=words):
        Prior.from_param(rows)


def test_lengths_must_fit_the_classes():
    with pytest.raises(UsageError, match=r"\(3, 3\).*got shape \(2, 2\)"):
        Prior(rows=np.ones((2, 2))).row_shapes(3, 1)
    with pytest.raises(UsageError, match="3 values; got 2"):
        Prior(prevalence=[1.0, 1.0]).prevalence_shapes(3)
    with pytest.raises(UsageError, match="shape"):
        Prior(prevalence=[[1.0]])


def test_a_misspelt_name_is_mended():
    with pytest.raises(UsageError, match="did you mean 'jeffreys'"):
        Prior.from_param("jeffrey")


SEEN = Outcomes.from_labels([1, 1, 0, 0], {"a": [1, 0, 1, 0], "b": [1, 0, 1, 0]})


@pytest.mark.parametrize("rows", [0, 0.0, [[0, 0], [1, 1]]])
def test_a_prior_of_zero_is_improper_where_a_cell_is_empty(rows):
    with pytest.raises(DataError, match=r"improper.*positive prior for every cell"):
        flat(SEEN, Prior.from_param(rows))
    with pytest.raises(DataError, match="improper"):
        flat(SEEN.with_labels([2]).select(["a"]), Prior(rows=1.0, prevalence=0.0))


def test_a_prior_of_zero_is_proper_where_every_cell_occurred():
    posterior = flat(SEEN.select(["a"]), Prior(rows=0.0, prevalence=0.0))
    assert (posterior.shapes == 1.0).all()
    assert (posterior.prevalence == 2.0).all()
