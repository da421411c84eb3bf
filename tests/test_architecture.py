"""The rooms of the package and what each of them may import."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scripts import structure

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "outperform"

FRAMES = {"pandas", "polars", "pyarrow"}


@dataclass(frozen=True, kw_only=True)
class Room:
    """One row of the table: the rooms, imports and gated imports that are allowed."""

    rooms: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    gated: set[str] = field(default_factory=set)
    random: bool = False


GROUND = {
    "_catalogue",
    "_json",
    "_rows",
    "_typing",
    "_files",
    "_missing",
    "errors",
    "findings",
    "progress",
    "wrong_calls",
}
# What knows nothing of a comparison: numbers in, numbers or text out.
TOOLS = {"metrics", "decision", "nhst", "display"}
ANSWER = GROUND | TOOLS | {"data", "posterior", "inference"}
# One folder or module a feature; what a feature shares with another it imports from there.
FEATURES = {
    "comparison", "ranking", "suite", "runs", "crossval", "planning", "labelling", "sensitivity",
    "gates", "noise",
}  # fmt: skip
DOCUMENTS = {"report", "slices", "monitor", "testing"}
PLACES = {"mlflow", "sklearn"}
PUBLIC = {"outperform"}

ROOMS: dict[str, Room] = {
    **{name: Room(rooms=GROUND, imports={"numpy"}, random=True) for name in GROUND},
    # Its aliases name what other libraries have; nothing of it is imported.
    "_typing": Room(
        imports={"numpy"}, gated={"narwhals", "matplotlib", "xarray"} | FRAMES, random=True
    ),
    "data": Room(rooms=GROUND, imports={"numpy"}),
    "io": Room(
        rooms=GROUND | {"data"},
        imports={"numpy", "narwhals"},
        gated={"deltalake", "duckdb", "ibis", "psycopg", "pyiceberg", "sqlglot"} | FRAMES,
    ),
    "posterior": Room(
        rooms=GROUND | {"data"},
        imports={"numpy", "scipy"},
        gated={"pymc", "arviz", "pytensor", "nutpie", "numpyro"},
        random=True,
    ),
    "metrics": Room(rooms=GROUND, imports={"numpy"}, gated={"sacrebleu"}),
    "decision": Room(rooms=GROUND, imports={"numpy", "scipy"}),
    "nhst": Room(rooms=GROUND, imports={"numpy", "scipy"}),
    "display": Room(rooms=GROUND, imports={"numpy"}, gated={"matplotlib"} | FRAMES),
    "inference": Room(rooms=ANSWER, imports={"numpy", "scipy"}, random=True),
    "results": Room(rooms=ANSWER, imports={"numpy"}, random=True),
    **{
        name: Room(
            rooms=ANSWER | FEATURES | {"results", "inputs"},
            imports={"numpy", "scipy"},
            gated={"sklearn", "joblib", "xarray", "matplotlib"},
            random=True,
        )
        for name in FEATURES
    },
    # The one door for arrays, frames and files, so that no feature reads files itself.
    "inputs": Room(rooms=ANSWER | {"io"}, imports={"numpy"}),
    **{
        name: Room(
            rooms=ANSWER | FEATURES | {"results", "io", "inputs"},
            imports={"numpy"},
            gated={"matplotlib"} | FRAMES,
        )
        for name in DOCUMENTS
    },
    # It looks at stored files of all kinds, monitored folders too.
    "diagnosis": Room(rooms=ANSWER | {"gates", "monitor", "results", "io"}),
    "explanations": Room(rooms=GROUND | {"metrics", "display"}),
    # What coding agents call and read: the public functions, over a protocol.
    "agents": Room(
        rooms=PUBLIC | GROUND | {"metrics", "display", "io", "results", "explanations"},
        gated={"jsonschema", "mcp", "mcp_types"},
    ),
    "cli": Room(
        rooms=PUBLIC
        | ANSWER
        | FEATURES
        | DOCUMENTS
        | {"results", "io", "datasets", "explanations", "agents", "diagnosis"},
        imports={"typer", "rich"},
    ),
    # What plug-ins import.
    "plugins": Room(rooms={"io"}),
    "sklearn": Room(rooms=ANSWER | FEATURES | {"results"}, imports={"numpy"}, gated={"sklearn"}),
    "mlflow": Room(rooms=ANSWER | FEATURES | DOCUMENTS | {"results"}, gated={"mlflow"}),
    # Each is loaded by whoever has its tool.
    "pydantic_evals": Room(
        rooms=ANSWER | FEATURES | {"results", "io"}, imports={"pydantic_evals", "rich"}
    ),
    "inspect_ai": Room(rooms=ANSWER | FEATURES | {"results", "io"}, imports={"inspect_ai"}),
    # Loaded by pytest whenever it starts, so that what it needs is imported in its functions.
    "pytest_plugin": Room(
        rooms=ANSWER | FEATURES | {"results", "io", "testing"}, imports={"pytest"}
    ),
    "__main__": Room(rooms={"cli"}),
    "datasets": Room(rooms=PUBLIC | GROUND, imports={"numpy"}),
    # The package itself: its __init__ hands out the public names of every room.
    "outperform": Room(
        rooms=ANSWER | FEATURES | DOCUMENTS | PLACES | {"results", "io", "datasets", "diagnosis"}
    ),
}

NEVER_AT_IMPORT = {"scipy.stats", "pandas", "matplotlib", "sklearn", "duckdb", "pymc"}
INSIDE_FUNCTIONS_ONLY = {"sklearn"}
NAMES_THAT_SAY_NOTHING = {"utils", "helpers", "common", "misc", "util", "helper"}
SOURCES = {"random", "numpy.random", "secrets"}
# A distribution of class proportions is tried when it is given.
TRIES = {"data/prevalence.py"}
UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
# joblib trains on several cores; what it also does is to pickle.
UNSAFE_NAMES = {"joblib": {"load", "dump", "Memory", "numpy_pickle", "memory", "hash", "hashing"}}
DISTRIBUTIONS = {
    "sklearn": "scikit-learn",
    "ibis": "ibis-framework",
    "mcp_types": "mcp-types",
    "mlflow": "mlflow-skinny",
}


@dataclass(frozen=True)
class Import:
    """One imported module, and whether importing the file imports it too."""

    module: str
    line: int
    at_import: bool
    for_types: bool


def _is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    )


def _module_of(path: Path, package: Path) -> str:
    """Return the dotted name, so that relative imports can be resolved."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _targets(node: ast.Import | ast.ImportFrom, path: Path, package: Path) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        here = _module_of(path, package).split(".")
        up = node.level - (path.name == "__init__.py")
        base = ".".join(here[: len(here) - up] + ([base] if base else []))
    # `from scipy import stats` and `from outperform import display` name modules too.
    return [f"{base}.{alias.name}" for alias in node.names]


