"""The same comparison under other priors and ROPEs, and whether its decision depends on them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.sensitivity.result import dependence_findings
from tests.loops import each

N_DRAWS = 1_000
USUAL = {
    "unit": {"prior": "unit"},  # what two classes have by default
    "uniform": {"prior": "uniform"},
    "jeffreys": {"prior": "jeffreys"},
    "hierarchical": {"prior": "hierarchical"},
    "bootstrap": {"prior": "bootstrap"},
}


def compared(seen, metric="f1", **options):
    asked = {"rope": 0.02, "n_draws": N_DRAWS, "random_state": 3} | options
    return op.compare(seen, *seen.models, metric=metric, **asked)


@pytest.fixture(scope="module")
def small(table):
    """200 items of two classes, of which A gets a few more right."""
    return table((40, 9, 3, 8), (2, 3, 4, 131))


@pytest.fixture(scope="module")
def news():
    """Every twentieth item of 20 Newsgroups, of two models."""
    full = op.datasets.load_news20()
    kept = {name: full.predictions[name][::20] for name in ("nb_mult", "svm_l2")}
    return op.Outcomes.from_labels(full.y_true[::20], kept)


def levels(found):
    return [(one.name, one.level) for one in found.findings]


# The rows


@each("metric", ["f1", "recall", "accuracy", "matthews_corrcoef"])
@each("paired", [True, False])
def test_a_row_is_what_compare_says_with_that_prior(small, metric, paired):
    found = compared(small, metric, paired=paired).sensitivity()
    assert found.priors == tuple(USUAL)
    for name, options in USUAL.items():
        same = compared(small, metric, paired=paired, **options)
        one = found[name]
        assert np.array_equal(one.draws, same.draws)
        assert one.signature == same.signature
        assert one.findings == same.findings
        assert (one.mean, one.hdi, one._masses) == (same.mean, same.hdi, same._masses)
        assert one.decision is same.decision
        assert one.exact == same.exact
    assert found.left_out == found.apart == {}


def test_many_classes_too(four):
    truth, a, b = four
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b})
    found = compared(seen, "f1_macro").sensitivity()
    assert found.priors == ("learned", "uniform", "jeffreys", "unit", "hierarchical", "bootstrap")
    for name, options in USUAL.items():
        assert np.array_equal(found[name].draws, compared(seen, "f1_macro", **options).draws)


def test_the_own_comparison_is_first_and_not_asked_again(small):
    for options in USUAL.values():
        own = compared(small, **options)
        found = own.sensitivity()
        assert found.own is own
        assert found.comparisons[0] is own
        assert sorted(found.priors) == sorted(USUAL)
        assert [row["own"] for row in found.to_dict()["rows"]] == [True] + [False] * 4
    own = compared(small, prior=op.Prior(rows=3, prevalence=2))
    assert own.sensitivity().priors[0] == "Prior(rows=3, prevalence=2)"
    assert len(own.sensitivity()) == 6


def test_the_users_priors_by_name(small):
    shapes = np.array([[3.0, 1.0], [1.0, 2.0]])
    priors = {"strong": 5.0, "shaped": shapes, "whole": op.Prior(rows=1, prevalence=9)}
    found = compared(small).sensitivity(priors={**priors, "learned": "learned"})
    assert found.priors == (*USUAL, *priors, "learned")
    for name, prior in priors.items():
        assert np.array_equal(found[name].draws, compared(small, prior=prior).draws)
    assert np.array_equal(found["learned"].draws, compared(small, prior="learned").draws)
    assert found.apart == {}


def test_a_usual_prior_takes_the_users_name(small):
    found = compared(small).sensitivity(priors={"mine": "uniform", "half": "jeffreys"})
    assert found.priors == ("unit", "hierarchical", "bootstrap", "mine", "half")


@each(
    ("priors", "said"),
    [
        (["unit"], "must be a mapping from names to priors"),
        ({"a": 2.0, "b": 2}, "'a' and 'b' are the same"),
        ({"unit": 2.0}, "another prior is already named 'unit'"),
        ({"x": "unti"}, "did you mean 'unit'"),
        ({"x": [[1.0]]}, "prior 'x': prior rows must be"),
        ({"x": -1}, "not negative"),
    ],
)
def test_priors_that_are_none(small, priors, said):
    with pytest.raises(UsageError, match=said):
        compared(small).sensitivity(priors=priors)


# The ROPEs


def test_every_decision_is_what_with_rope_says(small):
    found = compared(small, rope=0.03).sensitivity()
    assert [rope.high for rope in found.ropes] == [0.015, 0.03, 0.06, 0.12]
    for one, decisions in zip(found.comparisons, found.decisions, strict=True):
        assert decisions == tuple(one.with_rope(rope.high).decision for rope in found.ropes)
        assert decisions[1] is one.decision


def test_ropes_of_ones_own_stand_around_the_own(small):
    found = compared(small, rope=0.03).sensitivity(ropes=[0.4, (-0.01, 0.02), 0.03])
    ends = [(rope.low, rope.high) for rope in found.ropes]
    assert ends == [(-0.01, 0.02), (-0.03, 0.03), (-0.4, 0.4)]
    assert all(decisions[-1] is op.Decision.EQUIVALENT for decisions in found.decisions)


def test_the_usual_ropes_stay_within_the_metric(small):
    assert [rope.high for rope in compared(small, rope=0.4).sensitivity().ropes] == [0.2, 0.4, 0.8]
    assert len(compared(small, rope=0).sensitivity().ropes) == 1
    scaled = compared(small, rope=(-0.01, 0.02)).sensitivity().ropes
    assert (scaled[0].low, scaled[0].high) == (-0.005, 0.01)
    with pytest.raises(UsageError, match="wider than any difference"):
        compared(small).sensitivity(ropes=[5])
    with pytest.raises(UsageError, match="ropes must be a list"):
        compared(small).sensitivity(ropes=0.01)


# Whether the decision depends on the prior


def test_with_much_data_all_agree(table):
    seen = table((40_000, 9_000, 3_000, 8_000), (2_000, 3_000, 4_000, 131_000))
    found = compared(seen, rope=0.01).sensitivity()
    assert {one.decision for one in found} == {op.Decision.BETTER}
    assert levels(found) == [("wrong_labels", "note")]
    assert repr(found).startswith("Sensitivity(All 5 priors give ≫ better: unit, uniform")


def test_a_flat_prior_of_many_classes_decides_by_itself(news):
    found = compared(news, "f1_macro", prior="unit").sensitivity()
    assert found.own.decision is op.Decision.UNDECIDED
    assert found["uniform"].decision is op.Decision.EQUIVALENT
    assert levels(found) == [("decision_depends_on_prior", "note")]
    (finding,) = found.findings
    assert "uniform gives ≈ (practically equivalent), and the prior pulls" in finding.message
    assert "hierarchical" not in finding.message


def test_priors_that_only_pull_are_a_note(news):
    found = compared(news, "accuracy", prior="unit").sensitivity()
    assert not found.to_dict()["rows"][0]["pulls"]
    assert found["uniform"].decision is op.Decision.EQUIVALENT
    assert levels(found) == [("decision_depends_on_prior", "note")]
    assert "Every proper prior that does not pull agrees" in found.findings[0].message


def test_a_prior_that_does_not_pull_is_a_warning(table):
    seen = table((400, 90, 30, 80), (20, 30, 40, 1310))
    both = [compared(seen, "recall", prior=prior) for prior in ("uniform", "jeffreys")]
    between = float(np.mean([one.hdi.low for one in both]))
    found = both[1].with_rope(between).sensitivity()
    assert found.own.decision is op.Decision.BETTER
    assert found["uniform"].decision is op.Decision.LEANING_BETTER
    assert levels(found)[0] == ("decision_depends_on_prior", "warning")
    said = "uniform gives > (leaning better, not decided). The data alone do not decide"
    assert said in found.findings[0].message
    assert "pull" not in found.findings[0].message


def test_what_may_be_the_draws_doing_is_not_called_dependence(small):
    own = compared(small, "recall")
    rows = dict(zip(("own", "other"), (own, compared(small, "recall", prior=2.0)), strict=True))
    coarse = op.Finding("monte_carlo_too_coarse", "warning", "…")
    settled = {name: replace(one, findings=()) for name, one in rows.items()}
    settled["own"] = replace(settled["own"], decision=op.Decision.BETTER)
    settled["other"] = replace(settled["other"], decision=op.Decision.WORSE)
    assert [one.name for one in dependence_findings(settled, {})] == ["decision_depends_on_prior"]
    assert list(dependence_findings(settled, {"other": "it does not pair"})) == []
    for name in rows:
        unsettled = settled | {name: replace(settled[name], findings=(coarse,))}
        found = list(dependence_findings(unsettled, {}))
        assert [(one.name, one.level) for one in found] == [("monte_carlo_too_coarse", "note")]


@each(
    ("own", "other", "depends"),
    [
        ("≫", "≪", True),
        ("≫", ">", True),
        (">", "≈", True),
        ("?", "≫", True),
        (">", "<", False),
        ("?", ">", False),
        ("≈", "≈", False),
    ],
)
def test_only_firm_decisions_count(small, own, other, depends):
    first, second = (compared(small, "recall", prior=prior) for prior in (1.0, 1.5))
    rows = {
        "own": replace(first, decision=op.Decision(own), findings=()),
        "other": replace(second, decision=op.Decision(other), findings=()),
    }
    assert bool(list(dependence_findings(rows, {}))) is depends


def test_a_model_without_a_prior_is_a_note_unless_it_is_the_own(small):
    unit, none = (compared(small, "recall", prior=prior) for prior in ("unit", "bootstrap"))
    firm = replace(unit, decision=op.Decision.BETTER, findings=())
    open_ = replace(none, decision=op.Decision.LEANING_BETTER, findings=())
    (finding,) = dependence_findings({"unit": firm, "bootstrap": open_}, {})
    assert finding.level == "note"
    assert finding.message.endswith("without a prior.")
    (finding,) = dependence_findings({"bootstrap": open_, "unit": firm}, {})
    assert finding.level == "warning"


def test_swapping_the_models_mirrors_everything(small):
    own = compared(small, "recall", rope=0.01)
    found = own.sensitivity()
    mirrored = compared(small.select(["b", "a"]), "recall", rope=0.01).sensitivity()
    assert found.priors == mirrored.priors
    for one, other in zip(found.comparisons, mirrored.comparisons, strict=True):
        error = 5 * np.hypot(one.mcse, other.mcse) + 1e-12
        assert one.mean == pytest.approx(-other.mean, abs=error)
        if one.exact:
            assert one.hdi.low == pytest.approx(-other.hdi.high, abs=1e-9)
            assert one.p_better == pytest.approx(other.p_worse, abs=1e-9)
    exact = [place for place, one in enumerate(found) if one.exact]
    assert len(exact) == 3
    for place in exact:
        mirror = tuple(decision.mirrored for decision in mirrored.decisions[place])
        assert found.decisions[place] == mirror


# What cannot be asked


def test_groups_change_more_than_the_prior(two):
    truth, a, b = two
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b}, groups=np.arange(400) // 4)
    found = compared(seen).sensitivity(priors={"mine": 2.0})
    assert found.priors == ("bootstrap", "mine")
    assert set(found.left_out) == {"uniform", "jeffreys", "unit", "hierarchical"}
    why = "it treats items as independent, but they come from 100 groups"
    assert set(found.left_out.values()) == {why}
    assert found.apart == {"mine": why}
    own = compared(seen, prior="unit").sensitivity()
    assert own.left_out == {"bootstrap": "it weights groups, but this comparison weights items"}
    assert own.priors == ("unit", "uniform", "jeffreys", "hierarchical")


def test_importance_weights_have_no_prior(two):
    truth, a, b = two
    weights = np.random.default_rng(0).random(400)
    own = op.compare(truth, a, b, sample_weight=weights, n_draws=N_DRAWS, random_state=0)
    found = own.sensitivity()
    assert found.priors == ("bootstrap",)
    assert set(found.left_out.values()) == {"it does not support importance weights"}
    with pytest.raises(UsageError, match=r"prior 'mine': prior 'Prior\(rows=2.* does not support"):
        own.sensitivity(priors={"mine": 2.0})


def test_scores_have_no_prior(two):
    truth, a, b = two
    noise = np.random.default_rng(0).random((2, 400))
    own = op.compare(truth, a + noise[0], b + noise[1], metric="roc_auc", n_draws=N_DRAWS)
    found = own.sensitivity()
    assert found.priors == ("bootstrap",)
    assert found.left_out == {"every prior": "scores use the bootstrap, without a prior"}
    assert "only the ROPE varies" in found.text()
    assert len(found.ropes) == 4


def test_spans_label_sets_and_prevalence():
    spans = op.Outcomes.from_tp_fp_fn({"a": (80, 10, 20), "b": (70, 20, 30)})
    found = compared(spans).sensitivity()
    assert found.priors == ("unit", "uniform", "jeffreys", "bootstrap")
    assert set(found.left_out.values()) == {"it does not support spans"}
    tags = [["B-PER", "O"], ["O", "B-PER"]] * 20
    tagged = op.Outcomes.from_tags(tags, {"a": tags, "b": [["B-PER", "O"]] * 40}, scheme="BIO")
    whole = compared(tagged).sensitivity()
    assert whole.priors == ("bootstrap",)
    assert whole.left_out["unit"] == "spans are treated as independent"
    rng = np.random.default_rng(0)
    matrices = [rng.random((60, 3)) < share for share in (0.5, 0.4, 0.6)]
    own = op.compare(*(one.astype(int) for one in matrices), metric="f1_macro", n_draws=N_DRAWS)
    sets = own.sensitivity()
    assert sets.priors == ("bootstrap",)
    assert set(sets.left_out) == {"learned", "uniform", "jeffreys", "unit", "hierarchical"}


def test_prevalence_goes_with_every_prior(small):
    there = small.at_prevalence(0.1)
    found = compared(there).sensitivity()
    for name in found.priors:
        same = compared(there, **USUAL[name])
        assert np.array_equal(found[name].draws, same.draws)
    assert len(found) + len(found.left_out) == 5


def test_runs_and_folds_are_asked_as_they_are(two):
    truth, a, b = two
    runs = {"a-1": a, "a-2": np.roll(a, 0), "b-1": b, "b-2": np.where(truth == 1, b, a)}
    seen = op.Outcomes.from_labels(truth, runs)
    own = op.compare_runs(
        seen, ["a-1", "a-2"], ["b-1", "b-2"], metric="f1", n_draws=N_DRAWS, random_state=1
    )
    found = own.sensitivity()
    assert "hierarchical" in found.left_out
    assert all(isinstance(one.details, op.results.RunDetails) for one in found)
    folds = [[(80 + k, 10, 20 - k), (79, 11 + k, 21)] * 3 for k in (0, 3)]
    blocked = op.compare_cv_counts(*folds, rope=0.01, random_state=1)
    again = blocked.sensitivity(priors={"two": 2.0})
    assert again.priors == ("uniform", "jeffreys", "unit", "bootstrap", "two")
    assert all(isinstance(one.details, op.results.FoldDetails) for one in again)
    same = op.compare_cv_counts(*folds, rope=0.01, random_state=1, prior=2.0)
    assert np.array_equal(again["two"].draws, same.draws)
    assert (again["two"].mean, again["two"].sd) == (same.mean, same.sd)


def test_flat_is_left_out_where_it_would_take_minutes():
    truth = np.arange(300) % 60
    seen = op.Outcomes.from_labels(truth, {"a": truth, "b": np.where(truth < 9, 0, truth)})
    found = compared(seen, "f1_macro").sensitivity()
    why = "drawing its 216,000 cells 1,000 times is slow"
    assert found.left_out == {"uniform": why, "jeffreys": why}
    assert found.priors == ("learned", "unit", "hierarchical", "bootstrap")


# Words, tables, pictures


def test_every_format(small):
    found = compared(small).sensitivity(priors={"=1+1 <b>": 5.0})
    frame = found.to_frame()
    assert list(frame["prior"]) == [*USUAL, "=1+1 <b>"]
    assert list(frame["own"]) == [True] + [False] * 5
    assert {"mean", "sd", "hdi_low", "hdi_high", "p_worse", "p_equivalent"} < {*frame.columns}
    assert list(frame["at_0.02"]) == [one.decision.symbol for one in found]
    assert found.to_polars().height == found.to_arrow().num_rows == 6
    assert "&lt;b&gt;" in found.to_html()
    assert "| unit | \\* |" in found.to_markdown()
    assert "\\label{tab:a-b-f1-sensitivity}" in found.to_latex()
    assert json.loads(json.dumps(found.to_dict()))["kind"] == "sensitivity"
    assert str(found) == found.text()
    assert max(map(len, found.text().splitlines())) <= 100
    with pytest.raises(UsageError, match="did you mean 'unit'"):
        found["unti"]


def test_the_finding_stands_in_every_format(news):
    found = compared(news, "f1_macro", prior="unit").sensitivity()
    for text in (found.text(), found.to_markdown(), found.to_html(), found.to_latex()):
        assert "that does not pull agrees" in " ".join(text.split())


def test_the_figure_has_a_line_for_each_prior(small):
    from matplotlib.figure import Figure

    found = compared(small).sensitivity()
    ax = found.plot(Figure().subplots())
    shown = [text.get_text() for text in ax.get_yticklabels()]
    pulls = [row["pulls"] for row in found.to_dict()["rows"]]
    assert [text.partition(" (")[0] for text in shown] == list(USUAL)
    assert ["pulls" in text for text in shown] == pulls
    assert shown[0].startswith("unit (own")
    explained = any("pulls: ● far" in text.get_text() for text in ax.texts)
    assert explained == any(pulls)
    assert f"{len(found)} priors" in ax.get_title("left").replace("\n", " ")
    decisions = [text.get_text() for text in ax.texts][: len(found)]
    assert decisions == [one.decision.symbol for one in found]


# Numbers that stand in no other test


def test_the_usual_ropes_are_half_once_twice_and_four_times_the_own(small):
    own = compared(small, n_draws=100)
    found = own.with_rope((-0.04, 0.02)).sensitivity().ropes
    expected = [(-0.02, 0.01), (-0.04, 0.02), (-0.08, 0.04), (-0.16, 0.08)]
    np.testing.assert_allclose([(rope.low, rope.high) for rope in found], expected)
    # Four times 0.25 is as wide as a difference of accuracies can be, and still allowed.
    wide = [rope.high for rope in own.with_rope(0.25).sensitivity().ropes]
    assert wide == pytest.approx([0.125, 0.25, 0.5, 1.0])


def test_ropes_go_from_the_narrowest_to_the_widest(small):
    given = [(-0.5, 0.0), 0.05, (-0.01, 0.02)]
    found = [
        (rope.low, rope.high)
        for rope in compared(small, n_draws=100).sensitivity(ropes=given).ropes
    ]
    widths = [high - low for low, high in found]
    assert widths == sorted(widths)
    assert found[-1] == (-0.5, 0.0)
