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
# What data are called where a metric reads them, and what a metric's values are computed by.
OF_DATA = {"counts", "sums", "margins", "confusion", "repeats", "shapes"}
EVALUATES = {"evaluate", "measure", "of_sums", "of_means"}
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
    """Return the functions that do something themselves, as ``room.module:function``.

    What values follow from sums is the metrics' own business, so their room is left out.
    """
    return [
        f"{name.removeprefix('outperform.')}:{node.name}"
        for name, tree in trees.items()
        if does not in (observes, leaves_out) or not name.startswith("outperform.metrics.")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and does(node)
    ]


def _names(node: ast.AST) -> set[str]:
    """Return the names and attributes that an expression mentions."""
    return {
        getattr(each, "id", getattr(each, "attr", ""))
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute)
    }


def _evaluated(function: ast.FunctionDef) -> Iterator[bool]:
    """Yield for each evaluation of a metric at sums of the data whether these were changed.

    They are changed once something was added to them or taken away.
    """
    of_data, changed = set(OF_DATA), set[str]()
    workers = set[str]()
    body = [*own_nodes(function)]
    for _ in range(2):  # a loop may read what it assigns further down
        for node in body:
            targets, value = _assigned(node)
            if value is None:
                continue
            read = _names(value)
            if read & {"worker", *workers}:  # what it draws is not the data
                workers |= targets
            elif read & of_data:
                of_data |= targets
                moved = isinstance(node, ast.AugAssign) or _is_moved(value, of_data)
                changed |= targets if moved or read & changed else set()
    for node in body:
        if isinstance(node, ast.Attribute) and node.attr == "observed":
            read, moved = _names(node.value) & changed, True
        elif isinstance(node, ast.Call) and _evaluates(node, workers):
            read = {name for each in node.args for name in _names(each)} & of_data
            moved = any(_is_moved(each, of_data) for each in node.args)
        else:
            continue
        if read:
            yield moved or bool(read & changed)


def _is_moved(value: ast.AST, names: set[str]) -> bool:
    """Return whether something is added to what has these names, or taken away from it."""
    return any(
        isinstance(each, ast.BinOp)
        and isinstance(each.op, ast.Add | ast.Sub)
        and _names(each) & names
        for each in ast.walk(value)
    )


def _assigned(node: ast.AST) -> tuple[set[str], ast.AST | None]:
    """Return the names that a statement or the clause of a comprehension binds, and to what."""
    if isinstance(node, ast.Assign):
        targets: list[ast.AST] = [*node.targets]
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For | ast.comprehension):
        targets = [node.target]
    else:
        return set(), None
    value = node.iter if isinstance(node, ast.For | ast.comprehension) else node.value
    if isinstance(node, ast.AugAssign) and value is not None:
        value = ast.Tuple(elts=[node.target, value])  # what it was is read, too
    bound = [each.value if isinstance(each, ast.Subscript) else each for each in targets]
    names = {name for each in bound for name in _names(each)}
    return names - {"self"}, value


def _evaluates(call: ast.Call, workers: set[str]) -> bool:
    """Return whether a call computes values of a metric."""
    called = call.func
    if isinstance(called, ast.Call):  # one.worker()(weights)
        return getattr(called.func, "attr", "") == "worker"
    return getattr(called, "attr", getattr(called, "id", "")) in EVALUATES | workers


def observes(function: ast.FunctionDef) -> bool:
    """Return whether a function itself computes values of a metric at sums of the data."""
    return not all(_evaluated(function))


def leaves_out(function: ast.FunctionDef) -> bool:
    """Return whether a function itself computes values of a metric at changed sums of the data."""
    return any(_evaluated(function))


CAPABILITIES = {
    "functions that tell equal rows apart": merges_rows,
    "functions that compute observed values": observes,
    "functions that leave units out": leaves_out,
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
