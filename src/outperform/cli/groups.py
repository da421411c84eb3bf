"""Option groups that several commands share, and the output of results."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard, TypeVar

import outperform as op
from outperform._files import write_atomically
from outperform.cli import options as o
from outperform.cli.exit_codes import shown, typed
from outperform.cli.inputs import Joined, label_of, labels_of, prevalence_of, priced, prior_of
from outperform.errors import ResourceError, UsageError

if TYPE_CHECKING:
    from outperform.comparison.result import Comparison, ComparisonTable
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.diagnosis.result import Diagnosis
    from outperform.display.document import Document
    from outperform.display.layout import Line, Page
    from outperform.gates.result import Gate
    from outperform.inference.suite import Suite
    from outperform.noise.result import NoiseFloor
    from outperform.planning.power import Power
    from outperform.planning.result import Plan
    from outperform.ranking.result import Ranking
    from outperform.results.estimate import Estimate
    from outperform.sensitivity.result import Sensitivity
    from outperform.slices.result import SliceComparison
    from outperform.suite.result import SuiteComparison, SuiteRanking

    OfSuite = SuiteComparison | SuiteRanking
    Result = (
        Comparison
        | Estimate
        | ComparisonTable
        | Diagnosis
        | NoiseFloor
        | Plan
        | Power
        | Ranking
        | Sensitivity[Comparison]
        | OfSuite
    )

S = TypeVar("S", bound=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Joined):
    """Options for reading one table, joined files or confusion matrices."""

    confusion: Annotated[
        bool,
        o.in_files(
            "--confusion", help="Read the files as confusion matrices; rows are true classes."
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingTwo(Reading):
    """Options for reading two models; the labelled items may come from a pool or a sample."""

    pool: Annotated[
        str | None,
        o.in_data(
            metavar="FILE",
            help="Full pool given to `propose`, including unlabelled items.",
        ),
    ] = None
    human: Annotated[
        str | None,
        o.in_data(
            metavar="FILE",
            help="Human labels for some of the items. Use when the main file contains a judge's "
            "verdicts; the result is corrected for the judge's errors.",
        ),
    ] = None
    drawn: Annotated[
        str | None,
        o.in_data(
            metavar="DESIGN",
            help="Sampling design of the --human items: random, by_ratings (by the judge's and the "
            "models' answers only), or the column with the probability that an item was labelled.",
        ),
    ] = None

    def with_people(self, outcomes: Outcomes) -> Outcomes:
        """Return the judge's ratings combined with the human labels, if there are any."""
        from outperform.data.missing import MissingTexts
        from outperform.io.join import join_people

        if self.human is None:
            if self.drawn is not None:
                raise UsageError(
                    "--drawn describes the human labels; pass their file with --human, or remove "
                    "--drawn"
                )
            return outcomes
        missing = MissingTexts.from_param(**self.declared())
        return join_people(
            outcomes,
            self.human,
            id=self.id,
            truth=self.truth,
            drawn=self.drawn,
            missing=missing,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """Costs of errors, used instead of a metric."""

    cost: Annotated[
        str | None,
        o.in_analysis(
            metavar="COSTS",
            help="Costs of errors, used instead of a metric: truth:prediction=cost, e.g. "
            "fraud:ok=100,ok:fraud=5. Other errors have no cost.",
            show_default=False,
        ),
    ] = None
    unit: Annotated[
        str | None,
        o.in_analysis(metavar="TEXT", help="Unit of --cost, e.g. EUR."),
    ] = None

    def metric(self, data: Outcomes | Scores, metric: str | None) -> Any:
        """Return the metric, or the mean cost if costs were passed instead."""
        return priced(data, metric, self.cost, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingRuns:
    """Options of every analysis."""

    labels: o.Labels = None
    pos_label: o.PosLabel = None
    prior: o.Prior = None
    hdi_prob: o.HdiProb = 0.95
    n_draws: o.Draws = 20_000
    random_state: o.Seed = 0

    def arguments(self, data: Outcomes | Scores) -> dict[str, Any]:
        """Return the keyword arguments of the library's functions."""
        return {
            "labels": labels_of(data, self.labels),
            "pos_label": label_of(data, self.pos_label),
            "prior": prior_of(self.prior),
            "hdi_prob": self.hdi_prob,
            "n_draws": self.n_draws,
            "random_state": self.random_state,
            "n_jobs": -1,
        }

    def of_suite(self, suite: Suite) -> dict[str, Any]:
        """Return the keyword arguments of the library's functions for a suite."""
        if self.labels is not None or getattr(self, "prevalence", None) is not None:
            raise UsageError(
                "--labels and --prevalence apply to a single task; remove them or --by"
            )
        return self.arguments(next(iter(suite.tasks.values())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(AskingRuns):
    """Options for an analysis at other class proportions."""

    prevalence: Annotated[
        str | None,
        o.in_analysis(
            metavar="SHARE",
            help=f"{o.SHARE} For several classes, shares or counts: fraud=20,ok=980.",
        ),
    ] = None

    def at_prevalence(self, data: Outcomes | Scores) -> Outcomes | Scores:
        """Return the data at the class proportions of ``--prevalence``."""
        if self.prevalence is None:
            return data
        if isinstance(data, op.Scores):
            raise UsageError("--prevalence applies to labels, not to scores; remove it")
        shares = prevalence_of(data, self.prevalence)
        return data.at_prevalence(shares, pos_label=label_of(data, self.pos_label))


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """Format and destination of the output."""

    style: Annotated[
        o.Format | None,
        o.in_output(
            "--format",
            "-f",
            metavar="FORMAT",
            help="Output format: text, json, markdown, latex, html or github. If omitted, it "
            "follows the ending of --output (.json, .md, .tex or .html); otherwise text.",
        ),
    ] = None
    output: o.OutputOrFigure = None
    report: o.Page = None
    verbose: o.Verbose = False


def write_result(result: Result, writing: Writing, *, document: Document | None = None) -> None:
    """Write a result, as text from ``document`` if it is passed, and its HTML page."""
    write_page(result, writing.report)
    style = style_of(writing.style, writing.output, o.FORMATS)
    if is_figure(writing.output):
        plot = getattr(result, "plot", None)
        if plot is None:
            raise UsageError("this result has no figure; compare, rank, slices and plan have one")
        write_figure(plot, writing.output)
    elif style == "html" and writing.output is not None:
        write_page(result, writing.output)
    elif style == "text":
        show((document or result._document()).lines, writing.output, verbose=writing.verbose)
    else:
        deliver(render(result, style, document), writing.output)


_SUFFIXES = {
    ".json": "json", ".md": "markdown", ".tex": "latex", ".csv": "csv", ".html": "html",
    ".htm": "html",
}  # fmt: skip


def style_of(style: S | None, output: Path | None, styles: Sequence[S]) -> S:
    """Return the output format: as passed, or from the file name; otherwise text."""
    if style is not None:
        return style
    meant = "text" if output is None else _SUFFIXES.get(output.suffix.lower(), "text")
    return next((known for known in styles if known == meant), styles[0])


def write_page(result: Result | Gate | SliceComparison, path: Path | None) -> None:
    """If a path was passed, write a result as an HTML page that shows the command."""
    if path is not None:
        with shown("writing the page"):
            op.write_report(result, path, command=command_line(), overwrite=True)


def is_figure(path: Path | None) -> TypeGuard[Path]:
    """Return whether a file name ends like a figure."""
    from outperform.display.figure_style import FIGURE_SUFFIXES

    return path is not None and path.suffix.lower() in FIGURE_SUFFIXES


def write_figure(plot: Callable[[], Any], path: Path) -> None:
    """Draw the figure of a result without a screen, and write it."""
    from outperform.display.figure_style import image

    with shown("drawing the figure"):
        write_atomically(path, image(plot, path.suffix.lower().removeprefix(".")))


def command_line() -> str:
    """Return the command line, with passwords masked."""
    return typed_line(typed.get())


def typed_line(words: Sequence[str]) -> str:
    """Return the words after ``outperform`` as a command line, with passwords masked."""
    from outperform.io.addresses import masked

    return shlex.join(["outperform", *(_PASSWORD.sub(r"\1***", masked(word)) for word in words)])


_PASSWORD = re.compile(r"((?:password|passwd|pwd|token|secret)\s*=\s*)[^\s&;]+", re.IGNORECASE)


def render(result: Result, style: o.Format, document: Document | None = None) -> str:
    """Return a result in any format except text, with Markdown from ``document`` if it is passed.

    A document for the screen may have fewer rows, which only matters in text.
    """
    if style == "json":
        return as_json(result.to_dict(), indent=2)
    if style in ("markdown", "github") and document is not None:
        return document.markdown(result.table)
    return str(getattr(result, _METHODS[style])())


def as_json(values: Mapping[str, object], *, indent: int | None = None) -> str:
    """Return plain values as JSON that contains no terminal or build log control sequences."""
    from outperform.display.numbers import for_json

    return for_json(json.dumps(values, ensure_ascii=False, indent=indent, default=str))


_METHODS = {
    "markdown": "_markdown",
    "latex": "to_latex",
    "html": "to_html",
    "github": "_markdown",
}


_MIN_WIDTH = 40


def show(
    lines_of: Callable[[Page], list[Line]], output: Path | None, *, verbose: bool = False
) -> None:
    """Write lines that fit the terminal width, in colour on a terminal or with FORCE_COLOR."""
    from outperform.display.layout import WIDTH, Page, plain

    if output is not None:
        deliver(plain(lines_of(Page(height=None, verbose=verbose))), output)
        return
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    columns = shutil.get_terminal_size((WIDTH, 24)).columns
    page = Page(
        width=max(_MIN_WIDTH, columns),
        height=None,
        verbose=verbose,
        encoding=getattr(sys.stdout, "encoding", None) or "utf-8",
        hints=is_terminal,
    )
    lines = lines_of(page)
    coloured = is_terminal or bool(os.environ.get("FORCE_COLOR"))
    deliver(_painted(lines) if coloured else plain(lines), None)


def _painted(lines: list[Line]) -> str:
    """Return lines with the escape codes of their styles, if the terminal has colours."""
    from rich.console import Console
    from rich.text import Text

    from outperform.display.colours import DARK, LIGHT
    from outperform.display.layout import plain

    console = Console(file=sys.stdout, highlight=False)
    if console.no_color or console.color_system is None:
        return plain(lines)
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    dark = background.isdecimal() and int(background) in (*range(7), 8)
    styles = {"strong": "bold", "dim": "dim", **(DARK if dark else LIGHT)}
    with console.capture() as capture:
        for line in lines:
            text = Text.assemble(*((span.text, styles.get(span.style, "")) for span in line))
            text.rstrip()
            console.print(text, soft_wrap=True)
    return capture.get()


def deliver(text: str, output: Path | None) -> None:
    """Write text to a file, atomically, or to stdout; a file named ``.gz`` is compressed."""
    line = text if text.endswith("\n") else text + "\n"
    if output is None:
        if sys.stdout is None:
            raise ResourceError("stdout is closed; write to a file with --output")
        sys.stdout.write(line)
        return
    data = line.encode("utf-8")
    is_packed = output.suffix.lower() == ".gz"
    write_atomically(output, gzip.compress(data, mtime=0) if is_packed else data)
