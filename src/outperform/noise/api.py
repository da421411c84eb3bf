"""``noise_floor``: how much the results of an evaluation vary if nothing changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from outperform import __version__
from outperform._typing import ColumnLike, FloatArray, RunsLike, Seed, Source
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.decision.intervals import check_prob
from outperform.decision.rope import Rope, RopeLike
from outperform.errors import DataError, UsageError, param
from outperform.findings import Finding, finding
from outperform.inference.engine import check_draws
from outperform.inference.summary import Summary, seed_name, summarize
from outperform.noise.answers import Answers, ItemMoments, answers_of, moments
from outperform.noise.floor import (
    draw_components,
    gate_flips,
    right_alone,
    runs_differ,
    smallest_effect,
)
from outperform.noise.result import FlakyItem, NoiseFloor
from outperform.planning.sample_size import check_target
from outperform.posterior.rng import child, seed_sequence
from outperform.wrong_calls import explained

_DEFAULT_ROPE, _DRAWS = 0.01, 4_000
_DIFFER = 0.01  # level of the finding that the runs are not interchangeable


@explained
def noise_floor(
    runs: RunsLike | Source | Outcomes | Scores,
    *,
    truth: str | None = None,
    models: Sequence[str] | None = None,
    groups: ColumnLike | str | None = None,
    ids: ColumnLike | str | None = None,
    rope: RopeLike | None = None,
    n_trials: int | None = None,
    target: float = 0.8,
    hdi_prob: float = 0.95,
    n_draws: int | None = None,
    random_state: Seed = None,
) -> NoiseFloor:
    """Measure how much results vary between runs of the same model on the same items.

    Parameters
    ----------
    runs
        Answers of one model, right or wrong or graded: by run, such as ``{"monday": [1, 0, 1],
        "tuesday": [1, 1, 1]}``, or with a row of several answers per item; outcomes or scores with
        one model per run; a frame or file with one column per run; evaluation logs as a list of
        paths, or by run name. In outcomes and scores, a group is an item that was answered several
        times, as in logs with several epochs.
    truth
        Column of the true labels in a frame or file. None if the columns are right or wrong, or
        grades.
    models
        Names of the runs to use. Default: all.
    groups
        Item of each row, if an item has several rows: values, or the name of a column.
    ids
        Id of each row, for :meth:`NoiseFloor.items`: values, or the name of a column. Default: its
        row number.
    rope
        ROPE of the gate whose results are predicted. Default: 0.01.
    n_trials
        Number of answers to each item in one run of the gate. Default: as in one of these runs.
    target
        Probability with which the smallest effect is declared better.
    hdi_prob
        Probability mass of all HDIs.
    n_draws
        Number of posterior draws. Default: 4,000.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.

    Returns
    -------
    NoiseFloor
        Flip rate, ICC, smallest effect, probability that a gate flips, and the flaky items.

    Examples
    --------
    >>> import outperform as op
    >>> runs = {"monday": [1, 1, 0, 1] * 50, "tuesday": [1, 0, 0, 1] * 50}
    >>> noise = op.noise_floor(runs, rope=0.05, random_state=0)
    >>> round(noise.flip_rate.mean, 2)
    0.25
    >>> op.noise_floor([[1, 1, 1], [0, 1, 0], [1, 1, 0]] * 40, random_state=0).n_trials
    3
    """
    answers = answers_of(runs, truth=truth, models=models, groups=groups, ids=ids)
    prob, goal = check_prob(hdi_prob), check_target(target)
    n_draws = check_draws(_DRAWS if n_draws is None else n_draws)
    low, high = float(answers.values.min()), float(answers.values.max())
    bounds = (-1.0, 1.0) if low >= 0 and high <= 1 else None  # of a difference of grades
    region = Rope.from_param(_DEFAULT_ROPE if rope is None else rope, bounds=bounds)
    trials = answers.n_trials if n_trials is None else _check_trials(n_trials)
    by_item = moments(answers)
    binary = answers.binary
    if not binary and np.ptp(answers.values) == 0:
        raise DataError("all grades are equal, so there is neither noise nor a difference to show")
    seed = seed_sequence(random_state)
    drawn = draw_components(
        by_item,
        answers.times,
        binary=binary,
        n_draws=n_draws,
        seed=child(seed, 0),
        weights=answers.weights,
    )
    # Gates of weighted items use the bootstrap, not the posterior of counts.
    counts = binary and answers.weights is None
    alone = right_alone(by_item, answers.times) if counts else None
    flips = gate_flips(
        drawn,
        n_items=answers.n_even,
        n_trials=trials,
        rope=region,
        prob=prob,
        alone=alone,
        seed=child(seed, 1),
    )
    effect = smallest_effect(
        drawn.within,
        n_items=answers.n_even,
        n_trials=trials,
        rope=region,
        prob=prob,
        target=goal,
        binary=binary,
    )

    def summary(draws: FloatArray) -> Summary:
        return summarize(np.sort(draws), None, prob)

    listed = _flaky(answers, by_item)
    return NoiseFloor(
        runs=answers.runs,
        n=answers.n,
        n_answers=answers.n_answers,
        n_trials=trials,
        binary=binary,
        rope=region,
        target=goal,
        flip_rate=summary(drawn.flips),
        icc=summary(drawn.icc),
        smallest_effect=summary(effect),
        trial_share=summary(drawn.trials(trials)),
        p_gate_flips=summary(flips.flips),
        p_gate_passes=summary(flips.passes),
        p_gate_fails=summary(flips.fails),
        score_sd=summary(np.sqrt(drawn.within / (answers.n_even * trials))),
        n_flaky=round(float(answers.times[by_item.flips > 0].sum())),
        flaky=listed,
        findings=(*answers.findings, *_findings(answers, by_item)),
        signature=_signature(answers, region, trials, goal, prob, n_draws, seed),
        _drawn=drawn,
    )


def _check_trials(n_trials: object) -> int:
    if isinstance(n_trials, bool) or not isinstance(n_trials, int) or n_trials < 1:
        raise UsageError(f"{param('n_trials')} must be a positive whole number; got {n_trials!r}")
    return n_trials


def _flaky(answers: Answers, by_item: ItemMoments) -> tuple[FlakyItem, ...]:
    """Return the items whose answers differ, by their variance then in order."""
    if answers.names is None:
        return ()
    order = np.argsort(-by_item.within, kind="stable")
    return tuple(
        FlakyItem(
            id=answers.names[index],
            n=int(by_item.n[index]),
            mean=float(by_item.mean[index]),
            flip_rate=float(by_item.flips[index]),
        )
        for index in order.tolist()
        if by_item.flips[index] > 0
    )


def _findings(answers: Answers, by_item: ItemMoments) -> Iterator[Finding]:
    if not by_item.flips.any():
        yield finding("no_flips", n=answers.n)
    p_value = runs_differ(answers, by_item)
    if p_value < _DIFFER:
        yield finding("runs_differ", runs=len(answers.runs), p=p_value)


def _signature(
    answers: Answers,
    rope: Rope,
    n_trials: int,
    target: float,
    prob: float,
    n_draws: int,
    seed: np.random.SeedSequence,
) -> str:
    parts = [
        f"outperform {__version__}",
        "noise_floor",
        f"rope={rope}",
        f"runs={len(answers.runs)}",
        f"n={answers.n}",
        f"answers={answers.n_answers}",
        f"trials={n_trials}",
        f"target={target:g}",
        f"hdi={prob:g}",
        f"draws={n_draws}",
        f"seed={seed_name(seed)}",
        f"numpy={np.__version__}",
    ]
    return " | ".join(parts)
