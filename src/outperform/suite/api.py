"""``compare`` and ``rank`` of a suite of tasks.

Tasks have different items, so their posteriors are independent, and a draw of the mean over tasks
is the mean of one draw of each. That answers the fixed question: which model is better on these
tasks? The random question, on tasks like these, takes the tasks as a sample: the difference of a
task is its posterior mean, whose spread over tasks holds both how far tasks differ and how well
each is known. So the mean over the population has a Student t distribution around their mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from outperform import __version__
from outperform._typing import FloatArray, Seed, SeedSequence
from outperform.comparison.result import Comparison, summarize_comparison
from outperform.decision.hdi import narrowest
from outperform.decision.intervals import Interval, check_prob
from outperform.decision.ranks import (
    expected_ranks,
    loss_errors,
    losses,
    rank_error,
    rank_probabilities,
)
from outperform.decision.rope import (
    Decision,
    Masses,
    Rope,
    chances_of,
    decide,
    margin,
    masses_from_draws,
    probability_error,
    sd_error,
    supported,
)
from outperform.errors import UsageError
from outperform.findings import Finding, clauses, counted, finding, is_serious, listed
from outperform.inference import engine
from outperform.inference.diagnostics import SAFE_ERRORS, rope_findings
from outperform.inference.question import Sampling
from outperform.inference.spec import make_spec
from outperform.inference.spelling import SPELLED
from outperform.inference.suite import (
    FEWEST_TASKS,
    LEAST_SCALE,
    Average,
    Difference,
    Law,
    Question,
    Suite,
    average,
    contrast_draws,
    freedom_of,
    is_enough,
    questions,
    shared_question,
)
from outperform.inference.summary import seed_name, summarize
from outperform.posterior.hierarchical import PARTS, learn_spread, pool_models
from outperform.posterior.rng import child, seed_sequence
from outperform.ranking.result import (
    Ranking,
    check_many_draws,
    is_worse,
    joint_draws,
    make_joint_spec,
    summarize_ranking,
)
from outperform.suite.result import (
    SuiteComparison,
    SuiteModel,
    SuiteRanking,
)

_FEWEST_POOLED, _TYPICAL = 3, 1 / 8  # the spread between tasks, in sds of one item
_POOLING_STREAM, _TASKS_STREAM = 1 << 31, (1 << 31) + 1  # beyond the tasks
_COARSE = "monte_carlo_too_coarse"
_WRONG_LABELS = {"predictions_never_match", SPELLED}
_CHANCES = ("p_worse", "p_equivalent", "p_better", "p_greater")


def compare_suite(
    suite: Suite,
    a: object,
    b: object,
    *,
    hdi_prob: float,
    n_draws: int | None,
    random_state: Seed,
    n_jobs: int | None,
    **asked: Any,
) -> SuiteComparison:
    """Compare two models on every task, on the tasks together, and on tasks like these."""
    if not isinstance(a, str) or not isinstance(b, str) or a == b:
        raise UsageError(f"a and b must name two models of the suite; got {a!r} and {b!r}")
    asked_of = questions(suite.select([a, b]), make_spec, **shared_question(asked))
    how, prob = average(suite, asked_of), check_prob(hdi_prob)
    draws, seed = engine.check_draws(n_draws), seed_sequence(random_state)
    tasks: dict[str, Comparison] = {}
    for one, stream in zip(asked_of, _streams(asked_of, seed), strict=True):
        (answer,) = engine.answer([one.spec], Sampling(draws, stream, n_jobs))
        tasks[one.task] = summarize_comparison(
            one.spec, answer, rope=one.rope, prob=prob, seed=stream
        )
    means = np.array([task.mean for task in tasks.values()]) / how.units
    sds = np.array([task.sd for task in tasks.values()]) / np.abs(how.units)
    errors = np.array([[task.errors[one] for task in tasks.values()] for one in ("mean", "sd")])
    draws_of_mean = how.mean([task.draws for task in tasks.values()])
    whole = of_draws(draws_of_mean, how, prob)
    findings = tuple(_findings(asked_of, tasks, whole, how))
    if is_serious(findings):
        whole = replace(whole, decision=Decision.UNDECIDED)
    return SuiteComparison(
        **{one.name: getattr(whole, one.name) for one in fields(whole)},
        draws=draws_of_mean,
        names=(a, b),
        observed=float(how.mean([np.array(task.observed) for task in tasks.values()])),
        scale=how.scale,
        weights=dict(zip(tasks, how.weights.tolist(), strict=True)),
        tasks=tasks,
        pooled=_pooled(tasks, how, prob, seed),
        new_tasks=new_tasks(means, sds, how, prob, errors=errors / np.abs(how.units)),
        findings=findings,
        signature=_sign("compare", suite, how, prob, draws, seed),
        seed=seed,
    )


def rank_suite(
    suite: Suite,
    models: Any,
    *,
    hdi_prob: float,
    n_draws: int | None,
    random_state: Seed,
    n_jobs: int | None,
    **asked: Any,
) -> SuiteRanking:
    """Rank many models on the tasks together, and on each."""
    names = sorted(suite.models if models is None else models)
    if len(names) < 2 or isinstance(models, (str, Mapping)):
        raise UsageError(f"a ranking needs the names of at least two models; got {models!r}")
    asked_of = questions(suite.select(names), make_joint_spec, **shared_question(asked))
    how, prob = average(suite, asked_of), check_prob(hdi_prob)
    draws, seed = check_many_draws(n_draws, len(names)), seed_sequence(random_state)
    tasks: dict[str, Ranking] = {}
    raw: list[FloatArray] = []
    for one, stream in zip(asked_of, _streams(asked_of, seed), strict=True):
        pooled, alone = joint_draws(one.spec, Sampling(draws, stream, n_jobs))
        raw.append(alone)
        tasks[one.task] = summarize_ranking(
            one.spec, pooled, alone, rope=one.rope, prob=prob, seed=stream, n_jobs=n_jobs
        )
    together = how.mean(raw)
    if how.scale == "rope":  # a level in ROPEs has no meaning, only how far it is from the others
        together = together - together.mean(axis=0)
    values = pool_suite(together, how, suite.n, child(seed, _POOLING_STREAM))
    observed = how.mean([np.array(one.spec.observed) for one in asked_of])
    rows = _rows(names, values, together, raw, observed, tasks, how, prob, seed)
    firsts = {name: rank.findings for name, rank in tasks.items()}
    return SuiteRanking(
        rows=rows,
        rope=how.rope,
        scale=how.scale,
        weights=dict(zip(tasks, how.weights.tolist(), strict=True)),
        greater_is_better=how.greater_is_better,
        tasks=tasks,
        draws=values[[names.index(row.name) for row in rows]],
        findings=(*_ropes(asked_of, how), *_of_tasks(firsts), *_few(how)),
        signature=_sign("rank", suite, how, prob, draws, seed) + f" | models={len(names)}",
        seed=seed,
    )


def _rows(
    names: Sequence[str],
    values: FloatArray,
    together: FloatArray,
    raw: Sequence[FloatArray],
    observed: FloatArray,
    tasks: Mapping[str, Ranking],
    how: Average,
    prob: float,
    seed: SeedSequence,
) -> tuple[SuiteModel, ...]:
    """Return a row for each model: pooled ``values``, and decisions from ``together`` before."""
    better, n_draws = how.greater_is_better, values.shape[1]
    p_rank = rank_probabilities(values, greater_is_better=better)
    expected = expected_ranks(p_rank, n_draws)
    lost = losses(values, greater_is_better=better)
    lost_errors = loss_errors(values, greater_is_better=better)
    allowed = -how.rope.low if better else how.rope.high
    ranks = _mean_ranks(tasks, names, how)
    sign = -1.0 if better else 1.0
    order = sorted(range(len(names)), key=lambda place: (sign * values[place].mean(), names[place]))
    means = np.stack([one.mean(axis=1) for one in raw]) / how.units[:, None]  # task by model
    errors = np.stack([np.cov(one) / unit**2 for one, unit in zip(raw, how.units, strict=True)])
    n_items = sum(one.n for one in tasks.values())
    elsewhere = p_best_elsewhere(means, how, n_items, n_draws, child(seed, _TASKS_STREAM))
    leader, rows = order[0], []
    for model in order:
        against = new = None
        tied = True
        if model != leader:
            against = of_draws(together[model] - together[leader], how, prob)
            shrunk = values[model] - values[leader]
            tied = against.decision is not Decision.WORSE or not is_worse(
                shrunk, how.rope, prob, greater_is_better=better
            )
            var = errors[:, model, model] + errors[:, leader, leader]
            sds = np.sqrt(np.maximum(var - 2 * errors[:, model, leader], 0.0))
            new = new_tasks(
                means[:, model] - means[:, leader],
                sds,
                how,
                prob,
                errors=np.stack([sds, sds / math.sqrt(2)]) / math.sqrt(n_draws),
            )
        rows.append(
            SuiteModel(
                name=names[model],
                observed=float(observed[model]),
                **summarize(np.sort(values[model]), None, prob)._fields(),
                p_rank=p_rank[model],
                expected_rank=float(expected.mean[model]),
                expected_rank_mcse=float(expected.mcse[model]),
                mean_rank=float(ranks[model].mean()),
                mean_rank_mcse=rank_error(float(ranks[model].std(ddof=1)), n_draws),
                mean_rank_hdi=narrowest(np.sort(ranks[model]), prob),
                regret=float(lost[model].mean()),
                regret_mcse=float(lost_errors[model]),
                p_practically_best=float((lost[model] <= allowed).mean()),
                p_best_new_tasks=None if elsewhere is None else float(elsewhere[model]),
                against_leader=against,
                new_tasks=new,
                tied=tied,
                n_draws=n_draws,
            )
        )
    return tuple(rows)


def _mean_ranks(tasks: Mapping[str, Ranking], names: Sequence[str], how: Average) -> FloatArray:
    """Return each model's rank averaged over the tasks, draw by draw, ``(n_models, n_draws)``."""
    total = np.zeros(())
    for weight, one in zip(how.weights, tasks.values(), strict=True):
        values = one.draws[[one.names.index(name) for name in names]]
        turned = -values if one.spec.metric.greater_is_better else values
        ahead = [(turned < row).sum(axis=0) + 0.5 * (turned == row).sum(axis=0) for row in turned]
        total = total + weight * (np.stack(ahead) + 0.5)
    return np.asarray(total, dtype=np.float64)


