"""The reference stands on its own feet, and the golden file is what it says."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import mpmath as mp
import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def reference():
    spec = importlib.util.spec_from_file_location("mp_closed", HERE / "mp_closed.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def golden():
    return json.loads((HERE / "closed.json").read_text())


def close(found, exact, digits=22):
    return abs(found / mp.mpf(exact) - 1) < mp.mpf(10) ** -digits


@pytest.mark.parametrize(("a", "b", "x"), [(3, 5, 0.2), (0.5, 7.5, 0.01), (40, 60, 0.35)])
def test_tails_agree_with_the_hypergeometric_function(reference, a, b, x):
    exact = mp.betainc(a, b, 0, mp.mpf(x), regularized=True)
    assert close(reference.beta_cdf(mp.mpf(a), mp.mpf(b), mp.mpf(x)), exact, 28)


def test_the_series_and_the_integral_agree(reference):
    shapes = mp.mpf(2_000), mp.mpf(3_000), mp.mpf("0.39")
    assert close(reference._lower_integral(*shapes), reference._lower(*shapes), 28)


def test_the_prior_densities_at_zero(reference):
    one, two, half, zero = mp.mpf(1), mp.mpf(2), mp.mpf(1) / 2, mp.mpf(0)
    assert close(reference.dirichlet_difference_pdf(one, one, two, zero), mp.mpf(3) / 2)
    flat = (one, two, half)
    assert close(reference.share_difference_pdf(flat, flat, zero), mp.mpf(16) / 15)


def test_bayes_factors_are_still_what_was_written_down(reference, golden):
    for row in golden["bayes_factors"]["paired"][:3]:
        assert close(reference.paired_bf01(*row["counts"]), row["bf01"])
    row = golden["bayes_factors"]["unpaired"][0]
    assert close(reference.unpaired_f1_bf01(*map(tuple, row["counts"])), row["bf01"])


def test_quantiles_are_still_what_was_written_down(reference, golden):
    rows = [row for row in golden["share_quantiles"] if 2 < sum(row["shapes"][:2]) < 200]
    for row in rows[::10]:
        arguments = [mp.mpf(v) for v in (*row["shapes"], row["level"])]
        assert close(reference.share_quantile(*arguments), row["quantile"])


@pytest.mark.slow
def test_differences_are_still_what_was_written_down(reference, golden):
    for row in golden["dirichlet_differences"][:6]:
        arguments = [mp.mpf(v) for v in (*row["shapes"], row["value"])]
        assert close(reference.dirichlet_difference_pdf(*arguments), row["pdf"])
        tail = "sf" if float(row["sf"]) < 0.5 else "cdf"
        function = getattr(reference, f"dirichlet_difference_{tail}")
        assert close(function(*arguments), row[tail])
    for row in golden["share_differences"][:4]:
        arguments = tuple(map(mp.mpf, row["x"])), tuple(map(mp.mpf, row["y"])), mp.mpf(row["value"])
        assert close(reference.share_difference_pdf(*arguments), row["pdf"])
