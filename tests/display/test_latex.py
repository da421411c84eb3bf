from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import outperform as op
from outperform.display.formats import latex_label, number_column, signed_column, text_column
from outperform.display.sentences import captioned, comparison_caption
from outperform.display.table import Table
from outperform.errors import UsageError
from tests.display.payloads import attack, every_payload
from tests.loops import each

ROW = {"a": "spam", "b": 0.5, "c": -0.25}
SMALL = Table((text_column("a"), number_column("b"), signed_column("c")), (ROW,), title="Small")


def wide(n_columns):
    columns = tuple(signed_column(f"column {place}") for place in range(n_columns))
    return Table(columns, ({column.key: -0.125 for column in columns},), title="Wide")


def test_a_small_table_stands_in_the_type_of_the_text():
    assert SMALL.to_latex(label="tab:small").splitlines() == [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{Small}",
        r"\label{tab:small}",
        r"\smallskip",
        r"\begin{tabular}{@{}lrr@{}}",
        r"\toprule",
        r"a & b & c \\",
        r"\midrule",
        r"spam & $0.5000$ & $-0.2500$ \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


@pytest.mark.parametrize(
    ("n_columns", "size", "environment"),
    [
        (5, r"\toprule", "table"),
        (7, r"\footnotesize", "table"),
        (9, r"\scriptsize", "table"),
        (12, r"\scriptsize", "sidewaystable"),
    ],
)
def test_the_type_shrinks_with_the_width_and_then_the_table_lies_down(n_columns, size, environment):
    text = wide(n_columns).to_latex()
    found = re.search(r"\\(small|footnotesize|scriptsize|toprule)\b", text)
    assert found.group() == size
    assert rf"\begin{{{environment}}}" in text
    assert text.endswith(rf"\end{{{environment}}}")
    assert ("rotating" in text.splitlines()[0]) == (environment == "sidewaystable")


def test_notes_stand_below():
    table = Table(SMALL.columns, SMALL.rows, title="x", notes=("≫ better", "a: 5% & more"))
    lines = table.to_latex().splitlines()
    assert lines[-3:] == [r"$\gg$ better\\", r"a: 5\% \& more}", r"\end{table}"]
    assert table.to_text().splitlines()[-3:] == ["", "≫ better", "a: 5% & more"]
    assert table.to_markdown().splitlines()[-4:] == ["", "≫ better", "", "a: 5% &amp; more"]
    assert '≫ better</p>\n<p class="op-quiet">a: 5% &amp; more' in table.to_html()


def test_decision_symbols_are_typeset():
    table = Table((text_column("v"),), tuple({"v": symbol} for symbol in "≫≪≈<>?±−"))
    cells = [line.removesuffix(r" \\") for line in table.to_latex().splitlines()[5:-2]]
    assert cells == [r"$\gg$", r"$\ll$", r"$\approx$", "$<$", "$>$", "?", r"$\pm$", "$-$"]


def test_columns_can_be_chosen():
    assert SMALL.only(["c", "a"]).to_csv() == "c,a\n-0.25,spam\n"
    with pytest.raises(UsageError, match="unknown column 'x'"):
        SMALL.only(["x"])
    with pytest.raises(UsageError, match="columns must be a list"):
        SMALL.only("a")


@each("label", ["", "a b", "x}y", r"\input", "tab:ü", "%", 5])
def test_a_bad_label_is_refused(label):
    with pytest.raises(UsageError, match="letters, digits"):
        SMALL.to_latex(label=label)


def test_a_label_needs_a_caption():
    with pytest.raises(UsageError, match="needs a caption"):
        Table(SMALL.columns, SMALL.rows).to_latex(label="tab:x")


@every_payload
def test_labels_are_made_of_anything(payload):
    label = latex_label(payload, payload, "f1_macro")
    assert re.fullmatch(r"tab:[a-z0-9-]+", label)
    assert SMALL.to_latex(label=label)


def test_the_caption_says_what_is_compared(facts):
    assert comparison_caption(facts) == (
        "nb_bern, nb_mult and their difference in macro-averaged F1 on 7,532 items in 20 classes "
        "(paired, prior unit, 20,000 draws), with 95% HDIs. For a ROPE of ±0.01 (default), nb_bern "
        "is worse than nb_mult (≪)."
    )


@every_payload
def test_payloads_in_captions(facts, payload):
    attacked = attack(facts, payload)
    table = captioned(SMALL, comparison_caption(attacked))
    assert len(table.to_latex().splitlines()) == 13


@pytest.fixture(scope="module")
def paper():
    """A document with every table that a paper may want."""
    news = op.datasets.load_news20()
    seen = op.Outcomes.from_labels(news.y_true, news.predictions)
    asked = {"rope": 0.01, "random_state": 0, "n_draws": 2_000}
    c = op.compare(seen, "nb_mult", "svm_l2", metric="f1_macro", **asked)
    classes = c.by_class()
    card = op.scorecard(seen, "nb_bern", "svm_l2", metrics=["accuracy", "f1_macro"], **asked)
    few = ["class", "n_true", "mean", "hdi_low", "hdi_high", "p_equivalent", "decision"]
    world = {"11": 0.3, "10": 0.3, "01": 0.2, "00": 0.2}
    plan = op.power(
        theta_pos=world,
        theta_neg=world,
        prevalence=0.3,
        sizes=[100],
        rope=0.05,
        n_simulations=100,
        random_state=0,
    )
    tables = [
        classes.to_latex(),
        classes.to_latex(columns=few, label="tab:few"),
        card.to_latex(),
        c.to_latex(),
        c.a.to_latex(),
        plan.to_latex(),
    ]
    body = "\n\n".join(["See Table \\ref{tab:few}.", *tables])
    return (
        "\\documentclass{article}\n\\usepackage{booktabs,rotating}\n"
        f"\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_a_paper_compiles_without_a_warning(paper, engine, tmp_path):
    program = shutil.which(engine)
    if program is None:
        pytest.skip(f"{engine} is not installed")
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    for _ in range(2):  # the second run knows the references
        ran = subprocess.run(
            [program, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=120,
        )
    log = (tmp_path / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert ran.returncode == 0, log[-2_000:]
    assert not re.findall(r"^(?:Overfull|Underfull).*|.*Warning:.*|Missing character.*", log, re.M)
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000