def pool_suite(values: FloatArray, how: Average, n_items: int, seed: SeedSequence) -> FloatArray:
    """Return draws of the models' means as of models that are exchangeable beforehand."""
    sign = 1.0 if how.greater_is_better else -1.0
    low, high = sorted(sign * bound for bound in how.bounds)
    rng = np.random.Generator(np.random.SFC64(seed))
    pooled = pool_models(sign * values, generator=rng, bounds=(low, high), n_items=float(n_items))
    return sign * pooled


def p_best_elsewhere(
    means: FloatArray, how: Average, n_items: int, n_draws: int, seed: SeedSequence
) -> FloatArray | None:
    """Return the probability that each model is the best on tasks like these, None for few tasks.

    Only differences of models matter. Their covariance over tasks has as many entries as the
    tasks can tell, or more, and taken as it was seen it makes some differences look far too
    sure. But the models are exchangeable beforehand: see :func:`contrast_draws`. Then they are
    pooled.
    """
    weights, freedom = how.weights, freedom_of(how.weights)
    if not is_enough(weights):
        return None
    rng = np.random.Generator(np.random.SFC64(seed))
    centre = weights @ means
    pull = (weights * math.sqrt((freedom + 1) / freedom))[:, None] * (means - centre)
    pull = pull - pull.mean(axis=1, keepdims=True)  # what moves all models alike
    draws = centre[:, None] + contrast_draws(pull, freedom, n_draws, rng)
    pooled = pool_suite(draws, how, n_items, child(seed, 0))
    return rank_probabilities(pooled, greater_is_better=how.greater_is_better)[:, 0]


