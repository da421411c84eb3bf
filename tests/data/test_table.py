"""Schemes by name and by table."""

from __future__ import annotations

import pickle

import pytest

from outperform.data.spans import get_scheme, scheme_names
from outperform.data.tag_schemes import Scheme
from outperform.errors import UsageError
from tests.loops import each


def test_the_names():
    assert scheme_names() == [
        "IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU", "BMES", "BB2B3MES",
    ]  # fmt: skip


@each("name", scheme_names())
def test_a_name_may_be_written_small(name):
    assert get_scheme(name.lower()) is get_scheme(name)
    assert get_scheme(get_scheme(name)).name == name


@pytest.mark.parametrize(
    ("alias", "name"), [("BIO", "IOB2"), ("bioes", "IOBES"), ("BILUO", "BILOU")]
)
def test_other_names(alias, name):
    assert get_scheme(alias) is get_scheme(name)


@each(
    ("scheme", "words"),
    [
        ("IOB", "unknown scheme 'IOB'; did you mean 'IOB"),
        ("IOBS", "did you mean 'IOBES'"),
        (3, "must be a name, a table of prefixes and roles or a Scheme; got int"),
        ({"B": "start"}, "must be one of begin, inside, end, single, outside; got 'start' for 'B'"),
        ({"B-": "begin"}, "without the delimiter '-'; got 'B-'"),
        ({"": "begin"}, "got ''"),
        ({"O": "outside"}, "must have a prefix for the tags of spans"),
        ({}, "must have a prefix for the tags of spans"),
    ],
)
def test_what_is_no_scheme_is_refused(scheme, words):
    with pytest.raises(UsageError, match=words):
        get_scheme(scheme)


def test_rules_are_about_known_prefixes():
    with pytest.raises(
        UsageError, match=(r"opens must contain only prefixes of spans \(B, I\); got 'X'")
    ):
        Scheme(name="mine", roles={"B": "begin", "I": "inside", "O": "outside"}, opens=("X",))


def test_a_table_alone_makes_the_schemes_of_that_shape():
    for name in ("IOB2", "IOE2", "IOBES", "BILOU", "BMES"):
        known = get_scheme(name)
        made = get_scheme(dict(known.roles))
        assert (made.opens, made.closes, made.follows) == (
            known.opens,
            known.closes,
            known.follows,
        )


def test_a_scheme_can_be_kept_in_a_set_and_sent_elsewhere():
    scheme = get_scheme("IOB2")
    assert pickle.loads(pickle.dumps(scheme)) == scheme
    assert len({scheme, get_scheme("bio")}) == 1


def test_a_table_is_not_changed_through_the_scheme():
    roles = {"B": "begin", "I": "inside", "O": "outside"}
    scheme = get_scheme(roles)
    roles["B"] = "single"
    assert scheme.roles["B"] == "begin"
