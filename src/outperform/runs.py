"""``compare_runs``: compare two models over several training runs of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, takewhile
from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from outperform._typing import (
    AnyArray,
    ColumnLike,
    FloatArray,
    Label,
    LabelsLike,
    RunsLike,
    Seed,
    Source,
)
from outperform.comparison.result import Comparison
from outperform.data.labels import frame_columns, is_frame, is_source
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import Interval, check_prob
from outperform.decision.rope import Decision, Rope, RopeLike, decide, masses_from_draws
from outperform.errors import DataError, UsageError, param
from outperform.findings import Finding, finding, is_serious, listed
from outperform.inference import diagnostics, disagreements, engine
from outperform.inference.engine import Answer
from outperform.inference.question import Sampling
from outperform.inference.spec import (
    Data,
    LabelSpec,
    Spec,
    check_names,
    counted,
    data_of,
    refuse_prevalence,
    rope_for,
)
from outperform.inference.spelling import (
    AsRight,
    Interpret,
    ask_as_right,
    spelling_findings,
    unless_told,
)
from outperform.inference.summary import Summary, seed_name, sign, summarize
from outperform.inputs.models import read_models
from outperform.metrics.metric import MetricLike
from outperform.posterior.predictive import Trained, draw_mean, draw_mean_difference, spread_of
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import child, seed_sequence
from outperform.ranking.result import check_many_draws, make_joint_spec
from outperform.results.details import (
    ModelRuns,
    PooledRuns,
    RunDetails,
    RunDraws,
    Side,
    VarianceFrom,
)
from outperform.results.estimate import Estimate
from outperform.wrong_calls import explained


class Runs(NamedTuple):
    """Data of all runs, and the run names of each model."""

    data: Data
    a: Side
    b: Side


def read_runs(
    y_true: object,
    runs_a: object,
    runs_b: object,
    *,
    truth: str | None,
    names: tuple[str, str] | None,
    metric: MetricLike | None,
    labels: Sequence[Label] | None,
    sample_weight: ColumnLike | None,
    groups: ColumnLike | None,
) -> Runs:
    """Return the data of all runs, from arrays, scores or existing outcomes."""
    by_name = _are_names(runs_a) and _are_names(runs_b) and is_source(y_true)
    if by_name or truth is not None or isinstance(y_true, (Outcomes, Scores)):
        of_a, of_b = (_named(runs, side) for runs, side in ((runs_a, "a"), (runs_b, "b")))
        names_of = _common_names(of_a, of_b) if names is None else check_names(names)
        _refuse_shared(of_a, of_b)
        data = read_models(
            y_true,
            {name: name for name in (*of_a, *of_b)},
            verb="compare_runs",
            truth=truth,
            metric=metric,
            labels=labels,
            groups=groups,
            sample_weight=sample_weight,
        )
    else:
        names_of = check_names(("A", "B") if names is None else names)
        columns_a = _columns(runs_a, names_of[0], "a")
        columns_b = _columns(runs_b, names_of[1], "b")
        if is_frame(runs_a) or is_frame(runs_b):
            columns_a, columns_b = _prefixed(names_of, columns_a, columns_b)
        of_a, of_b = tuple(columns_a), tuple(columns_b)
        _refuse_shared(of_a, of_b)
        data = data_of(
            y_true,
            {**columns_a, **columns_b},
            metric=metric,
            labels=labels,
            sample_weight=sample_weight,
            groups=groups,
        )
    _refuse_unpaired(data)
    if len(of_a) == len(of_b) == 1:
        raise UsageError(
            "one run of each model does not show how much runs vary; pass several runs of at "
            "least one model, or use compare for these two"
        )
    return _without_copies(data, (names_of[0], of_a), (names_of[1], of_b))


def _are_names(runs: Any) -> bool:
    return isinstance(runs, Sequence) and all(isinstance(run, str) for run in runs)


def _named(runs: Any, side: str) -> tuple[str, ...]:
    names = () if isinstance(runs, (str, Mapping)) else tuple(runs)
    if not names or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"with outcomes, scores, a frame or a file, runs_{side} must be names of runs, "
            f"e.g. ['bert-1', 'bert-2']; got {_describe(runs)}"
        )
    if len(set(names)) != len(names):
        raise UsageError(f"runs_{side} names a run twice: {list(names)}")
    return names


def _columns(runs: Any, name: str, side: str) -> dict[str, Any]:
    if is_frame(runs):
        named = frame_columns(runs, name=f"runs_{side}").items()
        columns = {str(run): answers for run, answers in named}
    elif isinstance(runs, Mapping):
        columns = {str(run): answers for run, answers in runs.items()}
    elif isinstance(runs, (str, bytes)) or not hasattr(runs, "__len__"):
        columns = {}
    else:
        columns = {f"{name}-{number}": answers for number, answers in enumerate(runs, start=1)}
    if not columns or any(np.ndim(answers) == 0 for answers in columns.values()):
        raise UsageError(
            f"runs_{side} must be the predictions of each run: a list of arrays, an array with "
            "one row per run, a frame with one column per run, or a mapping by name; got "
            f"{_describe(runs)}"
        )
    return columns


def _prefixed(
    names: tuple[str, str], runs_a: dict[str, object], runs_b: dict[str, object]
) -> tuple[dict[str, Any], ...]:
    """Prefix the model's name if frames use the same run names for both models."""
    if not runs_a.keys() & runs_b.keys():
        return runs_a, runs_b
    return tuple(
        {f"{name}-{run}": answers for run, answers in runs.items()}
        for name, runs in zip(names, (runs_a, runs_b), strict=True)
    )


