"""``python -m verification.mutants``: which small changes of the code do no tests notice?

A mutant is the package with one change: ``+`` for ``-``, 2 for 1, ``not`` before a condition. The
changes are those of cosmic-ray. A place of the code is drawn at random, then one of the changes
there, so that an operator with eleven replacements counts once; samples of one seed nest. What runs
no differently is left out: docstrings, annotations, overloads, ``__all__``, ``slots=``, f-strings
and what is said in ``raise``. So is ``posterior/pymc``, which needs PyMC.

A mutant is run against the tests that cover its line, then those of the lines around it, of its
module and of its room, the cheap ones first, as many as take ``--seconds``. It is killed if one
fails or hangs.
Tests that compare recorded texts (commands, displays, reports, pages) are not among them.
"""

from __future__ import annotations

import argparse
import ast
import bisect
import datetime
import hashlib
import json
import math
import os
import resource
import signal
import sys
import tempfile
import time
import tomllib
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from itertools import accumulate, islice
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

from verification import execution, markdown, records

ROOMS = ("decision", "metrics", "posterior", "inference", "data")
# Their tests first, then those of what is built on them; each checks numbers or behaviour.
TESTS = (
    *(f"{room}/**/test_*.py" for room in ROOMS),
    *("comparison/test_*.py", "reference/test_*.py", "ranking/test_*.py", "slices/test_*.py"),
    *("runs/test_*.py", "suite/test_*.py", "nhst/test_*.py", "planning/test_*.py"),
    *("labelling/test_*.py", "sensitivity/test_*.py", "crossval/test_*.py", "test_properties.py"),
)
_LEAVES = frozenset("+ - * / // % ** >> << | & ^ True False and or break continue".split())  # noqa: SIM905
_NODES = {"comparison", "factor", "not_test", "number", "if_stmt", "while_stmt", "assert_stmt"}
_NODES |= {"test", "for_stmt", "except_clause", "decorator"}
# "tuning": a grid, a tolerance or a start; another one answers alike, within the numerical error.
VERDICTS = ("equivalent", "tuning", "only speed or memory", "only a text", "gap")
# What tests import, but not the package: copies of this process have it at once.
_WARM = ("hypothesis", "mpmath", "pandas", "pytest", "scipy.stats", "sklearn.linear_model")
_GAP = {"verdict": "gap"}
_MEMORY, SEED = 6 << 30, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change: where, by which operator of cosmic-ray, and the line before and after."""

    module: str
    line: int
    column: int
    operator: str
    occurrence: int
    before: str = ""
    after: str = ""

    @property
    def name(self) -> str:
        """Return what it is called in files."""
        return f"{self.module}:{self.line}:{self.column} {self.operator} {self.occurrence}"

    @property
    def place(self) -> tuple[str, int, int, str]:
        """Return where it is; changes of one kind at one position are one place."""
        return self.module, self.line, self.column, self.operator.partition("_")[0]

    @property
    def room(self) -> str:
        """Return the folder right under the package."""
        return self.module.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A package, its tests, and where everything is kept."""

    package: Path = records.ROOT / "src" / "outperform"
    rooms: tuple[str, ...] = ROOMS
    tests: Path = records.ROOT / "tests"
    patterns: tuple[str, ...] = TESTS
    build: Path = records.ROOT / "build" / "verification" / "mutants"
    record: Path = records.RESULTS / "mutants.json"
    table: Path = records.ROOT / "docs" / "explanation" / "_generated" / "mutants.md"
    judged: Path = records.ROOT / "verification" / "mutants.toml"


# The changes


def places(project: Project) -> dict[str, list[list[Mutant]]]:
    """Return the places of each room, each with the changes that cosmic-ray has for it."""
    found: dict[str, list[list[Mutant]]] = {}
    for room in project.rooms:
        files = sorted((project.package / room).rglob("*.py"))
        files = [file for file in files if "pymc" not in file.parts]
        found[room] = [place for file in files for place in _places(project.package, file)]
    return found