def new_tasks(
    means: FloatArray,
    sds: FloatArray,
    how: Average,
    prob: float,
    *,
    errors: FloatArray | None = None,
) -> Difference | None:
    """Return the posterior of the mean difference over tasks like these; None for few tasks.

    It is never narrower than the mean over these very tasks, so that tasks that agree by luck do
    not make the wider question the surer one. It is a closed form of the tasks' means and sds;
    ``errors`` are their Monte Carlo errors, which every number takes over to first order.
    """
    if not is_enough(how.weights):
        return None
    found = _elsewhere(means, sds, how, prob)
    if errors is None or not errors.any():
        return found
    squares = np.zeros(4 + len(_CHANCES))
    for moved, error in zip(np.eye(2 * len(means)), errors.ravel(), strict=True):
        step = (error * moved).reshape(2, -1)
        up = _elsewhere(means + step[0], sds + step[1], how, prob)
        down = _elsewhere(means - step[0], sds - step[1], how, prob)
        squares += (_numbers(up) - _numbers(down)) ** 2 / 4
    mean, sd, low, high, *chances = np.sqrt(squares).tolist()
    of_chances = dict(zip(_CHANCES, chances, strict=True))
    ends = {"mcse_low": low, "mcse_high": high}
    return replace(
        found,
        mcse=mean,
        errors={"mean": mean, "sd": sd, **of_chances},
        hdi=replace(found.hdi, **ends),
        eti=replace(found.eti, **ends),
    )