def _describe(runs: object) -> str:
    if isinstance(runs, str):
        return repr(runs)
    shape = getattr(runs, "shape", None)
    size = "" if not hasattr(runs, "__len__") else f" of {len(runs)}"
    return f"a {type(runs).__name__}" + (size if shape is None else f" of shape {shape}")


def _refuse_shared(of_a: Sequence[str], of_b: Sequence[str]) -> None:
    shared = [run for run in of_a if run in of_b]
    if shared:
        raise UsageError(f"a run must belong to one model only; {shared[0]!r} belongs to both")


def _refuse_unpaired(data: Data) -> None:
    if isinstance(data, Outcomes) and not data.paired:
        raise DataError(
            "the data do not show which items each run got right, so run and item variance cannot "
            "be separated; pass label arrays of the same items"
        )


def _common_names(of_a: Sequence[str], of_b: Sequence[str]) -> tuple[str, str]:
    """Return the common prefix of each model's run names, or A and B if there is none.

    Examples
    --------
    >>> _common_names(["bert-1", "bert-2"], ["gpt_s1", "gpt_s12"])
    ('bert', 'gpt_s')
    """
    a, b = (_common_name(runs) for runs in (of_a, of_b))
    return (a, b) if a and b and a != b else ("A", "B")


def _common_name(runs: Sequence[str]) -> str:
    if len(runs) == 1:
        return runs[0]
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*runs, strict=False))
    return "".join(letters[0] for letters in same).rstrip("0123456789 -_.:/#")


def _without_copies(data: Data, *models: tuple[str, tuple[str, ...]]) -> Runs:
    """Select one run of a model whose runs are identical, so the prior is that of a single run."""
    selected: list[str] = []
    sides = []
    for name, runs in models:
        same = len(runs) > 1 and all(disagreements.are_same(data, runs[0], run) for run in runs[1:])
        first = len(selected)
        selected += runs[:1] if same else runs
        positions = [first] * len(runs) if same else range(first, len(selected))
        sides.append(Side(name=name, runs=runs, places=tuple(positions)))
    return Runs(data.select(selected), *sides)


_RUN_STREAM = 2**30  # not used by any block of draws


def draw_runs(
    spec: Spec, values: FloatArray, sides: tuple[Side, Side], seed: np.random.SeedSequence
) -> RunDraws:
    """Draw the means over all possible runs, given draws for the existing runs."""
    bounds = spec.metric.bounds
    a, b = (values[list(side.places)] for side in sides)
    streams = [child(seed, _RUN_STREAM + stream) for stream in range(3)]
    return RunDraws(
        values=values,
        a=draw_mean(a, bounds=bounds, seed=streams[0]),
        b=draw_mean(b, bounds=bounds, seed=streams[1]),
        difference=draw_mean_difference(a, b, bounds=bounds, seed=streams[2]),
    )