def _places(package: Path, file: Path) -> Iterator[list[Mutant]]:
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    names = [name for name in operator_names() if "/Variable" not in name]
    operators = {name: get_operator(name)() for name in names}
    source = file.read_text(encoding="utf-8")
    idle, counts = _idle(source), Counter[str]()
    at: dict[object, list[Mutant]] = defaultdict(list)
    for node in ast_nodes(get_ast(source)):
        if getattr(node, "value", None) not in _LEAVES and node.type not in _NODES:
            continue
        bare = getattr(node.parent, "type", "") in {"parameters", "lambdef"}  # of def f(a, *, b)
        for name, operator in operators.items():
            for (line, column), _ in operator.mutation_positions(node):
                one = Mutant(
                    module=str(file.relative_to(package)),
                    line=line,
                    column=column,
                    operator=name.partition("/")[2],
                    occurrence=counts[name],
                )
                counts[name] += 1
                if not bare and not any(start <= (line, column) < end for start, end in idle):
                    at[one.place].append(one)
    yield from at.values()


def _idle(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the stretches of a module that run no differently, whatever they say."""
    found: list[ast.AST | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.returns)
            if any("overload" in ast.unparse(one) for one in node.decorator_list):
                found += [node, *node.decorator_list]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            found += [*node.exc.args, *node.exc.keywords]
        elif (
            isinstance(node, ast.JoinedStr)
            or getattr(node, "arg", None) == "slots"
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
            or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
        ):
            found.append(node)
    lines = [line.encode() for line in source.splitlines()]

    def position(line: int, offset: int) -> tuple[int, int]:
        return line, len(lines[line - 1][:offset].decode())  # ast counts bytes, parso characters

    return [
        (position(one.lineno, one.col_offset), position(one.end_lineno, one.end_col_offset))
        for one in found
        if isinstance(one, ast.expr | ast.stmt | ast.keyword)
        and one.end_lineno is not None
        and one.end_col_offset is not None
    ]


def mutate(package: Path, mutant: Mutant) -> str | None:
    """Return the changed source of its module; None if it is not Python."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    source = (package / mutant.module).read_text(encoding="utf-8")
    operator = get_operator(f"core/{mutant.operator}")()
    changed: str | None = mutate_code(source, operator, mutant.occurrence)
    try:
        _compile(changed or "?", mutant.module)
    except SyntaxError:
        return None
    return changed


def _compile(source: str, path: str) -> CodeType:
    with warnings.catch_warnings(action="ignore"):  # `is` with a literal is told by tests or not
        return compile(source, path, "exec", dont_inherit=True)


def draw(project: Project, found: Mapping[str, Sequence[list[Mutant]]], n: int) -> list[Mutant]:
    """Draw about ``n`` mutants, of every room in proportion to its places, in an order of chance.

    Chance is a hash of the place, so that a larger sample has all of a smaller one.
    """
    total = sum(map(len, found.values()))
    drawn = []
    for some in found.values():
        order = sorted(some, key=lambda place: _chance(place[0].place))
        valid = (one for place in order for one in _change(project.package, place))
        drawn += list(islice(valid, round(n * len(some) / total)))
    return sorted(drawn, key=lambda one: _chance(one.place))


def _change(package: Path, place: Sequence[Mutant]) -> Iterator[Mutant]:
    """Return one of the changes at a place that are Python, if there is one."""
    for one in sorted(place, key=lambda one: _chance(one.name)):
        if (changed := mutate(package, one)) is not None:
            lines = (package / one.module).read_text(encoding="utf-8").splitlines()
            gone = one.operator == "RemoveDecorator"
            after = "" if gone else changed.splitlines()[one.line - 1].strip()
            yield replace(one, before=lines[one.line - 1].strip(), after=after)
            return


def _chance(name: object) -> str:
    return hashlib.sha256(f"{SEED} {name}".encode()).hexdigest()


# Which tests run which lines


Result = dict[str, Any]
"""What became of a mutant: ``killed``, ``survived`` or ``hangs``, by which test, what that said."""
Reach = dict[str, Any]
"""The tests of one file with their seconds, and for each line which of them run it."""


def reach(project: Project) -> list[Reach]:
    """Run every test file once under coverage; what is kept of the same code is not run again."""
    for name in _WARM if project == Project() else ():
        import_module(name)
    code = hashlib.sha256()
    for file in sorted(project.package.rglob("*.py")):
        code.update(file.read_bytes())
    files = [file for one in project.patterns for file in sorted(project.tests.glob(one))]
    found = []
    for file in dict.fromkeys(files):
        digest = hashlib.sha256(code.digest() + file.read_bytes()).hexdigest()[:16]
        name = "-".join(file.relative_to(project.tests).with_suffix("").parts)
        kept = project.build / "reach" / f"{name}-{digest}.json"
        if not kept.exists():
            print(f"reach of {name}", file=sys.stderr, flush=True)
            seen = _forked(partial(_trace, project, file), 1200)
            _write(kept, seen or {"tests": {}, "lines": {}})
        found.append(json.loads(kept.read_text(encoding="utf-8")))
    return found


def _trace(project: Project, file: Path) -> Reach:
    import coverage
    import pytest

    include = [f"{project.package / room}/*" for room in project.rooms]
    tracer = coverage.Coverage(data_file=None, config_file=False, include=include)
    seconds: dict[str, float] = defaultdict(float)
    failed: set[str] = set()

    class Watch:
        def pytest_runtest_logstart(self, nodeid: str) -> None:
            tracer.switch_context(nodeid)

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            seconds[report.nodeid] += report.duration
            if report.outcome != "passed":
                failed.add(report.nodeid)

    tracer.start()
    _pytest(project, [str(file)], Watch())
    tracer.stop()
    data, names = tracer.get_data(), [name for name in seconds if name not in failed]
    number = {name: place for place, name in enumerate(names)}
    lines = {
        str(Path(path).relative_to(project.package)): {
            line: [number[one] for one in contexts if one in number]
            for line, contexts in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    return {"tests": {name: round(seconds[name], 4) for name in names}, "lines": lines}


def _pytest(project: Project, arguments: Sequence[str], plugin: object) -> int:
    import pytest

    # The package is a plugin of pytest too, whose assertions would be rewritten by another loader.
    options = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir"]
    sys.path.insert(0, str(project.package.parent))
    return int(pytest.main([*options, str(project.tests.parent), *arguments], [plugin]))


def chosen_tests(mutant: Mutant, found: Sequence[Reach], seconds: float) -> list[str]:
    """Return the tests that a mutant is run against, in order."""
    near: dict[str, tuple[int, float]] = {}
    for one in found:
        tests = list(one["tests"].items())
        for line, runs in one["lines"].get(mutant.module, {}).items():
            far = bisect.bisect_left([0, 10], abs(int(line) - mutant.line))
            for name, cost in (tests[place] for place in runs):
                near[name] = min(near.get(name, (far, cost)), (far, cost))
        for name, cost in tests:
            if f"/{mutant.room}/" in name:
                near.setdefault(name, (3, cost))
    chosen: list[str] = []
    # A constant is far from what it changes: leave time for the rest of the module and the room.
    for queue, share in enumerate((1.0, 0.5, 0.7, 1.0)):
        left = share * (seconds - sum(near[name][1] for name in chosen))
        order = sorted((name for name in near if near[name][0] == queue), key=near.__getitem__)
        sums = list(accumulate(near[name][1] for name in order))
        chosen += order[: bisect.bisect_right(sums, left)]
    return chosen


# Mutants against tests


def run(
    project: Project, mutant: Mutant, found: Sequence[Reach], seconds: float, patience: int = 10
) -> Result:
    """Run the tests against a mutant, a few first; say which one killed it, if one did."""
    tests = chosen_tests(mutant, found, seconds)
    cost = {name: time for one in found for name, time in one["tests"].items()}
    start, result = time.perf_counter(), Result(outcome="survived")
    sources = (project.package / mutant.module).read_text("utf-8"), mutate(project.package, mutant)

    def attempt(source: str | None, some: Sequence[str]) -> Result:
        limit = {name: 10 * cost[name] + patience for name in some}
        enough = 3 * sum(cost[name] for name in some) + 9 * patience
        there: Result | None = _forked(
            partial(_run_tests, project, mutant, source or "", limit), enough
        )
        return there or {"outcome": "hangs", "by": "", "said": "no answer"}

    for some in (tests[:40], tests[40:]):
        if some and result["outcome"] == "survived":
            result = attempt(sources[1], some)
            # Of some kills, see that it was the change: without it the same tests pass.
            if result.get("by") in some and _chance(mutant.name)[0] == "0":
                control = attempt(sources[0], some[: some.index(result["by"]) + 1])
                if control["outcome"] != "survived":
                    raise RuntimeError(f"{control['by']} fails without a change")
    spent = round(time.perf_counter() - start, 1)
    return {"name": mutant.name, **asdict(mutant), **result, "tests": len(tests), "seconds": spent}


def _run_tests(project: Project, mutant: Mutant, source: str, limit: Mapping[str, float]) -> Result:
    import pytest

    path, loaded = str(project.package / mutant.module), SourceFileLoader.get_code
    result: Result = {"outcome": "survived"}

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        if self.path != path:
            return loaded(self, fullname)
        result["loaded"] = True
        return _compile(source, path)

    class Plugin:
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            there = {item.nodeid: item for item in items}
            items[:] = [there[name] for name in limit if name in there]

        def pytest_runtest_logstart(self, nodeid: str) -> None:
            signal.alarm(math.ceil(limit[nodeid]))

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                result.update(outcome="killed", by=report.nodeid, said=_last_line(report))

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                result.update(outcome="killed", by="import", said=_last_line(report))

    def hang(*_: object) -> None:
        raise TimeoutError("the test hangs")

    signal.signal(signal.SIGALRM, hang)
    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
    files = dict.fromkeys(name.partition("::")[0] for name in limit)
    arguments = ["-x", *(str(project.tests.parent / file) for file in files)]
    try:
        code = _pytest(project, arguments, Plugin())
    except BaseException as error:  # the package cannot even be imported
        return {"outcome": "killed", "by": "import", "said": repr(error)[:200]}
    if result["outcome"] == "survived" and code not in (0, 5):
        return {"outcome": "killed", "by": "import", "said": f"pytest ends with {code}"}
    if not result.pop("loaded", False):
        raise RuntimeError(f"the tests of {mutant.module} do not load it")
    return result


def _last_line(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash else report.longrepr).strip().splitlines()[0][:120]


def _forked(work: Callable[[], Any], seconds: float) -> Any:
    """Run something in a copy of this process; None if it does not end in time."""
    with tempfile.TemporaryDirectory() as folder:
        if not (child := os.fork()):
            _answer(work, Path(folder, "said"))
        end = time.monotonic() + seconds
        while not os.waitpid(child, os.WNOHANG)[0] and time.monotonic() < end:
            time.sleep(0.01)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
        there = Path(folder, "said")
        said = json.loads(there.read_text(encoding="utf-8")) if there.exists() else None
    if said and "fault" in said:
        raise RuntimeError(said["fault"])
    return said


def _answer(work: Callable[[], Any], file: Path) -> NoReturn:
    os.setpgid(0, 0)  # a session would lose its share of the processor
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    try:
        _write(file, work())
    except BaseException:
        _write(file, {"fault": traceback.format_exc()})
    os._exit(0)


def _write(file: Path, content: object, indent: int | None = None) -> None:
    """Write JSON; a file is whole or absent."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}")
    unfinished.write_text(
        json.dumps(content, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    unfinished.replace(file)


# What became of them


def work(project: Project, todo: Sequence[Mutant], seconds: float) -> None:
    """Run mutants and keep what became of each."""
    found = reach(project) if todo else []
    for place, one in enumerate(todo, start=1):
        result = {**run(project, one, found, seconds), "code": _code_of(project, one.module)}
        _write(project.build / "done" / f"{_chance(one.name)[:24]}.json", result)
        print(
            f"{place} of {len(todo)}: {result['outcome']} {one.name}", file=sys.stderr, flush=True
        )


def finished(project: Project) -> dict[str, Result]:
    """Return what is finished, here or on other machines; not of modules that have changed."""
    files = sorted((project.build / "done").glob("*.json"))
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return {one["name"]: one for one in found if one["code"] == _code_of(project, one["module"])}


def _code_of(project: Project, module: str) -> str:
    file = project.package / module
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file.exists() else ""


def judgements(project: Project) -> dict[str, dict[str, str]]:
    """Return what was said of each survivor, by its name."""
    there = project.judged.exists()
    return tomllib.loads(project.judged.read_text(encoding="utf-8")) if there else {}


def table(record: Mapping[str, Any], judged: Mapping[str, Mapping[str, str]]) -> str:
    """Return the scores of each room, the survivors and the gaps that were closed, in Markdown."""
    mutants, rooms = record["mutants"], record["places"]
    sets = {room: [one for one in mutants if one["name"].startswith(f"{room}/")] for room in rooms}
    sets["all"] = mutants
    same = {name for name, said in judged.items() if said["verdict"] == "equivalent"}
    sets["all but equivalent"] = [one for one in mutants if one["name"] not in same]
    rows = []
    for room, some in sets.items():
        alive = [one for one in some if one["outcome"] == "survived"]
        before = [one for one in some if one in alive or one["name"] in judged]
        n = f"{rooms.get(room, sum(rooms.values())):,}" if room in (*rooms, "all") else ""
        scores = [_score(len(some), len(some) - len(lost)) for lost in (before, alive)]
        rows.append([room, n, str(len(some)), str(len(some) - len(before)), *scores])
    header = ["room", "places", "sample", "killed", "score (95% interval)", "after new tests"]
    lists: dict[str, list[list[str]]] = {"survived": [], "killed": []}
    for one in mutants:
        said = judged.get(one["name"], {"verdict": "not judged", "why": ""})
        where, change = one["name"].split(" ")[0].rpartition(":")[0], _code(one)
        if one["outcome"] == "survived":
            lists["survived"].append([where, change, said["verdict"], said["why"]])
        elif one["name"] in judged:
            lists["killed"].append([where, change, f"`{one['by'].partition('[')[0]}`"])
    counted = Counter(row[2] for row in lists["survived"])
    kinds = ", ".join(f"{n} {verdict}" for verdict, n in counted.most_common())
    return (
        f"A sample of {len(mutants)} of {sum(rooms.values()):,} places, drawn on {record['date']} "
        f"from {record['commit']} with seed {record['seed']}; at most {record['seconds']:g} s of "
        f"tests for each.\n\n{markdown.table(header, rows)}\nSurvivors: {kinds or 'none'}.\n\n"
        + markdown.table(["where", "change", "judged", "why"], lists["survived"], numbers_from=4)
        + "\nSurvivors that a test was written for:\n\n"
        + markdown.table(["where", "change", "killed by"], lists["killed"], numbers_from=3)
    )


def _score(n: int, killed: int) -> str:
    from scipy.stats import beta

    low, high = beta.ppf([0.025, 0.975], killed + 0.5, n - killed + 0.5)
    high = 1.0 if killed == n else high
    return f"{100 * killed / max(n, 1):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def _code(one: Mapping[str, str]) -> str:
    lines = (one[name].partition("  #")[0] for name in ("before", "after"))
    before, after = (line.replace("|", "\\|") for line in lines)
    return f"`{before}` → `{after}`" if after else f"`{before}` removed"


def main(arguments: Sequence[str] | None = None, project: Project | None = None) -> int:
    """Run a shard; write the record and the table when every mutant of the sample is finished."""
    parser = argparse.ArgumentParser(prog="python -m verification.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=250, help="mutants; %(default)s by default")
    parser.add_argument(
        "--shard", type=execution.shard_of, default=(1, 1), help="a part of the work: 1/4"
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="of tests for each mutant")
    parser.add_argument("--again", action="store_true", help="survivors that may be gaps, too")
    args, project = parser.parse_args(arguments), project or Project()
    found = places(project)
    drawn, done = draw(project, found, args.sample), finished(project)
    mine = drawn[args.shard[0] - 1 :: args.shard[1]]
    judged = judgements(project)
    open_ = {
        name
        for name, one in done.items()
        if one["outcome"] == "survived" and judged.get(name, _GAP)["verdict"] == "gap"
    }
    alive = open_ if args.again else set()
    work(project, [one for one in mine if one.name in alive or one.name not in done], args.seconds)
    done = finished(project)
    if lacking := sum(one.name not in done for one in drawn):
        print(f"{len(drawn) - lacking} of {len(drawn)} mutants are finished; no table yet")
        return 0
    fields = ("name", "before", "after", "outcome", "by")
    record = {
        "commit": records.commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seed": SEED,
        "seconds": args.seconds,
        "places": {room: len(some) for room, some in found.items()},
        "mutants": [{key: done[one.name].get(key, "") for key in fields} for one in drawn],
    }
    _write(project.record, record, indent=1)
    project.table.write_text(table(record, judged), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
