"""``write_report``: one HTML file that holds the answer, the doubts and the data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from outperform._files import write_atomically
from outperform.comparison import Comparison, ComparisonTable
from outperform.errors import UsageError
from outperform.report.document import make_document
from outperform.report.page import render


def write_report(
    what: Comparison | ComparisonTable | Iterable[Comparison],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write comparisons as one HTML page that needs nothing else, and return its path.

    The page shows the verdict, the posterior with a slider for the ROPE, every number, the
    classes, where the predictions differ, the doubts and the method. It works offline, prints,
    and says the same without scripts. What the slider shows for a width is what
    :meth:`Comparison.with_rope` says for it.

    Parameters
    ----------
    what
        A comparison, a table of comparisons, or several comparisons.
    path
        Where to write; its folder must exist.
    title
        What stands above the page; made from the models and the metric if None.
    overwrite
        Whether a file that is there already may be replaced.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
    >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01)
    >>> with TemporaryDirectory() as folder:
    ...     op.write_report(c, f"{folder}/report.html").name
    'report.html'
    """
    target = _target(path, overwrite=overwrite)
    by, keys, comparisons = _several(what)
    document = make_document(comparisons, by=by, keys=keys, title=title)
    write_atomically(target, render(document).encode("utf-8"))
    return target


def _target(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    try:
        target = Path(path)
        exists, parent = os.path.lexists(target), target.parent.is_dir()
    except (TypeError, ValueError) as error:
        raise UsageError(f"path must name a file such as 'report.html'; got {path!r}") from error
    if not parent:
        raise UsageError(f"the folder of {os.fspath(target)!r} does not exist; make it first")
    if exists and not overwrite:
        raise UsageError(
            f"{os.fspath(target)!r} exists; give another path, or overwrite=True to replace it"
        )
    return target


def _several(what: Any) -> tuple[str | None, list[object], list[Comparison]]:
    """Return what the keys are, the keys, and the comparisons."""
    if isinstance(what, Comparison):
        return None, [None], [what]
    if isinstance(what, ComparisonTable):
        return what.what, list(what.keys), list(what.comparisons)
    found = list(what) if isinstance(what, Iterable) and not isinstance(what, (str, bytes)) else []
    wrong = [type(one).__name__ for one in found if not isinstance(one, Comparison)]
    if wrong or not found:
        raise UsageError(
            "a report needs a comparison, a table of comparisons or several comparisons; got "
            + (f"one {wrong[0]} among them" if wrong else f"none, in {type(what).__name__}")
        )
    return None, [None] * len(found), found
