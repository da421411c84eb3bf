"""``compare_cv_scores``: compare two models by their scores, per fold or per data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from outperform._missing import unmasked
from outperform._typing import AnyArray, ColumnLike, Distribution, FloatArray, ModelsLike, Seed
from outperform.comparison.result import Comparison
from outperform.crossval.folds import FEWEST_FOLDS
from outperform.data.labels import frame_columns, is_frame
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import (
    Decision,
    Masses,
    Rope,
    RopeLike,
    decide,
    masses_from_draws,
    masses_of,
    mean_error,
    probability_error,
)
from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding, counted, finding, is_serious, quoted
from outperform.inference import diagnostics, engine
from outperform.inference.question import Choices
from outperform.inference.score_spec import ScoreSpec, make_score_spec
from outperform.inference.spec import check_names, rope_for
from outperform.inference.suite import refuse_seed_names
from outperform.inference.summary import (
    Summary,
    chain_findings,
    n_effective,
    seed_name,
    sign,
    summarize,
)
from outperform.posterior.base import PriorModel
from outperform.posterior.fold_scores import (
    FoldScores,
    diagnose_many,
    draw_hierarchical,
    draw_means,
    draw_ranks,
    mean_with_error,
    t_of_mean,
)
from outperform.posterior.pymc.sampling import Chain
from outperform.posterior.rng import child, seed_sequence
from outperform.results.details import DatasetDifference, Drawn, NextDataset, ScoreDetails
from outperform.results.estimate import Estimate
from outperform.wrong_calls import explained

FoldsLike: TypeAlias = "ColumnLike | ModelsLike | Sequence[ColumnLike] | AnyArray"
"""Scores: a vector of folds, one row per data set, or a mapping from data set names."""

_METRICS = ("mean", "mean_cost")
# Folds also show the uncertainty of each score. Without folds, more data sets are needed.
_FEW_DATASETS, _FEW_SCORES = 5, 10
_MIDDLE = (0.025, 0.975)
_NEXT_STREAM = 2**31 + 2
_SEEDS = (
    "scores from several seeds on one test set do not show the item variance; pass the "
    "predictions of each run to compare_runs(y_true, runs_a, runs_b)"
)


def _no_posterior(*_: object) -> NoReturn:
    raise UsageError("fold scores have no table of classes to build a posterior from")


CORRELATED = PriorModel(name="correlated t", build=_no_posterior, proper=False)
HIERARCHICAL = PriorModel(name="hierarchical t", build=_no_posterior, proper=False)
SIGNED_RANK = PriorModel(name="signed rank", build=_no_posterior, proper=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class FoldSpec(ScoreSpec):
    """Spec of a comparison of fold scores; see :class:`ScoreSpec`."""

    @property
    def unit(self) -> str:
        """Name of the units counted by the number of items."""
        return "data sets" if self.prior.name == SIGNED_RANK.name else "folds"


@explained
def compare_cv_scores(
    a: FoldsLike,
    b: FoldsLike,
    *,
    folds: int | None = None,
    runs: int | None = None,
    test_share: float | None = None,
    datasets: int | Sequence[str] | None = None,
    metric: str = "mean",
    rope: RopeLike | None = None,
    hdi_prob: float = 0.95,
    n_draws: int | None = None,
    random_state: Seed = None,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    r"""Compare two models by their scores, per fold or per data set, without predictions.

    On one data set, the folds of a cross-validation share training items, so their scores have a
    correlation of :math:`\rho`, the share of the items that a fold tests. The posterior of the mean
    difference is Nadeau and Bengio's correlated t with :math:`n - 1` degrees of freedom and squared
    scale :math:`(1/n + \rho / (1 - \rho))\, s^2`, a closed form.

    With several data sets, a hierarchical model gives each data set its own difference, drawn from
    a Student t distribution centred on :math:`\delta_0`. The comparison reports :math:`\delta_0`,
    the mean over data sets like these. ``details.datasets`` has the partially pooled difference on
    each data set, and ``details.next_dataset`` the prediction for another one.

    With one score per data set, the differences get random weights, as in the Bayesian signed-rank
    test, and the comparison reports their pseudo-median. Its spread around the observed
    pseudo-median is widened to match Student's t.

    State how the scores were made: use ``folds``, ``runs`` or ``test_share`` for the folds of a
    cross-validation, and names or ``datasets`` for data sets. Scores from several seeds on one test
    set are not valid input, because they do not show the item variance. Pass the predictions of
    each seed to :func:`compare_runs`.

    If you have the predictions, use :func:`compare` or :func:`cross_compare`: predictions contain
    more information than fold means.

    Parameters
    ----------
    a, b
        Scores of A and B in the same folds. For one data set, a vector. For several, a mapping by
        name, a frame with one column per data set, or an array with one row per data set together
        with ``datasets``. The number of folds can differ between data sets. Series are aligned by
        index. For one score per data set, a mapping from names to numbers, or a vector together
        with ``datasets``.
    folds
        Number of folds of the cross-validation. If it was repeated, pass the scores of all
        repetitions in one vector.
    runs
        Number of repetitions of the cross-validation, in place of ``folds``; 1 if not repeated.
    test_share
        Share of the items that a fold tests, if it is not 1 / number of folds: 0.2 for repeated
        splits of 80% and 20%.
    datasets
        Names or number of the data sets if a and b are not mappings. Each row of an array, or each
        number of a vector, is then a data set.
    metric
        ``"mean"``, or ``"mean_cost"`` if lower scores are better.
    rope
        Region of practical equivalence: a half-width or a pair. Default: ±0.01.
    hdi_prob
        Probability mass of the HDI.
    n_draws
        Number of draws. Default: 20,000. The results for a single data set do not depend on it. For
        folds of several data sets the number grows up to 160,000, until the chains converge.
    random_state
        Integer, SeedSequence, Generator or RandomState. None chooses a random seed.
    names
        Display names of A and B.

    References
    ----------
    Nadeau and Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.
    Corani, Benavoli, Demšar, Mangili and Zaffalon, "Statistical comparison of classifiers
    through Bayesian hierarchical modelling", Machine Learning 106, 2017.
    Benavoli, Corani, Mangili, Zaffalon and Ruggeri, "A Bayesian Wilcoxon signed-rank test based
    on the Dirichlet process", ICML 2014.

    Examples
    --------
    >>> import outperform as op
    >>> a = [0.81, 0.84, 0.79, 0.83, 0.85, 0.80, 0.82, 0.84, 0.83, 0.81]
    >>> b = [0.78, 0.83, 0.78, 0.80, 0.81, 0.79, 0.79, 0.80, 0.82, 0.79]
    >>> c = op.compare_cv_scores(a, b, folds=10, rope=0.01)
    >>> print(round(c.mean, 4), round(c.p_better, 4), c.mcse)
    0.023 0.9749 0.0
    """
    pair = check_names(names)
    if metric not in _METRICS:
        raise UsageError(unknown_name("metric", metric, _METRICS))
    design = _Design(folds, runs, test_share, datasets)
    read, aligned = _read(a, b, pair, design)
    spec = _spec(read, pair, metric)
    region, prob, seed = rope_for(spec, rope), check_prob(hdi_prob), seed_sequence(random_state)
    drawn = _draw(read, engine.check_draws(n_draws), seed)
    findings = (*aligned, *_findings(drawn))
    return summarize_scores(spec, drawn, rope=region, prob=prob, seed=seed, findings=findings)


class _Design(NamedTuple):
    """The caller's description of how the scores were made."""

    folds: int | None
    runs: int | None
    test_share: float | None
    datasets: int | Sequence[str] | None

    @property
    def has_folds(self) -> bool:
        return not self.folds is self.runs is self.test_share is None

    def check_no_folds(self) -> None:
        """Raise an error if fold arguments were passed but there are no folds."""
        if self.has_folds:
            raise UsageError(
                "folds, runs and test_share apply to fold scores, but there is one score per data "
                "set; remove them"
            )

    def names(self, n: int) -> tuple[str, ...]:
        """Return the names of ``n`` data sets."""
        datasets = self.datasets
        if isinstance(datasets, (int, np.integer)) and not isinstance(datasets, bool):
            names = tuple(str(k) for k in range(1, int(datasets) + 1))
        elif (
            datasets is None
            or isinstance(datasets, (str, bytes, int))
            or not hasattr(datasets, "__len__")
        ):
            raise UsageError(f"datasets must be names or their number, e.g. {n}; got {datasets!r}")
        else:
            names = tuple(map(str, datasets))
        if len(names) != n:
            raise DataError(
                f"datasets has {len(names)} names for {n} scores or rows; pass one name for each"
            )
        if len(set(names)) < n:
            twice = next(name for name in names if names.count(name) > 1)
            raise UsageError(f"datasets has {twice!r} twice; use a different name for each")
        return names

    def share(self, n: int, key: str) -> float:
        """Return the share of the items that a fold tests."""
        if self.test_share is not None:
            return self._checked_share()
        for name, value, least in (("folds", self.folds, 2), ("runs", self.runs, 1)):
            is_int = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if value is not None and not (is_int and value >= least):
                raise UsageError(
                    f"{name} must be a whole number of at least {least}; got {value!r}"
                )
        if self.folds is None:
            runs = 1 if self.runs is None else self.runs
            if n % runs or n == runs:
                raise DataError(
                    f"{key}{n} scores cannot be {counted(runs, 'runs')} of at least two folds "
                    "each; check runs, or pass test_share"
                )
            return runs / n
        if n % self.folds or self.runs not in (None, n // self.folds):
            repeated = "" if self.runs is None else f"{counted(self.runs, 'runs')} of "
            raise DataError(
                f"{key}{n} scores cannot be {repeated}{self.folds} folds; check folds, or pass "
                "test_share"
            )
        return 1 / self.folds

    def _checked_share(self) -> float:
        share = self.test_share
        if self.runs is not None or self.folds is not None:
            raise UsageError(
                "pass either test_share or folds and runs; folds and runs imply the share"
            )
        if not isinstance(share, Real) or not 0 < share < 1:
            raise UsageError(f"test_share must lie strictly between 0 and 1; got {share!r}")
        return float(share)


def _check_stated(design: _Design, n: int, *, several: bool) -> None:
    """Raise an error if the arguments do not describe how the scores were made."""
    if design.has_folds:
        return
    alone = "" if several else ", datasets=[names] for one score per data set"
    raise UsageError(
        f"{'the scores of each data set' if several else f'{n} scores per model'} do not show how "
        f"they were made; pass folds={n} for the folds of one cross-validation, folds=10 "
        f"for repeated 10-fold, test_share=0.2 for random splits of 80% and 20%{alone}; {_SEEDS}"
    )


def _read(
    a: FoldsLike, b: FoldsLike, names: tuple[str, str], design: _Design
) -> tuple[dict[str, FoldScores], tuple[Finding, ...]]:
    """Return the scores of each data set, and findings."""
    noticed: list[Finding] = []
    if design.datasets is not None and all(_is_vector(values) for values in (a, b)):
        vectors: Any = {names[0]: a, names[1]: b}
        pair = Scores.from_values(vectors)  # aligns series
        noticed += pair.findings
        keys = design.names(pair.n)
        of_a, of_b = (dict(zip(keys, values, strict=True)) for values in pair.values)
    else:
        of_a, of_b = (
            _by_dataset(values, name, design) for values, name in zip((a, b), names, strict=True)
        )
    refuse_seed_names(of_a)
    for scores, other, name in ((of_a, of_b, names[1]), (of_b, of_a, names[0])):
        missing = [key for key in scores if key not in other]
        if missing:
            raise DataError(f"{name} has no scores for {_called(quoted(missing))}")
    read: dict[str, FoldScores] = {}
    alone = all(
        np.size(unmasked(values)) == 1 for scores in (of_a, of_b) for values in scores.values()
    )
    if alone:
        design.check_no_folds()
        of_a, of_b = (
            {key: np.reshape(score, 1) for key, score in by.items()} for by in (of_a, of_b)
        )
        if len(of_a) < FEWEST_FOLDS:
            raise DataError(
                f"one score on each of {counted(len(of_a), 'data sets')} is not enough; use at "
                f"least {FEWEST_FOLDS} data sets, or pass the scores of all folds"
            )
    for key in of_a:
        where = "" if len(of_a) == 1 else f"data set {key!r}: "
        try:
            pair = Scores.from_values({names[0]: of_a[key], names[1]: of_b[key]})
        except (DataError, UsageError) as error:
            raise type(error)(f"{where}{error}") from error
        noticed += pair.findings
        if alone:
            read[key] = FoldScores(np.stack(pair.values), float("nan"))
            continue
        if pair.n < FEWEST_FOLDS:
            raise DataError(
                f"{where}{counted(pair.n, 'scores')} are too few (minimum: {FEWEST_FOLDS}); "
                "repeat the cross-validation and pass all scores"
            )
        _check_stated(design, pair.n, several=len(of_a) > 1)
        read[key] = FoldScores(np.stack(pair.values), design.share(pair.n, where))
    return read, tuple(dict.fromkeys(noticed))


def _called(keys: str) -> str:
    return "these folds" if keys == "''" else f"data set {keys}"


def _is_vector(values: Any) -> bool:
    if is_frame(values) or isinstance(values, (str, bytes, Mapping)):
        return False
    return hasattr(values, "__len__") and all(np.ndim(value) == 0 for value in values)


def _by_dataset(values: Any, name: str, design: _Design) -> dict[str, Any]:
    """Return the scores by data set; a single data set has an empty name."""
    if is_frame(values) or isinstance(values, Mapping):
        if design.datasets is not None:
            raise UsageError(
                f"the scores of {name!r} already name their data sets; remove datasets"
            )
        by = frame_columns(values, name=name) if is_frame(values) else values
        return {str(key): folds for key, folds in by.items()}
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or not len(values):
        raise UsageError(
            f"scores of {name!r} must be one vector, or one per data set: an array of rows, a "
            f"mapping or a frame; got {type(values).__name__}"
        )
    if all(np.ndim(row) == 1 for row in values):
        if design.datasets is None:
            raise UsageError(
                f"the {len(values)} rows of {name!r} can be data sets or repetitions of a "
                f"cross-validation; for data sets, pass datasets={len(values)} or their names; "
                "for repetitions, pass all scores in one vector"
            )
        return dict(zip(design.names(len(values)), values, strict=True))
    return {"": values}


def _spec(datasets: Mapping[str, FoldScores], names: tuple[str, str], metric: str) -> FoldSpec:
    values = np.concatenate([folds.values for folds in datasets.values()], axis=1)
    scores = Scores.from_values(dict(zip(names, values, strict=True)))
    made = make_score_spec(scores, metric, Choices())
    shared = {field.name: getattr(made, field.name) for field in fields(made)}
    prior = CORRELATED if len(datasets) == 1 else HIERARCHICAL
    if scores.n == len(datasets):
        prior = SIGNED_RANK
    return FoldSpec(**shared | {"prior": prior})


def _draw(datasets: Mapping[str, FoldScores], n_draws: int, seed: np.random.SeedSequence) -> Drawn:
    folds, hierarchy = tuple(datasets.values()), None
    rng = np.random.default_rng(seed)
    if folds[0].n == 1:
        values = np.concatenate([data_set.values for data_set in folds], axis=1)
        ranks = draw_ranks(FoldScores(values, float("nan")).differences, n_draws, rng)
        observed = values.mean(axis=1, keepdims=True)
        means = observed + ranks.widening * (values @ ranks.own.T - observed)
        return Drawn(datasets, means, ranks=ranks)
    if len(folds) > 1:
        if not any(np.ptp(data_set.differences) for data_set in folds):
            raise DataError(
                "on every data set all folds have the same difference, so the variance between "
                "folds is unknown; pass scores with more digits"
            )
        hierarchy = draw_hierarchical(folds, n_draws, rng)
        n_draws = hierarchy.centre.size
    means = sum(draw_means(data_set, n_draws, rng) for data_set in folds) / len(folds)
    return Drawn(datasets, np.asarray(means), hierarchy=hierarchy)


def _findings(drawn: Drawn) -> Iterator[Finding]:
    """Yield findings about the folds that do not depend on the ROPE."""
    if len(drawn.folds) == 1:
        if drawn.constant:
            yield finding("constant_folds/one")
        return
    if drawn.hierarchy is not None and drawn.constant:
        yield finding("constant_folds/several", datasets=quoted(drawn.constant))
    n, ranks = len(drawn.folds), drawn.ranks
    if ranks is not None and np.ptp(np.quantile(ranks.medians, _MIDDLE)) == 0:
        yield finding("constant_folds/datasets")
    if n < (least := _FEW_DATASETS if ranks is None else _FEW_SCORES):
        yield finding("few_datasets", n=n, least=least)


class ScoreComparison(Comparison):
    """Comparison of fold scores; other ROPEs use the same draws."""

    __slots__ = ()
    details: ScoreDetails

    @property
    def _scores(self) -> ScoreDetails:
        return self.details

    def _allowed_by_data(self, decision: Decision) -> Decision:
        return Decision.UNDECIDED if is_serious(self.details.noticed) else decision

    def _under(self, rope: Rope) -> Comparison:
        assert isinstance(self.spec, ScoreSpec)
        return summarize_scores(
            self.spec,
            self.details.drawn,
            rope=rope,
            prob=self.hdi.prob,
            seed=self.seed,
            findings=self.details.noticed,
        )


def summarize_scores(
    spec: ScoreSpec,
    drawn: Drawn,
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
    findings: tuple[Finding, ...],
) -> Comparison:
    """Summarise draws and closed forms as a comparison."""
    better, folds = spec.metric.greater_is_better, drawn.folds
    exact: Distribution | None = None
    chain: Chain | None = None
    if drawn.ranks is not None:
        draws = drawn.ranks.medians
    elif drawn.hierarchy is None:
        exact, draws = t_of_mean(folds[0].differences, folds[0]), drawn.means[0] - drawn.means[1]
    else:
        chain, draws = diagnose_many(drawn.hierarchy.centre), drawn.hierarchy.centre.ravel()
    ordered = np.sort(draws)
    numbers = summarize(ordered, exact, prob, signed=True, chain=chain)
    masses = masses_of(ordered if exact is None else exact, rope)
    worth = n_effective(ordered, chain) if exact is None else None
    decision = decide(numbers.hdi, rope, masses, greater_is_better=better)
    lost = chain is not None and not chain.converged
    if lost or any(finding.level == "serious" for finding in findings):
        decision = Decision.UNDECIDED
    signed = sign(
        drawn.verb, spec, rope=str(rope), prob=prob, n_draws=draws.size, seed=seed_name(seed)
    )
    signature = f"{signed} | datasets={len(folds)}"
    if drawn.ranks is None:
        shares = [data_set.share for data_set in folds]
        text = "–".join(dict.fromkeys(f"{share:.4g}" for share in (min(shares), max(shares))))
        signature += f" | test_share={text}"
    a, b = (_estimate(spec, drawn, model, prob, signature) for model in range(2))
    return ScoreComparison(
        spec=spec,
        a=a,
        b=b,
        observed=a.observed - b.observed,
        **numbers._fields(),
        rope=rope,
        _masses=masses,
        decision=decision,
        draws=draws,
        distribution=exact,
        findings=(
            *diagnostics.rope_findings(rope),
            *chain_findings([] if chain is None else [chain]),
            *findings,
            *diagnostics.interval_findings(spec, numbers, rope, masses, n_draws=worth),
        ),
        signature=signature,
        seed=seed,
        chain=chain,
        details=ScoreDetails(
            datasets=tuple(_differences(drawn, numbers, masses, rope, prob, better)),
            next_dataset=_next(drawn, rope, prob, better, seed),
            signed_rank=_signed_rank(drawn, rope, better),
            drawn=drawn,
            noticed=findings,
        ),
    )


def _estimate(spec: ScoreSpec, drawn: Drawn, model: int, prob: float, signature: str) -> Estimate:
    """Return the posterior of one model's mean over exactly these data sets."""
    draws, folds = drawn.means[model], drawn.folds
    exact = t_of_mean(folds[0].values[model], folds[0]) if len(folds) == 1 else None
    numbers = summarize(np.sort(draws), exact, prob)
    return Estimate(
        name=spec.data.models[model],
        spec=spec,
        observed=float(np.mean([data_set.values[model].mean() for data_set in folds])),
        **numbers._fields(),
        draws=draws,
        distribution=exact,
        findings=(),
        signature=signature,
    )


def _differences(
    drawn: Drawn, numbers: Summary, masses: Masses, rope: Rope, prob: float, better: bool
) -> Iterator[DatasetDifference]:
    """Yield the difference on each data set; several data sets are partially pooled."""
    if drawn.ranks is not None:  # a single score does not show its uncertainty
        return
    for index, (key, folds) in enumerate(drawn.datasets.items()):
        worth = None
        if drawn.hierarchy is not None:
            differences = drawn.hierarchy.differences[:, :, index]
            chain, ordered = diagnose_many(differences), np.sort(differences, axis=None)
            worth = chain.n_effective
            numbers = summarize(ordered, None, prob, signed=True, chain=chain)
            masses = masses_from_draws(ordered, rope)
        worse, equivalent, improved = _three(masses.below, masses.inside, masses.above, better)
        yield DatasetDifference(
            name=key,
            n_folds=folds.n,
            test_share=folds.share,
            observed=float(folds.differences.mean()),
            **numbers._fields(),
            p_worse=worse,
            p_equivalent=equivalent,
            p_better=improved,
            mcse_p=0.0
            if worth is None
            else max(probability_error(p, worth) for p in (worse, equivalent, improved)),
        )


def _three(below: float, inside: float, above: float, better: bool) -> tuple[float, float, float]:
    """Return the probabilities of worse, equivalent and better."""
    return (below, inside, above) if better else (above, inside, below)


def _next(
    drawn: Drawn, rope: Rope, prob: float, better: bool, seed: np.random.SeedSequence
) -> NextDataset | None:
    """Return the prediction for another data set; None if there is only one."""
    rng, chain = np.random.default_rng(child(seed, _NEXT_STREAM)), None
    if drawn.ranks is not None:
        masses = drawn.ranks.next_masses(rope.low, rope.high)
        shares = [(float(mass.mean()), mean_error(float(mass.std()), mass.size)) for mass in masses]
        points, weights = drawn.ranks.next_points(), drawn.ranks.own
        chosen = (weights.cumsum(axis=1) < rng.random((len(weights), 1))).sum(axis=1)
        last = weights.shape[1] - 1  # with rounding, sums of weights may end below 1
        deltas = points[np.arange(len(weights)), np.minimum(chosen, last)]
    elif drawn.hierarchy is not None:
        masses = drawn.hierarchy.next_masses(rope.low, rope.high)
        shares = [mean_with_error(mass) for mass in masses]
        deltas = drawn.hierarchy.next_draws(rng)
        chain = diagnose_many(deltas)
    else:
        return None
    numbers = summarize(np.sort(deltas, axis=None), None, prob, signed=True, chain=chain)
    (below, _), (inside, _), (above, _) = shares
    worse, equivalent, improved = _three(below, inside, above, better)
    return NextDataset(
        p_worse=worse,
        p_equivalent=equivalent,
        p_better=improved,
        mcse_p=max(error for _, error in shares),
        likeliest=_likeliest(masses, better),
        hdi=numbers.hdi,
    )


def _signed_rank(drawn: Drawn, rope: Rope, better: bool) -> tuple[float, float, float] | None:
    if drawn.ranks is None:
        return None
    return _likeliest(drawn.ranks.pair_masses(rope.low, rope.high), better)


def _likeliest(masses: FloatArray, better: bool) -> tuple[float, float, float]:
    """Return the share of draws in which each of three masses is the largest."""
    largest = np.bincount(masses.argmax(axis=0).ravel(), minlength=3) / masses[0].size
    below, inside, above = map(float, largest)
    return _three(below, inside, above, better)
