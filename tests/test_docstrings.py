"""Signatures and docstrings of the public names say the same."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from numpydoc.docscrape import NumpyDocString

import outperform
from tests.loops import each


def public_names() -> dict[str, Any]:
    """Return the public names, those of public submodules included."""
    found: dict[str, Any] = {}
    for name in getattr(outperform, "__all__", ()):
        value = getattr(outperform, name)
        if isinstance(value, types.ModuleType):
            inner = getattr(value, "__all__", ())
            found |= {f"{name}.{word}": getattr(value, word) for word in inner}
        else:
            found[name] = value
    return found


def is_constructed_by_people(value: type) -> bool:
    """Errors and enumerations are named and caught, not built."""
    return not issubclass(value, BaseException | enum.Enum)


def methods(owner: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that a class or its own bases define."""
    for base in owner.__mro__:
        if base.__module__.partition(".")[0] != "outperform":
            continue
        for name, member in vars(base).items():
            if not name.startswith("_") and isinstance(
                member, types.FunctionType | classmethod | staticmethod | property
            ):
                yield name, member


NAMES = public_names()
FUNCTIONS = {name: value for name, value in NAMES.items() if inspect.isfunction(value)}
CLASSES = {name: value for name, value in NAMES.items() if inspect.isclass(value)}
METHODS = {
    f"{name}.{word}": member for name, owner in CLASSES.items() for word, member in methods(owner)
}
CALLABLES = FUNCTIONS | {
    name: getattr(member, "__func__", member)
    for name, member in METHODS.items()
    if not isinstance(member, property)
}


def sections(value: Any) -> NumpyDocString:
    """Parse a docstring; numpydoc warns, and so fails, on a section it does not know."""
    return NumpyDocString(inspect.getdoc(value) or "")


def documented(value: Any, section: str = "Parameters") -> list[str]:
    """Return the names in one section of a docstring, in order."""
    return [
        name.strip().lstrip("*")
        for entry in sections(value)[section]
        for name in entry[0].split(",")
    ]


def accepted(function: Callable[..., Any]) -> list[str]:
    """Return the names in a signature, in order, without ``self`` and ``cls``.

    A result that is a kind of another one names only what it adds.
    """
    known = {"self", "cls"}
    if isinstance(function, type) and dataclasses.is_dataclass(function.__base__):
        known |= {item.name for item in dataclasses.fields(function.__base__)}
    names = [name for name in inspect.signature(function).parameters if name not in known]
    return [name for name in names if not name.startswith("_")]


def inherited(function: Callable[..., Any]) -> set[str]:
    """Return the fields of a class that its bases describe, and that it may describe more closely.

    A slice says of which difference its mean is.
    """
    if not dataclasses.is_dataclass(function):
        return set()
    return {field.name for field in dataclasses.fields(function)} - set(accepted(function))


def faults(function: Callable[..., Any]) -> list[str]:
    """Return what is wrong with the parameters in one docstring."""
    found = []
    if not (inspect.getdoc(function) or "").strip():
        return ["no docstring"]
    told, taken = documented(function), accepted(function)
    if [name for name in told if name in taken or name not in inherited(function)] != taken:
        found.append(f"documented {told}, accepted {taken}")
    typed = [entry[0] for entry in sections(function)["Parameters"] if entry[1]]
    if typed:
        found.append(f"types stay in the signature: {typed}")
    return found


def class_faults(owner: type) -> list[str]:
    """Return what is wrong with a class docstring: Parameters match, or Attributes list the fields.

    Results are handed out and not built, so theirs may list attributes instead.
    """
    if not owner.__doc__ or owner.__doc__.startswith(f"{owner.__name__}("):
        return ["no docstring"]
    if not is_constructed_by_people(owner) or getattr(owner, "_is_protocol", False):
        return []
    attributes = documented(owner, "Attributes")
    if documented(owner) or not attributes:
        return faults(owner)
    fields = (
        {item.name for item in dataclasses.fields(owner)}
        if hasattr(owner, "__dataclass_fields__")
        else set()
    )
    missing = {name for name in fields if not name.startswith("_")} - set(attributes)
    unknown = {name for name in attributes if name not in fields and not hasattr(owner, name)}
    return [f"fields without a word: {sorted(missing)}; unknown: {sorted(unknown)}"] * bool(
        missing | unknown
    )


@each("name", CALLABLES)
def test_parameters_match_the_signature(name):
    assert faults(CALLABLES[name]) == []


@each("name", CLASSES)
def test_classes_document_what_they_are_made_of(name):
    assert class_faults(CLASSES[name]) == []


@each("name", [word for word in METHODS if word not in CALLABLES])
def test_properties_have_a_docstring(name):
    assert inspect.getdoc(METHODS[name])


@each("name", FUNCTIONS)
def test_functions_show_an_example(name):
    assert any(">>>" in line for line in sections(FUNCTIONS[name])["Examples"])


# What follows shows that the checks above bite.


def good(first: int, *, second: int = 1, **rest: int) -> int:
    """Add.

    Parameters
    ----------
    first
        One number.
    second
        Another.
    **rest
        More of them.
    """
    return first + second + sum(rest.values())


def renamed(first: int, *, last: int = 1) -> int:
    """Add.

    Parameters
    ----------
    first
        One number.
    second
        Another.
    """
    return first + last


def typed(first: int) -> int:
    """Return.

    Parameters
    ----------
    first : int
        One number.
    """
    return first


@dataclasses.dataclass
class Bare:
    field: int


@dataclasses.dataclass
class Forgetful:
    """A result.

    Attributes
    ----------
    mean
        Of the draws.
    """

    mean: float
    sd: float


def test_a_matching_docstring_passes():
    assert faults(good) == []


@pytest.mark.parametrize("function", [renamed, typed])
def test_a_planted_fault_in_a_docstring_is_caught(function):
    assert len(faults(function)) == 1


@pytest.mark.parametrize("owner", [Bare, Forgetful])
def test_a_planted_fault_in_a_class_is_caught(owner):
    assert len(class_faults(owner)) == 1
