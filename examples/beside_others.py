r"""The same data asked of outperform and of other packages; what is not installed is skipped.

    pip install outperform evalstats truescore prob_conf_mat baycomp autorank \
        evalsig statgate deltagate
    python examples/beside_others.py

Four models answered the same 300 questions. Two questions are asked: does the best outperform the
second, and which of the four is best? Every package is called with its defaults, but for a seed,
the level of 95% and, where it takes one, a smallest difference that matters of 0.01.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.metadata import PackageNotFoundError, version
from io import StringIO

import numpy as np

ROPE, N_ITEMS = 0.01, 300
SHARES = {"m0": 0.62, "m1": 0.66, "m2": 0.70, "m3": 0.76}
Row = tuple[float | None, float | None, float | None, str]


def answers(seed: int = 0) -> dict[str, np.ndarray]:
    """Return who was right on which question; easy questions are easy for all."""
    rng = np.random.default_rng(seed)
    hard = rng.random(N_ITEMS)
    noise = rng.normal(0, 0.25, size=(len(SHARES), N_ITEMS))
    return {
        name: (hard + own < share).astype(int)
        for (name, share), own in zip(SHARES.items(), noise, strict=True)
    }


# Does A outperform B? Mean difference, interval, and what else is said.


def by_outperform(a: np.ndarray, b: np.ndarray) -> Row:
    """Return P(better by more than the ROPE), P(A > B), and a decision."""
    import outperform as op

    seen = op.Outcomes.from_correct({"a": a, "b": b})
    c = op.compare(seen, "a", "b", metric="accuracy", rope=ROPE, random_state=0)
    said = f"P(> {ROPE}) {c.p_better:.3f}, P(> 0) {c.p_greater:.3f}; {c.decision.words}"
    return c.mean, c.hdi.low, c.hdi.high, said


def by_evalstats(a: np.ndarray, b: np.ndarray) -> Row:
    """Return a paired interval chosen by the kind of data, and a p-value."""
    import evalstats

    found = evalstats.pairwise_differences(np.stack([a, b]), 0, 1, rng=np.random.default_rng(0))
    return found.point_diff, found.ci_low, found.ci_high, f"p {found.p_value:.3f}"


def by_truescore(a: np.ndarray, b: np.ndarray) -> Row:
    """Return a paired bootstrap; McNemar's test beside it."""
    import truescore

    found = truescore.paired_bootstrap(a, b, seed=0)
    exact = truescore.mcnemar(a, b)
    said = f"p {found.p_value:.3f}, McNemar p {exact.p_value:.3f}"
    return found.difference, found.low, found.high, said


def by_evalsig(a: np.ndarray, b: np.ndarray) -> Row:
    """Return a paired test, and the smallest difference that so many items show."""
    from evalsig import ItemResult, RunFrame, compare

    frames = [
        RunFrame(name, name, "t", "acc", [ItemResult(str(k), float(x)) for k, x in enumerate(own)])
        for name, own in (("b", b), ("a", a))
    ]
    found = compare(*frames)  # second − first
    return found.delta, *found.ci, f"p {found.p_value:.3f}"


def by_deltagate(a: np.ndarray, b: np.ndarray) -> Row:
    """Return a paired interval and a t test."""
    import deltagate

    found = deltagate.paired_delta(a.tolist(), b.tolist())
    return found["delta"], found["lower"], found["upper"], f"p {found['p_value']:.3f}"


def by_statgate(a: np.ndarray, b: np.ndarray) -> Row:
    """Return ship, block or inconclusive against a margin."""
    from statgate import EvalRecord, GateSettings, evaluate_gate

    new, old = (
        [EvalRecord(case_id=str(k), score=float(x)) for k, x in enumerate(own)] for own in (a, b)
    )
    found = evaluate_gate(old, new, GateSettings(margin=ROPE, seed=0))
    ends = found.interval
    return float(a.mean() - b.mean()), ends.low, ends.high, f"verdict {found.verdict.value}"


def by_prob_conf_mat(a: np.ndarray, b: np.ndarray) -> Row:
    """Read two confusion matrices, each with its own posterior; the pairing is not used."""
    from prob_conf_mat import Study

    study = Study(seed=0, num_samples=20_000, ci_probability=0.95)
    truth = np.arange(len(a)) % 2  # it needs two classes
    for name, own in (("a", a), ("b", b)):
        matrix = [[int(((truth == t) & (own == (t == p))).sum()) for p in (0, 1)] for t in (0, 1)]
        study.add_experiment(f"{name}/{name}", matrix, prevalence_prior=1, confusion_prior=1)
    study.add_metric("acc")
    found = study.get_pairwise_comparison(
        "acc", experiment_a="a/a", experiment_b="b/b", min_sig_diff=ROPE
    )
    summary = found.diff_dist_summary
    low, high = summary.hdi
    return summary.median, low, high, f"P(> {ROPE}) {found.p_sig_pos:.3f}"