def imports_of(path: Path, package: Path) -> Iterator[Import]:
    """Yield every import in a file, wherever it stands."""

    def walk(nodes: list[ast.stmt], at_import: bool, for_types: bool) -> Iterator[Import]:
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for module in _targets(node, path, package):
                    yield Import(module, node.lineno, at_import and not for_types, for_types)
                continue
            in_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for name in ("body", "orelse", "finalbody"):
                typed = for_types or (_is_type_checking(node) and name == "body")
                yield from walk(getattr(node, name, []), at_import and not in_function, typed)
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from walk(part.body, at_import and not in_function, for_types)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")).body, True, False)


def required_by(path: Path) -> Iterator[tuple[str, str, int]]:
    """Yield module, extra and line of every call to the gate for extras."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "require":
            extra = next((word.value for word in node.keywords if word.arg == "extra"), None)
            if not (node.args and isinstance(node.args[0], ast.Constant)):
                yield "", "", node.lineno
            else:
                extra_name = extra.value if isinstance(extra, ast.Constant) else ""
                yield str(node.args[0].value), str(extra_name), node.lineno


def room_of(path: Path, package: Path) -> str:
    """Return the room a file belongs to: the folder or module right under the package."""
    first = path.relative_to(package).parts[0]
    return "outperform" if first == "__init__.py" else first.removesuffix(".py")


def _internal_fault(room: str, imported: Import, package: Path) -> str | None:
    if imported.module == "outperform.__version__":
        return None
    parts = imported.module.split(".")
    target = parts[1] if len(parts) > 1 else "outperform"
    is_room = (package / target).is_dir() or (package / f"{target}.py").is_file()
    if not is_room:
        target = "outperform"  # a public name taken from the package itself
    if target == room or target in ROOMS[room].rooms:
        return None
    return f"{room} may not import {target}"


def _outside_fault(room: str, imported: Import) -> str | None:
    top = imported.module.partition(".")[0]
    allowed = ROOMS[room]
    if any(f"{imported.module}.".startswith(f"{heavy}.") for heavy in NEVER_AT_IMPORT) and (
        imported.at_import
    ):
        return f"{imported.module} may not be imported at module level"
    if imported.for_types and top in allowed.imports | allowed.gated:
        return None
    if top in allowed.imports:
        return None
    if top in INSIDE_FUNCTIONS_ONLY & allowed.gated and not imported.at_import:
        return None
    if top in allowed.gated:
        return f"{top} must come through errors.require"
    return f"{room} may not import {top}"


def import_faults(package: Path) -> list[str]:
    """Return every import in a package tree that breaks the table of rooms."""
    faults = []
    for path in sorted(package.rglob("*.py")):
        where, room = path.relative_to(package), room_of(path, package)
        if room not in ROOMS:
            faults.append(f"{where}: {room} is not in the table of rooms")
            continue
        for imported in imports_of(path, package):
            top = imported.module.partition(".")[0]
            if top in UNSAFE_MODULES:
                fault = f"{top} reads code, not data"
            elif top == "outperform":
                # A list of public names, such as that of all results, hands them out by name.
                listed = imported.for_types and path.name == "__init__.py"
                fault = None if listed else _internal_fault(room, imported, package)
            elif top in sys.stdlib_module_names:
                fault = None
            else:
                fault = _outside_fault(room, imported)
            if fault:
                faults.append(f"{where}:{imported.line}: {fault}")
    return faults


def import_cycles(package: Path) -> list[list[str]]:
    """Return the modules that reach each other, also for types alone and by name in a string."""
    return structure.circles(structure.imported(structure.modules(package.parents[1])))


def gate_faults(package: Path, extras: dict[str, set[str]]) -> list[str]:
    """Return every use of the gate by the wrong room or naming an extra that does not help."""
    faults = []
    for path in sorted(package.rglob("*.py")):
        room = room_of(path, package)
        for module, extra, line in required_by(path) if room != "errors" else ():
            top = module.partition(".")[0]
            distribution = DISTRIBUTIONS.get(top, top)
            where = f"{path.relative_to(package)}:{line}"
            if not module:
                faults.append(f"{where}: require takes the module as a literal")
            elif room not in ROOMS or top not in ROOMS[room].gated:
                faults.append(f"{where}: {room} may not require {top}")
            elif distribution not in extras.get(extra, set()):
                faults.append(f"{where}: the extra {extra!r} does not bring {distribution}")
    return faults


def pickling_names(package: Path) -> list[str]:
    """Return every use of what pickles in a library that is allowed for something else."""
    faults = []
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            used: set[tuple[str, str]] = set()
            if isinstance(node, ast.Attribute):
                used = {(ast.unparse(node.value), node.attr)}
            elif isinstance(node, ast.ImportFrom):
                used = {(node.module or "", alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                used = {alias.name.partition(".")[::2] for alias in node.names}
            elif isinstance(node, ast.Call) and node.args:  # require("joblib", ...).load
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    used = {first.value.partition(".")[::2]}
            for module, name in used:
                top = next((one for one in UNSAFE_NAMES if one in module), None)
                if top is not None and name.split(".")[0] in UNSAFE_NAMES[top]:
                    where = f"{path.relative_to(package)}:{node.lineno}"
                    faults.append(f"{where}: {top}.{name} pickles")
    return faults


def unsafe_calls(package: Path) -> list[str]:
    """Return every call that would run code found in data."""
    faults = []
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            pickles = any(
                word.arg == "allow_pickle"
                and not (isinstance(word.value, ast.Constant) and word.value.value is False)
                for word in node.keywords
            )
            if name in ("eval", "exec", "builtins.eval", "builtins.exec", "yaml.load") or pickles:
                faults.append(f"{path.relative_to(package)}:{node.lineno}: {ast.unparse(node)}")
    return faults


def random_uses(package: Path) -> list[str]:
    """Return every use of numpy's generators in a room that must not draw."""
    faults = []
    for path in sorted(package.rglob("*.py")):
        room = room_of(path, package)
        if path.relative_to(package).as_posix() in TRIES:
            continue
        if room in ROOMS and ROOMS[room].random:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            used = isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.random", *SOURCES)
            if isinstance(node, ast.ImportFrom):
                used = node.module in SOURCES
            elif isinstance(node, ast.Import):
                used = any(alias.name in SOURCES for alias in node.names)
            if used:
                faults.append(f"{path.relative_to(package)}:{node.lineno}: {room} draws numbers")
    return faults


