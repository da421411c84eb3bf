"""Convert a comparison to a tree of labelled arrays for ArviZ, and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np

from outperform import metrics
from outperform._files import is_signed, parse, shown, signed
from outperform._typing import AnyArray, DataTree, FloatArray, Label
from outperform.data.outcomes import Outcomes
from outperform.decision.rope import Rope
from outperform.errors import DataError, UsageError, require
from outperform.inference import engine
from outperform.inference.engine import Answer
from outperform.inference.processes import is_adjusted
from outperform.inference.question import ONCE
from outperform.inference.spec import LabelSpec, counted, make_spec
from outperform.inference.views import metric_for
from outperform.metrics.metric import MetricLike
from outperform.posterior.base import Prior, PriorModel, PyMCModel
from outperform.posterior.pymc.sampling import Chain, PyMC
from outperform.posterior.registry import STRATA, get_prior
from outperform.posterior.rng import child
from outperform.results.compared import Compared, verb_of

_SCHEMA = 3
_ADVICE = "compare again with the same random_state"


def keep(comparison: Compared) -> str:
    """Return everything :func:`ask_again` needs, or the reason why the tree is irreversible."""
    reason = _no_way_back(comparison)
    content = {"reason": reason}
    if reason is None:
        content = _kept(comparison, counted(comparison.spec))
    # Labels and seeds may be NumPy numbers and arrays, which JSON cannot encode.
    text = json.dumps({"schema": _SCHEMA, **content}, default=methodcaller("tolist"))
    return json.dumps(signed(json.loads(text)), ensure_ascii=False)


def _no_way_back(comparison: Compared) -> str | None:
    spec = comparison.spec
    if not isinstance(spec, LabelSpec):
        return f"scores are not stored; {_ADVICE}"
    # Comparisons of runs and folds need more than the counts.
    if comparison.details is not None or spec.counting != ONCE:
        verb = verb_of(comparison.details)
        return f"the counts of {verb}() are not stored; call it again with the same random_state"
    if is_adjusted(spec):
        return (
            "chosen_from= and looks= are not stored; call compare again with the same random_state"
        )
    if spec.view_errors is not None:
        return "label errors are not stored; call with_label_errors() again"
    prevalence = spec.data.prevalence
    if prevalence is not None and prevalence.distribution is not None:
        return f"the prevalence is a distribution, which is not stored; {_ADVICE}"
    return None


def _kept(comparison: Compared, spec: LabelSpec) -> dict[str, Any]:
    choices = spec.choices
    return {
        "outcomes": spec.data.to_dict(),
        "metric": comparison.metric,
        "own_metric": not _has_a_name(spec),
        "prior": None if choices.prior is None else _of_prior(choices.prior),
        "paired": choices.paired,
        "labels": None if choices.labels is None else list(choices.labels),
        "pos_label": choices.pos_label,
        "own_prior": choices.prior is not None and choices.prior.own is not None,
        "engine": None if choices.engine is None else asdict(choices.engine),
        "rope": [comparison.rope.low, comparison.rope.high, comparison.rope.default],
        "hdi_prob": comparison.hdi.prob,
        "seed": [comparison.seed.entropy, list(comparison.seed.spawn_key)],
        "n_draws": comparison.draws.size,
        "chains": [
            asdict(chain)
            for chain in (comparison.a.chain, comparison.b.chain, comparison.chain)
            if chain is not None
        ],
    }


def _has_a_name(spec: LabelSpec) -> bool:
    """Return whether the name of the metric identifies it."""
    try:
        return metric_for(metrics.get(spec.metric.name), spec.data) == spec.metric
    except UsageError:
        return False


def _of_prior(prior: PriorModel) -> dict[str, object] | str:
    if prior.shapes is None:
        return prior.name
    return {
        "rows": prior.shapes.rows.tolist(),
        "prevalence": prior.shapes.prevalence.tolist(),
        "name": prior.shapes.name,
    }


def read_kept(text: str) -> dict[str, Any]:
    """Return the stored content; raise an error if the tree is damaged or not convertible."""
    damaged = "the attribute 'outperform' of this tree is damaged"
    try:
        content = parse(text, constants=True)  # a chain diagnostic may be undefined
    except DataError as error:
        raise DataError(f"{damaged}: {error}") from error
    if not isinstance(content, dict) or type(content.get("schema")) is not int:
        raise DataError(f"{damaged}: it must be an object with a schema; got {shown(content)}")
    if content["schema"] != _SCHEMA:
        raise DataError(
            f"a tree of schema {shown(content['schema'])} cannot be read; known: {_SCHEMA}"
        )
    if not is_signed(content):
        raise DataError(f"{damaged}: its content was changed, and the checksum does not match")
    if "reason" in content:
        raise DataError(
            f"this DataTree cannot be converted back to a Comparison: {content['reason']}"
        )
    return content


def ask_again(
    content: dict[str, Any], *, metric: MetricLike | None, prior: PyMCModel | None
) -> Any:
    """Return the spec of the stored comparison."""
    if content["own_metric"] and metric is None:
        raise UsageError(
            f"the metric {content['metric']!r} is user-defined, so the tree does not contain it; "
            "pass it again: from_datatree(tree, metric=...)"
        )
    if content["own_prior"] != (prior is not None):
        raise UsageError(
            "the prior is a PyMC model, which a tree does not contain; pass it again: "
            "from_datatree(tree, prior=...)"
            if content["own_prior"]
            else "the tree contains its prior; omit prior="
        )
    return make_spec(
        Outcomes.from_dict(content["outcomes"]),
        metric=content["metric"] if metric is None else metric,
        prior=_prior(content["prior"]) if prior is None else prior,
        paired=content["paired"],
        labels=content["labels"],
        pos_label=content["pos_label"],
        engine=None if content["engine"] is None else PyMC(**content["engine"]),
    )


def _prior(stored: dict[str, Any] | str | None) -> PriorModel | None:
    if isinstance(stored, dict):
        return get_prior(Prior(**stored))
    if stored == STRATA.name:
        return STRATA
    return None if stored is None else get_prior(stored)


_KEPT = "outperform"
_CHAINS = 4
_PRIOR_DRAWS = 4_000
_PRIOR_STREAM = 2**31 + 1
_MOST_CLASSES = 1_000
_LARGEST = 2**63


def to_datatree(comparison: Compared) -> DataTree:
    """Return groups posterior, prior and observed_data with labelled coordinates.

    Independent draws are divided into four chains, as ArviZ's diagnostics require.
    """
    xr = require("xarray", extra="pymc", purpose="to_datatree")
    values = np.stack([comparison.a.draws, comparison.b.draws])
    n_chains = _n_chains(comparison)
    groups = {"posterior": _drawn(xr, comparison.names, values, comparison.draws, n_chains)}
    spec = _of_two(comparison)
    if spec is not None and spec.prior.proper:
        before = engine.prior_values(spec, _PRIOR_DRAWS, child(comparison.seed, _PRIOR_STREAM))
        groups["prior"] = _drawn(xr, comparison.names, before, before[0] - before[1], _CHAINS)
    groups["observed_data"] = _observed(xr, comparison, spec)
    tree = xr.DataTree.from_dict({f"/{name}": group for name, group in groups.items()})
    tree.attrs.update(metric=comparison.metric, signature=comparison.signature)
    tree.attrs[_KEPT] = keep(comparison)
    return tree


def _of_two(comparison: Compared) -> LabelSpec | None:
    """Return the spec if it compares labels of A and B, without several runs of each."""
    spec = comparison.spec
    if isinstance(spec, LabelSpec) and spec.view.models == comparison.names:
        return spec
    return None


def _n_chains(comparison: Compared) -> int:
    engine = comparison.spec.choices.engine
    if engine is not None:
        return engine.chains
    return _CHAINS if comparison.draws.size % _CHAINS == 0 else 1


def _drawn(
    xr: Any, names: tuple[str, str], values: FloatArray, differences: FloatArray, n_chains: int
) -> object:
    by_chain = values.reshape(2, n_chains, -1)
    return xr.Dataset(
        {
            "value": (("chain", "draw", "classifier"), np.moveaxis(by_chain, 0, -1)),
            # This is not always A's draw minus B's: with several runs, it is drawn separately.
            "difference": (("chain", "draw"), differences.reshape(n_chains, -1)),
        },
        coords={
            "chain": np.arange(n_chains),
            "draw": np.arange(by_chain.shape[2]),
            "classifier": list(names),
        },
    )


def _observed(xr: Any, comparison: Compared, spec: LabelSpec | None) -> object:
    values = np.array([comparison.a.observed, comparison.b.observed])
    arrays: dict[str, object] = {"value": ("classifier", values)}
    coords: dict[str, object] = {"classifier": list(comparison.names)}
    if spec is not None and _has_confusion(spec.data):
        data = spec.data
        tables = np.stack([data.confusion(model) for model in data.models])
        exact = tables.dtype != object or tables.max() < _LARGEST
        counts = tables.astype(np.int64 if exact else np.float64)
        arrays["confusion"] = (("classifier", "truth", "prediction"), counts)
        outside: list[Label] = ["(no span)"] if data.kind == "spans" else []
        coords["truth"] = coords["prediction"] = _coordinate([*data.labels, *outside])
    return xr.Dataset(arrays, coords=coords)


def _has_confusion(data: Outcomes) -> bool:
    return data.kind != "label_sets" and data.n_classes <= _MOST_CLASSES


def _coordinate(labels: list[Label]) -> AnyArray:
    """Return labels as a coordinate for any file format; as text if NumPy has no suitable type."""
    same = len({type(label) for label in labels}) == 1
    texts = [str(label) for label in labels]
    values = np.array(labels if same else texts)
    return values if values.dtype != object else np.array(texts)


class Tree(NamedTuple):
    """Content of a tree."""

    spec: LabelSpec
    answer: Answer
    rope: Rope
    prob: float
    seed: np.random.SeedSequence


def read_tree(tree: object, *, metric: MetricLike | None, prior: PyMCModel | None) -> Tree:
    """Return the content of a tree from :func:`to_datatree`."""
    content = read_kept(_text(tree))
    spec = ask_again(content, metric=metric, prior=prior)
    low, high, default = content["rope"]
    entropy, key = content["seed"]
    return Tree(
        spec=spec,
        answer=_answer(spec, _values(tree, content), content["chains"]),
        rope=Rope(low=low, high=high, default=default),
        prob=content["hdi_prob"],
        seed=np.random.SeedSequence(entropy, spawn_key=tuple(key)),
    )


def _text(tree: object) -> str:
    text = getattr(tree, "attrs", {}).get(_KEPT)
    if not isinstance(text, str):
        raise DataError(
            "this is not a tree from Comparison.to_datatree(); pass its complete result, with "
            f"the attribute {_KEPT!r}; got {type(tree).__name__}"
        )
    return text


def _values(tree: Any, content: dict[str, Any]) -> FloatArray:
    """Return draws ``(n_models, n_draws)`` in their original order."""
    names = content["outcomes"]["models"]
    try:
        array = tree["posterior"]["value"].sel(classifier=names)
        array = array.transpose("classifier", "chain", "draw")
        values = np.asarray(array.values, dtype=np.float64).reshape(len(names), -1)
    except (KeyError, ValueError) as error:
        raise DataError(
            "the tree must still contain the group 'posterior' with 'value' by chain, draw and "
            f"classifier, {' and '.join(map(repr, names))}: {error}"
        ) from error
    if values.shape[1] != content["n_draws"] or not np.isfinite(values).all():
        raise DataError(
            f"the tree must contain all {content['n_draws']:,} original draws; got "
            f"{np.isfinite(values).all(axis=0).sum():,}; thin only a copy of it"
        )
    return np.ascontiguousarray(values)


def _answer(spec: LabelSpec, values: FloatArray, chains: list[dict[str, Any]]) -> Answer:
    if chains:
        stored = tuple(Chain(**chain) for chain in chains)
        return Answer(values=values, of_models=(None, None), of_difference=None, chains=stored)
    return engine.with_forms(spec, values)


def check_observed(comparison: Compared, tree: Any) -> None:
    """Reject a metric that differs from the metric of the draws."""
    written = tree["observed_data"]["value"].sel(classifier=list(comparison.names)).values
    observed = [comparison.a.observed, comparison.b.observed]
    if not np.allclose(observed, written, rtol=1e-9, equal_nan=True):
        raise DataError(
            "metric= must be the metric of the tree's draws; on the tree's outcomes, "
            f"{comparison.metric!r} is {observed[0]:.6g} and {observed[1]:.6g}, but the tree has "
            f"{written[0]:.6g} and {written[1]:.6g}"
        )
