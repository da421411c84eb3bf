"""Measure what each extra adds to a bare install: `python scripts/measure_extras.py`.

Every extra is installed into a new environment in a temporary folder, with uv if it is on the PATH
and with pip otherwise. The table is Markdown, for ``docs/how-to/install.md``. Sizes are those of
the installed files without compiled bytecode.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_MEGABYTE = 1_000_000


class Installed(NamedTuple):
    """What an environment contains: distributions, and the size of their files in bytes."""

    names: frozenset[str]
    size: int


def installed(folder: Path) -> Installed:
    """Return what is in the environment in a folder."""
    sites = [path for path in folder.rglob("site-packages") if path.is_dir()]
    names = {path.name.partition("-")[0] for site in sites for path in site.glob("*.dist-info")}
    files = (
        path
        for site in sites
        for path in site.rglob("*")
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts
    )
    return Installed(frozenset(names), sum(path.stat().st_size for path in files))


def install(wheel: Path, extra: str, folder: Path) -> Installed:
    """Install the package with one extra, none if empty, into a new environment."""
    venv.create(folder, with_pip=False, symlinks=sys.platform != "win32")
    binary = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    requirement = f"{wheel}[{extra}]" if extra else str(wheel)
    _run(*_installer(binary), requirement)
    return installed(folder)


def _installer(binary: Path) -> list[str]:
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--quiet", "--python", str(binary)]
    pip = [sys.executable, "-m", "pip", "--python", str(binary)]
    return [*pip, "install", "--quiet", "--no-compile", "--no-warn-script-location"]


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=sys.stderr)


def build(folder: Path) -> Path:
    """Build the wheel of this checkout, and return its path."""
    uv = shutil.which("uv")
    if uv is not None:
        _run(uv, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT))
    else:
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        _run(*pip, "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


def table(bare: Installed, extras: Iterable[tuple[str, Installed]]) -> str:
    """Return a row per extra, with what it adds to the bare install.

    Examples
    --------
    >>> bare = Installed(frozenset({"outperform", "numpy"}), 100_000_000)
    >>> plot = Installed(bare.names | {"matplotlib"}, 130_400_000)
    >>> print(table(bare, [("plot", plot)]))
    | extra | MB | packages |
    |---|---:|---:|
    | none | 100 | 2 |
    | `plot` | +30 | +1 |
    """
    lines = ["| extra | MB | packages |", "|---|---:|---:|"]
    lines.append(f"| none | {bare.size / _MEGABYTE:.0f} | {len(bare.names)} |")
    lines += [
        f"| `{name}` | +{(found.size - bare.size) / _MEGABYTE:.0f} "
        f"| +{len(found.names - bare.names)} |"
        for name, found in extras
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table, and where and when it was measured."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = [*project["optional-dependencies"]]
    parser = argparse.ArgumentParser(description="Measure what each extra adds to a bare install.")
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help="extras; all by default")
    wanted = parser.parse_args().extras or known
    if unknown := [extra for extra in wanted if extra not in known]:
        parser.error(f"unknown extras {', '.join(unknown)}; known: {', '.join(known)}")
    with TemporaryDirectory() as place:
        folder = Path(place)
        wheel = build(folder)
        bare = install(wheel, "", folder / "bare")
        found = []
        for extra in wanted:
            found.append((extra, install(wheel, extra, folder / extra)))
            shutil.rmtree(folder / extra)
            print(f"measured {extra}", file=sys.stderr)
    print(table(bare, found))
    where = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    print(f"\nMeasured on {datetime.now(UTC):%Y-%m-%d} with {where}, without compiled bytecode.")


if __name__ == "__main__":
    main()
