"""``baseline``, and what ``gate`` does with stored baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outperform.cli import options as o
from outperform.cli.reading import columns_there, read_outcomes
from outperform.cli.running import say
from outperform.errors import DataError, UsageError

if TYPE_CHECKING:
    from outperform.ingest import Rows
    from outperform.outcomes import Outcomes

_PARQUET = b"PAR1"


def baseline(
    files: o.Sources,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to store it.", show_default=False)
    ],
    of: Annotated[
        str | None, typer.Option("--of", help="The model to store.", rich_help_panel="Data")
    ] = None,
    counts: Annotated[
        bool,
        typer.Option("--counts", help="Store counts only; a gate cannot pair with them."),
    ] = False,
    *,
    reading: o.Reading,
) -> None:
    """Store a model's predictions, for gates to come.

    With predictions (Parquet) a later gate pairs documents, with counts only (JSON) it cannot.

    Example: outperform baseline preds.csv --truth label --of new --id id -o baseline.parquet
    """
    if counts or reading.confusion:
        from outperform.ingest import write_outcomes

        seen = read_outcomes(files, [of], reading)
        write_outcomes(output, seen)
        say(f"stored the counts of {seen.models[0]} on {seen.n} documents in {output}")
        return
    model = needed(of, "--of", "the column of the model to store")
    rows = read_documents(files, model, reading)
    store(output, rows, model)


def read_documents(files: Sequence[str], model: str, reading: o.Reading) -> Rows:
    """Read the documents of one model from one file."""
    from outperform.ingest import read_rows

    if reading.groups is not None:
        raise UsageError(
            "a stored baseline of documents knows no groups; give candidate and baseline as two "
            "columns of one file, or store counts with --counts"
        )
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in (reading.asked() | {"label_separator": reading.label_separator}).items()
        if name not in ("id", "groups") and value not in (None, False)
    ]
    if given:
        raise UsageError(
            "a stored baseline of documents holds a file as it is; leave "
            f"{', '.join(given)} out, or store counts with --counts"
        )
    if len(files) != 1 or files[0] == "-":
        raise UsageError(
            "a baseline of documents needs one file with the columns of id, truth and model; "
            f"got {', '.join(files)}"
        )
    return read_rows(
        files[0],
        id=needed(reading.id, "--id", "the column that names the documents"),
        truth=needed(reading.truth, "--truth", "the column of the true labels"),
        model=model,
        **reading.dialect(),
    )


def store(path: Path, rows: Rows, model: str) -> None:
    """Store documents as a baseline, and say so."""
    from outperform.ingest import write_baseline

    write_baseline(path, rows.ids, rows.truth, rows.predictions, {"model": model})
    say(f"stored {len(rows.ids)} predictions of {model} as the baseline in {path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Where a gate finds its two models.

    Parameters
    ----------
    files, candidate, baseline, reading
        What stood on the command line.
    stored
        The file of a stored baseline; None if the baseline is among the files.
    new_truth
        Whether true labels may have changed since it was stored.
    keep
        Whether the documents themselves are needed, to be stored.
    """

    files: tuple[str, ...]
    candidate: str | None
    baseline: str | None
    reading: o.Reading
    stored: Path | None
    new_truth: bool
    keep: bool

    def read(self) -> tuple[Outcomes, Rows | None]:
        """Return the outcomes, candidate first, and the candidate's documents if needed."""
        if self.baseline is not None and self.baseline == self.candidate:
            raise UsageError(f"candidate and baseline must differ; got {self.baseline!r} twice")
        by_document = self.stored is not None and is_of_documents(self.stored)
        rows = self._rows() if self.keep or by_document else None
        if self.stored is None:
            seen = self._of((self.candidate, "--candidate"), (self.baseline, "--baseline"))
        elif by_document and rows is not None:
            return self._paired(self.stored, rows), rows
        else:
            alone = self._of((self.candidate, "--candidate"))
            seen = _beside_counts(self.stored, alone, name=self.baseline)
        if rows is not None:
            _refuse_change(seen, rows)
        return seen, rows

    def _rows(self) -> Rows:
        model = needed(self.candidate, "--candidate", "the column of the new model")
        return read_documents(self.files, model, self.reading)

    def _of(self, *models: tuple[str | None, str]) -> Outcomes:
        """Read models from columns of one file, or from files that are named like them."""
        matrices = self.reading.confusion
        one_table = len(self.files) == 1 and not matrices
        names = None
        if one_table:
            there = partial(columns_there, self.files[0], self.reading)
            names = [
                needed(name, option, "the column of a model", there) for name, option in models
            ]
        seen = read_outcomes(self.files, names, self.reading)
        if len(models) == len(seen.models) == 1 and models[0][0] is None:
            return seen
        known = f"one of {', '.join(seen.models)}"
        return seen.select([needed(name, option, known) for name, option in models])

    def _paired(self, path: Path, rows: Rows) -> Outcomes:
        from outperform.ingest import read_baseline
        from outperform.ingest.pairing import pair_rows

        stored = read_baseline(path)
        model = str(self.candidate)
        name = self.baseline or _other(str(stored.metadata.get("model", "baseline")), model)
        choice: Any = self.reading.on_missing.value
        return pair_rows(
            rows, stored, names=(model, name), on_missing=choice, new_truth=self.new_truth
        )


def is_of_documents(path: Path) -> bool:
    """Tell a baseline of documents, which is Parquet, from one of counts, which is JSON."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_PARQUET)) == _PARQUET
    except FileNotFoundError as error:
        raise UsageError(
            f"no file {str(path)!r}; the first baseline is stored with `outperform baseline`"
        ) from error
    except OSError as error:
        raise DataError(
            f"cannot read the baseline {str(path)!r}: {error.strerror or error}"
        ) from error


def _beside_counts(path: Path, seen: Outcomes, *, name: str | None) -> Outcomes:
    """Put outcomes of one model beside stored counts of another; they cannot be paired."""
    from outperform.ingest import read_outcomes as read_counts
    from outperform.outcomes.beside import stand_beside

    stored = read_counts(path)
    if name is None and len(stored.models) != 1:
        raise UsageError(
            f"{path} holds {', '.join(stored.models)}; name one of them with --baseline"
        )
    if (seen.groups is None) != (stored.groups is None):
        raise UsageError(
            f"candidate and {path} must both have groups, or neither; store the counts "
            f"{'with' if stored.groups is None else 'without'} --groups"
        )
    alone = stored.select([name or stored.models[0]]).unpair()
    renamed = _other(alone.models[0], seen.models[0])
    return stand_beside(seen.unpair(), replace(alone, models=(renamed,)))


def _refuse_change(seen: Outcomes, rows: Rows) -> None:
    """Refuse to store documents that are not those that were compared."""
    from outperform.outcomes import Outcomes

    model = seen.models[0]
    again = Outcomes.from_labels(rows.truth, {model: rows.predictions}).with_labels(seen.labels)
    counts = zip(again.margins(model), seen.margins(model), strict=True)
    if again.labels != seen.labels or any((x != y).any() for x, y in counts):
        raise DataError("the file changed while it was read; run the gate again")


def needed(value: str | None, option: str, what: str, there: Callable[[], str] = lambda: "") -> str:
    """Return what was given, or say that it must be."""
    if value is None:
        raise UsageError(f"give {option}, {what}{there()}")
    return value


def _other(name: str, taken: str) -> str:
    """Return a name for the baseline that is not the candidate's."""
    if name != taken:
        return name
    return "baseline" if taken != "baseline" else "stored baseline"
