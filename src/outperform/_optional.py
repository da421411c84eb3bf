"""The one gate through which optional dependencies are imported."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from outperform.errors import MissingExtra


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say in one line which extra brings it.

    Examples
    --------
    >>> require("math", extra="plot", purpose="figures").__name__
    'math'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs {module.partition('.')[0]}; "
            f'install it with: pip install "outperform[{extra}]"'
        ) from error
