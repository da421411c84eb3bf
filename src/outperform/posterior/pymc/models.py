"""The papers' graphical models in PyMC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.errors import UsageError, require
from outperform.posterior.base import product_rows
from outperform.posterior.class_priors import class_sizes
from outperform.posterior.dirichlet import unit_rows
from outperform.posterior.pymc.stick_breaking import class_counts, sticks


def binary(
    *,
    tp: int,
    fn: int,
    fp: int,
    tn: int,
    prevalence: tuple[float, float] = (1.0, 1.0),
    recall: tuple[float, float] = (1.0, 1.0),
    fall_out: tuple[float, float] = (1.0, 1.0),
) -> Any:
    """Return the model of one classifier on a table of four counts.

    Parameters
    ----------
    tp, fn, fp, tn
        Numbers of true positives, false negatives, false positives and true negatives.
    prevalence, recall, fall_out
        Shapes of their Beta priors.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    positives, negatives = tp + fn, fp + tn
    with pm.Model(coords={"classifier": ["A"], "truth": [0, 1], "prediction": [0, 1]}) as model:
        mu = pm.Beta("prevalence", *prevalence)
        hit = pm.Beta("recall", *recall)  # P(predicted positive | positive)
        alarm = pm.Beta("fall_out", *fall_out)  # P(predicted positive | negative)
        pm.Binomial("positives", n=positives + negatives, p=mu, observed=positives)
        pm.Binomial("true_positives", n=positives, p=hit, observed=tp)
        pm.Binomial("false_positives", n=negatives, p=alarm, observed=fp)
        cells = [[(1 - mu) * (1 - alarm), (1 - mu) * alarm], [mu * (1 - hit), mu * hit]]
        pm.Deterministic(
            "confusion",
            pm.math.stack([pm.math.stack(row) for row in cells])[None],
            dims=("classifier", "truth", "prediction"),
        )
    return model


_COORDS = {"truth": [0, 1], "prediction": [0, 1]}


def per_item(truth: IntArray, predicted: IntArray) -> Any:
    """Return the model of one classifier.

    Parameters
    ----------
    truth, predicted
        Class of each item: 1 for the positive class, 0 for the rest.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    with pm.Model(coords={"classifier": ["A"], **_COORDS}) as model:
        mu = pm.Beta("prevalence", 1.0, 1.0)
        rates = pm.Beta("rates", 1.0, 1.0, dims="truth")  # P(predicted positive | truth)
        pm.Bernoulli("actual", p=mu, observed=truth)
        pm.Bernoulli("predicted", p=rates[truth], observed=predicted)
        classes = pm.math.stack([1 - mu, mu])
        rows = pm.math.stack([1 - rates, rates], axis=1)  # (truth, prediction)
        pm.Deterministic(
            "confusion",
            (classes[:, None] * rows)[None],
            dims=("classifier", "truth", "prediction"),
        )
    return model


def per_item_paired(truth: IntArray, predicted_a: IntArray, predicted_b: IntArray) -> Any:
    """Return the model of two classifiers on the same items.

    Parameters
    ----------
    truth, predicted_a, predicted_b
        Class of each item: 1 for the positive class, 0 for the rest.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    pairs = ["0, 0", "0, 1", "1, 0", "1, 1"]  # prediction of A, prediction of B
    outcome = 2 * predicted_a + predicted_b
    cells = np.bincount(4 * truth + outcome, minlength=8).reshape(2, 4)
    with pm.Model(coords={"classifier": ["A", "B"], "pair": pairs, **_COORDS}) as model:
        mu = pm.Beta("prevalence", 1.0, 1.0)
        rows = pm.Dirichlet(
            "rows", np.ones((2, 4)), dims=("truth", "pair"), default_transform=sticks(cells)
        )
        pm.Bernoulli("actual", p=mu, observed=truth)
        pm.Categorical("predicted", p=rows[truth], observed=outcome)
        classes = pm.math.stack([1 - mu, mu])
        cells = (classes[:, None] * rows).reshape((2, 2, 2))  # (truth, A, B)
        pm.Deterministic(
            "confusion",
            pm.math.stack([cells.sum(axis=2), cells.sum(axis=1)]),
            dims=("classifier", "truth", "prediction"),
        )
    return model


