"""Where PyMC is: a script that needs it runs in an environment of its own if it is missing.

PyMC is no part of the development environment. The first time, which takes a few
minutes, a virtual environment is made in ``build/bench-pymc`` with the package and its
extras ``nutpie`` and ``numpyro``, so that everything measured shares one process.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

from recording import ROOT

HOME = ROOT / "build" / "bench-pymc"
NEEDED = ("pymc", "nutpie", "numpyro")


def run(main: Callable[[], int]) -> int:
    """Run a script's main function here, or the script where PyMC is."""
    if all(importlib.util.find_spec(name) for name in NEEDED):
        return main()
    python = HOME / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (HOME / "ready").exists():
        print(f"installing PyMC into {HOME.relative_to(ROOT)}, once", flush=True)
        venv.create(HOME, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--editable"]
        subprocess.run([*pip, ".[nutpie,numpyro]"], cwd=ROOT, check=True)
        (HOME / "ready").touch()
    script = str(Path(sys.argv[0]).resolve())
    return subprocess.run([str(python), script, *sys.argv[1:]], cwd=ROOT).returncode
