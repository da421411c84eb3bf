"""``compare`` and ``rank`` for a suite of tasks.

Tasks have different items, so their posteriors are independent, and a draw of the mean over tasks
is the mean of one draw per task. This answers the fixed question: which model is better on these
tasks? The random question, about tasks like these, treats the tasks as a sample. The difference on
each task is represented by its posterior mean. The spread of these means includes both the
variation between tasks and the uncertainty on each task. So the population mean has a Student t
distribution around the mean of the tasks.
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
from outperform.inference.diagnostics import rope_findings
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
from outperform.inference.thresholds import SAFE_ERRORS
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

_FEWEST_POOLED, _TYPICAL = 3, 1 / 8  # _TYPICAL: sd between tasks, in sds of one item
_POOLING_STREAM, _TASKS_STREAM = 1 << 31, (1 << 31) + 1  # above the numbers of tasks
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
    **kwargs: Any,
) -> SuiteComparison:
    """Compare two models on every task, on the mean over tasks, and on tasks like these."""
    if not isinstance(a, str) or not isinstance(b, str) or a == b:
        raise UsageError(f"a and b must name two models of the suite; got {a!r} and {b!r}")
    task_questions = questions(suite.select([a, b]), make_spec, **shared_question(kwargs))
    how, prob = average(suite, task_questions), check_prob(hdi_prob)
    draws, seed = engine.check_draws(n_draws), seed_sequence(random_state)
    tasks: dict[str, Comparison] = {}
    for question, stream in zip(task_questions, _streams(task_questions, seed), strict=True):
        (answer,) = engine.answer([question.spec], Sampling(draws, stream, n_jobs))
        tasks[question.task] = summarize_comparison(
            question.spec, answer, rope=question.rope, prob=prob, seed=stream
        )
    means = np.array([task.mean for task in tasks.values()]) / how.units
    sds = np.array([task.sd for task in tasks.values()]) / np.abs(how.units)
    errors = np.array([[task.mc_errors[key] for task in tasks.values()] for key in ("mean", "sd")])
    draws_of_mean = how.mean([task.draws for task in tasks.values()])
    overall = of_draws(draws_of_mean, how, prob)
    findings = tuple(_findings(task_questions, tasks, overall, how))
    if is_serious(findings):
        overall = replace(overall, decision=Decision.UNDECIDED)
    return SuiteComparison(
        **{field.name: getattr(overall, field.name) for field in fields(overall)},
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
    **kwargs: Any,
) -> SuiteRanking:
    """Rank models on the mean over tasks, and on each task."""
    names = sorted(suite.models if models is None else models)
    if len(names) < 2 or isinstance(models, (str, Mapping)):
        raise UsageError(f"a ranking needs the names of at least two models; got {models!r}")
    task_questions = questions(suite.select(names), make_joint_spec, **shared_question(kwargs))
    how, prob = average(suite, task_questions), check_prob(hdi_prob)
    draws, seed = check_many_draws(n_draws, len(names)), seed_sequence(random_state)
    tasks: dict[str, Ranking] = {}
    raw: list[FloatArray] = []
    for question, stream in zip(task_questions, _streams(task_questions, seed), strict=True):
        pooled, alone = joint_draws(question.spec, Sampling(draws, stream, n_jobs))
        raw.append(alone)
        tasks[question.task] = summarize_ranking(
            question.spec, pooled, alone, rope=question.rope, prob=prob, seed=stream, n_jobs=n_jobs
        )
    together = how.mean(raw)
    if how.scale == "rope":  # in units of ROPEs, only differences have a meaning
        together = together - together.mean(axis=0)
    values = pool_suite(together, how, suite.n, child(seed, _POOLING_STREAM))
    observed = how.mean([np.array(question.spec.observed) for question in task_questions])
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
        findings=(*_ropes(task_questions, how), *_of_tasks(firsts), *_few(how)),
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
    """Return one row per model: numbers from pooled ``values``, decisions from unpooled draws."""
    better, n_draws = how.greater_is_better, values.shape[1]
    p_rank = rank_probabilities(values, greater_is_better=better)
    expected = expected_ranks(p_rank, n_draws)
    lost = losses(values, greater_is_better=better)
    lost_errors = loss_errors(values, greater_is_better=better)
    allowed = -how.rope.low if better else how.rope.high
    ranks = _mean_ranks(tasks, names, how)
    sign = -1.0 if better else 1.0
    order = sorted(range(len(names)), key=lambda model: (sign * values[model].mean(), names[model]))
    means = (
        np.stack([task_draws.mean(axis=1) for task_draws in raw]) / how.units[:, None]
    )  # task by model
    errors = np.stack(
        [np.cov(task_draws) / unit**2 for task_draws, unit in zip(raw, how.units, strict=True)]
    )
    n_items = sum(task.n for task in tasks.values())
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
    for weight, ranking in zip(how.weights, tasks.values(), strict=True):
        values = ranking.draws[[ranking.names.index(name) for name in names]]
        turned = -values if ranking.spec.metric.greater_is_better else values
        ahead = [(turned < row).sum(axis=0) + 0.5 * (turned == row).sum(axis=0) for row in turned]
        total = total + weight * (np.stack(ahead) + 0.5)
    return np.asarray(total, dtype=np.float64)


def pool_suite(values: FloatArray, how: Average, n_items: int, seed: SeedSequence) -> FloatArray:
    """Return draws of the models' means, pooled because models are exchangeable a priori."""
    sign = 1.0 if how.greater_is_better else -1.0
    low, high = sorted(sign * bound for bound in how.bounds)
    rng = np.random.Generator(np.random.SFC64(seed))
    pooled = pool_models(sign * values, generator=rng, bounds=(low, high), n_items=float(n_items))
    return sign * pooled