def paired(
    counts: AnyArray,
    *,
    rows: FloatArray | float = 1.0,
    prevalence: FloatArray | float = 1.0,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of two classifiers on the same items.

    Parameters
    ----------
    counts
        Counts of items ``(truth, prediction of A, prediction of B)``.
    rows
        Prior concentrations of the same shape, or one number.
    prevalence
        Prior concentrations of the classes, or one number.
    classifiers, labels
        Names of classifiers and classes.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_classes = len(counts)
    cells = counts.reshape(n_classes, -1)
    shapes = np.broadcast_to(rows, counts.shape).reshape(cells.shape)
    totals = cells.sum(axis=1)
    names = list(range(n_classes) if labels is None else labels)
    pairs = [f"{a}, {b}" for a in names for b in names]
    coords = {"classifier": list(classifiers), "truth": names, "prediction": names, "pair": pairs}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.broadcast_to(prevalence, (n_classes,)),
            dims="truth",
            default_transform=sticks(totals),
        )
        theta = pm.Dirichlet(
            "rows", shapes, dims=("truth", "pair"), default_transform=sticks(cells, shapes)
        )
        pm.Multinomial("totals", n=totals.sum(), p=classes, observed=totals)
        pm.Multinomial("counts", n=totals, p=theta, observed=cells)
        joint = (classes[:, None] * theta).reshape(counts.shape)  # (truth, A, B)
        pm.Deterministic(
            "confusion",
            pm.math.stack([joint.sum(axis=2), joint.sum(axis=1)]),
            dims=("classifier", "truth", "prediction"),
        )
    return model


def paired_hierarchical(
    counts: AnyArray,
    *,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of two classifiers on the same items.

    Parameters
    ----------
    counts
        Counts of items ``(truth, prediction of A, prediction of B)``.
    classifiers, labels
        Names of classifiers and classes.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_classes = len(counts)
    cells, right = counts.reshape(n_classes, -1), np.eye(n_classes)
    totals, likely = cells.sum(axis=1), product_rows(unit_rows(n_classes), 2).reshape(cells.shape)
    names = list(range(n_classes) if labels is None else labels)
    pairs = [f"{a}, {b}" for a in names for b in names]
    coords = {"classifier": list(classifiers), "truth": names, "prediction": names, "pair": pairs}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence", np.ones(n_classes), dims="truth", default_transform=sticks(totals)
        )
        eta = pm.Beta("eta", 1.0, 1.0, dims="classifier")[:, None, None]
        omega = eta * right + (1 - eta) / (n_classes - 1) * (
            1 - right
        )  # (classifier, truth, prediction)
        shapes = (omega[0][:, :, None] * omega[1][:, None, :]).reshape(cells.shape)
        theta = pm.Dirichlet(
            "rows", shapes, dims=("truth", "pair"), default_transform=sticks(cells, likely)
        )
        pm.Multinomial("totals", n=totals.sum(), p=classes, observed=totals)
        pm.Multinomial("counts", n=totals, p=theta, observed=cells)
        joint = (classes[:, None] * theta).reshape(counts.shape)  # (truth, A, B)
        pm.Deterministic(
            "confusion",
            pm.math.stack([joint.sum(axis=2), joint.sum(axis=1)]),
            dims=("classifier", "truth", "prediction"),
        )
    return model


def unpaired(
    counts: AnyArray,
    *,
    rows: FloatArray | float = 1.0,
    prevalence: FloatArray | float = 1.0,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of classifiers, each on its own items.

    Parameters
    ----------
    counts
        Confusion matrices ``(classifier, truth, prediction)``.
    rows
        Prior concentrations of the cells ``(truth, prediction)``, or one number.
    prevalence
        Prior concentrations of the classes, or one number.
    classifiers, labels
        Names of classifiers and classes.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_classifiers, n_classes, _ = counts.shape
    totals = counts.sum(axis=2)
    names = range(n_classes) if labels is None else labels
    coords = {"classifier": list(classifiers), "truth": list(names), "prediction": list(names)}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.broadcast_to(prevalence, (n_classifiers, n_classes)),
            dims=("classifier", "truth"),
            default_transform=sticks(totals),
        )
        cells = pm.Dirichlet(
            "rows",
            np.broadcast_to(rows, counts.shape),
            dims=("classifier", "truth", "prediction"),
            default_transform=sticks(counts, rows),
        )
        pm.Multinomial("totals", n=totals.sum(axis=1), p=classes, observed=totals)
        pm.Multinomial("counts", n=totals, p=cells, observed=counts)
        pm.Deterministic(
            "confusion",
            classes[:, :, None] * cells,
            dims=("classifier", "truth", "prediction"),
        )
    return model


