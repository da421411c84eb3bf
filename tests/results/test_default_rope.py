"""Every output names the default ROPE, and none of them the Bayes factor unless it is asked for."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op

FEW = {"n_draws": 400, "random_state": 0}
NAMED = "ROPE ±0.01 (default)"


def outcomes(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 200)
    predicted = {
        name: np.where(rng.random(200) < right, y, 1 - y)
        for name, right in (("a", 0.9), ("b", 0.86), ("c", 0.7))
    }
    return op.Outcomes.from_labels(y, predicted, by={"day": ["Mon", "Tue"] * 100})


@pytest.fixture(scope="module")
def seen():
    return outcomes()


@pytest.fixture(scope="module")
def compared(seen):
    return op.compare(seen, "a", "b", metric="accuracy", **FEW)


def answers(seen):
    asked = {"metric": "accuracy", **FEW}
    suite = op.Suite({"one": seen, "two": outcomes(1)}, metrics="accuracy")
    yield op.rank(seen, **asked)
    yield op.scorecard(seen, "a", "b", metrics=["accuracy", "f1_macro"], **FEW)
    yield op.compare_slices(seen, "a", "b", **asked)
    yield op.gate(seen, "a", "b", metric="accuracy")
    yield op.compare(suite, "a", "b", **FEW)
    yield op.rank(suite, **FEW)


def test_every_text_and_card_names_it_near_the_answer(seen, compared):
    for one in (compared, *answers(seen)):
        near = " ".join(str(one).split("\n\n")[0].split())
        assert NAMED in near, one
        assert NAMED in one.to_html(), one


def test_every_format_of_a_comparison_names_it(compared):
    assert NAMED in repr(compared)
    assert NAMED in compared.to_markdown()
    assert "ROPE of $\\pm$0.01 (default)" in compared.to_latex()
    assert "(ROPE) of ±0.01 (default)" in compared.report()
    texts = [text.get_text() for text in compared.plot().texts]
    assert NAMED in texts
    assert NAMED not in repr(compared.with_rope(0.01))


def test_the_card_and_the_default_paragraph_have_no_bayes_factor(compared):
    assert compared.bayes_factor is not None
    for text in (compared.to_html(), compared.report(), str(compared)):
        assert "Bayes factor" not in text
        assert "BF0" not in text
        assert "BF1" not in text
    assert "BF" in compared.report(length="long")


def test_texts_have_true_minus_signs(seen):
    turned = op.compare(seen, "c", "a", metric="accuracy", rope=(-0.02, 0.01), **FEW)
    for text in (str(turned), repr(turned), turned.report(), turned.to_markdown(), turned.hdi):
        shown = str(text).partition("Method: ")[0]
        assert "−0." in shown
        assert "-0." not in shown


def test_a_seed_that_nobody_gave_fits_on_its_line(seen):
    text = str(op.compare(seen, "a", "b", metric="f1_macro", n_draws=400))
    assert max(map(len, text.splitlines())) <= 80
    assert any("400 draws, seed " in line for line in text.splitlines())


def test_a_gate_over_tasks_names_the_seed_that_was_given(seen):
    suite = op.Suite({"one": seen, "two": outcomes(1)}, metrics="accuracy", ropes=0.05)
    last = str(op.gate(suite, "a", "b")).splitlines()[-1]
    assert "2 tasks" in last
    assert "seed 0.0" not in last


def test_findings_without_room_say_how_to_see_them():
    from outperform.display.layout import Page, plain
    from outperform.errors import spelled

    found = [("note", "A sentence.", f"name_{place}") for place in range(9)]
    page = Page(height=5)
    assert plain(page.findings(found)).endswith("and 5 more findings: .findings")
    with spelled(lambda name, *values: name):
        assert plain(page.findings(found)).endswith("and 5 more findings: --verbose")


def test_slices_of_which_none_is_decided_are_one_short_sentence(seen):
    slices = op.compare_slices(seen, "a", "b", metric="accuracy", rope=0.001, **FEW)
    assert not any(row.decision.decided for row in slices)
    assert str(slices).startswith("a against b in 2 slices: all undecided.\n")


def test_items_count_what_only_one_model_got_right(compared):
    _, only_a, only_b, _ = compared.item_table().right
    assert repr(compared.item_table()).startswith(
        f"ItemTable({only_a} items only a got right, {only_b} only b (of 200)."
    )
