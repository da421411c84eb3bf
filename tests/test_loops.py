"""A test that is a loop runs every case and names those that fail."""

from __future__ import annotations

import pytest

from tests.loops import each


def notes(test, **fixtures):
    with pytest.raises(ExceptionGroup) as caught:
        test(**fixtures)
    return [error.__notes__[0] for error in caught.value.exceptions]


def test_every_failure_is_named():
    ran = []

    @each("n", range(5))
    def test(n):
        ran.append(n)
        assert n in (0, 2)

    assert notes(test) == ["case: n=1", "case: n=3", "case: n=4"]
    assert ran == [0, 1, 2, 3, 4]


def test_loops_in_loops_and_failures_of_every_sort():
    @each("a, b", [pytest.param(1, 2, id="first"), (3, 4)])
    @each("c", "xy", ids=str.upper)
    def test(a, b, c):
        if a == 1:
            pytest.fail("so")
        with pytest.raises(ValueError, match="x"):
            int(c)

    # The inner loop's note comes first.
    assert notes(test) == ["case: X", "case: Y", "case: Y"]


def test_each_case_has_its_own_folder_and_patches(tmp_path, monkeypatch):
    @each("n", range(2))
    def test(n, tmp_path, monkeypatch):
        assert "CASE" not in __import__("os").environ
        monkeypatch.setenv("CASE", "1")
        (tmp_path / "new").mkdir()

    test(tmp_path=tmp_path, monkeypatch=monkeypatch)


def test_a_loop_of_nothing_is_skipped():
    @each("n", range(2))
    def test(n):
        if n:
            pytest.skip("so")

    test()

    @each("n", [])
    def none(n):
        pass

    with pytest.raises(pytest.skip.Exception):
        none()


@each("n", [1, 2])
def test_pytest_fills_in_the_fixtures_that_are_left(two, n):
    assert len(two) == 3
    assert n
