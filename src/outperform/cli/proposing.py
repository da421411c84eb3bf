"""``propose``: which rows of a file should be labelled?"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from outperform.cli import options as o
from outperform.cli.writing import deliver
from outperform.errors import DataError, UsageError, unknown_name

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_WHOLE = re.compile("0|-?[1-9][0-9]*")


def propose(
    source: Annotated[
        str, typer.Argument(metavar="POOL", help="A CSV or TSV file.", show_default=False)
    ],
    budget: Annotated[
        int,
        typer.Option(
            help="How many documents can be labelled.",
            parser=o.whole,
            metavar="NUMBER",
            show_default=False,
        ),
    ],
    a: Annotated[str, typer.Option("--a", help="The column of model A.", show_default=False)],
    b: Annotated[str, typer.Option("--b", help="The column of model B.", show_default=False)],
    metric: o.Metric = None,
    pos_label: o.PosLabel = None,
    encoding: o.Encoding = "utf-8",
    seed: o.Seed = None,
    output: o.Output = None,
) -> None:
    """Say which documents of a pool to label, most of them where two models disagree.

    The rows to label come as CSV, or as TSV to a file that ends so, in the order in which to label
    them. When they are labelled, compare them with --pool, so that the choice is accounted for.

    Example: outperform propose preds.csv --a bert --b gpt --budget 40 --metric f1_macro -o next.csv
    """
    import outperform as op
    from outperform._files import write_atomically

    header, rows = _read(Path(source), encoding)
    columns = [_column(header, rows, name) for name in (a, b)]
    known = {str(value): value for column in columns for value in column}
    if pos_label is not None and pos_label not in known:
        raise UsageError(unknown_name("class", pos_label, known))
    proposal = op.propose(
        *columns,
        budget=budget,
        metric=metric,
        pos_label=None if pos_label is None else known[pos_label],
        names=(a, b),
        random_state=seed,
    )
    chosen = [rows[place] for place in proposal.documents.tolist()]
    if output is None:
        deliver(_written(header, chosen, ","), None)
        return
    text = _written(header, chosen, _SEPARATORS.get(output.suffix.lower(), ","))
    write_atomically(output, text.encode(encoding))  # so that --encoding is right for both files
    deliver(str(proposal), None)


def _read(path: Path, encoding: str) -> tuple[list[str], list[list[str]]]:
    """Read a header and rows; what is no CSV has columns that Python can hand over."""
    if path.suffix.lower() not in _SEPARATORS:
        raise UsageError(
            f"propose reads rows from files that end in .csv or .tsv; got {path.name!r}. From "
            "others take two columns of predictions in Python: op.propose(a, b, budget=…)"
        )
    try:
        with path.open(newline="", encoding=encoding) as file:
            read = csv.reader(file, delimiter=_SEPARATORS[path.suffix.lower()])
            lines = [(read.line_num, row) for row in read if row]  # an empty line is no row
    except (OSError, UnicodeError, LookupError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    if len(lines) < 2:
        raise DataError(f"{path} needs a header and rows; it has {len(lines)} lines")
    header = [name.removeprefix("\ufeff") for name in lines[0][1]]
    for number, row in lines:
        if len(row) != len(header):
            raise DataError(
                f"{path}: line {number} has {len(row)} values and the header has {len(header)}"
            )
    return header, [row for _, row in lines[1:]]


def _column(header: list[str], rows: list[list[str]], name: str) -> list[Any]:
    """Return one column; text that is whole numbers throughout is read as such."""
    if name not in header:
        raise UsageError(unknown_name("column", name, header))
    place = header.index(name)
    values = [row[place] for row in rows]
    if "" in values:
        raise DataError(
            f"column {name!r} has no prediction in row {values.index('') + 2}; a pool needs those "
            "of both models for every document"
        )
    whole = all(_WHOLE.fullmatch(one) for one in {*values})
    return [int(one) for one in values] if whole else values


def _written(header: list[str], rows: list[list[str]], separator: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