def _numbers(one: Difference) -> FloatArray:
    chances = (one.p_worse, one.p_equivalent, one.p_better, one.p_greater)
    return np.array([one.mean, one.sd, one.hdi.low, one.hdi.high, *chances])


def _elsewhere(means: FloatArray, sds: FloatArray, how: Average, prob: float) -> Difference:
    """Return the posterior over tasks like these as if means and sds were known exactly."""
    weights, freedom = how.weights, freedom_of(how.weights)
    centre = float(weights @ means)
    off = weights * (means - centre)
    between = math.sqrt((freedom + 1) / freedom * float(off @ off))
    within = math.sqrt(float((weights * sds) @ (weights * sds)))
    # Student's t over the tasks, or the normal of these very tasks, whichever is wider.
    laws = (Law(centre, between, freedom), Law(centre, within, math.inf))
    law = max(laws, key=lambda one: one.quantile((1 + prob) / 2))
    reach = law.quantile((1 + prob) / 2) - centre
    ends = Interval(low=centre - reach, high=centre + reach, prob=prob, kind="ETI", signed=True)
    rope, better = how.rope, how.greater_is_better
    below, above = law.cdf(rope.low), law.sf(rope.high)
    masses = Masses(below=below, inside=1 - below - above, above=above, greater=law.sf(0.0))
    hdi = replace(ends, kind="HDI")
    return Difference(
        mean=centre,
        sd=law.sd,
        mcse=0.0,
        hdi=hdi,
        eti=ends,
        rope=rope,
        **chances_of(masses, greater_is_better=better),
        decision=decide(hdi, rope, masses, greater_is_better=better),
        errors=dict.fromkeys(("mean", "sd", *_CHANCES), 0.0),
    )


def of_draws(draws: FloatArray, how: Average, prob: float) -> Difference:
    """Return what draws of a difference on the suite's scale say."""
    return _difference(draws, how.rope, how.greater_is_better, prob)


def _difference(draws: FloatArray, rope: Rope, better: bool, prob: float) -> Difference:
    ordered = np.sort(draws)
    found = summarize(ordered, None, prob, signed=True)
    masses = masses_from_draws(ordered, rope)
    chances = chances_of(masses, greater_is_better=better)
    of_chances = {name: probability_error(p, draws.size) for name, p in chances.items()}
    return Difference(
        **found._fields() | chances,
        rope=rope,
        decision=decide(found.hdi, rope, masses, greater_is_better=better),
        errors={"mean": found.mcse, "sd": sd_error(ordered), **of_chances},
    )