def by_baycomp(a: np.ndarray, b: np.ndarray) -> Row:
    """Return probabilities from scores of ten folds, here ten tenths of the test set."""
    import baycomp

    folds = [np.array_split(own, 10) for own in (b, a)]
    x, y = (np.array([one.mean() for one in own]) for own in folds)
    _, same, better = baycomp.two_on_single(x, y, rope=ROPE)
    return float(y.mean() - x.mean()), None, None, f"P(> {ROPE}) {better:.3f}, in ROPE {same:.3f}"


COMPARE: dict[str, Callable[[np.ndarray, np.ndarray], Row]] = {
    "outperform": by_outperform,
    "evalstats": by_evalstats,
    "truescore": by_truescore,
    "evalsig": by_evalsig,
    "deltagate": by_deltagate,
    "statgate": by_statgate,
    "prob_conf_mat": by_prob_conf_mat,
    "baycomp": by_baycomp,
}


# Which is best?


def rank_outperform(seen: dict[str, np.ndarray]) -> str:
    """Return P(best) and expected ranks."""
    import outperform as op

    r = op.rank(op.Outcomes.from_correct(seen), metric="accuracy", rope=ROPE, random_state=0)
    best = ", ".join(f"{row.name} {row.p_best:.3f}" for row in r.rows)
    return f"P(best): {best}; not shown to be worse: {', '.join(r.tied)}"


def rank_evalstats(seen: dict[str, np.ndarray]) -> str:
    """Return P(best) from a bootstrap."""
    import evalstats

    found = evalstats.bootstrap_ranks(
        np.stack(list(seen.values())), list(seen), rng=np.random.default_rng(0)
    )
    pairs = sorted(zip(found.p_best, found.labels, strict=True), reverse=True)
    return "P(best): " + ", ".join(f"{name} {p:.3f}" for p, name in pairs)


def rank_autorank(seen: dict[str, np.ndarray]) -> str:
    """Return mean ranks over ten tenths of the test set, and a test of all."""
    import pandas as pd
    from autorank import autorank

    frame = pd.DataFrame({k: [x.mean() for x in np.array_split(v, 10)] for k, v in seen.items()})
    found = autorank(frame)
    ranks = found.rankdf["meanrank"]
    told = ", ".join(f"{name} {ranks[name]:.2f}" for name in ranks.sort_values().index)
    return f"mean rank: {told}; {found.omnibus} p {found.pvalue:.3f}"


RANK: dict[str, Callable[[dict[str, np.ndarray]], str]] = {
    "outperform": rank_outperform,
    "evalstats": rank_evalstats,
    "autorank": rank_autorank,
}


def asked(name: str, question: Callable[[], object]) -> tuple[object, float] | None:
    """Return an answer and its seconds, the import of the package left out; None without it."""
    try:
        known = version(name)
    except PackageNotFoundError:
        print(f"{name:<22} not installed: pip install {name}")
        return None
    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        question()  # imports, and what is compiled at first use
        began = time.perf_counter()
        found = question()
    return (f"{name} {known}", found), time.perf_counter() - began


def main() -> None:
    """Print one table for each question."""
    seen = answers()
    a, b = seen["m3"], seen["m2"]
    print(f"m3 − m2, {N_ITEMS} items, observed {a.mean() - b.mean():+.4f}\n")
    print(f"{'package':<22} {'mean':>8} {'95% interval':>20} {'seconds':>8}  says")
    for name, compare in COMPARE.items():
        if (told := asked(name, lambda: compare(a, b))) is not None:  # noqa: B023
            (title, (mean, low, high, said)), seconds = told
            ends = "none" if low is None else f"{low:+.4f} to {high:+.4f}"
            print(f"{title:<22} {mean:+8.4f} {ends:>20} {seconds:8.3f}  {said}")
    print("\nWhich of four is best?\n")
    for name, rank in RANK.items():
        if (told := asked(name, lambda: rank(seen))) is not None:  # noqa: B023
            (title, said), seconds = told
            print(f"{title:<22} {seconds:8.3f} s  {said}")


if __name__ == "__main__":
    main()
