"""``ranking.front``: the models that no other model beats in every one of several metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from outperform._json import written
from outperform._typing import BoolArray, FloatArray
from outperform.comparison.scorecard import in_one_order
from outperform.decision.rope import probability_error
from outperform.display.document import Document, Note, Rows
from outperform.display.formats import Column, number_column, probability_column, text_column
from outperform.display.numbers import for_text, probability
from outperform.display.table import Table
from outperform.errors import UsageError, param, unknown_name
from outperform.findings import listed, quoted
from outperform.inference import engine
from outperform.inference.disagreements import are_same
from outperform.inference.items import draw_scores
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import Spec, again
from outperform.metrics.metric import MetricLike
from outperform.results.base import Tabular

_ROUNDING = 1e-12


@written("name p_front mcse means")
@dataclass(frozen=True, slots=True, kw_only=True)
class FrontModel:
    """Model, and the probability that it is on the front.

    Parameters
    ----------
    name
        Name of the model.
    p_front
        Probability that no other model is at least as good in every metric and better in one.
    mcse
        Monte Carlo error of this probability.
    means
        Posterior mean of each metric.
    """

    name: str
    p_front: float
    mcse: float
    means: tuple[float, ...]


@written("metrics greater_is_better models=rows p_alone n_draws signature", kind="front")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Front(Tabular):
    """Probability of each model to be on the Pareto front of several metrics.

    Parameters
    ----------
    metrics
        Names of the metrics.
    greater_is_better
        Whether greater values are better, for each metric.
    rows
        The models, the most probable on the front first.
    p_alone
        Probability that a single model beats all others in every metric.
    draws
        Joint draws of the models before pooling, ``(n_metrics, n_models, n_draws)``, in the order
        of the rows.
    signature
        One line that describes how the result was computed.

    Examples
    --------
    >>> import outperform as op
    >>> votes = {"a": [1] * 60 + [0] * 40, "b": [1] * 90 + [0] * 10, "c": [0] * 40 + [1] * 60}
    >>> ranking = op.rank([1] * 80 + [0] * 20, votes, metric="recall", rope=0.01, random_state=1)
    >>> front = ranking.front("recall", "specificity")
    >>> front["b"].p_front > 0.9
    True
    """

    metrics: tuple[str, ...]
    greater_is_better: tuple[bool, ...]
    rows: tuple[FrontModel, ...]
    p_alone: float
    draws: FloatArray = field(repr=False)
    signature: str

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[FrontModel]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> FrontModel:
        names = [row.name for row in self.rows]
        if name not in names:
            raise UsageError(unknown_name("model", name, names))
        return self.rows[names.index(name)]

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.draws.shape[2])

    def table(self) -> Table:
        """Return one row per model."""
        keys = [f"mean_{index}" for index in range(len(self.metrics))]
        columns: tuple[Column, ...] = (
            text_column("model"),
            probability_column("p_front", "P(on the front)", self.n_draws),
            *(number_column(key, name) for key, name in zip(keys, self.metrics, strict=True)),
        )
        rows = tuple(
            {"model": row.name, "p_front": row.p_front, **dict(zip(keys, row.means, strict=True))}
            for row in self.rows
        )
        return Table(columns, rows, title=f"Pareto front of {', '.join(self.metrics)}")

    def _document(self) -> Document:
        table = self.table()
        return Document(
            headline=self._sentence(),
            lead=[Note(self._directions())],
            screen=[Rows(table=table, first=["model", "p_front"], labels=["model"])],
            table=table,
            caption=table.title or "",
            parts=(),
            signature=self.signature,
        )

    def _sentence(self) -> str:
        likely = [row for row in self.rows if row.p_front > 0.5]
        if not likely:
            first = self.rows[0]
            return (
                f"No model is on the front with more than 50% probability; the most likely is "
                f"{for_text(first.name)}, with {probability(first.p_front, self.n_draws)}."
            )
        names = listed([for_text(row.name) for row in likely], most=None)
        chance = probability(likely[-1].p_front, self.n_draws)
        if len(likely) > 1:
            return f"Probably on the front: {names}, each with at least {chance} probability."
        return f"Probably on the front: {names}, with {chance} probability."

    def _directions(self) -> str:
        better = [
            f"{'higher' if greater else 'lower'} {name}"
            for name, greater in zip(self.metrics, self.greater_is_better, strict=True)
        ]
        return (
            "A model is on the front if no other model is at least as good in every metric and "
            f"better in one. Better means {listed(better, most=None)}."
        )

    def __repr__(self) -> str:
        return f"Front({self._sentence()})"


def on_front(better: FloatArray) -> BoolArray:
    """Return which models are on the front in each draw, ``(n_models, n_draws)``.

    Models that are equal in all metrics do not beat each other.

    Parameters
    ----------
    better
        Values ``(n_metrics, n_models, n_draws)``, where greater is better.

    Examples
    --------
    >>> quality, thrift = [[3.0], [2.0], [1.0]], [[1.0], [2.0], [2.0]]
    >>> on_front(np.array([quality, thrift]))[:, 0].tolist()
    [True, True, False]
    """
    # Sums in another order differ by rounding, which must not separate equal models.
    same = _ROUNDING * np.abs(better).max(axis=(1, 2))[:, None]
    inside = np.ones(better.shape[1:], dtype=bool)
    for model in range(better.shape[1]):
        own = better[:, model]
        for other in range(better.shape[1]):
            if other != model:
                beaten = (better[:, other] >= own - same).all(axis=0)
                beaten &= (better[:, other] > own + same).any(axis=0)
                inside[model] &= ~beaten
    return inside


def front_of(
    spec: Spec,
    metrics: Sequence[MetricLike],
    *,
    n_draws: int,
    seed: np.random.SeedSequence,
    signature: str,
) -> Front:
    """Return the front of the models of a ranking.

    Parameters
    ----------
    spec
        The ranking's question.
    metrics
        Two or more metrics of its data.
    n_draws, seed
        Number of draws, and their seed.
    signature
        Signature of the ranking.
    """
    if len(metrics) < 2:
        raise UsageError(
            "front() needs two or more metrics, such as front('recall', 'precision'); got "
            f"{len(metrics)}"
        )
    specs = [again(spec, metric=metric) for metric in metrics]
    names = tuple(each.metric.name for each in specs)
    if len(set(names)) < len(names):
        raise UsageError(f"front() needs metrics that differ; got {quoted(names, most=None)}")
    if len({each.drawn_with for each in specs}) > 1:
        raise UsageError(
            f"the metrics {quoted(names, most=None)} use different tables or priors, so they have "
            f"no joint draws; rank the models with {param('prior=', 'bootstrap')}"
        )
    draws = np.stack(_joint(specs, Sampling(n_draws, seed, None)))
    # Models with equal predictions are equal, although the prior's own share of their draws is not.
    for index, name in enumerate(spec.view.models):
        before = spec.view.models[:index]
        first = next(
            (k for k, other in enumerate(before) if are_same(spec.data, other, name)), index
        )
        draws[:, index] = draws[:, first]
    greater = tuple(each.metric.greater_is_better for each in specs)
    signs = np.where(greater, 1.0, -1.0)[:, None, None]
    inside = on_front(signs * draws)
    chances = inside.mean(axis=1)
    order = np.argsort(-chances, kind="stable")
    models = [spec.view.models[index] for index in order]
    return Front(
        metrics=names,
        greater_is_better=greater,
        rows=tuple(
            FrontModel(
                name=name,
                p_front=float(chances[index]),
                mcse=probability_error(float(chances[index]), n_draws),
                means=tuple(float(value) for value in draws[:, index].mean(axis=1)),
            )
            for name, index in zip(models, order.tolist(), strict=True)
        ),
        p_alone=float((inside.sum(axis=0) == 1).mean()),
        draws=draws[:, order],
        signature=f"{signature} | front={'/'.join(names)}",
    )


def _joint(specs: Sequence[Spec], sampling: Sampling) -> list[FloatArray]:
    """Return the draws of each metric ``(n_models, n_draws)``, from the same weights."""
    scores = [each for each in in_one_order(specs) if isinstance(each, ScoreSpec)]
    if len(scores) == len(specs):
        return list(draw_scores(scores, sampling))
    if any(each.weighs_units for each in specs):
        raise UsageError(
            "metrics of grouped labels have no joint draws; pass the contribution of "
            "each item, such as right or wrong, to Outcomes.from_statistics with groups"
        )
    return [answer.values for answer in engine.answer(list(specs), sampling)]