def _pooled(
    tasks: Mapping[str, Comparison], how: Average, prob: float, seed: SeedSequence
) -> dict[str, Difference]:
    """Return each task's difference pulled toward the others, as far as they are alike.

    The true differences are normal around a centre with a spread that is learned, on the suite's
    scale; a few tasks may stand apart. A task's decision is firm only where its own items decide
    or lean the same way, and it is its own where its own interval leaves out the pooled mean.
    """
    units = how.units[:, None]
    own = np.stack([task.draws for task in tasks.values()]) / units
    if len(tasks) >= _FEWEST_POOLED:
        errors = own.std(axis=1, ddof=1)
        sizes = np.array([task.spec.n for task in tasks.values()])
        typical = _TYPICAL * float(np.median(errors * np.sqrt(sizes)))
        covariance = np.diag(np.maximum(errors, LEAST_SCALE) ** 2)
        spread = learn_spread(
            own.mean(axis=1), covariance, typical=max(typical, LEAST_SCALE), population=PARTS
        )
        rng = np.random.Generator(np.random.SFC64(child(seed, _POOLING_STREAM)))
        own = spread.pool(own, covariance, rng)
    found = {}
    for (name, task), values in zip(tasks.items(), own * units, strict=True):
        one = _difference(values, task.rope, task.spec.metric.greater_is_better, prob)
        apart = one.mean not in task.hdi
        decision = task.decision if apart else supported(one.decision, task.decision)
        found[name] = replace(one, decision=decision)
    return found


def _streams(asked: Sequence[Question], seed: SeedSequence) -> list[SeedSequence]:
    """Return a random stream for each task, whatever the order of the tasks."""
    order = sorted(one.task for one in asked)
    return [child(seed, order.index(one.task)) for one in asked]


def _findings(
    asked: Sequence[Question], tasks: Mapping[str, Comparison], whole: Difference, how: Average
) -> Iterator[Finding]:
    yield from _ropes(asked, how)
    gap, error = margin(whole.hdi, how.rope)
    if gap < SAFE_ERRORS * error:
        yield finding("monte_carlo_too_coarse/edge", gap=gap, errors=SAFE_ERRORS, error=error)
    yield from _coarse(tasks)
    yield from _of_tasks({name: task.findings for name, task in tasks.items()})
    yield from _few(how)


def _ropes(asked: Sequence[Question], how: Average) -> Iterator[Finding]:
    """Yield what a reader should know about the ROPEs, those of some tasks being the default."""
    yield from rope_findings(how.rope)
    some = [one for one in asked if one.rope.default]
    if some and not how.rope.default:
        tasks = listed([one.task for one in some], most=3)
        yield finding("default_rope/tasks", tasks=tasks, rope=some[0].rope)


def _coarse(tasks: Mapping[str, Comparison]) -> Iterator[Finding]:
    """Yield which tasks' decisions more draws might change."""
    found = [
        name
        for name, task in tasks.items()
        if any(one.name == _COARSE and one.level != "note" for one in task.findings)
    ]
    if found:
        yield finding(
            "monte_carlo_too_coarse/tasks",
            found=len(found),
            n=len(tasks),
            tasks=listed(found, most=3),
            n_draws=next(iter(tasks.values())).draws.size,
        )


def _of_tasks(found: Mapping[str, Sequence[Finding]]) -> Iterator[Finding]:
    """Yield which tasks have warnings of their own; serious if every task has a serious one.

    So it is if the labels of one are wrong, which makes the mean wrong.
    """
    names: dict[str, list[str]] = {}
    for task, findings in found.items():
        for one in findings:
            if one.level != "note" and one.name != _COARSE:
                names.setdefault(one.name, []).append(task)
    serious = {one.name for some in found.values() for one in some if one.level == "serious"}
    every = all(is_serious(findings) for findings in found.values())
    grave = every or not _WRONG_LABELS.isdisjoint(serious)
    if names:
        told = [f"{name} in {listed(tasks, most=3)}" for name, tasks in names.items()]
        tasks = {task for some in names.values() for task in some}
        yield finding(
            "task_findings",
            level="serious" if grave else "warning",
            found=len(tasks),
            n=len(found),
            told=clauses(told, most=4),
        )


def _few(how: Average) -> Iterator[Finding]:
    if not is_enough(how.weights):
        yield finding("few_tasks", tasks=counted(len(how.weights), "tasks"), least=FEWEST_TASKS)


def _sign(
    verb: str, suite: Suite, how: Average, prob: float, n_draws: int, seed: SeedSequence
) -> str:
    """Return the line that makes a result repeatable."""
    parts = [
        f"outperform {__version__}",
        f"{verb} suite",
        f"tasks={len(suite)}",
        f"scale={how.scale}",
        f"rope={how.rope}",
        f"n={suite.n}",
        f"hdi={prob:g}",
        f"draws={n_draws}",
        f"seed={seed_name(seed)}",
        f"numpy={np.__version__}",
    ]
    return " | ".join(parts)