def of_these_runs(drawn: RunDraws, sides: tuple[Side, Side]) -> FloatArray:
    """Return draws of the difference of means over the existing runs."""
    a, b = (drawn.values[list(side.places)].mean(axis=0) for side in sides)
    return np.asarray(a - b)


FEW_RUNS = 5


def run_findings(spec: Spec, sides: tuple[Side, Side]) -> Iterator[Finding]:
    """Yield findings about too few, identical or repeated runs."""
    few = [side for side in sides if 1 < side.n < FEW_RUNS and not side.deterministic]
    if few:
        runs = listed(f"{side.n} runs of {side.name}" for side in few)
        yield finding("few_runs", runs=runs, least=FEW_RUNS)
    for side in sides:
        if side.n == 1:
            yield finding("single_run", model=side.name)
        elif side.deterministic:
            yield finding("identical_runs", n=side.n, model=side.name)
        else:
            yield from _repeated(spec, side)


def _repeated(spec: Spec, side: Side) -> Iterator[Finding]:
    twice = [
        pair for pair in combinations(side.runs, 2) if disagreements.are_same(spec.data, *pair)
    ]
    if twice:
        first, second = twice[0]
        yield finding("repeated_run", one=first, two=second)


# If runs are normal, an outlier is reported in at most this share of comparisons.
_FALSE_ALARMS = 0.02
_FEWEST_ALIKE = 3