def hierarchical(
    counts: AnyArray,
    *,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of classifiers, each on its own items.

    Parameters
    ----------
    counts
        Confusion matrices ``(classifier, truth, prediction)``.
    classifiers, labels
        Names of classifiers and classes.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_classifiers, n_classes, _ = counts.shape
    totals, right = counts.sum(axis=2), np.eye(n_classes)
    names = range(n_classes) if labels is None else labels
    coords = {"classifier": list(classifiers), "truth": list(names), "prediction": list(names)}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.ones((n_classifiers, n_classes)),
            dims=("classifier", "truth"),
            default_transform=sticks(totals),
        )
        eta = pm.Beta("eta", 1.0, 1.0, dims="classifier")[:, None, None]
        omega = eta * right + (1 - eta) / (n_classes - 1) * (1 - right)
        theta = pm.Dirichlet(
            "rows",
            omega,
            dims=("classifier", "truth", "prediction"),
            default_transform=sticks(counts, unit_rows(n_classes)),
        )
        pm.Multinomial("totals", n=totals.sum(axis=1), p=classes, observed=totals)
        pm.Multinomial("counts", n=totals, p=theta, observed=counts)
        pm.Deterministic(
            "confusion",
            classes[:, :, None] * theta,
            dims=("classifier", "truth", "prediction"),
        )
    return model


# Beyond a mass of 10⁷, the recalls are equal and rounding dominates the density.
_HEAVIEST = 1 - 1e-7
_LEAST_SPREAD = 0.05
_MOST_POWER = 1.25


