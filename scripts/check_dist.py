"""Check what is to be published: the package and nothing else, and twice the same bytes.

python scripts/check_dist.py dist [--again FOLDER] [--tag v1.2.3]
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tarfile
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/outperform/"
# Pages that agents read: folders of the documentation, and where they are in the wheel.
PAGES, IN_WHEEL = ("how-to", "reference"), "agents/docs/"
# What the source distribution holds beside the package.
BESIDE = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
BESIDE |= {".gitignore"}  # hatchling adds it
INFO = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
MUST = {
    *("py.typed", "comparison/coverage_map.json", "datasets/news20.npz"),
    "report/templates/page.js",
}
MOST_BYTES = 2_000_000
# Traces of whoever built it: homes, and the folder of the checkout.
MACHINE = re.compile(rb"/home/\w|/Users/\w|[A-Z]:\\\\?Users\\|" + re.escape(str(ROOT).encode()))


def contents(archive: Path) -> dict[str, bytes]:
    """Return the files of a wheel or a source distribution, without its own top folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(archive) as source:
        files = [member for member in source.getmembers() if member.isfile()]
        return {
            member.name.partition("/")[2]: reader.read()
            for member in files
            if (reader := source.extractfile(member)) is not None
        }


def of_package(root: Path) -> set[str]:
    """Return the files of the package in a checkout."""
    folder = root / SOURCE
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix() for path in files if "__pycache__" not in path.parts
    }


def pages_of(root: Path) -> set[str]:
    """Return the pages of a checkout that are published with the package."""
    docs = root / "docs"
    return {
        path.relative_to(docs).as_posix()
        for folder in PAGES
        for path in docs.joinpath(folder).glob("*.md")
    }


def faults(
    archive: Path, files: dict[str, bytes], package: set[str], pages: Collection[str] = ()
) -> Iterator[str]:
    """Yield what is wrong with the files of one archive, in sentences."""
    version = archive.name.split("-")[1].removesuffix(".tar.gz")
    if archive.suffix == ".whl":
        head, info = "outperform/", f"outperform-{version}.dist-info/"
        allowed = {info + name for name in INFO}
        package = package | {IN_WHEEL + name for name in pages}
    else:
        head, allowed = SOURCE, BESIDE | {f"docs/{name}" for name in pages}
        for name in sorted({f"docs/{name}" for name in pages} - files.keys()):
            yield f"{name} is missing"
    held = {name.removeprefix(head) for name in files if name.startswith(head)}
    for name in sorted(MUST - held):
        yield f"{name} is missing"
    for name in sorted(package - held - MUST):
        yield f"{name} is missing"
    for name in sorted(held - package):
        yield f"{head}{name} is not in the checkout"
    for name in sorted(files):
        if not name.startswith(head) and name not in allowed:
            yield f"{name} does not belong there"
        if found := MACHINE.search(files[name]):
            yield f"{name} has a path of a machine: {found[0].decode()}"
    if (size := archive.stat().st_size) > MOST_BYTES:
        yield f"{size:,} bytes are more than {MOST_BYTES:,}"


def digest(archive: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def notes_faults(version: str, changelog: str) -> list[str]:
    """Return what is wrong with the notes of a release, which are a section of the changelog."""
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    texts = {
        one.split(maxsplit=1)[0].strip(","): one.partition("\n")[2].strip() for one in sections
    }
    found = []
    if not texts.get(version):
        found.append(f"CHANGELOG.md has no section of {version}")
    if texts.get("Unreleased"):
        found.append("CHANGELOG.md still has lines under Unreleased, which the notes would lack")
    return found


def main() -> int:
    """Check the two archives of a folder; return the number of faults."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--again", type=Path, help="a second build, which must be the same")
    parser.add_argument("--tag", help="the tag that is released")
    asked = parser.parse_args()
    archives = sorted(asked.folder.glob("outperform-*"))
    found = []
    if sorted(path.suffix for path in archives) != [".gz", ".whl"]:
        found.append(f"{asked.folder} must hold one wheel and one source distribution")
    for archive in archives:
        files = contents(archive)
        wrong = faults(archive, files, of_package(ROOT), pages_of(ROOT))
        found += [f"{archive.name}: {fault}" for fault in wrong]
        if asked.tag and f"-{asked.tag.removeprefix('v')}" not in archive.name:
            found.append(f"{archive.name} is not of the tag {asked.tag}")
        if asked.again and digest(asked.again / archive.name) != digest(archive):
            found.append(f"{archive.name}: a second build has other bytes")
        print(f"{archive.name}: {archive.stat().st_size:,} bytes, {len(files)} files")
        print(f"  sha256 {digest(archive)}")
    if asked.tag:
        found += notes_faults(
            asked.tag.removeprefix("v"), (ROOT / "CHANGELOG.md").read_text("utf-8")
        )
    for fault in found:
        print(fault, file=sys.stderr)
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
