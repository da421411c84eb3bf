"""The code that a result rests on: which modules were loaded, and a hash of what they say.

Comments and docstrings are left out, for they change no number. The hash is one of text, not of
a syntax tree, so that it is the same under every version of Python.
"""

from __future__ import annotations

import ast
import hashlib
import io
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
# What runs, notes and packs the studies, and makes no number. Of the programme, a part rests on
# those definitions only that it uses.
_AROUND = ("__main__", "archive", "execution", "fingerprint", "programme", "records", "tracing")
# The rooms of the package that the key of finished chunks looks at.
_ROOMS = ("data", "decision", "inference", "metrics", "posterior", "planning", "ranking", "suite")
# Parts whose study has another name.
_STUDIES = {"rank": "ranks", "map": "coverage_map", "calibration-default": "calibration"}


def loaded() -> frozenset[str]:
    """Return the modules of the package and of this folder that this process has run.

    A module that is still to be loaded lazily is of another type.
    """
    return frozenset(
        name
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in ("outperform", "verification")
        and type(module) is ModuleType
        and name not in {f"verification.{one}" for one in _AROUND}
    )


def read_ahead() -> None:
    """Read all modules now, so that an edit during a long run does not count as what was run."""
    for folder in (ROOT / "src" / "outperform", ROOT / "verification"):
        for file in folder.glob("**/*.py"):
            _text(file)


def hash_of(modules: Iterable[str]) -> str | None:
    """Return a hash of modules and the packages around them; None if one is not there."""
    digest = hashlib.sha256()
    for module in sorted(_with_packages(modules)):
        file = _source(module)
        if file is None:
            return None
        digest.update(f"{module}\n{bare(file)}\n".encode())
    return digest.hexdigest()[:16]


def code_of(part: str, modules: Iterable[str]) -> str | None:
    """Return a hash of modules and of what the programme says about a part."""
    code = hash_of(modules)
    if code is None:
        return None
    return hashlib.sha256(f"{code}\n{_programme(part)[0]}".encode()).hexdigest()[:16]


def sizes_of(part: str) -> tuple[str, ...]:
    """Return the names of the sizes that a part looks at."""
    return _programme(part)[1]


def folded(modules: Iterable[str]) -> dict[str, str]:
    """Return modules as they are stored: the names in each package; the packages go unsaid.

    Examples
    --------
    >>> folded({"outperform", "outperform.data", "outperform.data.items", "outperform.errors"})
    {'outperform': 'errors', 'outperform.data': 'items'}
    """
    names = set(modules)
    around = {package for name in names for package in _packages(name)}
    found: dict[str, list[str]] = {}
    for name in sorted(names - around):
        package, _, last = name.rpartition(".")
        found.setdefault(package, []).append(last)
    return {package: " ".join(found[package]) for package in sorted(found)}


def unfolded(stored: Mapping[str, str]) -> frozenset[str]:
    """Return what was folded, with the packages."""
    names = (f"{package}.{one}" for package, line in stored.items() for one in line.split())
    return frozenset(_with_packages(name.lstrip(".") for name in names))


def _packages(module: str) -> Iterator[str]:
    while module := module.rpartition(".")[0]:
        yield module


def _with_packages(modules: Iterable[str]) -> set[str]:
    names = set(modules)
    return names | {package for name in names for package in _packages(name)}


def _source(module: str) -> Path | None:
    home = ROOT if module.partition(".")[0] == "verification" else ROOT / "src"
    path = home.joinpath(*module.split("."))
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if file.exists()), None)


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def bare(file: Path) -> str:
    """Return the code of a file without comments, docstrings, empty lines and the version."""
    return _bare(_text(file))


@cache
def _bare(text: str) -> str:
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for first, last, instead in _docstrings(ast.parse(text)):
        lines[first - 1 : last] = [instead] + [""] * (last - first)
    kept = (line.rstrip() for line in lines if line.strip())
    return "\n".join(line for line in kept if not line.startswith("__version__ ="))


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """Return the lines of each docstring, and what the code needs in their place."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            said = node.body[0]
            alone = len(node.body) == 1 and not isinstance(node, ast.Module)
            last = said.lineno if said.end_lineno is None else said.end_lineno
            yield said.lineno, last, " " * said.col_offset + "..." if alone else ""


# The programme: what a part uses of it


# What every part is given, and the tables of all parts.
_SHARED = {"PARTS", "QUICK", "STUDIES", "Part", "Sizes"}


@cache
def _programme(part: str) -> tuple[str, tuple[str, ...]]:
    """Return the definitions of the programme that a part uses, and the sizes it looks at."""
    text = bare(ROOT / "verification" / "programme.py")
    lines = text.splitlines()
    definitions = dict(_definitions(ast.parse(text)))
    todo: list[ast.AST] = [
        value
        for table in ("PARTS", "STUDIES")
        for key, value in _entries(definitions.get(table))
        if key == part
    ]
    if part in dict(_entries(definitions.get("STUDIES"))):
        todo.append(definitions["run_study"])
    used: dict[int, ast.AST] = {}
    sizes: set[str] = set()
    while todo:
        node = todo.pop()
        if id(node) in used:
            continue
        used[id(node)] = node
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in definitions and one.id not in _SHARED:
                todo.append(definitions[one.id])
            elif isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
                sizes |= {one.attr} if one.value.id == "sizes" else set()
    spans = sorted(_lines(node) for node in used.values())
    said = "\n".join("\n".join(lines[first - 1 : last]) for first, last in spans)
    return said, tuple(sorted(sizes - {"machine"}))


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((one.id, node) for one in targets if isinstance(one, ast.Name))


def _entries(table: ast.stmt | None) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(table, ast.Assign | ast.AnnAssign) and isinstance(table.value, ast.Dict):
        for key, value in zip(table.value.keys, table.value.values, strict=True):
            if isinstance(key, ast.Constant):
                yield str(key.value), value


def _lines(node: ast.AST) -> tuple[int, int]:
    """Return the first and the last line of a definition, decorators included."""
    rows = [one.lineno for one in ast.walk(node) if isinstance(one, ast.expr | ast.stmt)]
    ends = [one.end_lineno for one in ast.walk(node) if isinstance(one, ast.expr | ast.stmt)]
    return min(rows), max(end for end in ends if end is not None)


# Finished chunks, whose modules are not known before they are run


def chunk_key(part: str) -> str:
    """Return a hash of the study, of what it imports beside it, and of the rooms that count."""
    study = ROOT / "verification" / f"{_STUDIES.get(part, part.replace('-', '_'))}.py"
    package = ROOT / "src" / "outperform"
    rooms = (file for room in _ROOMS for file in package.glob(f"{room}/**/*.py"))
    digest = hashlib.sha256()
    for file in sorted([*_with_imports(study), *rooms]):
        digest.update(bare(file).encode())
    return digest.hexdigest()[:16]


def _with_imports(study: Path) -> set[Path]:
    """Return a study and the modules of this folder that it imports, directly or not."""
    found, todo = set(), [study]
    while todo:
        file = todo.pop()
        if file in found or not file.exists():
            continue
        found.add(file)
        for node in ast.walk(ast.parse(_text(file))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("verification"):
                names = [node.module, *(f"verification.{one.name}" for one in node.names)]
                todo += [study.parent / f"{str(name).partition('.')[2]}.py" for name in names]
    return found
