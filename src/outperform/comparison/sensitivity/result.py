"""The answer under every prior: verdicts, intervals, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outperform import present
from outperform.comparison import pictures
from outperform.comparison.sensitivity.checks import pulls
from outperform.comparison.summary import SCHEMA, finding_facts, interval_facts, question_facts
from outperform.comparison.tabular import Tabular
from outperform.decision import Decision, Rope
from outperform.errors import UsageError, unknown_name
from outperform.findings import Finding

if TYPE_CHECKING:
    from outperform.comparison.result import Comparison


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Sensitivity(Tabular):
    """One comparison under several priors and ROPEs, its own prior first.

    Parameters
    ----------
    priors
        The name of each prior or model.
    comparisons
        The comparison under each, at its own ROPE.
    ropes
        The ROPEs, from the narrowest to the widest.
    verdicts
        The verdict under each prior at each ROPE.
    left_out
        The usual priors that cannot be asked here, and why.
    apart
        Those asked for that change more than the prior, and what.
    findings
        Doubts: whether the verdict depends on the prior.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
    >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01, random_state=0)
    >>> c.sensitivity()
    Sensitivity(All 5 priors say ≫ better: flat uniform, flat Jeffreys, unit, hierarchical and bootstrap.)
    """  # noqa: E501

    priors: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    ropes: tuple[Rope, ...]
    verdicts: tuple[tuple[Decision, ...], ...]
    left_out: Mapping[str, str]
    apart: Mapping[str, str]
    findings: tuple[Finding, ...]

    @property
    def own(self) -> Comparison:
        """The comparison that was asked again."""
        return self.comparisons[0]

    def __getitem__(self, prior: str) -> Comparison:
        if prior not in self.priors:
            raise UsageError(unknown_name("prior", prior, self.priors))
        return self.comparisons[self.priors.index(prior)]

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        own = self.own
        rows = zip(self.priors, self.comparisons, self.verdicts, strict=True)
        return {
            "schema": SCHEMA,
            "kind": "sensitivity",
            "names": list(own.names),
            **question_facts(own.question),
            "paired": own.question.paired,
            "rope": {"low": own.rope.low, "high": own.rope.high, "default": own.rope.default},
            "ropes": [{"low": rope.low, "high": rope.high} for rope in self.ropes],
            "rows": [_row_facts(*row, own=row[1] is own) for row in rows],
            "left_out": dict(self.left_out),
            "apart": dict(self.apart),
            "findings": finding_facts(self.findings),
            "signature": own.signature,
        }

    def table(self) -> present.Table:
        """Return one row a prior."""
        return present.sensitivity_table(self.to_dict())

    def text(self) -> str:
        """Return the answer for a terminal."""
        return present.sensitivity_text(self.to_dict())

    def _latex_table(self) -> present.Table:
        return present.sensitivity_page(self.to_dict())

    def _latex_label(self) -> str:
        return present.latex_label(*self.own.names, self.own.metric, "sensitivity")

    def plot(self, ax: Any = None) -> Any:
        """Draw one interval a prior before the ROPE, with its verdict.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        names = [f"{name} (own)" if not place else name for place, name in enumerate(self.priors)]
        return pictures.plot_forest("prior", names, self.comparisons, ax)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Sensitivity({present.sensitivity_headline(self.to_dict())})"


def _row_facts(
    name: str, one: Comparison, verdicts: tuple[Decision, ...], *, own: bool
) -> dict[str, Any]:
    model = one.question.model
    return {
        "prior": name,
        "own": own,
        "model": model.name,
        "proper": model.proper,
        "shapes": repr(one.question.prior) if model.takes_prior else None,
        "mean": one.mean,
        "sd": one.sd,
        "mcse": one.mcse,
        "hdi": interval_facts(one.hdi),
        "rope": {"low": one.rope.low, "high": one.rope.high},
        "p_worse": one.p_worse,
        "p_equivalent": one.p_equivalent,
        "p_better": one.p_better,
        "p_greater": one.p_greater,
        "exact": one.exact,
        "n_draws": one.draws.size,
        "decision": _decision_facts(one.decision),
        "verdicts": [_decision_facts(verdict) for verdict in verdicts],
        "pulls": pulls(one),
        "findings": [finding.name for finding in one.findings if finding.level != "note"],
    }


def _decision_facts(decision: Decision) -> dict[str, str]:
    return {"name": decision.name, "symbol": decision.symbol, "words": decision.words}