def stand_apart(values: FloatArray, *, noise: float, level: float) -> tuple[int, ...]:
    """Return the indices of outlying runs, fewer than half of all.

    The lowest or highest k runs are compared with the others using the two-sample t statistic with
    equal variances. For normal runs, any k chosen in advance have this t distribution. There are R
    choose k ways to choose them, so Bonferroni's bound applies to the most extreme k.

    Parameters
    ----------
    values
        Metric of each run.
    noise
        Item-related variance of a run; it is the smallest possible variance within a group.
    level
        Probability of reporting any run if all are normal, divided among all k.

    Examples
    --------
    >>> stand_apart(np.array([0.84, 0.5, 0.83, 0.85, 0.84]), noise=1e-4, level=0.01)
    (1,)
    >>> stand_apart(np.array([0.84, 0.80, 0.83, 0.85, 0.84]), noise=1e-4, level=0.01)
    ()
    """
    n, order = values.size, np.argsort(values, kind="stable")
    sizes = range(1, (n - 1) // 2 + 1)
    named: tuple[int, ...] = ()
    most = 1.0
    for k in sizes:
        limit = float(stdtrit(n - 2, 1 - level / len(sizes) / (2 * comb(n, k))))
        for few, others in ((order[:k], order[k:]), (order[n - k :], order[: n - k])):
            within = sum(
                float(values[members].var()) * members.size for members in (few, others)
            ) / (n - 2)
            error = np.sqrt(max(within, noise) * (1 / k + 1 / (n - k)))
            distance = abs(float(values[few].mean() - values[others].mean()))
            # If the variance is zero, every distance above 0 exceeds the limit.
            times = distance / (limit * error) if error else np.inf * np.sign(distance)
            if times > most:
                most, named = times, tuple(sorted(few.tolist()))
    return named


def _sd(values: FloatArray, noise: float) -> float:
    return float(np.sqrt(max(values.var(ddof=1), noise)))


def apart_findings(
    drawn: RunDraws, sides: tuple[Side, Side], observed: Sequence[float]
) -> Iterator[Finding]:
    """Yield the outlying runs of A and B, and the distance of the nearest one.

    No decision is withheld. A single outlier widens the interval by more than it moves the mean, so
    a firm decision with the outlier is also firm without it.
    """
    for side in sides:
        if side.n <= _FEWEST_ALIKE or side.deterministic:
            continue
        positions = list(side.places)
        values = np.array([observed[index] for index in positions])
        noise = side.n * spread_of(drawn.values[positions]).noise
        named = list(stand_apart(values, noise=noise, level=_FALSE_ALARMS / 2))
        if named:
            others = np.delete(values, named)
            distance, sd = float(np.abs(values[named] - others.mean()).min()), _sd(others, noise)
            yield finding(
                "run_stands_apart",
                model=side.name,
                runs=listed(side.runs[k] for k in named),
                distance=distance,
                times=distance / sd if sd else float("inf"),
                n=others.size,
            )


def pooling_finding(pooled: PooledRuns, decision: Decision) -> Iterator[Finding]:
    """Yield the finding about a decision that the variance of the runs does not support."""
    pooled_decision = pooled.decision
    if pooled_decision in (Decision.BETTER, Decision.WORSE) and decision is not pooled_decision:
        yield finding("runs_not_pooled", symbol=pooled_decision.symbol, words=pooled_decision.words)


_SHARE_LEVELS = (0.025, 0.975)


class RunComparison(Comparison):
    """Comparison of training runs; other ROPEs use the same draws."""

    __slots__ = ()
    details: RunDetails

    @property
    def _runs(self) -> RunDetails:
        return self.details

    def _allowed_by_data(self, decision: Decision) -> Decision:
        a, b = (side.places for side in self.details.sides)
        return disagreements.allow_runs(self.spec, decision, self.hdi, (a, b))[0]

    def confusions(self) -> tuple[AnyArray, AnyArray]:
        """Return the mean confusion matrices of A's and B's runs, with true classes as rows."""
        outcomes = counted(self.spec).data
        a, b = (
            np.mean([outcomes.confusion(outcomes.models[index]) for index in side.places], axis=0)
            for side in self.details.sides
        )
        return a, b

    def _under(self, rope: Rope) -> Comparison:
        return summarize_runs(
            self.spec,
            self.details.drawn,
            self.details.sides,
            rope=rope,
            prob=self.hdi.prob,
            seed=self.seed,
            as_right=self._as_right or None,
        )

    def _conclude(
        self,
        spec: Spec,
        answer: Answer,
        *,
        rope: Rope,
        seed: np.random.SeedSequence,
        as_right: tuple[AsRight, ...] | None = None,
    ) -> Comparison:
        sides = self.details.sides
        drawn = draw_runs(spec, answer.values, sides, seed)
        return summarize_runs(
            spec, drawn, sides, rope=rope, prob=self.hdi.prob, seed=seed, as_right=as_right
        )


def summarize_runs(
    spec: Spec,
    drawn: RunDraws,
    sides: tuple[Side, Side],
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
    as_right: tuple[AsRight, ...] | None = None,
) -> Comparison:
    """Return a comparison of two models from joint draws of all runs.

    ``as_right`` has the results if predictions of never-true classes counted as right, if they are
    already known from another ROPE.
    """
    both, n_draws = drawn.difference, drawn.values.shape[1]
    signed = sign(
        "compare_runs", spec, rope=str(rope), prob=prob, n_draws=n_draws, seed=seed_name(seed)
    )
    signature = f"{signed} | runs={sides[0].n}+{sides[1].n}"
    observed = spec.observed
    a, b = (
        _estimate(spec, side, trained, observed, prob=prob, signature=signature)
        for side, trained in zip(sides, (drawn.a, drawn.b), strict=True)
    )
    fixed = of_these_runs(drawn, sides)
    ordered = np.sort(both.means)
    numbers = summarize(ordered, None, prob, signed=True)
    pooled = _pool(spec, fixed, rope, prob)
    masses = masses_from_draws(ordered, rope)
    decision = decide(numbers.hdi, rope, masses, greater_is_better=spec.metric.greater_is_better)
    decision, few = disagreements.allow_runs(
        spec, decision, numbers.hdi, (sides[0].places, sides[1].places)
    )
    if as_right is None:
        interpret = _interpret_runs(sides, prob=prob, n_draws=n_draws, seed=seed)
        positions = (sides[0].places, sides[1].places)
        as_right = ask_as_right(spec, interpret, sides=positions)
    spelled = tuple(spelling_findings(decision, as_right, rope))
    if is_serious(spelled):
        decision = Decision.UNDECIDED
    findings = (
        *diagnostics.rope_findings(rope),
        *run_findings(spec, sides),
        *apart_findings(drawn, sides, observed),
        *pooling_finding(pooled, decision),
        *unless_told(diagnostics.table_findings(spec), spelled),
        *spelled,
        *_pulled(spec, a, b, numbers),
        *([] if few is None else [few]),
        *diagnostics.interval_findings(spec, numbers, rope, masses, n_draws=ordered.size),
    )
    return RunComparison(
        spec=spec,
        a=a,
        b=b,
        observed=a.observed - b.observed,
        **numbers._fields(),
        rope=rope,
        _masses=masses,
        decision=decision,
        draws=both.means,
        distribution=None,
        findings=findings,
        signature=signature,
        seed=seed,
        details=RunDetails(
            sides=sides, drawn=drawn, variance_from=_divide(fixed, both.variances), pooled=pooled
        ),
        _as_right=as_right,
    )


def _interpret_runs(
    sides: tuple[Side, Side], *, prob: float, n_draws: int, seed: np.random.SeedSequence
) -> Interpret:
    """Return a function that compares runs with ``n_draws`` draws and returns the HDI."""

    def interpret(spec: LabelSpec) -> Interval:
        (answered,) = engine.answer([spec], Sampling(n_draws, seed))
        drawn = draw_runs(spec, answered.values, sides, seed)
        return summarize(np.sort(drawn.difference.means), None, prob, signed=True).hdi

    return interpret


def _estimate(
    spec: Spec,
    side: Side,
    trained: Trained,
    observed: Sequence[float],
    *,
    prob: float,
    signature: str,
) -> Estimate:
    """Return the posterior of one model's mean over all possible runs."""
    numbers = summarize(np.sort(trained.means), None, prob)
    run_values = tuple(observed[index] for index in side.places)
    return Estimate(
        name=side.name,
        spec=spec,
        observed=float(np.mean(run_values)),
        **numbers._fields(),
        draws=trained.means,
        distribution=None,
        findings=(),
        signature=signature,
        details=ModelRuns(runs=side.runs, run_values=run_values),
    )


def _pool(spec: Spec, fixed: FloatArray, rope: Rope, prob: float) -> PooledRuns:
    """Return the comparison of the means over exactly these runs."""
    ordered, better = np.sort(fixed), spec.metric.greater_is_better
    summary = summarize(ordered, None, prob, signed=True)
    masses = masses_from_draws(ordered, rope)
    return PooledRuns(
        sd=summary.sd,
        hdi=summary.hdi,
        decision=decide(summary.hdi, rope, masses, greater_is_better=better),
    )


def _divide(fixed: FloatArray, of_runs: FloatArray) -> VarianceFrom:
    """Return the share of variance that would remain with infinitely many items."""
    of_items = float(fixed.var(ddof=1))
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(of_runs / (of_runs + of_items))  # 0 / 0 counts as 0.
    low, high = np.quantile(shares, _SHARE_LEVELS)
    share = float(shares.mean())
    return VarianceFrom(test_set=1 - share, runs=share, runs_low=float(low), runs_high=float(high))


def _pulled(spec: Spec, a: Estimate, b: Estimate, numbers: Summary) -> Iterator[Finding]:
    levels = {estimate.name: (estimate.observed, estimate.mean, estimate.sd) for estimate in (a, b)}
    difference = (a.observed - b.observed, numbers.mean, numbers.sd)
    return diagnostics.pull_findings(spec, levels, difference)


@explained
def compare_runs(
    y_true: Outcomes | Scores | Source | LabelsLike | None,
    runs_a: Iterable[str] | RunsLike,
    runs_b: Iterable[str] | RunsLike,
    *,
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
    names: tuple[str, str] | None = None,
    groups: ColumnLike | None = None,
    sample_weight: ColumnLike | None = None,
) -> Comparison:
    r"""Compare two models over several training runs of each on the same items.

    The difference A − B is between the models' means over all runs that training could produce. In
    each draw, all runs share the same item weights. With :math:`m` the mean of the drawn runs and
    :math:`q_A = s_A^2 / R_A` the variance between the runs of A divided by their number,

    .. math::

        \mu_A - \mu_B = m_A - m_B + \sqrt{Q - v}\; z, \qquad
        \nu\, (q_A + q_B) / Q \sim \chi^2_\nu, \quad Q \ge v,

    with the degrees of freedom :math:`\nu` of Welch and Satterthwaite. :math:`v` is the part of
    :math:`Q` that comes from the items, which the draws of :math:`m` already include. With
    infinitely many items this is Welch's t interval.

    Parameters
    ----------
    y_true
        True labels, :class:`Outcomes`, or :class:`Scores`; None for graded answers. A frame or file
        needs ``truth``.
    runs_a, runs_b
        Predictions of each run of A and B: a list of arrays, an array with one row per run, a frame
        with one column per run, or a mapping by name. For a score-based metric, their scores; with
        outcomes, a frame or a file, the names of the runs. One of the models can have a single run.
    truth
        Column of the true labels, if ``y_true`` is a frame or file. Groups and weights are then
        names of columns too.
    metric
        Name of a scikit-learn scorer, a metric object, or a function of a confusion array, or of
        truth, score and weight. Default: F1 if the positive class is clear, otherwise macro-F1.
    rope
        Region of practical equivalence: a half-width or a pair. Default: ±0.01.
    hdi_prob
        Probability mass of the HDI.
    prior
        As for :func:`rank`, with the same defaults; ``"bootstrap"`` for scores.
    n_draws
        Number of draws. Default: 20,000.
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
        Display names of A and B. Default: the common prefixes of their run names.
    groups
        Group of each item, such as its author or prompt. Each group, not each item, is then one
        independent unit.
    sample_weight
        As for :func:`compare`.

    Examples
    --------
    >>> import numpy as np
    >>> import outperform as op
    >>> rng = np.random.default_rng(7)
    >>> truth = rng.integers(2, size=2_000)
    >>> def train(accuracy):
    ...     return np.where(rng.random(2_000) < accuracy, truth, 1 - truth)
    >>> bert = [train(accuracy) for accuracy in (0.84, 0.81, 0.87, 0.82, 0.86)]
    >>> gpt = [train(accuracy) for accuracy in (0.82, 0.84, 0.79, 0.85, 0.80)]
    >>> c = op.compare_runs(truth, bert, gpt, metric="accuracy", rope=0.005, random_state=1)
    >>> c.decision.symbol, c.details.pooled.decision.symbol
    ('>', '≫')
    >>> print(f"{c.details.variance_from.runs:.0%} of the variance comes from the runs")
    91% of the variance comes from the runs
    """
    refuse_prevalence(y_true, "compare_runs")
    runs = read_runs(
        y_true,
        runs_a,
        runs_b,
        truth=truth,
        names=names,
        metric=metric,
        labels=labels,
        sample_weight=sample_weight,
        groups=groups,
    )
    spec = _ask(runs.data, metric=metric, prior=prior, labels=labels, pos_label=pos_label)
    prob, rope = check_prob(hdi_prob), rope_for(spec, rope)
    seed, draws = seed_sequence(random_state), check_many_draws(n_draws, len(runs.data.models))
    (answered,) = engine.answer([spec], Sampling(draws, seed, n_jobs))
    sides = (runs.a, runs.b)
    drawn = draw_runs(spec, answered.values, sides, seed)
    return summarize_runs(spec, drawn, sides, rope=rope, prob=prob, seed=seed)


def _ask(data: Data, **kwargs: Any) -> Spec:
    spec = make_joint_spec(data, paired=True, **kwargs)
    if not spec.paired:
        raise UsageError(
            f"prior {spec.prior.name!r} draws separate weights for every run, so the items shared "
            f"by the runs would count several times; use {param('prior=', 'unit', 'bootstrap')}"
        )
    return spec
