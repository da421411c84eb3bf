"""Is what the package says true? Simulation studies with gates; run ``python -m verification``.

``worlds``, ``quantities`` and ``calibration`` hold simulation-based
calibration, ``plants`` the bugs that it must find, ``uniformity`` the tests
that judge the ranks, ``coverage`` the real data resampled, ``honesty`` the
Monte Carlo errors over seeds, and ``blocked`` the cross-validation of equal learners.
"""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Import a module when something in it is first used.

    The programme names all studies, and a part needs few of them: what is loaded when it ends is
    the code that it rests on.
    """
    full = f"{__name__}.{name}"
    if full in sys.modules:
        return sys.modules[full]
    spec = None if name.startswith("__") else find_spec(full)
    if spec is None or spec.loader is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    loader = spec.loader = LazyLoader(spec.loader)
    module = sys.modules[full] = globals()[name] = module_from_spec(spec)
    loader.exec_module(module)
    return module
