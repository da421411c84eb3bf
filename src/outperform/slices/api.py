"""``compare_slices``: is A worse than B anywhere?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

import numpy as np

from outperform import metrics
from outperform._missing import is_missing, unmasked
from outperform._typing import ColumnLike, IntArray, Label, Seed, SeedSequence, Source
from outperform.comparison.result import answer_spec
from outperform.data.labels import frame_columns, is_frame
from outperform.data.missing import MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.pool import Slices
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Decision, Rope, RopeLike
from outperform.errors import DataError, UsageError, either, param, unknown_name
from outperform.findings import Finding, counted, finding, listed
from outperform.inference import engine
from outperform.inference.diagnostics import rope_findings, table_findings
from outperform.inference.disagreements import FEW_ITEMS
from outperform.inference.engine import check_draws
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import (
    LabelSpec,
    Spec,
    again,
    data_of,
    make_spec,
    refuse_prevalence,
    rope_for,
    two_models,
)
from outperform.inference.spelling import changes, listed_predictions, readings, unless_told
from outperform.inference.summary import seed_name, sign
from outperform.io.group_by import or_label
from outperform.io.read import Reading, numbers_of, read, read_rows
from outperform.metrics.metric import MetricLike
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import child, seed_sequence
from outperform.posterior.slices import coupled, pool_slices
from outperform.slices.result import SliceComparison
from outperform.slices.summary import (
    Parts,
    SliceRow,
    draw_slices,
    observe,
    pool_differences,
    summarize_rows,
)

FEW_SLICES = 10
_MOST_NAMED = 10


def slice_findings(
    spec: Spec, rows: Sequence[SliceRow], rope: Rope, n_draws: int
) -> Iterator[Finding]:
    """Yield findings about the question, the table of the whole, and the slices."""
    yield from rope_findings(rope)
    yield from table_findings(spec)
    if len(rows) < FEW_SLICES:
        yield finding("few_slices", slices=counted(len(rows), "slices"))
    small = sum(row.n < FEW_ITEMS for row in rows)
    if small:
        yield finding("small_slices", small=small, n=len(rows), least=FEW_ITEMS)
    apart = [", ".join(row.key) for row in rows if row.disagrees]
    if apart:
        named = listed(apart, most=_MOST_NAMED)
        yield finding("own_data_disagree", found=len(apart), n=len(rows), slices=named)
    coarse = sum(row.coarse for row in rows)
    if coarse:
        yield finding("monte_carlo_too_coarse/slices", found=coarse, n=len(rows), n_draws=n_draws)


_DRAWS = 4_000
_MOST_POOLED = 300  # the covariance of all slices is inverted for every spread


class _Asked(TypedDict):
    """What is asked of every slice."""

    rope: Rope
    prob: float
    n_draws: int
    seed: SeedSequence
    n_jobs: int | None


def compare_slices(
    source: Outcomes | Scores | Source,
    a: str,
    b: str,
    *,
    by: str | Sequence[str] | Mapping[str, ColumnLike] | None = None,
    truth: str | None = None,
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    **reading: Unpack[Reading],
) -> SliceComparison:
    """Compare two classifiers in every slice of the items at once.

    Each slice is pulled toward the whole as much as the slices show that they are alike
    (a hierarchical prior), so that many slices do not bring many false alarms. The prior has
    heavy tails, so that one bad slice among many good ones stays visible.

    Parameters
    ----------
    source
        What :func:`read` takes: a file, a frame, a database; or :class:`Outcomes` with slices, or
        :class:`Scores`.
    a, b
        The models, by name. The difference is A − B.
    by
        The columns that divide the items; outcomes with slices are divided already. Of
        :class:`Scores` a mapping from names to columns, or a frame.
    truth
        The column of the true labels.
    metric
        As for :func:`compare`.
    rope
        The region of practical equivalence. ±0.01 by default.
    hdi_prob
        Probability mass of the HDI.
    prior
        ``"unit"``, ``"uniform"``, ``"jeffreys"``, an array or a :class:`Prior`, on top of which
        comes what the other slices show; by default uniform for two classes and unit for more.
    n_draws
        How many draws of each slice and of the whole; by default 4,000 and 20,000.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    labels
        The classes averaged over; by default those that are ever true. No row is dropped.
    pos_label
        The positive class of a binary metric.
    **reading
        Whatever else :func:`read` takes: ``where``, ``count``, ``id``, ``on_null``, …

    Examples
    --------
    >>> import outperform as op
    >>> y, old = [1, 0] * 300, [1, 0] * 300
    >>> new = [1, 0] * 200 + [0, 0] * 100
    >>> day = ["Mon"] * 200 + ["Tue"] * 200 + ["Wed"] * 200
    >>> seen = op.Outcomes.from_labels(y, {"new": new, "old": old}, by={"day": day})
    >>> slices = op.compare_slices(seen, "new", "old", metric="recall", rope=0.02, random_state=1)
    >>> [(row.key, row.decision.symbol) for row in slices.called]
    [(('Wed',), '≪')]
    """
    prob, seed = check_prob(hdi_prob), seed_sequence(random_state)
    whole_draws = check_draws(n_draws)
    n_draws = _DRAWS if n_draws is None else whole_draws
    if isinstance(source, Scores) or (
        metrics.is_of_scores(metric) and not isinstance(source, Outcomes)
    ):
        scores, columns = _scores(source, a, b, truth, by, metric, reading)
        asked = make_spec(
            scores, metric=metric, prior=prior, paired=True, labels=labels, pos_label=pos_label
        )
        return _answer_scores(
            asked,
            _divided(scores, columns),
            rope=rope_for(asked, rope),
            prob=prob,
            n_draws=n_draws,
            whole_draws=whole_draws,
            seed=seed,
            n_jobs=n_jobs,
        )
    # Before the rows are counted, which may take long.
    metrics.check_name(metric, metrics.names)
    refuse_prevalence(source, "compare_slices")
    if isinstance(by, Mapping):
        raise UsageError(f"of labels, {param('by=')} names columns; give these to Outcomes instead")
    outcomes = _sliced(source, a, b, truth, by, reading)
    spec = make_spec(
        outcomes,
        metric=metric,
        prior=prior,
        defaults=("uniform", "unit"),
        paired=True,
        labels=labels,
        pos_label=pos_label,
    )
    return _answer_labels(
        spec,
        rope=rope_for(spec, rope),
        prob=prob,
        n_draws=n_draws,
        whole_draws=whole_draws,
        seed=seed,
        n_jobs=n_jobs,
    )


def _sliced(
    source: Outcomes | Source,
    a: str,
    b: str,
    truth: str | None,
    by: str | Sequence[str] | None,
    reading: Reading,
) -> Outcomes:
    if not isinstance(source, Outcomes):
        if not (isinstance(a, str) and isinstance(b, str)) or a == b:
            raise UsageError(f"a and b must name two models; got {a!r} and {b!r}")
        source = read(source, truth=truth, models=[a, b], by=by, **reading)
    else:
        asked = {"truth": truth, "by": by, **reading}
        given = [param(f"{name}=") for name, value in asked.items() if value is not None]
        if given:
            raise UsageError(f"outcomes are counted already; leave {', '.join(given)} out")
    outcomes = two_models(source, a, b, ("A", "B"), None)
    if not isinstance(outcomes, Outcomes) or outcomes.slices is None:
        if isinstance(outcomes, Outcomes) and outcomes.kind in ("spans", "label_sets"):
            raise UsageError(
                "slices are compared item by item, and spans and label sets have more than one "
                "label an item; compare the outcomes of each slice"
            )
        raise UsageError(
            "these outcomes have no slices; "
            + either("divide them with by=, e.g. by=['country']", f"count them with {param('by=')}")
        )
    return outcomes


def _scores(
    source: Scores | Source,
    a: str,
    b: str,
    truth: str | None,
    by: str | Sequence[str] | Mapping[str, ColumnLike] | None,
    metric: MetricLike | None,
    reading: Reading,
) -> tuple[Scores, Mapping[str, Any]]:
    """Return the scores of both models, and the columns that divide their items."""
    if isinstance(source, Scores):
        columns = frame_columns(by, name="by") if is_frame(by) else by
        if not isinstance(columns, Mapping) or truth is not None or reading:
            raise UsageError(
                "scores are read already; give only what divides their items, "
                f"{param('by=')} a mapping from names to columns such as {{'country': …}}"
            )
        found = two_models(source, a, b, ("A", "B"), None)
        assert isinstance(found, Scores)
        return found, columns
    missing = MissingTexts.from_param(
        reading.get("na_values"), reading.get("empty_is_label", False)
    )
    others = [name for name in reading if name not in ("na_values", "empty_is_label")]
    if others or by is None or isinstance(by, Mapping):
        raise UsageError(
            f"of scores, name the columns that divide the items with {param('by=')} and leave "
            f"{', '.join(param(f'{name}=') for name in others) or 'the rest'} out; or make Scores"
        )
    names = [by] if isinstance(by, str) else list(by)
    wanted = [*names, a, b, *(() if truth is None else (truth,))]
    if is_frame(source):
        rows = {name: missing.without(one) for name, one in _rows_of(source, wanted).items()}
    else:
        rows = read_rows(source, wanted, missing=missing)
    for name in wanted:
        gone = [row for row, value in enumerate(rows[name], 1) if is_missing(value)]
        if gone:
            raise DataError(
                f"column {name!r} has no value in {len(gone)} of {len(rows[name])} rows, the first "
                f"in row {gone[0]} (counted from 1); drop these rows, or give them a value"
                + ("" if is_frame(source) else or_label(text_file=True))
            )
    basis = None if metric is None or callable(metric) else metrics.get_score(metric).basis
    if basis is None or basis.read is None:  # others read texts, rankings or masks
        of_targets = (
            () if basis is None or basis.reads != "statistics" or truth is None else (truth,)
        )
        rows |= {name: list(numbers_of(rows[name], name, source)) for name in (a, b, *of_targets)}
    made = data_of(
        None if truth is None else rows[truth],
        {a: rows[a], b: rows[b]},
        metric=metric,
        labels=None,
        sample_weight=None,
        groups=None,
    )
    assert isinstance(made, Scores)
    return made, {name: rows[name] for name in names}


def _rows_of(frame: object, wanted: Sequence[str]) -> dict[str, list[Any]]:
    """Return columns of a frame row by row."""
    columns = frame_columns(frame, name="source")
    for name in wanted:
        if name not in columns:
            raise UsageError(unknown_name("column", name, map(str, columns)))
    # Arrow's own values are neither text nor numbers.
    return {
        name: columns[name].to_pylist()
        if hasattr(columns[name], "to_pylist")
        else list(columns[name])
        for name in wanted
    }


def _whole(column: Any, name: str) -> list[Any]:
    """Return the values of a column that divides items, none of which may be missing."""
    values = list(unmasked(column))
    gone = [row for row, value in enumerate(values) if is_missing(value)]
    if gone:
        raise DataError(
            f"column {name!r} has no value in {len(gone)} of {len(values)} rows, the first in row "
            f"{gone[0]} (counted from 0); give them a slice, or drop these rows from all columns"
        )
    return values


def _divided(scores: Scores, columns: Mapping[str, Any]) -> Parts:
    """Return the rows of each slice."""
    if not columns:
        raise UsageError(f"give at least one column that divides the items, {param('by=')}")
    texts = []
    for name, column in columns.items():
        values = [str(slot) for slot in _whole(column, name)]
        if len(values) != scores.n_rows:
            raise DataError(
                f"column {name!r} has {len(values)} rows and the scores have {scores.n_rows}; "
                "they must be the same items in the same order"
            )
        texts.append(values)
    places: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(zip(*texts, strict=True)):
        places.setdefault(key, []).append(place)
    _refuse_many(len(places), "scores")
    keys = tuple(sorted(places))
    data = tuple(_of_rows(scores, np.array(places[key])) for key in keys)
    return Parts(by=tuple(columns), keys=keys, data=data)


def _refuse_many(n_slices: int, of: str) -> None:
    if n_slices > _MOST_POOLED:
        raise UsageError(
            f"{n_slices:,} slices of {of} are too many, at most {_MOST_POOLED} are pooled; "
            "divide the items by fewer columns"
        )


def _answer_scores(
    spec: ScoreSpec, parts: Parts, *, whole_draws: int, **asked: Unpack[_Asked]
) -> SliceComparison:
    rows = _rows_of_parts(spec, parts, **asked)
    return _concluded(spec, parts.by, rows, whole_draws=whole_draws, **asked)


def _rows_of_parts(spec: Spec, parts: Parts, **asked: Unpack[_Asked]) -> tuple[SliceRow, ...]:
    """Draw every slice on its own, and pool the differences.

    This is the way where items are not independent or are no labels: what slices teach each
    other comes from their draws, in which a group has one weight, and not from counts of items.
    """
    n_draws, seed = asked["n_draws"], asked["seed"]
    rope, prob = asked["rope"], asked["prob"]
    own, observed = np.empty((len(parts.keys), n_draws)), np.empty((2, len(parts.keys)))
    for place, (key, part) in enumerate(zip(parts.keys, parts.data, strict=True)):
        try:
            question = again(spec, part)
        except DataError as error:
            raise DataError(f"slice {', '.join(key)}: {error}") from error
        sampling = Sampling(n_draws, child(seed, 2 + place), asked["n_jobs"])
        (drawn,) = engine.answer([question], sampling)
        own[place] = drawn.values[0] - drawn.values[1]
        observed[:, place] = question.observed
    together = own
    if isinstance(spec, LabelSpec):
        together = coupled(own, spec.data, child(seed, 2 + len(parts.keys)))
    pooled = pool_differences(
        together,
        parts.n_units,
        rope=rope,
        prob=prob,
        seed=child(seed, 1),
        together=together is not own,
    )
    return summarize_rows(
        spec,
        parts,
        pooled.numbers,
        observed=observed,
        like_whole=pooled.like_whole,
        rope=rope,
        prob=prob,
        n_draws=n_draws,
    )


def _of_rows(scores: Scores, rows: IntArray) -> Scores:
    """Return some rows, their groups counted anew."""
    part = scores._take(rows)
    if part.group is None:
        return part
    return replace(part, group=np.unique(part.group, return_inverse=True)[1].ravel())


def _answer_labels(
    spec: LabelSpec, *, whole_draws: int, **asked: Unpack[_Asked]
) -> SliceComparison:
    by = _slices_of(spec).by
    rows, spelled = _withheld(spec, _rows(spec, **asked), **asked)
    return _concluded(spec, by, rows, whole_draws=whole_draws, spelled=spelled, **asked)


def _rows(spec: LabelSpec, **asked: Unpack[_Asked]) -> tuple[SliceRow, ...]:
    """Draw every slice, pulled toward the others."""
    slices = _slices_of(spec)
    if spec.view.groups is not None:
        _refuse_many(len(slices), "groups or weights")
        data = tuple(spec.data.slice(*key) for key in slices)
        return _rows_of_parts(spec, Parts(by=slices.by, keys=slices.keys, data=data), **asked)
    posterior = pool_slices(spec.view, prior=spec.prior)
    drawn = draw_slices(posterior, spec, **asked)
    return summarize_rows(
        spec,
        slices,
        drawn,
        observed=observe(spec, slices),
        like_whole=posterior.learned.like_whole,
        rope=asked["rope"],
        prob=asked["prob"],
        n_draws=asked["n_draws"],
    )


def _withheld(
    spec: LabelSpec, rows: tuple[SliceRow, ...], **asked: Unpack[_Asked]
) -> tuple[tuple[SliceRow, ...], tuple[Finding, ...]]:
    """Withhold decisions that depend on how predictions are spelled that are never true."""
    findings = []
    for predictions, other in readings(spec):
        alike = all(one.like is not None for one in predictions)
        said = {row.key: row.decision for row in _rows(other, **asked)}
        changed = {row.key for row in rows if changes(row.decision, said[row.key])}
        if not changed:
            continue
        named = [", ".join(row.key) for row in rows if row.key in changed]
        findings.append(
            finding(
                "spelled_otherwise/slices" if alike else "never_true_predictions/slices",
                predictions=listed_predictions(predictions, spec.data.kind),
                found=len(changed),
                n=len(rows),
                slices=listed(named, most=_MOST_NAMED),
            )
        )
        if alike:
            rows = tuple(_undecided(row) if row.key in changed else row for row in rows)
    return rows, tuple(findings[:1])


def _undecided(row: SliceRow) -> SliceRow:
    return replace(row, decision=Decision.UNDECIDED, own_decision=Decision.UNDECIDED, p_wrong=0.0)


def _concluded(
    spec: Spec,
    by: tuple[str, ...],
    rows: tuple[SliceRow, ...],
    *,
    whole_draws: int,
    spelled: tuple[Finding, ...] = (),
    **asked: Unpack[_Asked],
) -> SliceComparison:
    """Put the whole beside the slices."""
    rope, prob, n_draws, seed = asked["rope"], asked["prob"], asked["n_draws"], asked["seed"]
    whole = answer_spec(
        spec,
        rope=rope,
        prob=prob,
        n_draws=whole_draws,
        seed=child(seed, 0),
        n_jobs=asked["n_jobs"],
    )
    signed = sign(
        "compare_slices",
        spec,
        rope=str(rope),
        prob=prob,
        n_draws=n_draws,
        seed=seed_name(seed),
    )
    return SliceComparison(
        by=by,
        rows=rows,
        whole=whole,
        n_draws=n_draws,
        findings=(*unless_told(slice_findings(spec, rows, rope, n_draws), spelled), *spelled),
        signature=f"{signed} | slices={len(rows)} | pooled",
    )


def _slices_of(spec: LabelSpec) -> Slices:
    slices = spec.view.slices
    if slices is None:
        raise UsageError(
            "slices are compared item by item; outcomes without shared items cannot be compared "
            "slice by slice"
        )
    return slices
