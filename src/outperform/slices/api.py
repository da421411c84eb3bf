"""``compare_slices``: compare two models in every slice of the items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

import numpy as np

from outperform import metrics
from outperform._missing import is_missing, unmasked
from outperform._typing import (
    ColumnLike,
    IntArray,
    Label,
    LabelsLike,
    MatrixLike,
    Seed,
    SeedSequence,
    Source,
)
from outperform.comparison.result import answer_spec
from outperform.data.labels import frame_columns, is_frame
from outperform.data.missing import MissingTexts
from outperform.data.outcomes import Outcomes
from outperform.data.pool import Slices
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Decision, Rope, RopeLike
from outperform.errors import DataError, UsageError, either, param
from outperform.findings import Finding, counted, finding, listed
from outperform.inference import engine
from outperform.inference.diagnostics import rope_findings, table_findings
from outperform.inference.engine import check_draws
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import (
    Data,
    LabelSpec,
    Spec,
    again,
    check_names,
    data_of,
    make_spec,
    refuse_prevalence,
    rope_for,
    selected,
)
from outperform.inference.spelling import changes, listed_predictions, readings, unless_told
from outperform.inference.summary import seed_name, sign
from outperform.inference.thresholds import FEW_ITEMS
from outperform.inputs.columns import read_columns, scores_of_columns
from outperform.io.read import Reading, read
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
from outperform.wrong_calls import explained, usage

FEW_SLICES = 10
_MOST_NAMED = 10


def slice_findings(
    spec: Spec, rows: Sequence[SliceRow], rope: Rope, n_draws: int
) -> Iterator[Finding]:
    """Yield findings about the ROPE, the table of all items and the slices."""
    yield from rope_findings(rope)
    yield from table_findings(spec)
    if len(rows) < FEW_SLICES:
        yield finding("few_slices", slices=counted(len(rows), "slices"))
    small = sum(row.n < FEW_ITEMS for row in rows)
    if small:
        yield finding("small_slices", small=small, n=len(rows), least=FEW_ITEMS)
    disagreeing = [", ".join(row.key) for row in rows if row.disagrees]
    if disagreeing:
        named = listed(disagreeing, most=_MOST_NAMED)
        yield finding("own_data_disagree", found=len(disagreeing), n=len(rows), slices=named)
    coarse = sum(row.coarse for row in rows)
    if coarse:
        yield finding("monte_carlo_too_coarse/slices", found=coarse, n=len(rows), n_draws=n_draws)


_DRAWS = 4_000
_MOST_POOLED = 300  # the covariance matrix of all slices is inverted for every spread on the grid


class _Settings(TypedDict):
    """Settings for the draws and decisions of every slice."""

    rope: Rope
    prob: float
    n_draws: int
    seed: SeedSequence
    n_jobs: int | None


@explained
def compare_slices(
    y_true: Outcomes | Scores | Source | LabelsLike | None,
    a: str | LabelsLike,
    b: str | LabelsLike,
    *,
    by: str | Sequence[str] | Mapping[str, ColumnLike] | ColumnLike | MatrixLike | None = None,
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
    names: tuple[str, str] = ("A", "B"),
    **reading: Unpack[Reading],
) -> SliceComparison:
    """Compare two models in every slice of the items at once.

    Slices are partially pooled (a hierarchical prior): the more similar they are, the more each
    shrinks toward the overall result, so many slices do not cause many false alarms. The prior has
    heavy tails, so one bad slice among many good ones remains visible.

    Parameters
    ----------
    y_true
        A file, a frame or a database, as for :func:`read`; true labels; :class:`Outcomes` with
        slices; or :class:`Scores`.
    a, b
        Names of the models or of their columns, or their predicted labels or scores. The
        difference is A − B.
    by
        Columns that define the slices: their names in a file, frame or database. For arrays and
        :class:`Scores`, one column, a mapping from names to columns, or a DataFrame. Omit it for
        outcomes that already have slices.
    truth
        Column of the true labels in a file, frame or database.
    metric
        As for :func:`compare`.
    rope
        Region of practical equivalence. Default: ±0.01.
    hdi_prob
        Probability mass of the HDI.
    prior
        ``"unit"``, ``"uniform"``, ``"jeffreys"``, an array or a :class:`Prior`; the information
        from the other slices is added to it. Default: uniform for two classes and unit for more.
    n_draws
        Number of posterior draws per slice and overall. Default: 4,000 and 20,000.
    random_state
        Integer, SeedSequence, Generator or RandomState. None chooses a random seed.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    labels
        Classes to average over. Default: those that occur as true labels. No row is dropped.
    pos_label
        Positive class of a binary metric.
    names
        Display names of A and B if they are arrays.
    **reading
        Other parameters of :func:`read`: ``where``, ``count``, ``id``, ``on_null``, …

    Examples
    --------
    >>> import outperform as op
    >>> y, old = [1, 0] * 300, [1, 0] * 300
    >>> new = [1, 0] * 200 + [0, 0] * 100
    >>> day = ["Mon"] * 200 + ["Tue"] * 200 + ["Wed"] * 200
    >>> data = op.Outcomes.from_labels(y, {"new": new, "old": old}, by={"day": day})
    >>> slices = op.compare_slices(data, "new", "old", metric="recall", rope=0.02, random_state=1)
    >>> [(row.key, row.decision.symbol) for row in slices.flagged]
    [(('Wed',), '≪')]
    """
    prob, seed = check_prob(hdi_prob), seed_sequence(random_state)
    overall_draws = check_draws(n_draws)
    n_draws = _DRAWS if n_draws is None else overall_draws
    refuse_prevalence(y_true, "compare_slices")
    data, columns = _read(y_true, a, b, names, truth, by, metric, reading)
    if isinstance(data, Scores):
        score_spec = make_spec(
            data, metric=metric, prior=prior, paired=True, labels=labels, pos_label=pos_label
        )
        return _answer_scores(
            score_spec,
            _divided(data, columns),
            rope=rope_for(score_spec, rope),
            prob=prob,
            n_draws=n_draws,
            overall_draws=overall_draws,
            seed=seed,
            n_jobs=n_jobs,
        )
    spec = make_spec(
        data,
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
        overall_draws=overall_draws,
        seed=seed,
        n_jobs=n_jobs,
    )


def _read(
    y_true: Any,
    a: Any,
    b: Any,
    names: tuple[str, str],
    truth: str | None,
    by: Any,
    metric: MetricLike | None,
    reading: Reading,
) -> tuple[Data, Mapping[str, Any]]:
    """Return outcomes with slices, or scores and the columns that define their slices."""
    of_scores = metrics.is_of_scores(metric)
    if isinstance(y_true, (Outcomes, Scores)):
        options = {"truth": truth, **reading}
        if isinstance(y_true, Outcomes):
            options["by"] = by
        used = [param(f"{name}=") for name, value in options.items() if value is not None]
        if used:
            raise UsageError(f"outcomes are already counted; remove {', '.join(used)}")
        data = selected(y_true, [a, b], verb="compare_slices")
        return (data, _columns(by)) if isinstance(data, Scores) else (_with_slices(data), {})
    if not of_scores:
        # Parameters are checked before the rows are counted, which may take long.
        metrics.check_name(metric, metrics.names)
    if isinstance(a, str) and isinstance(b, str):
        if a == b:
            raise UsageError(f"a and b must be names of two models; got {a!r} twice")
        if not (by is None or isinstance(by, str) or all(isinstance(column, str) for column in by)):
            raise UsageError(
                f"with a frame or file, {param('by=')} must be names of its columns, e.g. "
                f"{param('by=', 'country')}"
            )
        if of_scores:
            return _scores_of_columns(y_true, a, b, truth, by, metric, reading)
        return _with_slices(read(y_true, truth=truth, models=[a, b], by=by, **reading)), {}
    if truth is not None:
        raise UsageError(
            f"with {param('truth=')}, a and b are names of columns; type {usage('compare_slices')}"
        )
    name_a, name_b = check_names(names)
    columns, models = _columns(by), {name_a: a, name_b: b}
    extra = sorted(set(reading) - {"groups", "na_values", "empty_is_label"})
    if extra:
        raise UsageError(
            f"{', '.join(param(f'{name}=') for name in extra)} apply to the columns of a frame or "
            "file; for arrays, build the data with Outcomes.from_labels, which also accepts weights"
        )
    if of_scores:
        data = data_of(
            y_true,
            models,
            metric=metric,
            labels=None,
            sample_weight=None,
            groups=reading.get("groups"),
        )
        return data, columns
    outcomes = Outcomes.from_labels(
        y_true,
        models,
        by=columns,
        groups=reading.get("groups"),
        na_values=reading.get("na_values"),
        empty_is_label=reading.get("empty_is_label", False),
    )
    return outcomes, {}


def _with_slices(data: Data) -> Outcomes:
    if not isinstance(data, Outcomes) or data.slices is None:
        raise UsageError(
            "these outcomes have no slices; "
            + either("create them with by=, e.g. by=['country']", f"count them with {param('by=')}")
        )
    return data


def _columns(by: Any) -> Mapping[str, Any]:
    """Return the columns that define the slices of arrays, by name."""
    if by is None:
        raise UsageError(
            f"pass the column that defines the slices as {param('by=')}, or several as a mapping "
            "from names to columns such as {'country': country, 'device': device}"
        )
    if is_frame(by):
        return frame_columns(by, name="by")
    if isinstance(by, Mapping):
        return by
    if isinstance(by, str):
        raise UsageError(
            f"{param('by=')} is the name of a column, {by!r}, but these data are not a frame or "
            "file; pass the column itself, or a mapping from names to columns: "
            f"{usage('compare_slices')}"
        )
    if np.ndim(by[0] if isinstance(by, (list, tuple)) and by else 0):
        raise UsageError(
            f"for several columns, pass {param('by=')} as a mapping from names to columns such as "
            "{'country': country, 'device': device}"
        )
    return {str(getattr(by, "name", None) or "slice"): by}


def _scores_of_columns(
    source: Any,
    a: str,
    b: str,
    truth: str | None,
    by: str | Sequence[str] | None,
    metric: MetricLike | None,
    reading: Reading,
) -> tuple[Data, Mapping[str, Any]]:
    missing = MissingTexts.from_param(
        reading.get("na_values"), reading.get("empty_is_label", False)
    )
    others = [name for name in reading if name not in ("na_values", "empty_is_label")]
    if others or by is None:
        raise UsageError(
            f"for scores, pass the names of the columns that define the slices as {param('by=')}"
            + (f" and remove {', '.join(param(f'{name}=') for name in others)}" if others else "")
            + "; or build Scores"
        )
    names = [by] if isinstance(by, str) else list(by)
    required = [*names, a, b, *(() if truth is None else (truth,))]
    rows = read_columns(source, required, missing=missing)
    scores = scores_of_columns(rows, [a, b], source, truth=truth, metric=metric)
    return scores, {name: rows[name] for name in names}


def _complete(column: Any, name: str) -> list[Any]:
    """Return the values of a column that defines slices; a missing value raises an error."""
    values = list(unmasked(column))
    empty = [row for row, value in enumerate(values) if is_missing(value)]
    if empty:
        raise DataError(
            f"column {name!r} has no value in {len(empty)} of {len(values)} rows, the first in row "
            f"{empty[0]} (counted from 0); fill in a value, or drop these rows from all columns"
        )
    return values


def _divided(scores: Scores, columns: Mapping[str, Any]) -> Parts:
    """Return the rows of each slice."""
    if not columns:
        raise UsageError(f"{param('by=')} must have at least one column that defines the slices")
    texts = []
    for name, column in columns.items():
        values = [str(slot) for slot in _complete(column, name)]
        if len(values) != scores.n_rows:
            raise DataError(
                f"column {name!r} has {len(values)} rows but the scores have {scores.n_rows}; "
                "they must have the same items in the same order"
            )
        texts.append(values)
    rows: dict[tuple[str, ...], list[int]] = {}
    for row, key in enumerate(zip(*texts, strict=True)):
        rows.setdefault(key, []).append(row)
    _refuse_many(len(rows), "scores")
    keys = tuple(sorted(rows))
    data = tuple(_of_rows(scores, np.array(rows[key])) for key in keys)
    return Parts(by=tuple(columns), keys=keys, data=data)


def _refuse_many(n_slices: int, of: str) -> None:
    if n_slices > _MOST_POOLED:
        raise UsageError(
            f"{n_slices:,} slices of {of} are too many to pool (at most {_MOST_POOLED}); use "
            "fewer columns to define the slices"
        )


def _answer_scores(
    spec: ScoreSpec, parts: Parts, *, overall_draws: int, **settings: Unpack[_Settings]
) -> SliceComparison:
    rows = _rows_of_parts(spec, parts, **settings)
    return _concluded(spec, parts.by, rows, overall_draws=overall_draws, **settings)


def _rows_of_parts(spec: Spec, parts: Parts, **settings: Unpack[_Settings]) -> tuple[SliceRow, ...]:
    """Draw every slice separately, then pool the differences.

    This is used for grouped items, or for scores instead of labels. The slices are pooled by their
    draws, in which a group is one unit, and not by item counts.
    """
    n_draws, seed = settings["n_draws"], settings["seed"]
    rope, prob = settings["rope"], settings["prob"]
    unpooled, observed = np.empty((len(parts.keys), n_draws)), np.empty((2, len(parts.keys)))
    for index, (key, part) in enumerate(zip(parts.keys, parts.data, strict=True)):
        try:
            slice_spec = again(spec, part)
        except DataError as error:
            raise DataError(f"slice {', '.join(key)}: {error}") from error
        sampling = Sampling(n_draws, child(seed, 2 + index), settings["n_jobs"])
        (answer,) = engine.answer([slice_spec], sampling)
        unpooled[index] = answer.values[0] - answer.values[1]
        observed[:, index] = slice_spec.observed
    values = unpooled
    if isinstance(spec, LabelSpec):
        values = coupled(unpooled, spec.data, child(seed, 2 + len(parts.keys)))
    pooled = pool_differences(
        values,
        parts.n_units,
        rope=rope,
        prob=prob,
        seed=child(seed, 1),
        together=values is not unpooled,
    )
    return summarize_rows(
        spec,
        parts,
        pooled.numbers,
        observed=observed,
        p_like_overall=pooled.p_like_overall,
        rope=rope,
        prob=prob,
        n_draws=n_draws,
    )


def _of_rows(scores: Scores, rows: IntArray) -> Scores:
    """Return some rows, with their groups renumbered."""
    part = scores._take(rows)
    if part.group is None:
        return part
    return replace(part, group=np.unique(part.group, return_inverse=True)[1].ravel())


def _answer_labels(
    spec: LabelSpec, *, overall_draws: int, **settings: Unpack[_Settings]
) -> SliceComparison:
    by = _slices_of(spec).by
    rows, spelled = _withheld(spec, _rows(spec, **settings), **settings)
    return _concluded(spec, by, rows, overall_draws=overall_draws, spelled=spelled, **settings)


def _rows(spec: LabelSpec, **settings: Unpack[_Settings]) -> tuple[SliceRow, ...]:
    """Draw every slice, partially pooled with the others."""
    slices = _slices_of(spec)
    if spec.view.groups is not None or spec.data.kind in ("spans", "label_sets"):
        _refuse_many(len(slices), "label sets, spans, groups or weights")
        data = tuple(spec.data.slice(*key) for key in slices)
        return _rows_of_parts(spec, Parts(by=slices.by, keys=slices.keys, data=data), **settings)
    posterior = pool_slices(spec.view, prior=spec.prior)
    drawn = draw_slices(posterior, spec, **settings)
    return summarize_rows(
        spec,
        slices,
        drawn,
        observed=observe(spec, slices),
        p_like_overall=posterior.learned.p_like_overall,
        rope=settings["rope"],
        prob=settings["prob"],
        n_draws=settings["n_draws"],
    )


def _withheld(
    spec: LabelSpec, rows: tuple[SliceRow, ...], **settings: Unpack[_Settings]
) -> tuple[tuple[SliceRow, ...], tuple[Finding, ...]]:
    """Withhold decisions that depend on the spelling of never-true predictions."""
    findings = []
    for predictions, other in readings(spec):
        alike = all(prediction.like is not None for prediction in predictions)
        decisions = {row.key: row.decision for row in _rows(other, **settings)}
        changed = {row.key for row in rows if changes(row.decision, decisions[row.key])}
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
    return replace(
        row, decision=Decision.UNDECIDED, unpooled_decision=Decision.UNDECIDED, p_wrong=0.0
    )


def _concluded(
    spec: Spec,
    by: tuple[str, ...],
    rows: tuple[SliceRow, ...],
    *,
    overall_draws: int,
    spelled: tuple[Finding, ...] = (),
    **settings: Unpack[_Settings],
) -> SliceComparison:
    """Add the overall comparison to the slices."""
    rope, prob, n_draws, seed = (
        settings["rope"],
        settings["prob"],
        settings["n_draws"],
        settings["seed"],
    )
    overall = answer_spec(
        spec,
        rope=rope,
        prob=prob,
        n_draws=overall_draws,
        seed=child(seed, 0),
        n_jobs=settings["n_jobs"],
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
        whole=overall,
        n_draws=n_draws,
        findings=(*unless_told(slice_findings(spec, rows, rope, n_draws), spelled), *spelled),
        signature=f"{signed} | slices={len(rows)} | pooled",
    )


def _slices_of(spec: LabelSpec) -> Slices:
    # A view with only some span types has no slices.
    slices = spec.view.slices if spec.view.slices is not None else spec.data.slices
    if slices is None:
        raise UsageError("slices are compared item by item; these outcomes have no shared items")
    return slices
