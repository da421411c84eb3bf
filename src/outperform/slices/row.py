"""One slice: its numbers and its verdict."""

from __future__ import annotations

from dataclasses import dataclass

from outperform.decision import Decision, Interval, mean_error, probability_error


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """A − B in one slice.

    Parameters
    ----------
    key
        The slice: the value of each column that divides the documents.
    n
        How many documents it has.
    observed_a, observed_b, observed
        The plug-in values of A and of B in the slice alone, and their difference.
    mean, sd
        Of A − B, pulled toward the whole.
    sd_error
        The Monte Carlo error of the sd.
    n_draws
        How many draws these numbers rest on.
    hdi
        The narrowest interval.
    p_worse, p_equivalent, p_better
        The probabilities that A is worse than B by more than the ROPE, that the
        difference lies in it, and that A is better.
    p_greater
        The probability that A − B is above zero.
    decision
        The verdict.
    like_whole
        The probability that the models answer in this slice as they do elsewhere.
    coarse
        Whether so few draws leave the verdict open.
    """

    key: tuple[str, ...]
    n: int
    observed_a: float
    observed_b: float
    observed: float
    mean: float
    sd: float
    sd_error: float
    n_draws: int
    hdi: Interval
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    decision: Decision
    like_whole: float
    coarse: bool

    @property
    def mcse(self) -> float:
        """The Monte Carlo error of the mean."""
        return mean_error(self.sd, self.n_draws)

    @property
    def errors(self) -> dict[str, float]:
        """The Monte Carlo error of the mean, the sd and each probability.

        They take the draws as independent; what is drawn by share errs a little less.
        """
        of_probability = {
            name: probability_error(getattr(self, name), self.n_draws)
            for name in ("p_worse", "p_equivalent", "p_better", "p_greater")
        }
        return {"mean": self.mcse, "sd": self.sd_error, **of_probability}

    @property
    def called(self) -> bool:
        """Whether the verdict is better or worse."""
        return self.decision in (Decision.BETTER, Decision.WORSE)

    @property
    def p_wrong(self) -> float:
        """The probability that a verdict of better or worse is wrong; 0 without one."""
        right = {Decision.BETTER: self.p_better, Decision.WORSE: self.p_worse}
        return 1 - right[self.decision] if self.called else 0.0
