"""The closed forms agree with golden values, and a planted error fails the part."""

from __future__ import annotations

from verification import exactness


def test_the_errors_are_within_bounds_and_a_larger_one_is_found():
    found = exactness.measure()
    assert exactness.failures(found) == []
    assert len(found) == 5
    name = next(iter(found))
    assert "off by 2.0e-12" in exactness.failures({name: [2e-12, None, None]})[0]
    assert f"| {name} | 2e-12 |  |  |" in exactness.table({name: [2e-12, None, None]})
