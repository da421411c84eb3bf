"""Paths that an agent may name: files and folders inside the folder of the server, and no others.

An agent passes on what it has read, so a path can come from an attacker. Every path is resolved
first, links included, and what lies outside gets the same message whether it exists or not.
"""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outperform.errors import UsageError, param
from outperform.io.databases import SUFFIXES as DATABASES
from outperform.io.remote import lake_here

MAX_FILES = 20_000
"""Maximum number of files in a folder or pattern."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/|file:", re.IGNORECASE)
_KEYWORDS = re.compile(r"\b(?:host|hostaddr|dbname|password|user)\s*=", re.IGNORECASE)
_MAGIC = {"SQLite": (0, b"SQLite format 3\0"), "DuckDB": (8, b"DUCK")}


@dataclass(frozen=True, slots=True)
class Places:
    """Folder whose files may be read, and the roots of the client, if it has any.

    Parameters
    ----------
    folder
        Folder of the server, which is also the working directory.
    roots
        Folders to which the client restricts the server; None if it does not.
    """

    folder: Path
    roots: tuple[Path, ...] | None = None

    def checked(self, source: Any, name: str = "source") -> Any:
        """Return a source with checked paths: a path, a list of paths, or a mapping of these.

        Parameters
        ----------
        source
            Value that the agent passed.
        name
            Name of the argument.
        """
        if isinstance(source, Mapping):
            return {key: self.checked(part, name) for key, part in source.items()}
        if isinstance(source, list):
            return [path for part in source for path in self._paths(part, name)]
        paths = self._paths(source, name)
        return paths[0] if len(paths) == 1 else paths

    def _paths(self, text: Any, name: str) -> list[str]:
        if not isinstance(text, str) or not text.strip() or "\0" in text:
            raise UsageError(f"{param(name)} must be the path of a file; got {text!r}")
        if _ADDRESS.match(text) or "://" in text or _KEYWORDS.search(text):
            raise UsageError(
                f"{param(name)} must be a file in the folder of the server, not the address of a "
                "database or a store; copy the data to a CSV or Parquet file there"
            )
        if text == "-":
            raise UsageError(f"{param(name)} must be the path of a file; '-' has nothing to read")
        if ".." in re.split(r"[/\\]", text):
            raise UsageError(f"{param(name)} must not contain '..'; got {text!r}")
        path = self._relative(text, name)
        if glob.has_magic(path) and not os.path.lexists(self.folder / path):
            matches = sorted(glob.glob(path, root_dir=self.folder, recursive=True))
            if not matches:
                raise UsageError(f"no file matches {text!r}")
            self._refuse_many(len(matches), text)
            for match in matches:
                self._check(self.folder / match, text, name)
            return [_plain(match) for match in matches]
        self._check(self.folder / path, text, name)
        return [_plain(path)]

    def _relative(self, text: str, name: str) -> str:
        """Return a path relative to the folder; one outside it raises an error."""
        if not os.path.isabs(text):
            return os.path.normpath(text)
        for folder, path in (
            (str(self.folder), os.path.normpath(text)),
            (str(self.folder), os.path.realpath(text)),
        ):
            if path == folder or path.startswith(os.path.join(folder, "")):
                return os.path.relpath(path, folder)
        raise self._outside(text, name)

    def _check(self, path: Path, text: str, name: str) -> None:
        """Raise an error unless a path, and everything below it, may be read."""
        self._check_inside(path, text, name)
        try:
            status = os.stat(path)
        except OSError as error:
            reason = "no file" if isinstance(error, FileNotFoundError) else "cannot read"
            raise UsageError(f"{reason} {text!r}{self._neighbours(path)}") from None
        if lake_here(str(path)):
            raise UsageError(
                f"{text!r} is a Delta or Iceberg table, which can refer to other files; export it "
                "to a Parquet file"
            )
        if stat.S_ISDIR(status.st_mode):
            for count, below in enumerate(self._below(path, set()), 1):
                self._refuse_many(count, text)
                self._check_inside(below, text, name)
                self._check_file(below, text)
        else:
            self._check_file(path, text)

    def _check_inside(self, path: Path, text: str, name: str) -> None:
        try:
            real = path.resolve()
        except (OSError, RuntimeError):  # a link to itself
            raise UsageError(f"cannot read {text!r}") from None
        inside = real.is_relative_to(self.folder)
        if not inside or not (
            self.roots is None or any(real.is_relative_to(root) for root in self.roots)
        ):
            raise self._outside(text, name)

    def _check_file(self, path: Path, text: str) -> None:
        """Raise an error for a database, whose views could read other files, or a device."""
        if not path.exists() or path.is_dir():
            return
        kind = next((kind for kind in (path.suffix.lower(),) if kind in DATABASES), None)
        if path.is_file():
            with path.open("rb") as stream:
                start = stream.read(16)
            kind = kind or next(
                (kind for kind, (at, mark) in _MAGIC.items() if start[at:].startswith(mark)), None
            )
        else:
            raise UsageError(f"{text!r} is not a regular file")
        if kind is not None:
            raise UsageError(
                f"{text!r} is a database, which can refer to other files; export its table to a "
                "CSV or Parquet file"
            )

    def _below(self, folder: Path, visited: set[Path]) -> Iterator[Path]:
        """Yield everything below a folder, also behind links, each folder once."""
        real = folder.resolve()
        if real in visited:
            return
        visited.add(real)
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            return
        for name in names:
            path = folder / name
            yield path
            if path.is_dir() and path.resolve().is_relative_to(self.folder):
                yield from self._below(path, visited)

    def _neighbours(self, path: Path) -> str:
        """Return a suggestion for a path that does not exist, from the names next to it."""
        from difflib import get_close_matches

        try:
            names = sorted(os.listdir(path.parent))
        except OSError:
            return ""
        close = get_close_matches(path.name, names, n=1, cutoff=0.6)
        files = [name for name in names if not name.startswith(".")][:5]
        if close:
            neighbour = os.path.relpath(path.parent / close[0], self.folder)
            return f"; did you mean {neighbour!r}?"
        return f"; there are {', '.join(map(repr, files))}" if files else ""

    def _refuse_many(self, count: int, text: str) -> None:
        if count > MAX_FILES:
            raise UsageError(f"{text!r} is more than {MAX_FILES:,} files; pass fewer")

    def _outside(self, text: str, name: str) -> UsageError:
        of_client = "" if self.roots is None else " and of the client's roots"
        return UsageError(
            f"{param(name)} must lie inside the folder of the server{of_client}, also behind "
            f"links; got {text!r}. Files are named relative to that folder, such as 'preds.csv'"
        )


def _plain(path: str) -> str:
    """Return a relative path that no reader can take for an address or an option."""
    return os.path.join(".", path) if path.startswith("-") or ":" in path else path
