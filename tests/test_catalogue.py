"""Catalogues: what is built in, and what other distributions add by entry points."""

from __future__ import annotations

import logging
import sys

import pytest

from outperform._catalogue import Catalogue
from outperform.errors import UsageError

CATALOGUE: Catalogue[type] = Catalogue(
    "outperform.tried",
    noun="shape",
    kind="builtins:type",
    built_in={"list": "builtins:list", "broken": "no_such_module:thing"},
)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a distribution with entry points of the catalogue."""

    def make(name, entries):
        home = tmp_path / name
        info = home / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{one} = {value}" for one, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(["[outperform.tried]", *lines, ""]))
        monkeypatch.setattr(sys, "path", [*sys.path, str(home)])

    return make


def test_what_is_added_is_found_beside_what_is_built_in(install):
    assert CATALOGUE.names() == ("list", "broken")
    assert "set" not in CATALOGUE
    install("theirs", {"set": "builtins:set", "dict": "builtins:dict"})
    assert CATALOGUE.names() == ("list", "broken", "dict", "set")
    assert CATALOGUE.get("set") is set
    assert list(CATALOGUE.added()) == [set, dict]


def test_nothing_takes_the_name_of_what_is_built_in(install):
    install("theirs", {"list": "builtins:set"})
    assert CATALOGUE.get("list") is list
    assert not list(CATALOGUE.added())


def test_unknown_names_are_told_with_those_of_plug_ins(install):
    install("theirs", {"tuple": "builtins:tuple"})
    with pytest.raises(UsageError, match="unknown shape 'tupel'; did you mean 'tuple'"):
        CATALOGUE.get("tupel")


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("absent_module:thing", "cannot be loaded: ModuleNotFoundError"),
        ("builtins:absent", "cannot be loaded: AttributeError"),
        ("builtins:len", "must be a type; got builtin_function_or_method"),
    ],
)
def test_a_broken_plug_in_is_an_error_only_when_it_is_asked_for(install, caplog, value, fault):
    install("theirs", {"bad": value, "set": "builtins:set"})
    with pytest.raises(UsageError, match=f"the shape 'bad', which theirs adds, {fault}"):
        CATALOGUE.get("bad")
    with caplog.at_level(logging.WARNING, "outperform"):
        assert list(CATALOGUE.added()) == [set]
    assert "which theirs adds" in caplog.text


def test_two_distributions_cannot_add_the_same_name(install):
    install("theirs", {"set": "builtins:set"})
    install("others", {"set": "builtins:frozenset"})
    with pytest.raises(UsageError, match="theirs and others each add the shape 'set'"):
        CATALOGUE.get("set")


def test_a_distribution_that_is_found_twice_is_one(install, tmp_path, monkeypatch):
    install("theirs", {"set": "builtins:set"})
    again = tmp_path / "again"
    (tmp_path / "theirs").rename(again)
    (tmp_path / "theirs").symlink_to(again)
    monkeypatch.setattr(sys, "path", [*sys.path, str(again)])
    assert CATALOGUE.get("set") is set
