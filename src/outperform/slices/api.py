"""``compare_slices``: is A worse than B anywhere?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Unpack

from outperform import metrics
from outperform._typing import Label, Seed, SeedSequence, Source
from outperform.comparison.api import answer_spec, two_models
from outperform.data.outcomes import Outcomes
from outperform.data.pool import Slices
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import UsageError, either, param
from outperform.findings import Finding, counted, finding, listed
from outperform.inference.diagnostics import rope_findings, table_findings
from outperform.inference.disagreements import FEW_ITEMS
from outperform.inference.engine import check_draws
from outperform.inference.spec import LabelSpec, make_label_spec, refuse_prevalence, rope_for
from outperform.inference.summary import seed_name, sign
from outperform.io.read import Reading, read
from outperform.metrics.score_metric import MetricLike
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import child, seed_sequence
from outperform.posterior.slices import pool_slices
from outperform.slices.result import SliceComparison
from outperform.slices.summary import SliceRow, draw_slices, observe, summarize_rows

FEW_SLICES = 10
_MOST_NAMED = 10


def slice_findings(
    spec: LabelSpec, rows: Sequence[SliceRow], rope: Rope, n_draws: int
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


_WHOLE_DRAWS = 20_000


def compare_slices(
    source: Outcomes | Source,
    a: str,
    b: str,
    *,
    by: str | Sequence[str] | None = None,
    truth: str | None = None,
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    n_draws: int = 4_000,
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
        What :func:`read` takes: a file, a frame, a database; or :class:`Outcomes` with slices.
    a, b
        The models, by name. The difference is A − B.
    by
        The columns that divide the items; outcomes with slices are divided already.
    truth
        The column of the true labels.
    metric
        As for :func:`compare`.
    rope
        The region of practical equivalence. ±0.01 by default.
    hdi_prob
        The mass of the interval.
    prior
        ``"unit"``, ``"uniform"``, ``"jeffreys"``, an array or a :class:`Prior`, on top of which
        comes what the other slices show; by default uniform for two classes and unit for more.
    n_draws
        How many draws of each slice.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        How much to do at a time: None means 1, as in scikit-learn, and -1 all cores that this
        process may use; the draws do not depend on it.
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
    # Before the rows are counted, which may take long.
    metrics.check_name(metric, metrics.names())
    prob, n_draws, seed = check_prob(hdi_prob), check_draws(n_draws), seed_sequence(random_state)
    refuse_prevalence(source, "compare_slices")
    outcomes = _sliced(source, a, b, truth, by, reading)
    spec = make_label_spec(
        outcomes,
        metric=metric,
        prior=prior,
        defaults=("uniform", "unit"),
        paired=True,
        labels=labels,
        pos_label=pos_label,
    )
    return _answer(
        spec,
        rope=rope_for(spec, rope),
        prob=prob,
        n_draws=n_draws,
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
        raise UsageError(
            "these outcomes have no slices; "
            + either("divide them with by=, e.g. by=['country']", f"count them with {param('by=')}")
        )
    return outcomes


def _answer(
    spec: LabelSpec,
    *,
    rope: Rope,
    prob: float,
    n_draws: int,
    seed: SeedSequence,
    n_jobs: int | None,
) -> SliceComparison:
    slices = _slices_of(spec)
    posterior = pool_slices(spec.view, prior=spec.prior)
    drawn = draw_slices(
        posterior, spec, rope=rope, prob=prob, n_draws=n_draws, seed=seed, n_jobs=n_jobs
    )
    rows = summarize_rows(
        spec,
        slices,
        drawn,
        observed=observe(spec, slices),
        like_whole=posterior.learned.like_whole,
        rope=rope,
        prob=prob,
        n_draws=n_draws,
    )
    whole = answer_spec(
        spec, rope=rope, prob=prob, n_draws=_WHOLE_DRAWS, seed=child(seed, 0), n_jobs=n_jobs
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
        by=slices.by,
        rows=rows,
        whole=whole,
        n_draws=n_draws,
        findings=tuple(slice_findings(spec, rows, rope, n_draws)),
        signature=f"{signed} | slices={len(slices)} | pooled",
    )


def _slices_of(spec: LabelSpec) -> Slices:
    slices = spec.view.slices
    if slices is None or spec.view.groups is not None:
        raise UsageError(
            "slices are compared item by item and paired; outcomes with groups or "
            "without shared items cannot be compared slice by slice"
        )
    return slices