def p_best_elsewhere(
    means: FloatArray, how: Average, n_items: int, n_draws: int, seed: SeedSequence
) -> FloatArray | None:
    """Return each model's probability of being the best on tasks like these; None for few tasks.

    Only differences between models matter. Their covariance over tasks has about as many entries as
    the tasks can determine, or more, so the observed covariance makes some differences look far too
    certain. The remedy is that models are exchangeable a priori; see :func:`contrast_draws`. The
    differences are then pooled.
    """
    weights, freedom = how.weights, freedom_of(how.weights)
    if not is_enough(weights):
        return None
    rng = np.random.Generator(np.random.SFC64(seed))
    centre = weights @ means
    pull = (weights * math.sqrt((freedom + 1) / freedom))[:, None] * (means - centre)
    pull = pull - pull.mean(axis=1, keepdims=True)  # removes the part that moves all models equally
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
    """Return the posterior of the mean difference on tasks like these; None for few tasks.

    It is never narrower than the posterior for exactly these tasks, so tasks that agree by chance
    do not make the answer to the wider question more certain. It is a closed form of the tasks'
    means and sds, whose Monte Carlo ``errors`` are propagated to first order.
    """
    if not is_enough(how.weights):
        return None
    result = _elsewhere(means, sds, how, prob)
    if errors is None or not errors.any():
        return result
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
        result,
        mcse=mean,
        mc_errors={"mean": mean, "sd": sd, **of_chances},
        hdi=replace(result.hdi, **ends),
        eti=replace(result.eti, **ends),
    )


def _numbers(difference: Difference) -> FloatArray:
    chances = (
        difference.p_worse,
        difference.p_equivalent,
        difference.p_better,
        difference.p_greater,
    )
    return np.array(
        [difference.mean, difference.sd, difference.hdi.low, difference.hdi.high, *chances]
    )


def _elsewhere(means: FloatArray, sds: FloatArray, how: Average, prob: float) -> Difference:
    """Return the posterior over tasks like these as if means and sds were known exactly."""
    weights, freedom = how.weights, freedom_of(how.weights)
    centre = float(weights @ means)
    off = weights * (means - centre)
    between = math.sqrt((freedom + 1) / freedom * float(off @ off))
    within = math.sqrt(float((weights * sds) @ (weights * sds)))
    # The result is Student's t over the tasks or the normal for exactly these tasks, whichever is
    # wider.
    laws = (Law(centre, between, freedom), Law(centre, within, math.inf))
    law = max(laws, key=lambda law: law.quantile((1 + prob) / 2))
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
        mc_errors=dict.fromkeys(("mean", "sd", *_CHANCES), 0.0),
    )


def of_draws(draws: FloatArray, how: Average, prob: float) -> Difference:
    """Summarise draws of a difference on the suite's scale."""
    return _difference(draws, how.rope, how.greater_is_better, prob)


def _difference(draws: FloatArray, rope: Rope, better: bool, prob: float) -> Difference:
    ordered = np.sort(draws)
    summary = summarize(ordered, None, prob, signed=True)
    masses = masses_from_draws(ordered, rope)
    chances = chances_of(masses, greater_is_better=better)
    of_chances = {name: probability_error(p, draws.size) for name, p in chances.items()}
    return Difference(
        **summary._fields() | chances,
        rope=rope,
        decision=decide(summary.hdi, rope, masses, greater_is_better=better),
        mc_errors={"mean": summary.mcse, "sd": sd_error(ordered), **of_chances},
    )


