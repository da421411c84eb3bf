"""A comparison as a tree of labelled arrays, as ArviZ takes it, and the way back."""

from __future__ import annotations

from typing import Any

import numpy as np

from outperform._optional import require
from outperform._typing import AnyArray, FloatArray, Label
from outperform.comparison import engine
from outperform.comparison.concluding import conclude
from outperform.comparison.kept import ask_again, keep, read_kept
from outperform.comparison.question import Question
from outperform.comparison.result import Comparison
from outperform.decision import Rope
from outperform.errors import DataError
from outperform.outcomes import Outcomes
from outperform.posterior import Chain, child

_KEPT = "outperform"
_CHAINS = 4
_PRIOR_DRAWS = 4_000
_PRIOR_STREAM = 2**31 + 1
_MOST_CLASSES = 1_000
_LARGEST = 2**63


def to_datatree(comparison: Comparison) -> Any:
    """Return groups posterior, prior and observed_data with labelled coordinates.

    Independent draws are dealt out to four chains, which ArviZ's diagnostics ask for.
    """
    xr = require("xarray", extra="pymc", purpose="to_datatree")
    values = np.stack([comparison.a.draws, comparison.b.draws])
    n_chains = _n_chains(comparison)
    groups = {"posterior": _drawn(xr, comparison.names, values, comparison.draws, n_chains)}
    question = _of_two(comparison)
    if question is not None and question.model.proper:
        before = engine.prior_values(question, _PRIOR_DRAWS, child(comparison.seed, _PRIOR_STREAM))
        groups["prior"] = _drawn(xr, comparison.names, before, before[0] - before[1], _CHAINS)
    groups["observed_data"] = _observed(xr, comparison, question)
    tree = xr.DataTree.from_dict({f"/{name}": group for name, group in groups.items()})
    tree.attrs.update(metric=comparison.metric, signature=comparison.signature)
    tree.attrs[_KEPT] = keep(comparison)
    return tree


def _of_two(comparison: Comparison) -> Question | None:
    """Return the question if it is one about labels of A and B, and not of several runs of each."""
    question = comparison.question
    if isinstance(question, Question) and question.view.models == comparison.names:
        return question
    return None


def _n_chains(comparison: Comparison) -> int:
    sampler = comparison.question.given.engine.sampler
    if sampler is not None:
        return sampler.n_chains
    return _CHAINS if comparison.draws.size % _CHAINS == 0 else 1


def _drawn(
    xr: Any, names: tuple[str, str], values: FloatArray, differences: FloatArray, n_chains: int
) -> Any:
    by_chain = values.reshape(2, n_chains, -1)
    return xr.Dataset(
        {
            "value": (("chain", "draw", "classifier"), np.moveaxis(by_chain, 0, -1)),
            # Not always A's draw less B's: those of several runs are drawn apart.
            "difference": (("chain", "draw"), differences.reshape(n_chains, -1)),
        },
        coords={
            "chain": np.arange(n_chains),
            "draw": np.arange(by_chain.shape[2]),
            "classifier": list(names),
        },
    )


def _observed(xr: Any, comparison: Comparison, question: Question | None) -> Any:
    values = np.array([comparison.a.observed, comparison.b.observed])
    arrays: dict[str, Any] = {"value": ("classifier", values)}
    coords: dict[str, Any] = {"classifier": list(comparison.names)}
    if question is not None and _has_confusion(question.seen):
        seen = question.seen
        tables = np.stack([seen.confusion(one) for one in seen.models])
        exact = tables.dtype != object or tables.max() < _LARGEST
        counts = tables.astype(np.int64 if exact else np.float64)
        arrays["confusion"] = (("classifier", "truth", "prediction"), counts)
        outside: list[Label] = ["(no span)"] if seen.kind == "spans" else []
        coords["truth"] = coords["prediction"] = _coordinate([*seen.labels, *outside])
    return xr.Dataset(arrays, coords=coords)


