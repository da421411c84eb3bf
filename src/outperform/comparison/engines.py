"""The engines that answer: independent draws and closed forms, or a Markov chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from outperform.errors import UsageError, unknown_name
from outperform.findings import Finding
from outperform.metrics import Metric
from outperform.outcomes import Outcomes
from outperform.posterior import Chain, Model, Sampler

INDEPENDENT_DRAWS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What answers a question.

    Parameters
    ----------
    name
        ``"exact"`` or ``"pymc"``.
    sampler
        How a chain walks; None where the draws are independent.
    own
        A PyMC model of the user's own; None for those by name.
    """

    name: str
    sampler: Sampler | None = None
    own: Any = field(default=None, repr=False)

    @property
    def n_draws(self) -> int:
        """How many draws there are if nobody says."""
        if self.sampler is None:
            return INDEPENDENT_DRAWS
        return self.sampler.n_chains * self.sampler.draws_of_chain

    def __str__(self) -> str:
        return f"engine={self.name}" + ("" if self.sampler is None else f" ({self.sampler})")


EXACT = Engine(name="exact")
ENGINES = ("exact", "pymc")


def get_engine(name: str, sampler: Any = None, model: Any = None) -> Engine:
    """Return an engine by name, with its sampler and a PyMC model of one's own, if it is one.

    Examples
    --------
    >>> print(get_engine("pymc", "metropolis"))
    engine=pymc (metropolis, 4 chains of 12500 after 10000)
    """
    if name not in ENGINES:
        raise UsageError(unknown_name("engine", name, ENGINES))
    if name == "exact":
        if sampler is not None:
            raise UsageError("engine 'exact' has no sampler; leave it out, or say engine='pymc'")
        return EXACT
    own = None if isinstance(model, str) else model
    if own is not None and not is_pymc_model(own):
        raise UsageError(f"model must be a name or a PyMC model; got {model!r}")
    return Engine(name=name, sampler=Sampler.from_param(sampler), own=own)


def is_pymc_model(value: Any) -> bool:
    """Return whether a value is a PyMC model, without importing PyMC."""
    return hasattr(value, "named_vars")


def refuse_chain(
    engine: Engine, table: Outcomes, *, measured: Metric, model: Model, elsewhere: bool
) -> None:
    """Refuse what no PyMC model is there for, and name only models that would answer."""
    if engine.sampler is None:
        return
    what, instead = None, ""
    if table.kind == "spans":
        what = "spans"
    elif table.pool is not None:
        what = "documents that were chosen from a pool"
    elif not model.proper and engine.own is None:
        what = f"model {model.name!r}"
        if not (measured.per_document or table.weighted):
            others = "" if table.kind == "label_sets" else ", 'hierarchical'"
            instead = f", or one of model='flat', 'unit'{others}"
    elif elsewhere:
        what = "prevalence="
    if what is not None:
        raise UsageError(f"engine 'pymc' does not know {what}; use engine='exact'{instead}")


def chain_findings(chains: Sequence[Chain]) -> Iterator[Finding]:
    """Yield what the chains of A, of B and of the difference say of themselves."""
    if not chains:
        return
    last = chains[-1]
    yield Finding(
        "chain_diagnostics",
        "note",
        f"The draws come from a chain ({last.sampler}): R-hat {last.rhat:.3f}, "
        f"{last.ess:,.0f} effective of {last.n_draws:,} draws, {last.divergences} divergences, "
        f"Monte Carlo error {last.mcse:.2g}.",
    )
    faults = dict.fromkeys(fault for one in chains for fault in one.faults)
    if faults:
        yield Finding(
            "chain_not_converged",
            "serious",
            f"The chain did not converge: {'; '.join(faults)}. Its numbers are not to be trusted; "
            "draw more, with a longer n_tune or target_accept nearer to 1, or use engine='exact'.",
        )
