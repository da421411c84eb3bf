"""``python -m verification.mutant_sample``: do tests still notice a fixed sample of changes?

``mutants`` draws its sample anew from the code of the day. Here it is written down, in
``mutant_sample.toml``, so that the tests before and after a change of the tests can be compared.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from verification import records

SAMPLE = Path(__file__).with_suffix(".toml")


def notice(mutant: Mapping[str, str | list[str]], *, root: Path) -> str:
    """Return whether the tests named by a mutant fail with it: ``caught`` or ``survives``.

    ``gone`` if the code no longer has the text that is replaced, ``broken`` if the test that
    fails does so without the mutant too.
    """
    before, after = str(mutant["before"]), str(mutant["after"])
    asked = [str(test) for test in mutant["tests"] if (root / test).exists()]
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "outperform"
        shutil.copytree(root / "src" / "outperform", package)
        module = package / str(mutant["module"])
        source = module.read_text(encoding="utf-8") if module.is_file() else ""
        if source.count(before) != 1:
            return "gone"
        module.write_text(source.replace(before, after), encoding="utf-8")
        failed = _first_failure(asked, root=root, path=Path(folder))
    if failed is None:
        return "survives"
    alone = _first_failure([failed], root=root, path=root / "src")
    return "caught" if alone is None else "broken"


def _first_failure(tests: list[str], *, root: Path, path: Path) -> str | None:
    """Return the first of some tests that fails with the package in a folder; None if none does."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", run.stdout, flags=re.MULTILINE)
    if failed is None:  # nothing was tested
        raise RuntimeError(run.stdout + run.stderr)
    return failed[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Try every mutant of the sample; fail if one survives."""
    parser = argparse.ArgumentParser(prog="python -m verification.mutant_sample")
    parser.add_argument("--root", type=Path, default=records.ROOT, help="another checkout")
    parser.add_argument("--only", default="", help="mutants with these words in their names")
    options = parser.parse_args(arguments)
    sample = tomllib.loads(SAMPLE.read_text(encoding="utf-8"))["mutant"]
    verdicts = []
    for mutant in sample:
        if options.only in mutant["name"]:
            verdicts.append(notice(mutant, root=options.root))
            print(f"{verdicts[-1]:9} {mutant['module']}: {mutant['name']}", flush=True)
    words = ("caught", "survives", "gone", "broken")
    print(", ".join(f"{verdicts.count(word)} {word}" for word in words))
    return int("survives" in verdicts)


if __name__ == "__main__":
    sys.exit(main())
