"""``runs``: does A outperform B whatever the seed, or only with these?"""

from __future__ import annotations

from outperform.cli import options as o
from outperform.cli.progress import drawing
from outperform.cli.ranking import read_models
from outperform.cli.reading import rope_of
from outperform.cli.writing import write_result


def runs(
    files: o.Sources,
    a: o.RunsOfA = None,
    b: o.RunsOfB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    *,
    reading: o.Joined,
    asking: o.AskingRuns,
    writing: o.Writing,
) -> None:
    """Compare two models by several training runs of each.

    The difference is A − B of the means over all runs that training could give.

    Example: outperform runs all.csv --truth label --a bert-1 --a bert-2 --b gpt-1 --metric accuracy
    """
    import outperform as op
    from outperform.errors import UsageError

    if not a or not b:
        raise UsageError("name the runs with --a and --b, once for each run")
    seen = read_models(files, [*a, *b], reading, metric)
    with drawing():
        found = op.compare_runs(
            seen, a, b, metric=metric, rope=rope_of(rope), **asking.arguments(seen)
        )
    write_result(found, writing)
