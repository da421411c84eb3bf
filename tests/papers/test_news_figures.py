"""The figures of the papers on news groups."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

import outperform as op
from papers import news_figures
from papers.__main__ import main

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is missing")


def test_the_category_is_the_papers():
    found = news_figures.category(n_draws=2_000)
    assert found.spec.pos_label == "rec.motorcycles"
    # Table 6 has 0.007 ± 0.018 and ≈
    assert found.mean == pytest.approx(0.007, abs=0.002)
    assert found.decision is op.Decision.EQUIVALENT
    posterior, factor = news_figures.draw_category(found).axes
    assert "practically equivalent" in " ".join(posterior.get_title(loc="left").split())
    assert factor.get_yscale() == "log"


@pytest.mark.skipif(find_spec("pymc") is not None, reason="PyMC is there")
@pytest.mark.parametrize("paper", ["icdm", "sigir"])
def test_without_pymc_the_command_names_the_extra(paper, tmp_path, capsys):
    assert main([paper, "--table", "4", "--draws", "200", "--figures", str(tmp_path / "f")]) == 2
    assert 'needs pymc; install it with: pip install "outperform[pymc]"' in capsys.readouterr().err
    assert not (tmp_path / "f").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of PyTensor and ArviZ about themselves
def test_a_trace_shows_every_chain_and_what_it_is_worth():
    pytest.importorskip("pymc")
    engine = op.PyMC(draws=300, tune=300, chains=2, progress=False)
    chained = news_figures.category(engine=engine, n_jobs=1)
    figure = news_figures.draw_example({"NUTS": chained, "again": chained})
    for ax, name in zip(figure.axes, ("NUTS", "again"), strict=True):
        assert [line.get_ydata().size for line in ax.lines] == [300, 300]
        assert ax.get_title(loc="left").startswith(f"{name}: R-hat {chained.chain.rhat:.3f}")
        assert ax.get_title(loc="left").endswith("of 600 draws")
    trace, posterior, factor = news_figures.draw_pair(
        news_figures.category(n_draws=2_000), chained
    ).axes
    assert trace.get_xlabel() == "step"
    assert posterior.get_xlabel() == factor.get_xlabel() == "nb_mult − svm_l2, F1"
