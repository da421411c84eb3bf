"""The public surface stays small: how many names, how many parameters, one word for one thing."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import outperform as op
from outperform._typing import AnyArray
from tests.loops import each

MOST_NAMES = 40
MOST_PARAMETERS = 14
# How many items to label, and where rows come from, have many answers; of logs also which of
# several runs counts.
MORE_PARAMETERS = {
    "compare": 18, "gate": 24, "plan": 18, "power": 16, "read": 28, "read_scores": 18
}  # fmt: skip

VERBS = """
compare estimate rank scorecard compare_runs compare_cv_scores compare_slices cross_compare
compare_cv_counts estimate_cv_counts
doctor gate noise_floor plan power propose read read_scores read_conll write_report from_datatree
"""
INPUTS = "Outcomes Scores Suite Rope Prior PyMC BlockedTwoFold Monitor Ledger"
ANSWERS = "Comparison Decision Finding"
MODULES = "metrics nhst datasets testing results sklearn"

# The same word has the same default everywhere, except where there is a reason.
EXCEPTIONS = {
    ("random_state", "gate"): "the same data must get the same judgement",
    ("random_state", "Monitor"): "a look once made never changes",
    ("metric", "compare_cv_counts"): "the paper's folds count one class, so F1 is clear",
    ("metric", "estimate_cv_counts"): "the paper's folds count one class, so F1 is clear",
    ("metric", "cross_compare"): "as of compare_cv_counts",
    ("metric", "compare_cv_scores"): "scores of folds are averaged, whatever they measure",
    ("n_simulations", "power"): "at each size; plan's is for all of them",
    ("names", "compare_runs"): "runs are called after their models",
    ("names", "cross_compare"): "estimators are called after their classes",
}
# Where one thing has one word: the words that it must not have.
OTHER_WORDS = {
    "a": {"pred_a", "model_a", "first"},
    "b": {"pred_b", "model_b", "second"},
    "y_true": {"truths", "gold", "target_labels"},
    "random_state": {"seed", "rng"},
    "n_draws": {"draws", "samples", "n_samples"},
    "pos_label": {"positive", "pos"},
    "hdi_prob": {"prob", "ci", "level"},
    "dialect": {"quote", "header"},
}


def functions() -> dict[str, Callable[..., Any]]:
    """Return the public functions, those of public modules included."""
    found: dict[str, Callable[..., Any]] = {}
    for name in op.__all__:
        value = getattr(op, name)
        if inspect.isfunction(value):
            found[name] = value
        if isinstance(value, types.ModuleType):
            inner = ((word, getattr(value, word)) for word in value.__all__)
            found |= {f"{name}.{word}": one for word, one in inner if inspect.isfunction(one)}
    return found


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public methods of public classes; what people build counts as one."""
    classes = [getattr(op, name) for name in (*INPUTS.split(), *ANSWERS.split())]
    classes += [getattr(op.results, name) for name in op.results.__all__]
    for owner in classes:
        for name, member in inspect.getmembers(owner, inspect.isroutine):
            if not name.startswith("_") and inspect.isfunction(getattr(member, "__func__", member)):
                yield f"{owner.__name__}.{name}", member
    yield "Monitor", op.Monitor
    yield "BlockedTwoFold", op.BlockedTwoFold


def signatures() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield public functions, methods, properties and constructors, and all their overloads."""
    owners = [(name, getattr(op, name)) for name in op.__all__]
    for module in MODULES.split():
        owners += [(f"{module}.{name}", value) for name, value in members(getattr(op, module))]
    for name, owner in owners:
        found = {"": owner} if inspect.isfunction(owner) else {}
        if inspect.isclass(owner):
            for base in owner.__mro__:
                if base.__module__.startswith("outperform"):
                    found |= {f".{word}": one for word, one in vars(base).items() if shown(word)}
        for word, one in found.items():
            plain = getattr(one, "fget", getattr(one, "__func__", one))
            if inspect.isfunction(plain):
                for form in (plain, *typing.get_overloads(plain)):
                    yield name + word, form


def members(module: types.ModuleType) -> list[tuple[str, object]]:
    """Return the public names of a module and what they are."""
    return [(name, getattr(module, name)) for name in module.__all__]


def shown(name: str) -> bool:
    """Return whether people call a method, by its name or by building the class."""
    return not name.startswith("_") or name in ("__init__", "__call__", "__getitem__", "__iter__")


def untyped(form: Callable[..., Any]) -> list[str]:
    """Return the parameters that anything may be, ``return`` for what comes back."""
    parameters = [
        one.name
        for one in inspect.signature(form).parameters.values()
        if one.name not in ("self", "cls")
    ]
    hints = form.__annotations__
    return [
        name
        for name in (*parameters, "return")
        if re.search(r"\bAny\b", str(hints.get(name, "Any")))
    ]


FUNCTIONS = functions()
CALLABLES = FUNCTIONS | dict(methods())
VERB_FUNCTIONS = {name: FUNCTIONS[name] for name in VERBS.split()} | {"Monitor": op.Monitor}


def keywords(function: Callable[..., Any]) -> list[str]:
    """Return the parameters that are given by name."""
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]


def defaults(verbs: Mapping[str, Callable[..., Any]]) -> dict[str, dict[str, set[str]]]:
    """Return, for each parameter, its defaults and the verbs that have them."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for verb, function in verbs.items():
        for one in inspect.signature(function).parameters.values():
            if one.default is not one.empty and (one.name, verb) not in EXCEPTIONS:
                found[one.name][repr(one.default)].add(verb)
    return found