def _has_confusion(seen: Outcomes) -> bool:
    return seen.kind != "label_sets" and seen.n_classes <= _MOST_CLASSES


def _coordinate(labels: list[Label]) -> AnyArray:
    """Return labels as a coordinate that any file holds; as text where numpy has no type."""
    same = len({type(label) for label in labels}) == 1
    found = np.array(labels if same else [str(label) for label in labels])
    return found if found.dtype != object else np.array([str(label) for label in labels])


def from_datatree(tree: Any, *, metric: Any = None, model: Any = None) -> Comparison:
    """Return the comparison that :meth:`Comparison.to_datatree` wrote; nothing is drawn again.

    Parameters
    ----------
    tree
        The whole tree, also after it was saved and loaded; or ``InferenceData`` of ArviZ 0.2x
        that was made of it.
    metric
        The metric, where it is a function or costs of your own, which no file holds.
    model
        The PyMC model, where it is your own.

    Examples
    --------
    >>> import outperform as op
    >>> c = op.compare([1, 1, 0, 0, 1], [1, 1, 0, 1, 1], [1, 0, 0, 1, 1], random_state=0)
    >>> tree = c.to_datatree()  # doctest: +SKIP
    >>> op.from_datatree(tree).mean == c.mean  # doctest: +SKIP
    True
    """
    kept = read_kept(_text(tree))
    question = ask_again(kept, metric=metric, model=model)
    low, high, default = kept["rope"]
    entropy, key = kept["seed"]
    found = conclude(
        question,
        _answer(question, _values(tree, kept), kept["chains"]),
        rope=Rope(low=low, high=high, default=default),
        prob=kept["hdi_prob"],
        seed=np.random.SeedSequence(entropy, spawn_key=tuple(key)),
    )
    _check_observed(found, tree)
    return found


def _text(tree: Any) -> str:
    text = getattr(tree, "attrs", {}).get(_KEPT)
    if not isinstance(text, str):
        raise DataError(
            "this is no tree of a comparison; give the whole of what Comparison.to_datatree() "
            f"returned, whose attribute {_KEPT!r} says what was compared; got {type(tree).__name__}"
        )
    return text


def _values(tree: Any, kept: dict[str, Any]) -> FloatArray:
    """Return draws ``(n_models, n_draws)`` in the order that was written."""
    names = kept["outcomes"]["models"]
    try:
        found = tree["posterior"]["value"].sel(classifier=names)
        found = found.transpose("classifier", "chain", "draw")
        values = np.asarray(found.values, dtype=np.float64).reshape(len(names), -1)
    except (KeyError, ValueError) as error:
        raise DataError(
            "the tree must still have its group 'posterior' with 'value' by chain, draw and "
            f"classifier, {' and '.join(map(repr, names))}: {error}"
        ) from error
    if values.shape[1] != kept["n_draws"] or not np.isfinite(values).all():
        raise DataError(
            f"the tree must hold all {kept['n_draws']:,} draws that were written; "
            f"got {np.isfinite(values).all(axis=0).sum():,}. Thin a copy of it"
        )
    return np.ascontiguousarray(values)


def _answer(question: Question, values: FloatArray, chains: list[dict[str, Any]]) -> engine.Answer:
    if chains:
        found = tuple(Chain(**one) for one in chains)
        return engine.Answer(
            values=values, of_models=(None, None), of_difference=None, chains=found
        )
    return engine.with_forms(question, values)


def _check_observed(found: Comparison, tree: Any) -> None:
    """Refuse another metric than the one that was drawn."""
    written = tree["observed_data"]["value"].sel(classifier=list(found.names)).values
    if not np.allclose([found.a.observed, found.b.observed], written, rtol=1e-9, equal_nan=True):
        raise DataError(
            f"metric= must be the one whose draws the tree holds; {found.metric!r} is "
            f"{found.a.observed:.6g} and {found.b.observed:.6g} on its outcomes, and the tree has "
            f"{written[0]:.6g} and {written[1]:.6g}"
        )
