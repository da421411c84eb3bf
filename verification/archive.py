"""One file for Zenodo: the repository at a commit, its results, the environment, checksums."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import runpy
import subprocess
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]


class Dirty(Exception):
    """Files were changed since the last commit, so that no commit says what is packed."""


def write(file: Path, root: Path = ROOT) -> str:
    """Write the archive, the same bytes for the same commit and environment; say what it holds."""
    changed = _git(root, "status", "--porcelain").decode().splitlines()
    if changed:
        n = "1 file differs" if len(changed) == 1 else f"{len(changed)} files differ"
        raise Dirty(
            f"{n} from the last commit, such as {changed[0][3:]}; commit or stash your changes, "
            "then archive again."
        )
    commit, date = _git(root, "log", "-1", "--format=%H %cs").decode().split()
    files = _committed(root) | {
        "coverage-map.html": _coverage_map(root),
        "environment/requirements.txt": lock().encode(),
        ".zenodo.json": _metadata(root, commit, date).encode(),
    }
    sums = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    files["SHA256SUMS"] = "".join(sums).encode()
    _zip(file, files)
    return (
        f"{file}: {len(files):,} files of commit {commit[:10]}, {file.stat().st_size / 1e6:.1f} MB"
    )


def lock() -> str:
    """Return the exact versions of all installed packages, in the form that pip reads.

    Examples
    --------
    >>> lock().splitlines()[0].startswith("# Python 3.")
    True
    """
    found = {
        re.sub(r"[-_.]+", "-", one.metadata["Name"]).lower(): one.version for one in distributions()
    }
    found.pop("outperform", None)
    python = f"# Python {platform.python_version()}, {platform.system()}, {platform.machine()}"
    notes = f"{python}\n# outperform itself is in src.\n"
    return notes + "".join(f"{name}=={version}\n" for name, version in sorted(found.items()))


def _committed(root: Path) -> dict[str, bytes]:
    """Return every file of the commit: code, data, tables, records and the papers' results."""
    with tarfile.open(fileobj=io.BytesIO(_git(root, "archive", "HEAD"))) as packed:
        members = ((one.name, packed.extractfile(one)) for one in packed if one.isfile())
        return {name: data.read() for name, data in members if data is not None}


def _coverage_map(root: Path) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        runpy.run_path(str(root / "docs" / "coverage_map.py"))["write_map"](page)
        return page.read_bytes()


def _metadata(root: Path, commit: str, date: str) -> str:
    """Return what Zenodo asks for, from pyproject.toml and CITATION.cff."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    version = re.search(r"^version: (\S+)$", citation, re.MULTILINE)
    repository = project["urls"]["Repository"]
    about = {
        "title": f"{project['name']}: code, data and results of the verification programme",
        "description": f"{project['description']} This archive holds the code at commit {commit}, "
        "the simulation studies with their tables and records, the reproduction of the papers, "
        "and the exact version of every package that was installed where it was packed.",
        "creators": [{"name": one["name"]} for one in project["authors"]],
        "license": project["license"].lower(),
        "version": None if version is None else version[1],
        "publication_date": date,
        "keywords": project["keywords"],
        "upload_type": "software",
        "access_right": "open",
        "related_identifiers": [
            {"identifier": f"{repository}/tree/{commit}", "relation": "isSupplementTo"}
        ],
    }
    return json.dumps(about, indent=2, ensure_ascii=False) + "\n"


def _zip(file: Path, files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w") as packed:
        for name, data in sorted(files.items()):
            # The default time, and one system: the bytes must not tell where they were written.
            member = zipfile.ZipInfo(name)
            member.create_system, member.external_attr = 3, 0o644 << 16
            packed.writestr(member, data, compress_type=zipfile.ZIP_DEFLATED)


def _git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True).stdout
