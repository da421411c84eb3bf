"""Measure the structure of the package: `python scripts/structure.py [ROOT]`.

Prints one line per measure. ROOT is a checkout, by default this one, so that two commits can be
measured by the same rules. Circles are counted fully: with imports for types, imports inside
functions, and modules that are loaded by a name in a string.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

GAMMAS = {"standard_gamma", "standard_exponential", "dirichlet", "gamma"}
KINDS = {"Outcomes", "Scores", "LabelSpec", "ScoreSpec", "Judged"}


def modules(root: Path) -> dict[str, ast.Module]:
    """Return the tree of each module of the package by its dotted name."""
    trees = {}
    for path in sorted((root / "src" / "outperform").rglob("*.py")):
        name = ".".join(path.relative_to(root / "src").with_suffix("").parts)
        trees[name.removesuffix(".__init__")] = ast.parse(path.read_text(encoding="utf-8"))
    return trees


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree without imports and docstrings."""
    if isinstance(tree, ast.Import | ast.ImportFrom):
        return
    yield tree
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstring = (
        tree.body[0]
        if isinstance(tree, documented) and ast.get_docstring(tree, clean=False) is not None
        else None
    )
    for child in ast.iter_child_nodes(tree):
        if child is not docstring:
            yield from nodes(child)


def imported(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return which modules each module imports, wherever and however it does."""
    edges: dict[str, set[str]] = {}
    for name, tree in trees.items():
        targets = set()
        by_name = False
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:  # as many parts up, of a package one fewer
                    parts = name.split(".")
                    up = node.level - any(other.startswith(f"{name}.") for other in trees)
                    base = ".".join([*parts[: len(parts) - up], *([base] if base else [])])
                # The version is there before a package hands out its names.
                inner = (
                    f"{base}.{alias.name}" for alias in node.names if alias.name != "__version__"
                )
                targets |= {each if each in trees else base for each in inner}
            elif isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Name | ast.Attribute):
                by_name |= getattr(node, "id", getattr(node, "attr", "")) in {
                    "import_module",
                    "__import__",
                }
        if by_name:
            strings = {
                node.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
            targets |= strings | {f"outperform.{each}" for each in strings}
        edges[name] = (targets & trees.keys()) - {name}
    return edges


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules that all reach each other, the largest first."""
    reached = {name: _reachable(edges, name) for name in edges}
    found = {
        tuple(sorted({name} | {other for other in reached[name] if name in reached[other]}))
        for name in edges
        if name in reached[name]
    }
    return sorted(map(list, found), key=len, reverse=True)


def _reachable(edges: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = edges[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def fields(tree: ast.ClassDef) -> set[str]:
    """Return the names that the body of a class annotates or defines as properties."""
    return {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}


def draws_gammas(tree: ast.Module) -> bool:
    """Return whether a module draws gammas, exponentials or Dirichlet weights itself."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in GAMMAS
        and not ast.unparse(node.value).startswith(("special", "scipy", "stats"))
        for node in ast.walk(tree)
    )


def merges_rows(function: ast.FunctionDef) -> bool:
    """Return whether a function itself finds out which rows of several numbers are equal.

    It does if it hands ``np.unique`` an axis or an arithmetic key, asks it for counts, or reads
    rows as bytes.
    """
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (
            (
                node.func.attr == "unique"
                and (
                    {"axis", "return_counts"} & {word.arg for word in node.keywords}
                    or any(isinstance(each, ast.BinOp) for each in node.args)
                )
            )
            or (
                node.func.attr == "view"
                and any(
                    "void" in ast.unparse(each) or "f'V" in ast.unparse(each) for each in node.args
                )
            )
        )
        for node in own_nodes(function)
    )


def own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from own_nodes(child)  # type: ignore[arg-type]


def sites(trees: dict[str, ast.Module], does: Callable[[ast.FunctionDef], bool]) -> list[str]:
    """Return the functions that do something themselves, as ``room.module:function``."""
    return [
        f"{name.removeprefix('outperform.')}:{node.name}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and does(node)
    ]


CAPABILITIES = {
    "functions that tell equal rows apart": merges_rows,
}


def _listed(names: list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}"


def branches_on_kinds(tree: ast.Module) -> int:
    """Return how often a module asks which kind of data it has."""
    return sum(
        (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", "") == "isinstance"
            and bool(KINDS & {getattr(each, "id", "") for each in ast.walk(node.args[1])})
        )
        or (
            isinstance(node, ast.Compare)
            and (
                getattr(node.left, "attr", "") == "kind"
                or (
                    getattr(node.left, "attr", "") == "pool"
                    and isinstance(node.ops[0], ast.Is | ast.IsNot)
                )
            )
        )
        for node in ast.walk(tree)
    )


def classes(trees: dict[str, ast.Module]) -> list[ast.ClassDef]:
    every = (node for tree in trees.values() for node in ast.walk(tree))
    return [node for node in every if isinstance(node, ast.ClassDef)]


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])
    trees = modules(root)
    every = [node for tree in trees.values() for node in nodes(tree)]
    functions = [node for node in every if isinstance(node, ast.FunctionDef)]
    components = circles(imported(trees))
    typed = [each for each in classes(trees) if "TypedDict" in map(ast.unparse, each.bases)]
    summaries = [each for each in classes(trees) if {"mean", "hdi"} <= fields(each)]
    strings = [
        node.value
        for node in every
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    gammas = [name for name, tree in trees.items() if draws_gammas(tree)]
    rooms: dict[str, int] = {}
    for name, tree in trees.items():
        room = name.split(".")[1] if "." in name else name
        rooms[room] = rooms.get(room, 0) + sum(1 for _ in nodes(tree))
    facts = [each for each in functions if each.name == "to_dict" or each.name.endswith("_facts")]
    print(f"nodes without imports and docstrings   {len(every):,}")
    print(f"statements                             {sum(isinstance(n, ast.stmt) for n in every):,}")
    print(f"modules, functions                     {len(trees)}, {len(functions):,}")
    print(f"circles                                {[len(each) for each in components] or 'none'}")
    print(f"modules that draw gammas               {len(gammas)}: {', '.join(gammas)}")
    for what, does in CAPABILITIES.items():
        print(f"{what:38} {_listed(sites(trees, does))}")
    print(f"classes with mean and hdi              {len(summaries)}")
    print(f"typed dictionaries                     {len(typed)}")
    print(f"functions that make plain dictionaries {len(facts)}")
    print(f"branches on kinds outside data and io  {_outside(trees)}")
    print(f'strings with "yet"                     {sum(" yet" in each for each in strings)}')
    print(
        "nodes by room                          "
        + ", ".join(
            f"{room} {count:,}" for room, count in sorted(rooms.items(), key=lambda item: -item[1])
        )
    )
    for component in components:
        print("circle:", ", ".join(each.removeprefix("outperform.") for each in component))


def _outside(trees: dict[str, ast.Module]) -> int:
    doors = ("outperform.data", "outperform.io")
    return sum(
        branches_on_kinds(tree) for name, tree in trees.items() if not name.startswith(doors)
    )


if __name__ == "__main__":
    main()
