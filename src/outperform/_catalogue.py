"""Catalogues that other distributions extend; what is built in goes the same way."""

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
    """Objects by name, each loaded when it is asked for.

    Distributions are searched only for names that are not built in. What they declare under the
    name of a built-in object is never loaded.

    Parameters
    ----------
    group
        The entry points in which other distributions declare theirs, such as ``outperform.logs``.
    noun
        What to call an object in a message.
    kind
        The class that they have, as ``module:name``.
    built_in
        Where the built-in objects are, by name, as ``module:name``, as entry points are written.
    taken
        From an object to the names of it that are built in otherwise; by default none are.
    """

    def __init__(
        self,
        group: str,
        *,
        noun: str,
        kind: str,
        built_in: Mapping[str, str],
        taken: Callable[[T], Sequence[str]] = lambda _: (),
    ) -> None:
        self.group, self.noun, self.kind, self.built_in = group, noun, kind, built_in
        self.taken = taken

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in self._added()

    def names(self) -> tuple[str, ...]:
        """Return all names, those that are built in first."""
        return (*self.built_in, *sorted(self._added()))

    def get(self, name: str) -> T:
        """Return an object, or say why it cannot be had."""
        if name in self.built_in:
            return cast(T, _resolve(self.built_in[name]))
        added = self._added()
        if name not in added:
            raise UsageError(unknown_name(self.noun, name, self.names()))
        return self._load(name, added[name])

    def added(self) -> Iterator[T]:
        """Yield what other distributions add; what cannot be loaded is only logged."""
        for name, entries in self._added().items():
            try:
                yield self._load(name, entries)
            except OutperformError as error:
                from outperform.progress import LOG  # with numpy, which a list of names needs not

                LOG.warning("%s", error)

    def _added(self) -> dict[str, tuple[EntryPoint, ...]]:
        entries = _entry_points(self.group, tuple(sys.path))
        return {name: some for name, some in entries.items() if name not in self.built_in}

    def _load(self, name: str, entries: tuple[EntryPoint, ...]) -> T:
        """Load what a distribution declares; every fault names the distribution."""
        if len(entries) > 1:
            owners = " and ".join(map(_distribution, entries))
            raise UsageError(f"{owners} each add the {self.noun} {name!r}; uninstall one of them")
        owner = f"the {self.noun} {name!r}, which {_distribution(entries[0])} adds,"
        try:
            loaded: object = entries[0].load()
        except Exception as error:  # whatever the code of others raises
            raise UsageError(
                f"{owner} cannot be loaded: {type(error).__name__}: {error}. Mend or uninstall it"
            ) from error
        kind = cast(type, _resolve(self.kind))
        if not isinstance(loaded, kind):
            raise UsageError(f"{owner} must be a {kind.__name__}; got {type(loaded).__name__}")
        if getattr(loaded, "name", name) != name:
            own_name: object = getattr(loaded, "name", None)
            raise UsageError(f"{owner} must have the name of its entry point; got {own_name!r}")
        taken = self.taken(cast(T, loaded))
        if taken:
            raise UsageError(
                f"{owner} has a name or an alias that is built in, {', '.join(map(repr, taken))}, "
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
    """Return the entry points of a group by name; ``path`` is where distributions are searched."""
    from importlib.metadata import entry_points  # which takes as long as the rest of the program

    by_name: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for entry in entry_points(group=group):
        # One that is installed so that it can be edited may be found twice.
        by_name.setdefault(entry.name, {})[_distribution(entry), entry.value] = entry
    return {name: tuple(some.values()) for name, some in by_name.items()}
