"""The figure of training runs, by what is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.display.posterior_figure import draw_models
from tests.lazily import lazily

Figure = lazily("matplotlib.figure.Figure")

A = [0.80, 0.83, 0.81]
B = [0.79, 0.80]


def facts_of(name, values, **more):
    hdi = {"low": min(values), "high": max(values), "prob": 0.95}
    runs = {"names": [str(k) for k in range(len(values))], "observed": values, "sd": 0.01}
    mean = float(np.mean(values))
    return {"name": name, "mean": mean, "observed": mean, "sd": 0.01, "hdi": hdi, "runs": runs}


FACTS = {
    "names": ["bert", "gpt"],
    "metric": "f1",
    "metric_label": "F1",
    "a": facts_of("bert", A),
    "b": facts_of("gpt", B),
}


@pytest.fixture
def ax():
    generator = np.random.default_rng(1)
    a, b = (generator.normal(np.mean(one), 0.01, 2_000) for one in (A, B))
    return draw_models(a, b, facts=FACTS, ax=Figure().subplots())


def dots(ax):
    return [line for line in ax.lines if line.get_marker() == "o" and line.get_mfc() == "none"]


def test_every_run_is_a_dot_in_the_row_of_its_model(ax):
    above, below = dots(ax)
    assert above.get_xdata().tolist() == A
    assert below.get_xdata().tolist() == B
    assert set(above.get_ydata()) != set(below.get_ydata())
    assert max(below.get_ydata()) < 0 < min(above.get_ydata()) < 1


def test_the_rows_say_whose_they_are(ax):
    assert [text.get_text() for text in ax.get_yticklabels()] == ["bert\n3 runs", "gpt\n2 runs"]
    assert ax.get_xlabel() == "F1"
    assert any("○ run" in text.get_text() for text in ax.texts)


def test_posteriors_stand_on_their_rows(ax):
    bottoms = sorted(one.get_datalim(ax.transData).y0 for one in ax.collections)
    assert bottoms == pytest.approx([0, 1])
    assert all(one.get_datalim(ax.transData).height < 1 for one in ax.collections)


def test_a_single_run_and_one_that_is_undefined():
    one = {**FACTS, "b": facts_of("$x$", [0.8])}
    one["a"] = {**FACTS["a"], "runs": {"names": ["1", "2"], "observed": [None, 0.8], "sd": None}}
    ax = draw_models([0.7, 0.8, 0.9], [0.8, 0.8], facts=one, ax=Figure().subplots())
    assert dots(ax)[0].get_xdata().tolist() == [0.8]
    assert ax.get_yticklabels()[1].get_text() == "$x$\n1 run"
    assert not ax.get_yticklabels()[1].get_parse_math()
