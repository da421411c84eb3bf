"""Sources: addresses, files and objects of other libraries, opened as tables."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outperform.data.labels import as_table
from outperform.errors import DataError, OutperformError, UsageError, require
from outperform.io.addresses import local_path, mask_addresses, masked, without_secrets

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/", re.IGNORECASE)  # a Windows drive has one letter


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Source of tables that opens addresses, files with certain endings, or library objects.

    Parameters
    ----------
    name
        Name of its entry point.
    open
        Function that takes the caller's argument, and returns a frame supported by narwhals or the
        path of a file or folder.
    schemes
        Address schemes that it opens: ``("lab",)`` for ``lab://…``.
    suffixes
        File endings that it opens: ``(".sav",)``.
    objects
        Classes of objects that it opens, with the library: ``("deltalake.DeltaTable",)`` for a
        class ``DeltaTable`` in any module of ``deltalake``.
    """

    name: str
    open: Callable[[Any], Any]
    schemes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()

    def knows(self, source: object) -> bool:
        """Return whether this source can open the given object."""
        if isinstance(source, (str, os.PathLike)):
            scheme = scheme_of(source)
            if scheme is not None:
                return scheme in self.schemes
            return Path(source).suffix.lower() in self.suffixes
        classes = type(source).__mro__
        return any(f"{_library(kind)}.{kind.__name__}" in self.objects for kind in classes)

    def open_checked(self, source: object) -> object:
        """Open a source; a plug-in's exception or invalid result raises an error."""
        if self.open.__module__.startswith("outperform."):
            return self.open(source)
        address = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
        name = masked(address) if address else type(source).__name__
        try:
            opened = self.open(source)
        except Exception as error:
            text = str(error)
            message = without_secrets(mask_addresses(text), address)
            # A chained traceback would show the source's message, secrets included.
            cause = error if message == text else None
            if not isinstance(error, OutperformError):
                raise DataError(
                    f"{name} cannot be opened by the source {self.name!r}: "
                    f"{type(error).__name__}: {message}"
                ) from cause
            if cause is None:
                raise type(error)(message) from None
            raise
        if opened is None or self.knows(opened):
            shown = without_secrets(mask_addresses(repr(opened)), address)
            raise UsageError(
                f"the source {self.name!r} must open {name} as a frame or a path; got {shown}"
            )
        return opened


def scheme_of(source: str | os.PathLike[str]) -> str | None:
    """Return the scheme of an address in lower case; None for a path."""
    address = _ADDRESS.match(str(os.fspath(source)))
    return None if address is None else address[1].lower()


def _library(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _open_delta(table: Any) -> object:  # uses the version of the DeltaTable object
    duckdb = require("duckdb", extra="cli", purpose="counting a DeltaTable")
    return duckdb.connect().from_arrow(table.to_pyarrow_dataset())


FILE = Source(name="file", open=local_path, schemes=("file",))
DELTA = Source(name="delta", open=_open_delta, objects=("deltalake.DeltaTable",))
ICEBERG = Source(
    name="iceberg",
    open=lambda table: local_path(table.metadata_location),
    objects=("pyiceberg.Table",),
)
HUGGING_FACE = Source(
    name="hugging-face",
    open=as_table,
    objects=(
        "datasets.Dataset",
        "datasets.DatasetDict",
        "datasets.IterableDataset",
        "datasets.IterableDatasetDict",
    ),
)