def _pooled(
    tasks: Mapping[str, Comparison], how: Average, prob: float, seed: SeedSequence
) -> dict[str, Difference]:
    """Return each task's difference, partially pooled with the others.

    On the suite's scale, the true differences are normal around a centre with a learned spread;
    outlying tasks are possible. A task's pooled decision is firm only if its unpooled decision is
    the same or leans the same way. If its unpooled interval excludes the pooled mean, the unpooled
    decision is used.
    """
    units = how.units[:, None]
    differences = np.stack([task.draws for task in tasks.values()]) / units
    if len(tasks) >= _FEWEST_POOLED:
        errors = differences.std(axis=1, ddof=1)
        sizes = np.array([task.spec.n for task in tasks.values()])
        typical = _TYPICAL * float(np.median(errors * np.sqrt(sizes)))
        covariance = np.diag(np.maximum(errors, LEAST_SCALE) ** 2)
        spread = learn_spread(
            differences.mean(axis=1),
            covariance,
            typical=max(typical, LEAST_SCALE),
            population=PARTS,
        )
        rng = np.random.Generator(np.random.SFC64(child(seed, _POOLING_STREAM)))
        differences = spread.pool(differences, covariance, rng)
    pooled = {}
    for (name, task), values in zip(tasks.items(), differences * units, strict=True):
        difference = _difference(values, task.rope, task.spec.metric.greater_is_better, prob)
        separate = difference.mean not in task.hdi
        decision = task.decision if separate else supported(difference.decision, task.decision)
        pooled[name] = replace(difference, decision=decision)
    return pooled


def _streams(task_questions: Sequence[Question], seed: SeedSequence) -> list[SeedSequence]:
    """Return a random stream for each task, independent of the order of tasks."""
    order = sorted(question.task for question in task_questions)
    return [child(seed, order.index(question.task)) for question in task_questions]


def _findings(
    task_questions: Sequence[Question],
    tasks: Mapping[str, Comparison],
    overall: Difference,
    how: Average,
) -> Iterator[Finding]:
    yield from _ropes(task_questions, how)
    gap, error = margin(overall.hdi, how.rope)
    if gap < SAFE_ERRORS * error:
        yield finding("monte_carlo_too_coarse/edge", gap=gap, errors=SAFE_ERRORS, error=error)
    yield from _coarse(tasks)
    yield from _of_tasks({name: task.findings for name, task in tasks.items()})
    yield from _few(how)


def _ropes(task_questions: Sequence[Question], how: Average) -> Iterator[Finding]:
    """Yield findings about the ROPEs, some of which may be defaults."""
    yield from rope_findings(how.rope)
    some = [question for question in task_questions if question.rope.default]
    if some and not how.rope.default:
        tasks = listed([question.task for question in some], most=3)
        yield finding("default_rope/tasks", tasks=tasks, rope=some[0].rope)


def _coarse(tasks: Mapping[str, Comparison]) -> Iterator[Finding]:
    """Yield a finding about tasks whose decision could change with more draws."""
    coarse = [
        name
        for name, task in tasks.items()
        if any(finding.name == _COARSE and finding.level != "note" for finding in task.findings)
    ]
    if coarse:
        yield finding(
            "monte_carlo_too_coarse/tasks",
            found=len(coarse),
            n=len(tasks),
            tasks=listed(coarse, most=3),
            n_draws=next(iter(tasks.values())).draws.size,
        )


def _of_tasks(by_task: Mapping[str, Sequence[Finding]]) -> Iterator[Finding]:
    """Yield a finding about tasks with warnings; serious if every task has a serious one.

    It is also serious if the labels of any task are wrong, because the mean is then wrong.
    """
    names: dict[str, list[str]] = {}
    for task, findings in by_task.items():
        for noticed in findings:
            if noticed.level != "note" and noticed.name != _COARSE:
                names.setdefault(noticed.name, []).append(task)
    serious = {
        noticed.name
        for findings in by_task.values()
        for noticed in findings
        if noticed.level == "serious"
    }
    every = all(is_serious(findings) for findings in by_task.values())
    grave = every or not _WRONG_LABELS.isdisjoint(serious)
    if names:
        texts = [f"{name} in {listed(tasks, most=3)}" for name, tasks in names.items()]
        tasks = {task for some in names.values() for task in some}
        yield finding(
            "task_findings",
            level="serious" if grave else "warning",
            found=len(tasks),
            n=len(by_task),
            told=clauses(texts, most=4),
        )


def _few(how: Average) -> Iterator[Finding]:
    if not is_enough(how.weights):
        yield finding("few_tasks", tasks=counted(len(how.weights), "tasks"), least=FEWEST_TASKS)


def _sign(
    verb: str, suite: Suite, how: Average, prob: float, n_draws: int, seed: SeedSequence
) -> str:
    """Return the signature of a result."""
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
