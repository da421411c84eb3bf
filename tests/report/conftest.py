"""Each kind of comparison, written once."""

from __future__ import annotations

import pytest

import outperform as op
from tests.browsing import started
from tests.report.kinds import KINDS
from tests.report.reading import Page


@pytest.fixture(scope="session")
def browser():
    """Return the browser of the machine."""
    with started() as found:
        yield found


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Return a function from the name of a kind to its comparison, its page and the path."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def get(kind):
        if kind not in known:
            comparison = KINDS[kind]()
            path = op.write_report(comparison, folder / f"{kind}.html")
            known[kind] = comparison, Page(path), path
        return known[kind]

    return get