def learned(
    counts: AnyArray,
    *,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of classifiers, each on its own items, for three or more classes.

    Parameters
    ----------
    counts
        Confusion matrices ``(classifier, truth, prediction)``.
    classifiers, labels
        Names of classifiers and classes.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_classifiers, n_classes, _ = counts.shape
    totals, right = counts.sum(axis=2), np.diagonal(counts, axis1=1, axis2=2)
    outcomes = np.stack([right, totals - right], axis=2)  # (classifier, truth, right or wrong)
    wrong = counts[:, ~np.eye(n_classes, dtype=bool)].reshape(n_classifiers, n_classes, -1)
    sizes = np.stack([class_sizes(size.astype(np.float64)) for size in totals])
    names = list(range(n_classes) if labels is None else labels)
    coords = {"classifier": list(classifiers), "truth": names, "prediction": names}
    with pm.Model(coords=coords) as model:
        rates = class_counts(totals, dims=("classifier", "truth"))
        classes = rates / rates.sum(axis=1, keepdims=True)
        grown = pm.Uniform("mass_share", 0.5, _HEAVIEST, dims="classifier")  # s / (1 + s)
        mass = pm.Deterministic("mass", grown / (1 - grown), dims="classifier")
        eta = pm.Beta("eta", 1.0, 1.0, dims="classifier")
        slope = pm.Logistic("slope", 0.0, 1.0, dims="classifier")
        logits = pm.math.logit(eta)[:, None] + slope[:, None] * sizes
        means = pm.math.stack([pm.math.sigmoid(logits), pm.math.sigmoid(-logits)], axis=2)
        recalls = pm.Dirichlet(
            "recalls", mass[:, None, None] * means, default_transform=sticks(outcomes)
        )
        pm.Multinomial("right", n=totals, p=recalls, observed=outcomes)
        least = _LEAST_SPREAD / (1 + _LEAST_SPREAD)
        grown = pm.Uniform("spread_share", least, _HEAVIEST, dims="classifier")  # t / (1 + t)
        spread = pm.Deterministic("spread", grown / (1 - grown), dims="classifier")
        power = pm.Uniform("power", 0.0, _MOST_POWER, dims="classifier")
        others = np.stack([np.delete(totals, truth, axis=1) for truth in range(n_classes)], axis=1)
        base = pm.math.exp(power[:, None, None] * np.log(others + 0.5))
        shares = pm.Dirichlet(
            "shares",
            spread[:, None, None] * base / base.sum(axis=2, keepdims=True),
            default_transform=sticks(wrong, 1 / (n_classes - 1)),
        )
        pm.Multinomial("wrong", n=totals - right, p=shares, observed=wrong)
        rows = recalls[:, :, :1] * np.eye(n_classes)
        rows += recalls[:, :, 1:] * (shares[..., None] * _others(n_classes)).sum(axis=2)
        pm.Deterministic(
            "confusion", classes[:, :, None] * rows, dims=("classifier", "truth", "prediction")
        )
    return model


def _others(n_classes: int) -> FloatArray:
    """Return the class of each position in a row that omits the row's own class."""
    every = np.eye(n_classes)
    return np.stack([np.delete(every, truth, axis=0) for truth in range(n_classes)])


def class_rates(
    counts: AnyArray,
    *,
    mean: float,
    sd: float,
    kind: Literal["logit_normal", "truncated_normal"] = "logit_normal",
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of classifiers, each on its own items.

    Parameters
    ----------
    counts
        Confusion matrices ``(classifier, truth, prediction)``.
    mean, sd
        Parameters of the normal prior: for the logit of a rate, or for a rate truncated to (0, 1).
    kind
        Prior to use: one of the two.
    classifiers, labels
        Names of classifiers and classes.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    if kind not in ("logit_normal", "truncated_normal"):
        raise UsageError(f"kind must be 'logit_normal' or 'truncated_normal'; got {kind!r}")
    n_classifiers, n_classes, _ = counts.shape
    totals, right = counts.sum(axis=2), counts[:, range(n_classes), range(n_classes)]
    wrong = counts[:, ~np.eye(n_classes, dtype=bool)].reshape(n_classifiers, n_classes, -1)
    names = list(range(n_classes) if labels is None else labels)
    coords = {"classifier": list(classifiers), "truth": names, "prediction": names}
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.ones((n_classifiers, n_classes)),
            dims=("classifier", "truth"),
            default_transform=sticks(totals),
        )
        if kind == "logit_normal":
            # On the logit scale the chain cannot leave (0, 1); pm.LogitNormal lets it start
            # outside.
            logits = pm.Normal("logits", mean, sd, dims=("classifier", "truth"))
            rates = pm.Deterministic("rates", pm.math.sigmoid(logits), dims=("classifier", "truth"))
        else:
            rates = pm.TruncatedNormal(
                "rates", mean, sd, lower=0.0, upper=1.0, dims=("classifier", "truth")
            )
        pm.Multinomial("totals", n=totals.sum(axis=1), p=classes, observed=totals)
        pm.Binomial("right", n=totals, p=rates, observed=right)
        confusion = rates[:, :, None] * np.eye(n_classes)
        if n_classes == 2:
            confusion += (1 - rates)[:, :, None] * (1 - np.eye(2))
        else:
            shares = pm.Dirichlet("shares", np.ones(wrong.shape), default_transform=sticks(wrong))
            pm.Multinomial("wrong", n=totals - right, p=shares, observed=wrong)
            wrongly = (shares[..., None] * _others(n_classes)).sum(axis=2)
            confusion += (1 - rates)[:, :, None] * wrongly
        pm.Deterministic(
            "confusion",
            classes[:, :, None] * confusion,
            dims=("classifier", "truth", "prediction"),
        )
    return model


def multi_label(
    counts: AnyArray,
    *,
    rows: FloatArray | float = 1.0,
    prevalence: FloatArray | float = 1.0,
    classifiers: Sequence[Any] = ("A", "B"),
    labels: Sequence[Any] | None = None,
) -> Any:
    """Return the model of one or two classifiers on the same items.

    Parameters
    ----------
    counts
        Counts of items ``(label, truth, prediction of A, prediction of B)``, or ``(label, truth,
        prediction)`` for one classifier; the last axes are no and yes.
    rows
        Prior concentrations of the cells of one label, or one number.
    prevalence
        Prior concentrations of "does not have the label" and "has it", or one number.
    classifiers, labels
        Names of classifiers and classes.
    """
    pm = require("pymc", extra="pymc", purpose="a PyMC model")
    n_labels, n_classifiers = len(counts), counts.ndim - 2
    cells = counts.reshape(n_labels, 2, -1)
    shapes = np.broadcast_to(rows, counts.shape).reshape(cells.shape)
    totals = cells.sum(axis=2)
    coords = {
        "classifier": list(classifiers)[:n_classifiers],
        "label": list(range(n_labels) if labels is None else labels),
        "truth": [0, 1],
        "prediction": [0, 1],
    }
    with pm.Model(coords=coords) as model:
        classes = pm.Dirichlet(
            "prevalence",
            np.broadcast_to(prevalence, totals.shape),
            dims=("label", "truth"),
            default_transform=sticks(totals),
        )
        theta = pm.Dirichlet("rows", shapes, default_transform=sticks(cells, shapes))
        pm.Multinomial("totals", n=totals.sum(axis=1), p=classes, observed=totals)
        pm.Multinomial("counts", n=totals, p=theta, observed=cells)
        joint = (classes[:, :, None] * theta).reshape(counts.shape)
        alone = [joint] if n_classifiers == 1 else [joint.sum(axis=3), joint.sum(axis=2)]
        pm.Deterministic(
            "confusion",
            pm.math.stack(alone),
            dims=("classifier", "label", "truth", "prediction"),
        )
    return model
