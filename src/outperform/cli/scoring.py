"""Labels are counted, scores are kept: which of them a metric needs from the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outperform.cli.progress import bar
from outperform.cli.reading import needed_columns, read_outcomes
from outperform.errors import UsageError

if TYPE_CHECKING:
    from outperform.cli.baselines import Inputs
    from outperform.cli.options import Joined
    from outperform.ingest import Rows
    from outperform.outcomes import Outcomes, Scores


def read_seen(
    sources: Sequence[str],
    models: Sequence[str | None],
    reading: Joined,
    metrics: Sequence[str | None],
) -> Outcomes | Scores:
    """Read scores if the metrics are of scores, and count labels otherwise."""
    from outperform.metrics import check_name, is_of_scores

    for metric in metrics:
        check_name(metric)
    of_scores = [metric for metric in metrics if metric is not None and is_of_scores(metric)]
    if not of_scores:
        return read_outcomes(sources, models, reading)
    if len(of_scores) < len(metrics):
        raise UsageError(
            f"{', '.join(of_scores)} read scores and the other metrics labels; ask for one kind"
        )
    return read_columns(sources, needed_columns(models), reading, of_scores[0])


def read_columns(
    sources: Sequence[str], columns: Sequence[str], reading: Joined, metric: str
) -> Scores:
    """Read scores from columns of one file."""
    import outperform as op

    asked = reading.asked()
    not_for_scores = ("correct", "count", "weight", "table", "query", "isolate")
    given = [f"--{name}" for name in not_for_scores if asked.pop(name) not in (None, False)]
    if reading.confusion or reading.label is not None or len(sources) != 1 or given:
        what = f"; leave {', '.join(given)} out" if given else ""
        raise UsageError(
            f"{metric} needs the scores themselves: give one file with a column a model{what}"
        )
    with bar("reading") as progress:
        return op.read_scores(
            sources[0],
            truth=reading.truth,
            models=columns,
            progress=progress,
            **asked,
            **reading.dialect(),
        )


def read_gate(inputs: Inputs, metric: str | None) -> tuple[Outcomes | Scores, Rows | None]:
    """Return what a gate asks of, candidate first, and the candidate's documents if needed."""
    from outperform.metrics import check_name, is_of_scores

    check_name(metric)
    if metric is None or not is_of_scores(metric):
        return inputs.read()
    if inputs.stored is not None or inputs.keep:
        raise UsageError(
            f"{metric} reads scores, and stored baselines hold labels; give candidate and "
            "baseline as two columns of one file"
        )
    if inputs.candidate is None or inputs.baseline is None:
        raise UsageError("give --candidate and --baseline, the columns of their scores")
    models = [inputs.candidate, inputs.baseline]
    return read_seen(inputs.files, models, inputs.reading, [metric]), None
