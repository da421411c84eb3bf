"""``count``: one shard of outcomes, to be added up later."""

from __future__ import annotations

from outperform.cli import options as o
from outperform.cli.progress import bar
from outperform.cli.writing import deliver


def count(
    source: o.Source,
    of: o.Models = None,
    by: o.By = None,
    output: o.Output = None,
    *,
    reading: o.OneTable,
) -> None:
    """Count predictions once, as a small file that compare, slices and the others take.

    Files of several days or machines add up: put them into one folder and name that.

    Example: outperform count preds.csv --truth label --of bert --of gpt -o counts.json
    """
    import outperform as op

    asked = {**reading.asked(), **reading.dialect()}
    with bar("counting") as progress:
        seen = op.read(
            source,
            truth=reading.truth,
            models=of or None,
            by=by or None,
            on_null=reading.on_null.value,
            progress=progress,
            **asked,
        )
    deliver(seen.to_json(), output)
