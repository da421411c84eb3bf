"""pydantic-evals: a report evaluator that compares a run with an earlier report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pydantic_evals.evaluators import ReportEvaluator, ReportEvaluatorContext
from pydantic_evals.reporting import EvaluationReport, EvaluationReportAdapter
from pydantic_evals.reporting.analyses import ReportAnalysis, TableResult
from rich.markup import escape

from outperform.gates.api import gate
from outperform.gates.result import Gate
from outperform.gates.text import gate_findings, gate_headline, gate_table
from outperform.io.read import read, read_scores
from outperform.metrics.registry import is_of_scores

__all__ = ["CompareWithBaseline"]

_FORMAT = "pydantic-evals"


# The types of the fields are plain, so a dataset in YAML can name the evaluator.
@dataclass(repr=False)
class CompareWithBaseline(ReportEvaluator[Any, Any, Any]):
    """Add the comparison with a baseline to the report of a run, as a table and a decision.

    Pass it to a dataset as one of its ``report_evaluators``. Cases are paired by name. If the runs
    cannot be compared, the report shows the reason among its failures.

    Parameters
    ----------
    baseline
        File of the baseline's report, as written by ``EvaluationReportAdapter``.
    score
        Name of the assertion or score. Default: the only assertion.
    metric
        Metric of :func:`outperform.gate`. Default: accuracy of the assertion. ``"mean"`` compares
        the means of a score.
    rope
        Half-width of the region of practical equivalence, or its two ends. Default: ±0.01.
    require
        ``"not_worse"`` or ``"better"``.
    groups
        Field of the cases' metadata that groups cases that belong together.
    on_missing, on_null
        ``"drop"`` drops cases that only one run has, or that lack a score in one. Default:
        ``"raise"``.
    """

    baseline: str | Path
    score: str | None = None
    metric: str | None = None
    rope: float | tuple[float, float] | None = None
    require: Literal["not_worse", "better"] = "not_worse"
    groups: str | None = None
    on_missing: Literal["raise", "drop"] = "raise"
    on_null: Literal["raise", "drop"] = "raise"

    def gate(self, report: EvaluationReport[Any, Any, Any]) -> Gate:
        """Return the gate of a report against the baseline, for assertions in a test.

        Parameters
        ----------
        report
            Report of the candidate.
        """
        # Outputs can be of any type, also one that cannot be written, and no comparison reads them.
        cases = [replace(case, output=None, attributes={}) for case in report.cases]
        with TemporaryDirectory(prefix="outperform-") as folder:
            path = Path(folder) / "candidate.json"
            path.write_bytes(EvaluationReportAdapter.dump_json(replace(report, cases=cases)))
            read_logs: Any = read_scores if is_of_scores(self.metric) else read
            outcomes = read_logs(
                {"candidate": path, "baseline": self.baseline},
                format=_FORMAT,
                score=self.score,
                groups=self.groups,
                on_missing=self.on_missing,
                on_null=self.on_null,
            )
        return gate(
            outcomes,
            "candidate",
            "baseline",
            metric=self.metric,
            rope=self.rope,
            require=self.require,
        )

    def evaluate(self, ctx: ReportEvaluatorContext[Any, Any, Any]) -> list[ReportAnalysis]:
        """Return the decision with its table, and the findings if there are any.

        Parameters
        ----------
        ctx
            The report and its metadata.
        """
        result = self.gate(ctx.report)
        facts = result.to_dict()
        table = gate_table(facts)
        # pydantic-evals prints titles and cells as markup of rich.
        tables: list[ReportAnalysis] = [
            TableResult(
                title=escape(gate_headline(facts)),
                description=result.report(),
                columns=[column.title for column in table.columns],
                rows=[
                    [escape(column.show(row[column.key])) for column in table.columns]
                    for row in table
                ],
            )
        ]
        if findings := gate_findings(facts["checks"]):
            tables.append(
                TableResult(
                    title="Findings",
                    columns=["level", "message", "name"],
                    rows=[[escape(cell) for cell in row] for row in findings],
                )
            )
        return tables