def _is_reexport(node: ast.stmt, *, top: bool) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom) or _is_type_checking(node):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        return names in ({"__all__"}, {"TYPE_CHECKING"}) or (
            top and all(name.startswith("_") for name in names)
        )
    if not isinstance(node, ast.FunctionDef) or node.name not in ("__getattr__", "__dir__"):
        return False
    # What only raises an error defines nothing: it answers a wrong guess.
    _, *body = node.body
    return top or (len(body) == 1 and isinstance(body[0], ast.Raise))


def init_faults(package: Path) -> list[str]:
    """Return every statement in an ``__init__`` that does more than hand names on."""
    return [
        f"{path.relative_to(package)}:{node.lineno}: {type(node).__name__}"
        for path in sorted(package.rglob("__init__.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if not _is_reexport(node, top=path.parent in (package, package / "results"))
    ]


def declared_extras() -> dict[str, set[str]]:
    """Return the distributions that each extra brings, with extras of extras resolved."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared: dict[str, list[str]] = project["optional-dependencies"]

    def bring(extra: str) -> set[str]:
        found: set[str] = set()
        for requirement in declared[extra]:
            name = requirement.split(">")[0].split("=")[0].split("<")[0].strip()
            if name.startswith("outperform["):
                for inner in name.removeprefix("outperform[").removesuffix("]").split(","):
                    found |= bring(inner)
            else:
                found.add(name.partition("[")[0])
        return found

    return {extra: bring(extra) for extra in declared}


def test_every_room_imports_only_what_the_table_allows():
    assert import_faults(PACKAGE) == []


def test_no_module_imports_what_imports_it():
    assert import_cycles(PACKAGE) == []


def test_every_room_of_the_table_exists():
    found = {path.stem for path in PACKAGE.iterdir()} | {"outperform"}
    assert set(ROOMS) <= found


def test_the_gate_is_used_by_the_right_rooms_and_names_an_extra_that_helps():
    assert gate_faults(PACKAGE, declared_extras()) == []


def test_nothing_runs_code_found_in_data():
    assert unsafe_calls(PACKAGE) == pickling_names(PACKAGE) == []


def test_only_the_rooms_that_draw_use_a_generator():
    assert random_uses(PACKAGE) == []


def test_random_weights_are_drawn_in_one_module():
    trees = structure.modules(PACKAGE.parents[1])
    drawing = [name for name, tree in trees.items() if structure.draws_gammas(tree)]
    assert drawing == ["outperform.posterior.gammas"]


def test_equal_rows_are_told_apart_in_one_module():
    trees = structure.modules(PACKAGE.parents[1])
    telling = structure.sites(trees, structure.merges_rows)
    assert {name.partition(":")[0] for name in telling} == {"_rows"}


def test_observed_values_and_influences_come_from_one_function_each():
    trees = structure.modules(PACKAGE.parents[1])
    assert structure.sites(trees, structure.observes) == ["posterior.influence:observed"]
    assert structure.sites(trees, structure.leaves_out) == ["posterior.influence:without"]


def test_init_files_only_reexport():
    assert init_faults(PACKAGE) == []


def test_no_module_has_a_name_that_says_nothing():
    names = {path.stem.strip("_") for path in PACKAGE.rglob("*")}
    assert names & NAMES_THAT_SAY_NOTHING == set()


def test_the_extra_named_all_brings_every_other():
    extras = declared_extras()
    # Who wants a second engine asks for it; who has a tracking server, tables of Delta or Iceberg,
    # or frames of polars, which is larger than all others, has their libraries. A server for agents
    # is started by whoever sets one up.
    for name in ("pymc", "nutpie", "numpyro", "mlflow", "lake", "polars", "mcp"):
        del extras[name]
    assert extras["all"] >= set().union(*extras.values())


# What follows shows that the checks above bite: each plants one fault in a small tree.


@pytest.fixture
def package(tmp_path):
    tree = tmp_path / "src" / "outperform"
    for room in ("posterior", "metrics", "data", "display", "comparison", "io"):
        (tree / room).mkdir(parents=True)
        (tree / room / "__init__.py").write_text('"""A room."""\n')
    (tree / "__init__.py").write_text('"""The package."""\n')
    (tree / "errors.py").write_text('"""Errors."""\n')
    return tree


def test_the_small_tree_is_clean(package):
    assert import_faults(package) == init_faults(package) == []


@pytest.mark.parametrize(
    ("file", "line", "fault"),
    [
        ("posterior/a.py", "from outperform.metrics import f1", "posterior may not import metrics"),
        ("posterior/a.py", "from ..metrics import f1", "posterior may not import metrics"),
        ("posterior/a.py", "from .. import metrics", "posterior may not import metrics"),
        ("posterior/__init__.py", "from ..metrics import f1", "posterior may not import metrics"),
        ("posterior/a.py", "import outperform.display.words", "posterior may not import display"),
        ("posterior/a.py", "from outperform import compare", "posterior may not import outperform"),
        ("comparison/a.py", "from outperform import io", "comparison may not import io"),
        ("data/a.py", "def f():\n    from outperform.posterior import g", "data may not"),
        ("data/a.py", "if TYPE_CHECKING:\n    from outperform.posterior import g", "data may not"),
        ("data/a.py", "import scipy.special", "data may not import scipy"),
        ("posterior/a.py", "import scipy.stats", "scipy.stats may not be imported at module level"),
        ("posterior/a.py", "from scipy import stats", "scipy.stats may not be"),
        ("posterior/a.py", "from scipy.stats import beta", "scipy.stats.beta may not be"),
        ("posterior/a.py", "class A:\n    import scipy.stats", "scipy.stats may not be"),
        (
            "posterior/a.py",
            "try:\n    import scipy.stats\nexcept ImportError:\n    pass",
            "scipy.st",
        ),
        ("display/a.py", "import matplotlib.pyplot as plt", "matplotlib.pyplot may not be"),
        ("display/a.py", "def f():\n    import pandas", "pandas must come through errors"),
        ("metrics/a.py", "import sklearn", "sklearn may not be imported at module level"),
        ("metrics/a.py", "def f():\n    import pickle", "pickle reads code"),
        ("comparison/a.py", "def f():\n    import joblib", "joblib must come through errors"),
        ("metrics/a.py", "def f():\n    import joblib", "metrics may not import joblib"),
        ("cellar/a.py", "import math", "cellar is not in the table of rooms"),
    ],
)
def test_a_planted_import_is_caught(package, file, line, fault):
    planted = package / file
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(f"{line}\n")
    (found,) = import_faults(package)
    assert fault in found


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("posterior/a.py", "def f():\n    from scipy import stats"),
        ("posterior/a.py", "from outperform.data import table\nfrom outperform import errors"),
        ("posterior/a.py", "from .b import c\nfrom . import d\nfrom ..errors import e"),
        ("display/a.py", "if TYPE_CHECKING:\n    from matplotlib.axes import Axes"),
        ("comparison/a.py", "def f():\n    from sklearn.base import clone"),
        ("__init__.py", "from outperform.comparison import compare"),
    ],
)
def test_a_rightful_import_passes(package, file, line):
    (package / file).write_text(f"{line}\n")
    assert import_faults(package) == []


@pytest.mark.parametrize(
    "back",
    [
        "from outperform.metrics.a import f",
        "from outperform.metrics import a",
        "from . import a",
        "def f():\n    from outperform.metrics import a",
        "if TYPE_CHECKING:\n    from outperform.metrics.a import A",
        "def f():\n    return import_module('outperform.metrics.a')",
        "HOMES = {'f': 'metrics.a'}\nf = import_module('outperform.' + HOMES['f'])",
    ],
)
def test_a_planted_cycle_is_caught(package, back):
    (package / "metrics" / "a.py").write_text("from outperform.metrics.b import f\n")
    (package / "metrics" / "b.py").write_text(f"{back}\n")
    assert import_cycles(package) == [["outperform.metrics.a", "outperform.metrics.b"]]


@pytest.mark.parametrize(
    "call",
    ["eval('1')", "np.load(f, allow_pickle=True)", "np.load(f, allow_pickle=x)", "yaml.load(f)"],
)
def test_a_planted_unsafe_call_is_caught(package, call):
    (package / "metrics" / "a.py").write_text(f"def g(f, x):\n    return {call}\n")
    assert len(unsafe_calls(package)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "def f(joblib, path):\n    return joblib.load(path)",
        "def f():\n    from joblib import dump",
        "def f():\n    import joblib.numpy_pickle",
        "def f():\n    return require('joblib', extra='sklearn', purpose='x').load",
        "def f():\n    return require('joblib.numpy_pickle', extra='sklearn', purpose='x')",
        "def f():\n    return joblib.Memory('.')",
    ],
)
def test_a_planted_pickling_is_caught(package, line):
    (package / "comparison" / "a.py").write_text(f"{line}\n")
    assert len(pickling_names(package)) == 1


@pytest.mark.parametrize(
    "line", ["x = np.random.default_rng(1)", "from random import shuffle", "import random"]
)
def test_a_planted_draw_is_caught(package, line):
    (package / "metrics" / "a.py").write_text(f"{line}\n")
    assert len(random_uses(package)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "return np.unique(rows, axis=0)",
        "return np.unique(a * n + b, return_inverse=True)",
        "return np.unique(values, return_counts=True)",
        "return rows.view(np.dtype((np.void, 8)))",
    ],
)
def test_a_planted_merge_of_rows_is_caught(package, line):
    (package / "metrics" / "a.py").write_text(f"def f(rows, values, a, b, n):\n    {line}\n")
    trees = structure.modules(package.parents[1])
    assert structure.sites(trees, structure.merges_rows) == ["metrics.a:f"]


@pytest.mark.parametrize(
    "lines",
    [
        ["return metric.evaluate(view.margins(model), classes)"],
        ["sums = Margins(**view.margins(model)._asdict())", "return metric.evaluate(sums)"],
        ["table = view.confusion(model)", "measure([table * factors], [spec], out)"],
        ["weights = units.counts[None]", "return [one.worker()(weights) for one in ready]"],
        ["workers = [one.worker() for one in ready]",
         "return [worker(units.counts) for worker in workers]"],
        ["return of_sums(held.sum(axis=1), model.sums)"],
    ],
)  # fmt: skip
def test_a_planted_observed_value_is_caught(package, lines):
    body = "".join(f"    {line}\n" for line in lines)
    (package / "comparison" / "a.py").write_text(f"def f():\n{body}")
    trees = structure.modules(package.parents[1])
    assert structure.sites(trees, structure.observes) == ["comparison.a:f"]
    assert structure.sites(trees, structure.leaves_out) == []


@pytest.mark.parametrize(
    "lines",
    [
        ["whole = held @ counts", "return evaluate(whole - held)"],
        ["left = (held @ repeats)[:, None] - held", "left[left < 0] = 0", "return evaluate(left)"],
        ["hits = view.margins(model).hits", "hits[truth] -= 1", "return metric.evaluate(hits)"],
        ["for place in range(3):", "    counts = table.counts.copy()", "    counts[place] -= 1",
         "    less = replace(data, tables=(counts,))", "    return again(spec, less).observed"],
        ["sums = held @ counts", "sums[entries] += steps", "return one.of_sums(sums)"],
        ["return [one.worker()(units.counts - held) for one in ready]"],
    ],
)  # fmt: skip
def test_a_planted_leaving_out_is_caught(package, lines):
    (package / "comparison" / "a.py").write_text(
        "def f():\n" + "".join(f"    {line}\n" for line in lines)
    )
    trees = structure.modules(package.parents[1])
    assert structure.sites(trees, structure.leaves_out) == ["comparison.a:f"]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("metrics/__init__.py", "TABLE = {}"),
        ("metrics/__init__.py", "def __getattr__(name): ..."),
        ("__init__.py", "def compare(): ..."),
        ("__init__.py", "for name in []: pass"),
    ],
)
def test_a_planted_definition_in_an_init_is_caught(package, file, line):
    (package / file).write_text(f"{line}\n")
    assert len(init_faults(package)) == 1


@pytest.mark.parametrize(
    ("room", "call"),
    [
        ("metrics", 'require("matplotlib.pyplot", extra="plot", purpose="x")'),
        ("display", 'require("matplotlib.pyplot", extra="cli", purpose="x")'),
        ("display", 'require("pandas", extra="plot", purpose="x")'),
        ("display", 'require(name, extra="plot", purpose="x")'),
    ],
)
def test_a_planted_misuse_of_the_gate_is_caught(package, room, call):
    (package / room / "a.py").write_text(f"{call}\n")
    assert len(gate_faults(package, {"plot": {"matplotlib"}})) == 1
