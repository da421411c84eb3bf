"""What takes long to load is loaded when a test first calls it, not when tests are collected."""

from __future__ import annotations

import pkgutil
from typing import Any


class lazily:
    """Something that is imported when it, or an attribute of it, is first called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # Python and pytest look for such names in everything that a module holds.
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return lazily(f"{self._name}.{attribute}")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return pkgutil.resolve_name(self._name)(*arguments, **named)
