"""Catalogues of built-in objects that other distributions can extend."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from outperform.errors import OutperformError, UsageError, unknown_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Catalogue(Generic[T]):
    """Objects by name, each loaded on request.

    Other distributions are searched only for names that are not built in. Objects they declare
    under a built-in name are never loaded.

    Parameters
    ----------
    group
        Entry point group of other distributions' objects, such as ``outperform.logs``.
    noun
        Word for an object in messages.
    kind
        Class of the objects, as ``module:name``.
    built_in
        Locations of the built-in objects, by name, as ``module:name``, like entry points.
    reserved
        Function that returns the names of an object that clash with built-in names. Default: none.
    """

    def __init__(
        self,
        group: str,
        *,
        noun: str,
        kind: str,
        built_in: Mapping[str, str],
        reserved: Callable[[T], Sequence[str]] = lambda _: (),
    ) -> None:
        self.group, self.noun, self.kind, self.built_in = group, noun, kind, built_in
        self.reserved = reserved

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in self._added()

    def names(self) -> tuple[str, ...]:
        """Return all names, built-in ones first."""
        return (*self.built_in, *sorted(self._added()))

    def get(self, name: str) -> T:
        """Return an object; an unknown or faulty object raises an error."""
        if name in self.built_in:
            return cast(T, _resolve(self.built_in[name]))
        added = self._added()
        if name not in added:
            raise UsageError(unknown_name(self.noun, name, self.names()))
        return self._load(name, added[name])

    def added(self) -> Iterator[T]:
        """Yield the objects of other distributions; if loading one fails, this is only logged."""
        for name, entries in self._added().items():
            try:
                yield self._load(name, entries)
            except OutperformError as error:
                from outperform.progress import LOG  # imports numpy, which is not needed for names

                LOG.warning("%s", error)

    def _added(self) -> dict[str, tuple[EntryPoint, ...]]:
        entries = _entry_points(self.group, tuple(sys.path))
        return {name: values for name, values in entries.items() if name not in self.built_in}

    def _load(self, name: str, entries: tuple[EntryPoint, ...]) -> T:
        """Load the object of a distribution; every error names the distribution."""
        if len(entries) > 1:
            owners = " and ".join(map(_distribution, entries))
            raise UsageError(f"{owners} each add the {self.noun} {name!r}; uninstall one of them")
        owner = f"the {self.noun} {name!r}, which {_distribution(entries[0])} adds,"
        try:
            loaded: object = entries[0].load()
        except Exception as error:  # third-party code can raise anything
            raise UsageError(
                f"{owner} cannot be loaded: {type(error).__name__}: {error}. Fix or uninstall it"
            ) from error
        kind = cast(type, _resolve(self.kind))
        if not isinstance(loaded, kind):
            raise UsageError(f"{owner} must be a {kind.__name__}; got {type(loaded).__name__}")
        if getattr(loaded, "name", name) != name:
            loaded_name: object = getattr(loaded, "name", None)
            raise UsageError(f"{owner} must have the name of its entry point; got {loaded_name!r}")
        names = self.reserved(cast(T, loaded))
        if names:
            raise UsageError(
                f"{owner} has a name or an alias that is built in, {', '.join(map(repr, names))}, "
                "and built-in names take precedence; rename it"
            )
        return cast(T, loaded)


def _distribution(entry: EntryPoint) -> str:
    return "an unknown distribution" if entry.dist is None else entry.dist.name


def _resolve(address: str) -> object:
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points of a group by name; ``path``, the search path, is a cache key."""
    from importlib.metadata import entry_points  # slow to import

    by_name: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for entry in entry_points(group=group):
        # The entry point of an editable installation may occur twice.
        by_name.setdefault(entry.name, {})[_distribution(entry), entry.value] = entry
    return {name: tuple(values.values()) for name, values in by_name.items()}