def test_the_names_are_those_of_the_plan_and_few():
    wanted = f"{VERBS} {INPUTS} {ANSWERS} {MODULES} __version__".split()
    assert sorted(op.__all__) == sorted(wanted)
    assert len(op.__all__) <= MOST_NAMES


@each("name", CALLABLES)
def test_no_function_has_too_many_parameters(name):
    given = list(keywords(CALLABLES[name]))
    assert len(given) <= MORE_PARAMETERS.get(name, MOST_PARAMETERS), given


def test_one_word_has_one_default():
    several = {
        name: dict(found) for name, found in defaults(VERB_FUNCTIONS).items() if len(found) > 1
    }
    assert several == {}


def test_every_exception_is_one():
    for name, verb in EXCEPTIONS:
        usual = set(defaults(VERB_FUNCTIONS)[name])
        own = repr(inspect.signature(VERB_FUNCTIONS[verb]).parameters[name].default)
        assert own not in usual, (name, verb)


@each("name", VERB_FUNCTIONS)
def test_one_thing_has_one_word(name):
    given = set(inspect.signature(VERB_FUNCTIONS[name]).parameters)
    assert [words for words in OTHER_WORDS.values() if words & given] == []


def test_class_proportions_belong_to_the_outcomes():
    """A simulated world has a prevalence, and so has a monitor, which adds batches up."""
    having = [name for name, one in VERB_FUNCTIONS.items() if "prevalence" in keywords(one)]
    assert sorted(having) == ["Monitor", "power"]


def test_rows_are_described_once():
    """Only verbs that take arrays take what belongs to their rows."""
    arrays = {"compare", "estimate", "rank", "scorecard", "compare_runs", "gate"}
    having = {name for name, one in VERB_FUNCTIONS.items() if "sample_weight" in keywords(one)}
    assert having == arrays


@pytest.mark.parametrize("name", ["read", "read_scores"])
@pytest.mark.parametrize("option", ["on_missing", "on_null"])
def test_what_is_missing_raises(name, option):
    assert inspect.signature(FUNCTIONS[name]).parameters[option].default == "raise"


def test_nothing_public_is_any():
    found = [(name, faults) for name, form in signatures() if (faults := untyped(form))]
    assert found == []


def test_classes_have_no_field_that_is_any():
    classes = [value for name, value in members(op) if inspect.isclass(value)]
    classes += [value for name, value in members(op.results) if inspect.isclass(value)]
    fields = [(one.__name__, hint) for one in classes for hint in one.__annotations__.values()]
    assert [one for one in fields if re.search(r"\bAny\b", str(one[1]))] == []


def test_arrays_and_outcomes_have_overloads():
    suites = {"compare", "rank", "gate"}  # these have one more, for a suite of tasks
    for name in suites | {"estimate", "scorecard"}:
        of_scores = name == "compare"  # and one for a suite of scores alone
        assert len(typing.get_overloads(FUNCTIONS[name])) == 3 + (name in suites) + of_scores


def test_every_name_is_on_its_reference_page():
    pages = Path(__file__).parents[1] / "docs" / "reference"
    index, results = ((pages / f"{name}.md").read_text("utf-8") for name in ("index", "results"))
    assert [name for name in op.__all__ if f"\n   {name}\n" not in index] == []
    assert [name for name in op.results.__all__ if f"\n   {name}\n" not in results] == []
    for module in ("outperform.errors", "outperform.data.spans", "outperform.progress"):
        assert module in index


# What follows shows that the checks above bite.


def test_a_second_default_is_noticed():
    def other(*, hdi_prob: float = 0.9) -> None: ...

    found = defaults({**VERB_FUNCTIONS, "other": other})["hdi_prob"]
    assert found["0.9"] == {"other"}
    assert len(found) == 2


def test_keywords_are_counted():
    def many(first: int, *, second: int, third: int = 3, **rest: int) -> None: ...

    assert keywords(many) == ["second", "third"]


def test_any_is_noticed():
    def loose(first: Any, second: int, *rest, third: list[Any]) -> dict[str, Any]: ...

    def strict(first: AnyArray, *, second: int = 1) -> None: ...

    assert untyped(loose) == ["first", "rest", "third", "return"]
    assert untyped(strict) == []
