"""Some 850 calls of the public interface of outperform, each with a name.

``CALLS`` maps a name such as ``compare/binary/f1/default`` to a function of one number, the random
seed of the draws. It returns any result of the library, or plain values made of one. Only public
names are used: what ``import outperform as op`` offers and what its results have. The inputs come
from ``inputs.py`` and from the small evaluation logs in the folder ``logs``.

Names that begin with ``refused/`` are calls that must end in an exception. Those that begin with
``pairs/`` may: what a verb refuses is recorded like what it answers.

To add a call, write a line or a small function here, then run ``record.py``.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import outperform as op
from verification.answers import inputs as data

LOGS = Path(__file__).resolve().parent / "logs"
DRAWS = 2_000

CALLS: dict[str, Callable[[int], object]] = {}


def call(name: str) -> Callable:
    """Register a function of a seed under a name."""

    def keep(function: Callable[[int], object]) -> Callable[[int], object]:
        if name in CALLS:
            raise KeyError(f"two calls are named {name}")
        CALLS[name] = function
        return function

    return keep


def two(data_set, seed, metric, *, rope=0.01, n_draws=DRAWS, **options):
    """Compare A and B on (truth, predictions)."""
    truth, said = data_set()
    return op.compare(
        truth,
        said["A"],
        said["B"],
        metric=metric,
        rope=rope,
        n_draws=n_draws,
        random_state=seed,
        **options,
    )


def seen(data_set, seed=None, **options):
    """Return (truth, predictions) as Outcomes."""
    truth, said = data_set()
    return op.Outcomes.from_labels(truth, said, **options)


def ab(outcomes, seed, metric, *, rope=0.01, n_draws=DRAWS, **options):
    """Compare the models A and B of Outcomes or Scores."""
    return op.compare(
        outcomes, "A", "B", metric=metric, rope=rope, n_draws=n_draws, random_state=seed, **options
    )


def text_of(rows: list[dict], kind: str = "csv") -> str:
    """Write rows as CSV or JSON Lines."""
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows)
    return (
        "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n"
    )


# === compare: metrics of two classes, of several, of levels ======================================

for _metric in (
    "precision",
    "recall",
    "specificity",
    "f1",
    "jaccard",
    "informedness",
    "f2",
    "f0.5",
    "accuracy",
    "balanced_accuracy",
    "matthews_corrcoef",
    "cohen_kappa",
):
    call(f"compare/binary/{_metric}/rope")(lambda s, m=_metric: two(data.binary, s, m))

for _metric in ("precision", "recall", "specificity", "f1", "jaccard", "informedness"):
    for _average in ("micro", "macro", "weighted"):
        _name = f"{_metric}_{_average}"
        call(f"compare/three/{_name}/unit")(lambda s, m=_name: two(data.three, s, m, prior="unit"))

for _metric in ("accuracy", "balanced_accuracy", "matthews_corrcoef", "cohen_kappa", "f2_macro"):
    call(f"compare/three/{_metric}/default")(lambda s, m=_metric: two(data.three, s, m))

for _metric in ("cohen_kappa_linear", "cohen_kappa_quadratic", "ordinal_mae"):
    call(f"compare/levels/{_metric}")(lambda s, m=_metric: two(data.levels, s, m, rope=0.02))


@call("compare/binary/f1/default")
def _(s):
    truth, said = data.binary()
    return op.compare(truth, said["A"], said["B"], random_state=s)


@call("compare/three/default")
def _(s):
    truth, said = data.three()
    return op.compare(truth, said["A"], said["B"], random_state=s, n_draws=4_000)


# --- the decision, the interval, the names --------------------------------------------------------

for _set in ("small", "alike", "far"):
    for _metric in ("accuracy", "f1"):
        call(f"compare/{_set}/{_metric}")(lambda s, d=_set, m=_metric: two(getattr(data, d), s, m))

for _prob in (0.5, 0.8, 0.9, 0.99):
    call(f"compare/binary/f1/hdi-{_prob}")(lambda s, p=_prob: two(data.binary, s, "f1", hdi_prob=p))

for _rope in (0.0, 0.03, 0.2, (-0.005, 0.02), (0.0, 0.05)):
    call(f"compare/binary/f1/rope-{_rope}")(lambda s, r=_rope: two(data.binary, s, "f1", rope=r))

call("compare/binary/f1/worse")(
    lambda s: op.compare(
        data.far()[0],
        data.far()[1]["B"],
        data.far()[1]["A"],
        metric="f1",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
        names=("old", "new"),
    )
)
call("compare/binary/f1/names")(lambda s: two(data.binary, s, "f1", names=("bert", "gpt")))
call("compare/binary/f1/same-model")(
    lambda s: op.compare(
        data.binary()[0],
        data.binary()[1]["A"],
        data.binary()[1]["A"],
        metric="f1",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)
call("compare/binary/f1/many-draws")(lambda s: two(data.binary, s, "f1", n_draws=40_000))
call("compare/binary/f1/two-jobs")(lambda s: two(data.binary, s, "f1", n_jobs=2))
call("compare/words/f1/spam")(lambda s: two(data.words, s, "f1", pos_label="spam"))
call("compare/words/f1/ham")(lambda s: two(data.words, s, "f1", pos_label="ham"))
call("compare/words/f1_macro")(lambda s: two(data.words, s, "f1_macro"))
call("compare/three/f1/one-class")(lambda s: two(data.three, s, "f1", pos_label="y"))
call("compare/three/recall/one-class")(lambda s: two(data.three, s, "recall", pos_label="z"))
call("compare/three/f1_macro/labels")(
    lambda s: two(data.three, s, "f1_macro", labels=["z", "y", "x", "w"], prior="unit")
)
call("compare/three/f1_macro/some-labels")(
    lambda s: two(data.refusals, s, "f1_macro", labels=["x", "y", "z", "sorry"], prior="unit")
)
call("compare/refusals/f1_macro")(lambda s: two(data.refusals, s, "f1_macro", prior="unit"))
call("compare/refusals/accuracy")(lambda s: two(data.refusals, s, "accuracy"))

# --- what is odd about labels, and is said in a finding --------------------------------------------

ODD = {
    "few-items": lambda: ([1, 1, 0, 0, 1], [1, 1, 0, 1, 1], [1, 0, 0, 1, 1]),
    "near-duplicates": lambda: (
        ["x", "y"] * 60,
        ["x", "Y"] * 30 + ["x", "y"] * 30,
        ["y", "y"] * 60,
    ),
    "empty-label": lambda: (["x", ""] * 60, ["x", "x"] * 60, ["x", ""] * 50 + ["", ""] * 10),
    "never-match": lambda: (["x", "y"] * 60, ["1", "2"] * 60, ["x", "x"] * 60),
    "perfect": lambda: ([1, 0] * 60, [1, 0] * 60, [1, 0] * 55 + [0, 1] * 5),
}
for _name, _columns in ODD.items():
    call(f"compare/odd/{_name}")(
        lambda s, c=_columns: op.compare(
            *c(), metric="accuracy", rope=0.01, n_draws=DRAWS, random_state=s
        )
    )
call("compare/odd/malformed-tags")(
    lambda s: op.compare(
        op.Outcomes.from_tags(
            [["B-PER", "I-PER", "O"]] * 40,
            {
                "A": [["I-PER", "I-PER", "O"]] * 40,
                "B": [["B-PER", "O", "O"], ["B-PER", "I-PER", "O"]] * 20,
            },
            scheme="IOB2",
        ),
        "A",
        "B",
        metric="f1",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)

# --- many classes ---------------------------------------------------------------------------------

for _metric in ("f1_macro", "accuracy", "f1_weighted", "balanced_accuracy"):
    call(f"compare/twenty/{_metric}")(lambda s, m=_metric: two(data.twenty, s, m))
for _prior in ("learned", "unit", "bootstrap"):
    call(f"compare/zipf/f1_macro/{_prior}")(
        lambda s, p=_prior: two(data.zipf, s, "f1_macro", prior=p)
    )
call("compare/zipf/accuracy")(lambda s: two(data.zipf, s, "accuracy"))

# --- priors ---------------------------------------------------------------------------------------

PRIORS = {
    "unit": "unit",
    "uniform": "uniform",
    "jeffreys": "jeffreys",
    "hierarchical": "hierarchical",
    "bootstrap": "bootstrap",
    "number": 2.0,
    "own": op.Prior(rows=[[8, 2], [3, 7]], prevalence=2),
    "matrix": np.array([[3.0, 1.0], [1.0, 3.0]]),
    "cube": np.full((2, 2, 2), 0.5),
    "shares": op.Prior(rows=1, prevalence=[9, 1], name="mine"),
}
for _name, _prior in PRIORS.items():
    call(f"compare/binary/f1/prior-{_name}")(lambda s, p=_prior: two(data.binary, s, "f1", prior=p))
for _prior in ("unit", "uniform", "jeffreys", "hierarchical", "learned", "bootstrap"):
    call(f"compare/three/f1_macro/prior-{_prior}")(
        lambda s, p=_prior: two(data.three, s, "f1_macro", prior=p)
    )
for _metric in ("recall", "specificity", "accuracy"):  # closed forms
    for _prior in ("unit", "uniform", "jeffreys"):
        call(f"compare/binary/{_metric}/prior-{_prior}")(
            lambda s, m=_metric, p=_prior: two(data.binary, s, m, prior=p)
        )

# --- each model on items of its own ---------------------------------------------------------------

for _metric in ("accuracy", "recall", "f1", "precision", "jaccard", "matthews_corrcoef"):
    call(f"compare/binary/{_metric}/unpaired")(
        lambda s, m=_metric: two(data.binary, s, m, paired=False)
    )
call("compare/three/f1_macro/unpaired")(lambda s: two(data.three, s, "f1_macro", paired=False))
call("compare/binary/f1/unpaired-own-prior")(
    lambda s: two(
        data.binary, s, "f1", paired=False, prior=op.Prior(rows=[[8, 2], [3, 7]], prevalence=10)
    )
)


@call("compare/confusion/f1")
def _(s):
    apart = op.Outcomes.from_confusion(
        {"new": [[2440, 30], [71, 459]], "old": [[2429, 41], [96, 434]]}, labels=["ham", "spam"]
    )
    return op.compare(apart, "new", "old", metric="f1", pos_label="spam", rope=0.01, random_state=s)


# --- groups, weights, counts ----------------------------------------------------------------------

GROUPED = {
    "groups": lambda: {"groups": data.groups()},
    "few-groups": lambda: {"groups": data.groups(600, 75)},
    "weights": lambda: {"sample_weight": data.weights()},
    "both": lambda: {"groups": data.groups(), "sample_weight": data.weights()},
}
for _name, _options in GROUPED.items():
    for _metric in ("accuracy", "f1"):
        call(f"compare/binary/{_metric}/{_name}")(
            lambda s, m=_metric, o=_options: two(data.binary, s, m, **o())
        )
call("compare/counts/f1")(
    lambda s: op.compare(
        data.counted(),
        "new",
        "old",
        metric="f1",
        pos_label="spam",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)
call("compare/counts/accuracy")(
    lambda s: op.compare(data.counted(), "new", "old", metric="accuracy", rope=0.01, random_state=s)
)

# --- costs and metrics of one's own ---------------------------------------------------------------


def _own_cost(confusion):
    (tn, fp), (fn, tp) = confusion
    return (10 * fn + fp) / confusion.sum(axis=(0, 1))


OWN = {
    "cost": lambda: op.metrics.cost({("spam", "ham"): 100, ("ham", "spam"): 5}, unit="EUR"),
    "cost-matrix": lambda: op.metrics.cost([[0, 5], [100, 0]], labels=["ham", "spam"]),
    "utility": lambda: op.metrics.utility({("spam", "spam"): 10, ("ham", "spam"): -1}),
    "function": lambda: op.metrics.from_function(
        _own_cost, name="own", vectorized=True, bounds=(0, 10), greater_is_better=False
    ),
}
for _name, _metric in OWN.items():
    call(f"compare/counts/own-{_name}")(
        lambda s, m=_metric: op.compare(
            data.counted(), "new", "old", metric=m(), rope=0.05, n_draws=DRAWS, random_state=s
        )
    )
call("compare/binary/gap")(
    lambda s: two(
        data.binary,
        s,
        op.metrics.gap("recall", np.array(["d", "f"])[np.arange(600) % 2]),
        rope=0.02,
    )
)

# --- right or wrong ------------------------------------------------------------------------------

CORRECT = {
    "plain": dict,
    "groups": lambda: {"groups": np.arange(500) // 5},
    "weights": lambda: {"sample_weight": data.weights(500)},
}
for _name, _options in CORRECT.items():
    call(f"compare/correct/accuracy/{_name}")(
        lambda s, o=_options: ab(op.Outcomes.from_correct(data.correct(), **o()), s, "accuracy")
    )
for _prior in ("uniform", "jeffreys", "hierarchical", "bootstrap"):
    call(f"compare/correct/accuracy/prior-{_prior}")(
        lambda s, p=_prior: ab(op.Outcomes.from_correct(data.correct()), s, "accuracy", prior=p)
    )

# --- label sets, spans ---------------------------------------------------------------------------

for _metric in (
    "f1_samples",
    "precision_samples",
    "recall_samples",
    "jaccard_samples",
    "hamming_loss",
    "f1_micro",
    "f1_macro",
    "f1_weighted",
    "accuracy",
    "jaccard_micro",
    "precision_macro",
    "f2_samples",
):
    call(f"compare/sets/{_metric}")(lambda s, m=_metric: two(data.label_sets, s, m))
call("compare/sets/f1/one-label")(
    lambda s: ab(op.Outcomes.from_label_sets(*data.named_sets()), s, "f1", pos_label="q")
)
call("compare/sets/f1_micro/uniform")(
    lambda s: two(data.label_sets, s, "f1_micro", prior="uniform")
)
call("compare/sets/f1_micro/weights")(
    lambda s: two(data.label_sets, s, "f1_micro", sample_weight=data.weights(350))
)


def tagged(**options):
    return op.Outcomes.from_tags(*data.tags(), scheme="IOB2", **options)


for _metric in ("f1", "precision", "recall", "f1_micro", "f1_macro", "f1_weighted", "jaccard"):
    call(f"compare/spans/{_metric}")(lambda s, m=_metric: ab(tagged(), s, m))
call("compare/spans/f1/from-spans")(lambda s: ab(op.Outcomes.from_spans(*data.spans()), s, "f1"))
call("compare/spans/f1/uniform")(lambda s: ab(tagged(), s, "f1", prior="uniform"))
call("compare/spans/f1/one-type")(lambda s: ab(tagged(), s, "f1", pos_label="PER"))
call("compare/spans/f1/groups")(lambda s: ab(tagged(groups=np.arange(250) // 5), s, "f1"))
call("compare/spans/f1/strict")(lambda s: ab(tagged(strict=True), s, "f1"))
call("compare/spans/f1/tp-fp-fn")(
    lambda s: op.compare(
        op.Outcomes.from_tp_fp_fn({"ours": (80, 10, 20), "theirs": (70, 15, 30)}),
        "ours",
        "theirs",
        metric="f1",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)
call("compare/spans/f1/counts")(
    lambda s: op.compare(
        op.Outcomes.from_span_counts(
            ["X", "X", "X", "X", None, None, None],
            {
                "ours": ["X", "X", None, None, "X", "X", None],
                "theirs": ["X", None, "X", None, "X", None, "X"],
            },
            [68, 12, 2, 18, 8, 2, 7],
        ),
        "ours",
        "theirs",
        metric="f1",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)

# === compare: metrics of scores ===================================================================

for _metric in (
    "roc_auc",
    "average_precision",
    "log_loss",
    "neg_log_loss",
    "brier_score",
    "neg_brier_score",
    "ece",
    "ece_debiased",
    "brier_reliability",
    "brier_resolution",
    "brier_uncertainty",
    "roc_auc_max_fpr_0.1",
    "sensitivity_at_specificity_0.95",
    "specificity_at_sensitivity_0.9",
    "ece_10",
    "ece_debiased_10",
    "brier_reliability_debiased",
):
    call(f"compare/scores/{_metric}")(lambda s, m=_metric: two(data.probabilities, s, m))
for _metric in (
    "roc_auc_ovr",
    "roc_auc_ovo",
    "roc_auc_ovr_weighted",
    "roc_auc_ovo_weighted",
    "log_loss",
    "brier_score",
    "ece",
):
    call(f"compare/class-scores/{_metric}")(
        lambda s, m=_metric: two(data.class_probabilities, s, m)
    )
call("compare/scores/roc_auc/groups")(
    lambda s: two(data.probabilities, s, "roc_auc", groups=np.arange(500) // 5)
)
call("compare/scores/roc_auc/weights")(
    lambda s: two(data.probabilities, s, "roc_auc", sample_weight=data.weights(500))
)
call("compare/scores/own")(
    lambda s: two(
        data.probabilities,
        s,
        op.metrics.from_score_function(
            lambda y, p, w: w[y & (p > 0.5)].sum() / w[y].sum(), name="above", bounds=(0, 1)
        ),
        n_draws=500,
    )
)

for _metric in ("mean", "neg_mean", "median"):
    call(f"compare/grades/{_metric}")(
        lambda s, m=_metric: ab(op.Scores.from_values(data.grades()), s, m, rope=0.1)
    )
for _metric in ("mean_cost", "p50", "p90", "p95", "p99"):
    call(f"compare/seconds/{_metric}")(
        lambda s, m=_metric: ab(op.Scores.from_values(data.seconds()), s, m, rope=0.1)
    )
call("compare/seconds/quantile-0.75")(
    lambda s: ab(op.Scores.from_values(data.seconds()), s, op.metrics.quantile(0.75), rope=0.1)
)
call("compare/grades/mean/groups")(
    lambda s: op.compare(
        None,
        data.grades()["A"],
        data.grades()["B"],
        metric="mean",
        rope=0.1,
        n_draws=DRAWS,
        random_state=s,
        groups=np.arange(400) // 8,
    )
)

for _metric in (
    "mae",
    "neg_mean_absolute_error",
    "mse",
    "neg_mean_squared_error",
    "rmse",
    "neg_root_mean_squared_error",
    "poisson_deviance",
    "neg_mean_poisson_deviance",
    "r2",
    "explained_variance",
    "pearson",
):
    call(f"compare/targets/{_metric}")(lambda s, m=_metric: two(data.regression, s, m, rope=0.05))
call("compare/targets/pinball")(
    lambda s: two(data.regression, s, op.metrics.pinball(0.9), rope=0.05)
)
for _metric in ("wer", "cer", "ter", "bleu", "chrf"):
    call(f"compare/texts/{_metric}")(lambda s, m=_metric: two(data.texts, s, m, rope=0.02))
for _metric in ("dice", "iou", "dice_mean", "iou_mean"):
    call(f"compare/masks/{_metric}")(lambda s, m=_metric: two(data.masks, s, m))
for _metric in (
    "ndcg@10",
    "ndcg",
    "map",
    "map@5",
    "mrr",
    "mrr@3",
    "recall@5",
    "precision@5",
    "hit@2",
):
    call(f"compare/documents/{_metric}")(lambda s, m=_metric: two(data.documents, s, m))
for _metric in ("pass@4", "pass^3", "maj@3"):
    call(f"compare/repeated/{_metric}")(
        lambda s, m=_metric: op.compare(
            None,
            data.repeated()["A"],
            data.repeated()["B"],
            metric=m,
            rope=0.02,
            n_draws=DRAWS,
            random_state=s,
        )
    )


def _price(means):
    return means[1] / means[0]


@call("compare/statistics/own")
def _(s):
    metric = op.metrics.from_statistics_function(_price, greater_is_better=False)
    columns = {m: np.stack([one["right"], one["cents"]], axis=1) for m, one in data.spent().items()}
    return op.compare(
        op.Scores.from_statistics(columns),
        "small",
        "large",
        metric=metric,
        rope=0.5,
        n_draws=DRAWS,
        random_state=s,
    )


# --- judges, annotators, votes, pools ---------------------------------------------------------------


def judged():
    answers, human = data.judged_answers()
    return op.Outcomes.from_judged(answers, human=human)


def judged_labels():
    said, human, judge = data.judged_labels()
    return op.Outcomes.from_judged(said, human=human, judge=judge)


def judged_grades():
    marks, human = data.judged_grades()
    return op.Scores.from_judged(marks, human=human)


call("compare/judged/verdicts")(lambda s: ab(judged(), s, "accuracy", rope=0.02))
call("compare/judged/labels")(lambda s: ab(judged_labels(), s, "f1_macro", rope=0.02))
call("compare/judged/labels-accuracy")(lambda s: ab(judged_labels(), s, "accuracy", rope=0.02))
for _metric in ("judged_mean", "people_mean", "judge_mean"):
    call(f"compare/judged/{_metric}")(lambda s, m=_metric: ab(judged_grades(), s, m, rope=0.1))
for _truth in ("random", "majority", "latent"):
    for _metric in ("accuracy", "f1"):
        call(f"compare/annotators/{_truth}/{_metric}")(
            lambda s, t=_truth, m=_metric: ab(
                op.Outcomes.from_annotators(*data.annotated(), truth=t), s, m, rope=0.02
            )
        )


def voted(**options):
    return op.Scores.from_votes(*data.votes(), **options)


for _metric in ("win_rate", "elo", "first_place"):
    call(f"compare/votes/{_metric}")(
        lambda s, m=_metric: op.compare(
            voted(),
            "large",
            "small",
            metric=m,
            rope=5 if m == "elo" else 0.02,
            n_draws=DRAWS,
            random_state=s,
        )
    )
call("compare/votes/unordered")(
    lambda s: op.compare(
        voted(ordered=False, groups=np.arange(600) // 6),
        "large",
        "medium",
        metric="win_rate",
        rope=0.02,
        n_draws=DRAWS,
        random_state=s,
    )
)


def pooled():
    """Return a pool of which some items have labels, more of those on which the models disagree."""
    truth, said = data.pool()
    which = data.chosen()
    return op.Outcomes.from_pool(truth[which], said, which=which)


call("compare/pool/f1")(lambda s: ab(pooled(), s, "f1", pos_label="spam"))
call("compare/pool/accuracy")(lambda s: ab(pooled(), s, "accuracy"))

# --- other proportions of classes, wrong gold labels ------------------------------------------------

for _name, _shares in {"share": {"spam": 0.05}, "counts": {"spam": 40, "ham": 760}}.items():
    call(f"compare/prevalence/{_name}")(
        lambda s, p=_shares: ab(seen(data.words).at_prevalence(p), s, "f1", pos_label="spam")
    )
call("compare/prevalence/three")(
    lambda s: ab(
        seen(data.three).at_prevalence({"x": 0.1, "y": 0.2, "z": 0.7}), s, "f1_macro", prior="unit"
    )
)
call("compare/prevalence/of-result")(
    lambda s: two(data.words, s, "precision", pos_label="spam").at_prevalence({"spam": 0.1})
)
call("compare/label-errors/one-rate")(
    lambda s: two(data.binary, s, "accuracy").with_label_errors(0.03)
)
call("compare/label-errors/by-class")(
    lambda s: two(data.binary, s, "f1").with_label_errors({1: 0.06, 0: 0.02})
)
call("compare/label-errors/three")(
    lambda s: two(data.three, s, "f1_macro", prior="unit").with_label_errors(0.02)
)

# === what a comparison can be asked ==================================================================

call("result/with_rope")(lambda s: two(data.binary, s, "f1").with_rope(0.05))
call("result/with_rope/uneven")(lambda s: two(data.binary, s, "f1").with_rope((-0.01, 0.1)))
call("result/with_metric/recall")(lambda s: two(data.binary, s, "f1").with_metric("recall"))
call("result/with_metric/scores")(
    lambda s: two(data.probabilities, s, "roc_auc").with_metric("brier_score")
)
call("result/by_class/three")(lambda s: two(data.three, s, "f1_macro", prior="unit").by_class())
call("result/by_class/spans")(lambda s: ab(tagged(), s, "f1").by_class())
call("result/by_class/sets")(lambda s: two(data.label_sets, s, "f1_macro").by_class())
call("result/ratio")(lambda s: two(data.binary, s, "f1").ratio(rope=0.05))
call("result/ratio/seconds")(
    lambda s: ab(op.Scores.from_values(data.seconds()), s, "mean_cost", rope=0.1).ratio(
        rope=(0.9, 1 / 0.9)
    )
)
for _kind in ("roc", "precision_recall", "calibration", "net_benefit"):
    call(f"result/curve/{_kind}")(
        lambda s, k=_kind: two(data.probabilities, s, "roc_auc", n_draws=1_000).curve(k)
    )
call("result/rope_curve")(
    lambda s: [
        {"decision": step.decision.name, "from": step.start, "to": step.stop}
        for step in two(data.binary, s, "f1", n_draws=4_000).rope_curve()
    ]
)
call("result/confusions")(
    lambda s: [m.tolist() for m in two(data.three, s, "accuracy").confusions()]
)
call("result/bayes_factor_point_null/recall")(
    lambda s: factor(two(data.binary, s, "recall", prior="uniform").bayes_factor_point_null())
)
call("result/bayes_factor_point_null/unpaired")(
    lambda s: factor(
        two(
            data.binary, s, "f1", paired=False, prior=op.Prior(rows=1, prevalence=2)
        ).bayes_factor_point_null()
    )
)
call("result/bayes_factor_point_null/kde")(
    lambda s: factor(
        two(data.binary, s, "f1", prior="uniform").bayes_factor_point_null(method="kde")
    )
)
call("result/distribution")(
    lambda s: [
        getattr(two(data.binary, s, "accuracy").distribution, what)(at)
        for what, at in (("cdf", 0.05), ("sf", 0.05), ("pdf", 0.05), ("quantile", 0.3))
    ]
)
call("result/expected_coverage/binary")(lambda s: two(data.binary, s, "f1").expected_coverage())
call("result/expected_coverage/twenty")(
    lambda s: two(data.twenty, s, "f1_macro").expected_coverage()
)


def factor(found):
    """Return a Bayes factor as plain values."""
    names = ("bf01", "log10_bf10", "kind", "method", "bound", "mcse")
    return {name: getattr(found, name) for name in names}


call("result/items/binary")(
    lambda s: ab(seen(data.binary, ids=np.arange(600)), s, "f1").item_table(top=8)
)
call("result/items/all")(lambda s: two(data.small, s, "accuracy").item_table(which="all", top=10))
call("result/items/three")(lambda s: two(data.three, s, "f1_macro", prior="unit").item_table(top=8))
call("result/items/scores")(lambda s: two(data.probabilities, s, "roc_auc").item_table(top=8))
call("result/items/targets")(lambda s: two(data.regression, s, "rmse", rope=0.05).item_table(top=8))
call("result/items/sets")(lambda s: two(data.label_sets, s, "f1_micro").item_table(top=8))
call("result/fragility/far")(lambda s: two(data.far, s, "accuracy").fragility())
call("result/fragility/f1")(lambda s: two(data.far, s, "f1").fragility())
call("result/fragility/correct")(
    lambda s: ab(op.Outcomes.from_correct(data.correct()), s, "accuracy").fragility()
)
call("result/sensitivity/default")(lambda s: two(data.binary, s, "f1").sensitivity())
call("result/sensitivity/priors-ropes")(
    lambda s: two(data.binary, s, "recall").sensitivity(
        priors={"strong": 4.0, "none": "bootstrap"}, ropes=[0.01, (-0.02, 0.1)]
    )
)
call("result/sensitivity/label-errors")(
    lambda s: two(data.binary, s, "accuracy").sensitivity(label_errors=[0.02, {1: 0.1, 0: 0.02}])
)
call("result/sensitivity/three")(
    lambda s: two(data.three, s, "f1_macro", prior="unit", n_draws=1_000).sensitivity()
)
call("result/more_data/binary")(
    lambda s: two(data.binary, s, "f1").more_data(n_simulations=200, n_draws=300, random_state=s)
)
call("result/more_data/decided")(
    lambda s: two(data.far, s, "accuracy").more_data(n_simulations=200, random_state=s)
)
call("result/to_frame")(lambda s: two(data.binary, s, "accuracy").to_frame().to_dict("records"))
call("result/regret")(lambda s: regret(two(data.binary, s, "f1", n_draws=4_000)))


def regret(c):
    return {"a": c.regret.a, "b": c.regret.b, "n_draws": c.to_dict()["n_draws"]}


# === estimate =====================================================================================


def one(data_set, seed, metric, **options):
    truth, said = data_set()
    return op.estimate(truth, said["A"], metric=metric, n_draws=DRAWS, random_state=seed, **options)


for _metric in ("f1", "accuracy", "recall", "precision", "matthews_corrcoef"):
    call(f"estimate/binary/{_metric}")(lambda s, m=_metric: one(data.binary, s, m))
for _prior in ("uniform", "jeffreys", "bootstrap"):
    call(f"estimate/binary/f1/prior-{_prior}")(
        lambda s, p=_prior: one(data.binary, s, "f1", prior=p)
    )
call("estimate/binary/default")(
    lambda s: op.estimate(data.binary()[0], data.binary()[1]["A"], random_state=s, name="bert")
)
call("estimate/binary/f1/hdi-0.8")(lambda s: one(data.binary, s, "f1", hdi_prob=0.8))
call("estimate/binary/f1/density")(
    lambda s: [
        one(data.binary, s, "f1").pdf([0.84, 0.86, 0.88]).tolist(),
        float(one(data.binary, s, "f1").cdf(0.86)),
    ]
)
call("estimate/binary/accuracy/groups")(
    lambda s: one(data.binary, s, "accuracy", groups=data.groups())
)
call("estimate/binary/accuracy/weights")(
    lambda s: one(data.binary, s, "accuracy", sample_weight=data.weights())
)
call("estimate/three/f1_macro")(lambda s: one(data.three, s, "f1_macro"))
call("estimate/twenty/f1_macro")(lambda s: one(data.twenty, s, "f1_macro"))
call("estimate/zipf/accuracy")(lambda s: one(data.zipf, s, "accuracy"))
call("estimate/sets/f1_samples")(lambda s: one(data.label_sets, s, "f1_samples"))
call("estimate/spans/f1")(
    lambda s: op.estimate(tagged(), "B", metric="f1", n_draws=DRAWS, random_state=s)
)
call("estimate/scores/roc_auc")(lambda s: one(data.probabilities, s, "roc_auc"))
call("estimate/targets/rmse")(lambda s: one(data.regression, s, "rmse"))
call("estimate/grades/mean")(
    lambda s: op.estimate(None, data.grades()["A"], metric="mean", n_draws=DRAWS, random_state=s)
)
call("estimate/judged/accuracy")(
    lambda s: op.estimate(judged(), "A", metric="accuracy", n_draws=DRAWS, random_state=s)
)
call("estimate/prevalence/f1")(
    lambda s: op.estimate(
        seen(data.words).at_prevalence({"spam": 0.05}),
        "A",
        metric="f1",
        pos_label="spam",
        n_draws=DRAWS,
        random_state=s,
    )
)

# === rank =========================================================================================


def ranked(data_set, seed, metric, rope=0.01, **options):
    truth, said = data_set()
    return op.rank(
        truth, said, metric=metric, rope=rope, n_draws=DRAWS, random_state=seed, **options
    )


for _metric in ("f1", "accuracy", "recall"):
    call(f"rank/binary/{_metric}")(lambda s, m=_metric: ranked(data.binary, s, m))
call("rank/binary/accuracy/unpaired")(lambda s: ranked(data.binary, s, "accuracy", paired=False))
call("rank/binary/accuracy/groups")(
    lambda s: ranked(data.binary, s, "accuracy", groups=data.groups())
)
call("rank/binary/accuracy/weights")(
    lambda s: ranked(data.binary, s, "accuracy", sample_weight=data.weights())
)
call("rank/binary/f1/jeffreys-unpaired")(
    lambda s: ranked(data.binary, s, "f1", prior="jeffreys", paired=False)
)
call("rank/binary/f1/hdi-0.8")(lambda s: ranked(data.binary, s, "f1", hdi_prob=0.8))
call("rank/binary/f1/with_rope")(lambda s: ranked(data.binary, s, "f1").with_rope(0.05))
call("rank/binary/f1/compare")(lambda s: ranked(data.binary, s, "f1").compare("C", "A"))
call("rank/far/accuracy")(lambda s: ranked(data.far, s, "accuracy"))
call("rank/three/f1_macro")(lambda s: ranked(data.three, s, "f1_macro"))
call("rank/twenty/accuracy")(lambda s: ranked(data.twenty, s, "accuracy"))
call("rank/correct/accuracy")(
    lambda s: op.rank(
        op.Outcomes.from_correct(data.correct()),
        metric="accuracy",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)
call("rank/sets/f1_macro")(lambda s: ranked(data.label_sets, s, "f1_macro"))
call("rank/spans/f1")(
    lambda s: op.rank(tagged(), metric="f1", rope=0.01, n_draws=DRAWS, random_state=s)
)
call("rank/scores/roc_auc")(lambda s: ranked(data.probabilities, s, "roc_auc"))
call("rank/targets/rmse")(lambda s: ranked(data.regression, s, "rmse", 0.05))
call("rank/grades/mean")(
    lambda s: op.rank(
        op.Scores.from_values(data.grades()), metric="mean", rope=0.1, n_draws=DRAWS, random_state=s
    )
)
call("rank/votes/win_rate")(lambda s: op.rank(voted(), rope=0.02, n_draws=DRAWS, random_state=s))

# === scorecard ====================================================================================


def carded(data_set, seed, metrics, rope=0.01, **options):
    truth, said = data_set()
    return op.scorecard(
        truth,
        said["A"],
        said["B"],
        metrics=metrics,
        rope=rope,
        n_draws=DRAWS,
        random_state=seed,
        **options,
    )


call("scorecard/binary")(lambda s: carded(data.binary, s, ["accuracy", "f1", "recall"]))
call("scorecard/three")(
    lambda s: carded(data.three, s, ["accuracy", "f1_macro", "matthews_corrcoef"], prior="unit")
)
call("scorecard/ropes")(
    lambda s: carded(
        data.binary, s, ["precision", "recall"], {"precision": 0.02, "recall": 0.05}, hdi_prob=0.9
    )
)
call("scorecard/scores")(lambda s: carded(data.probabilities, s, ["roc_auc", "brier_score"]))
call("scorecard/sets")(lambda s: carded(data.label_sets, s, ["f1_samples", "hamming_loss"]))
call("scorecard/spans")(
    lambda s: op.scorecard(
        tagged(),
        "A",
        "B",
        metrics=["precision", "recall"],
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)
call("scorecard/joint/binary")(
    lambda s: carded(data.binary, s, ["precision", "recall"]).joint("precision", "recall")
)


def price_card(s):
    return op.scorecard(
        op.Outcomes.from_statistics(data.spent()),
        "small",
        "large",
        metrics=["mean:right", "mean_cost:cents"],
        n_draws=DRAWS,
        random_state=s,
        rope={"mean:right": 0.06, "mean_cost:cents": 0.1},
    )


call("scorecard/statistics")(price_card)
call("scorecard/joint/statistics")(lambda s: price_card(s).joint("mean:right", "mean_cost:cents"))


@call("scorecard/joint/ratio")
def _(s):
    card = price_card(s)
    return card.joint("mean:right", card["mean_cost:cents"].ratio(rope=(0.6, 1 / 0.6)))


# === slices =======================================================================================


def slices(seed, metric, by=("country", "channel"), **options):
    truth, said, columns = data.sliced()
    divided = op.Outcomes.from_labels(truth, said, by={name: columns[name] for name in by})
    return op.compare_slices(
        divided, "A", "B", metric=metric, rope=0.01, n_draws=1_000, random_state=seed, **options
    )


call("slices/binary/f1")(lambda s: slices(s, "f1"))
call("slices/binary/accuracy")(lambda s: slices(s, "accuracy", ("country",)))
call("slices/binary/accuracy/unit")(lambda s: slices(s, "accuracy", ("country",), prior="unit"))
call("slices/binary/recall/hdi-0.8")(lambda s: slices(s, "recall", ("channel",), hdi_prob=0.8))
call("slices/three/f1_macro")(
    lambda s: op.compare_slices(
        seen(data.three, by={"day": np.array(list("pqrs"))[np.arange(700) % 4]}),
        "A",
        "B",
        metric="f1_macro",
        rope=0.02,
        n_draws=1_000,
        random_state=s,
    )
)
call("slices/correct")(
    lambda s: op.compare_slices(
        op.Outcomes.from_correct(
            data.correct(), by={"g": np.array(list("vwxyz"))[np.arange(500) % 5]}
        ),
        "A",
        "B",
        metric="accuracy",
        rope=0.01,
        n_draws=1_000,
        random_state=s,
    )
)
call("slices/targets/rmse")(
    lambda s: op.compare_slices(
        op.Scores.from_targets(*data.regression()),
        "A",
        "B",
        by={"day": np.arange(400) % 4},
        metric="rmse",
        rope=0.1,
        n_draws=1_000,
        random_state=s,
    )
)
call("slices/scores/roc_auc")(
    lambda s: op.compare_slices(
        op.Scores.from_arrays(*data.probabilities()),
        "A",
        "B",
        by={"day": np.arange(500) % 4},
        metric="roc_auc",
        rope=0.02,
        n_draws=1_000,
        random_state=s,
    )
)
call("slices/one")(
    lambda s: ab(
        seen(lambda: data.sliced()[:2], by={"country": data.sliced()[2]["country"]}).slice("pl"),
        s,
        "f1",
    )
)

# === gate =========================================================================================


def gated(data_set, seed, metric, a="A", b="B", **options):
    return op.gate(seen(data_set), a, b, metric=metric, n_draws=DRAWS, random_state=seed, **options)


call("gate/pass")(lambda s: gated(data.far, s, "accuracy", rope=0.01))
call("gate/fail")(lambda s: gated(data.far, s, "accuracy", "B", "A", rope=0.01))
call("gate/undecided")(lambda s: gated(data.small, s, "accuracy", "B", "A", rope=0.01))
call("gate/equivalent")(lambda s: gated(data.alike, s, "accuracy", rope=0.01))
call("gate/equivalent/better")(
    lambda s: gated(data.alike, s, "accuracy", rope=0.01, require="better")
)
call("gate/better/pass")(lambda s: gated(data.far, s, "accuracy", rope=0.01, require="better"))
call("gate/better/undecided")(lambda s: gated(data.binary, s, "f1", rope=0.02, require="better"))
call("gate/guards")(
    lambda s: gated(
        data.far, s, "accuracy", rope=0.01, guards=[("recall", 1, 0.02), ("f1_macro", None, 0.01)]
    )
)
call("gate/guards/undecided")(
    lambda s: gated(
        data.three,
        s,
        "accuracy",
        rope=0.01,
        guards=[("recall", "z", 0.005), op.results.Guard(metric="precision", label="x", rope=0.05)],
    )
)
call("gate/default-rope")(lambda s: gated(data.far, s, "accuracy"))
call("gate/hdi-0.8")(lambda s: gated(data.binary, s, "accuracy", rope=0.01, hdi_prob=0.8))
call("gate/unpaired")(lambda s: gated(data.far, s, "f1", rope=0.01, paired=False))
call("gate/pos_label")(lambda s: gated(data.words, s, "f1", rope=0.01, pos_label="spam"))
call("gate/scores")(
    lambda s: op.gate(
        op.Scores.from_arrays(*data.probabilities()),
        "A",
        "B",
        metric="roc_auc",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)
call("gate/targets/fail")(
    lambda s: op.gate(
        op.Scores.from_targets(*data.regression()),
        "B",
        "A",
        metric="rmse",
        rope=0.05,
        n_draws=DRAWS,
        random_state=s,
    )
)
call("gate/spans")(
    lambda s: op.gate(tagged(), "A", "B", metric="f1", rope=0.01, n_draws=DRAWS, random_state=s)
)
call("gate/assert_not_worse")(
    lambda s: op.testing.assert_not_worse(
        *(data.far()[0], data.far()[1]["A"], data.far()[1]["B"]),
        metric="accuracy",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)
call("gate/assert_better")(
    lambda s: op.testing.assert_better(
        *(data.far()[0], data.far()[1]["A"], data.far()[1]["B"]),
        metric="accuracy",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)

# --- close to the edges: closed forms, so that every decision and status is firm -------------------

EDGES = {
    "alike": (0.003, 0.0044, 0.0046, 0.0098, 0.0101, 0.02),
    "binary": (0.01, 0.02, 0.028, 0.031, 0.06, 0.088, 0.092),
}
for _set, _ropes in EDGES.items():
    for _rope in _ropes:
        call(f"compare/edges/{_set}/{_rope}")(
            lambda s, d=_set, r=_rope: two(getattr(data, d), s, "accuracy", rope=r)
        )
        for _order in ("AB", "BA"):
            for _require in ("not_worse", "better"):
                call(f"gate/edges/{_set}/{_order}/{_require}/{_rope}")(
                    lambda s, d=_set, r=_rope, o=_order, q=_require: (
                        gated(getattr(data, d), s, "accuracy", *o, rope=r, require=q).status.value
                    )
                )

# --- many draws, so that little is lost in their noise ------------------------------------------------

for _set, _metric in {
    "binary": "f1",
    "three": "f1_macro",
    "small": "precision",
    "probabilities": "log_loss",
    "label_sets": "f1_micro",
    "regression": "rmse",
}.items():
    call(f"compare/many-draws/{_set}/{_metric}")(
        lambda s, d=_set, m=_metric: two(
            getattr(data, d), s, m, n_draws=40_000, **({"prior": "unit"} if d == "three" else {})
        )
    )

# === suites =======================================================================================


def suite(**options):
    return op.Suite(data.tasks(), **{"metrics": "accuracy", "ropes": 0.01, **options})


def mixed():
    """Tasks with metrics and ROPEs of their own."""
    return op.Suite(
        {
            "spam": seen(data.binary),
            "topics": seen(data.three),
            "notes": op.Scores.from_values(data.grades()),
            "arc": data.tasks()["arc"],
        },
        metrics={"spam": "f1", "topics": "f1_macro", "notes": "mean", "arc": "accuracy"},
        ropes={"spam": 0.01, "topics": 0.02, "notes": 0.1, "arc": 0.01},
    )


FAST = {"n_draws": DRAWS}
call("suite/compare/equal")(lambda s: op.compare(suite(), "A", "B", random_state=s, **FAST))
call("suite/compare/size")(
    lambda s: op.compare(suite(weights="size"), "A", "B", random_state=s, **FAST)
)
call("suite/compare/weights")(
    lambda s: op.compare(
        suite(weights={"arc": 3, "gsm": 1, "hella": 1, "mmlu": 2, "squad": 1}),
        "A",
        "B",
        random_state=s,
        **FAST,
    )
)
call("suite/compare/scale-rope")(
    lambda s: op.compare(suite(scale="rope"), "A", "B", random_state=s, **FAST)
)
call("suite/compare/mixed")(lambda s: op.compare(mixed(), "A", "B", random_state=s, n_draws=1_000))
call("suite/compare/hdi-0.8")(
    lambda s: op.compare(suite(), "A", "B", random_state=s, hdi_prob=0.8, **FAST)
)
call("suite/rank")(lambda s: op.rank(suite(), random_state=s, n_draws=1_000))
call("suite/rank/size")(lambda s: op.rank(suite(weights="size"), random_state=s, n_draws=1_000))
call("suite/gate")(lambda s: op.gate(suite(), "A", "B", random_state=s, **FAST))
call("suite/gate/policy")(
    lambda s: op.gate(
        suite(),
        "A",
        "B",
        policy={"squad": 0.05, "hella": "advisory", "gsm": "better"},
        random_state=s,
        **FAST,
    )
)
call("suite/gate/fail")(lambda s: op.gate(suite(), "B", "A", random_state=s, **FAST))
call("suite/gate/mixed")(lambda s: op.gate(mixed(), "A", "B", random_state=s, n_draws=1_000))


@call("suite/gate/policy-file")
def _(s):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.toml"
        path.write_text('[tasks]\nsquad = 0.05\nhella = "advisory"\nmmlu = "not_worse"\n', "utf-8")
        return op.gate(suite(), "A", "B", policy=path, random_state=s, **FAST)


@call("suite/compare/from_scores")
def _(s):
    a, b = data.fold_scores()
    table = {
        "data": list(a),
        "A": [sum(v) / 5 for v in a.values()],
        "B": [sum(v) / 5 for v in b.values()],
    }
    return op.compare(op.Suite.from_scores(table, by="data", rope=0.005), "A", "B", random_state=s)


call("suite/compare/by")(
    lambda s: op.compare(
        op.Suite(
            seen(lambda: data.sliced()[:2], by={"country": data.sliced()[2]["country"]}),
            metrics="accuracy",
            ropes=0.01,
        ),
        "A",
        "B",
        random_state=s,
        **FAST,
    )
)

# === runs, folds ==================================================================================


def of_runs(seed, metric="accuracy", a=5, b=4, **options):
    truth, runs_a, runs_b = data.runs()
    return op.compare_runs(
        truth,
        runs_a[:a],
        runs_b[:b],
        metric=metric,
        rope=0.01,
        n_draws=DRAWS,
        random_state=seed,
        **options,
    )


call("runs/accuracy")(of_runs)
call("runs/f1")(lambda s: of_runs(s, "f1"))
call("runs/accuracy/two-each")(lambda s: of_runs(s, a=2, b=2, names=("bert", "gpt")))
call("runs/accuracy/one-against-many")(lambda s: of_runs(s, a=1, b=4))
call("runs/accuracy/groups")(lambda s: of_runs(s, groups=data.groups()))
call("runs/accuracy/bootstrap")(lambda s: of_runs(s, prior="bootstrap", hdi_prob=0.9))
call("runs/details")(lambda s: run_details(of_runs(s)))
call("runs/scores")(
    lambda s: op.compare_runs(
        op.Scores.from_arrays(*data.probabilities()),
        ["A"],
        ["B", "C"],
        metric="roc_auc",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)


def run_details(c):
    d = c.details
    return {
        "n_runs": list(d.n_runs),
        "runs": d.variance_from.runs,
        "low": d.variance_from.runs_low,
        "high": d.variance_from.runs_high,
        "sd": d.pooled.sd,
        "hdi_low": d.pooled.hdi.low,
        "values": list(c.a.details.run_values),
        "run_sd": c.a.details.run_sd,
    }


call("fold-scores/one")(
    lambda s: op.compare_cv_scores(
        *(one["mail"] + one["mail"][::-1] for one in data.fold_scores()),
        folds=10,
        rope=0.005,
        random_state=s,
    )
)
call("fold-scores/repeated")(
    lambda s: op.compare_cv_scores(
        *(one["mail"] + one["news"] for one in data.fold_scores()),
        runs=2,
        rope=0.005,
        random_state=s,
    )
)
call("fold-scores/test_share")(
    lambda s: op.compare_cv_scores(
        *(one["mail"] for one in data.fold_scores()), test_share=0.3, rope=0.005, random_state=s
    )
)
call("fold-scores/several")(
    lambda s: op.compare_cv_scores(
        *data.fold_scores(), folds=5, rope=0.005, n_draws=4_000, random_state=s
    )
)
call("fold-scores/signed-rank")(
    lambda s: op.compare_cv_scores(
        *({k: sum(v) / 5 for k, v in one.items()} for one in data.fold_scores()),
        rope=0.005,
        n_draws=4_000,
        random_state=s,
    )
)
call("fold-scores/cost")(
    lambda s: op.compare_cv_scores(
        *(one["chat"] for one in data.fold_scores()),
        folds=5,
        metric="mean_cost",
        rope=0.005,
        random_state=s,
    )
)

for _correlation in ("averaged", "integrated", (0.5, 0.5), "full"):
    call(f"bcv/compare/{_correlation}")(
        lambda s, c=_correlation: op.compare_cv_counts(
            data.FOLDS_A, data.FOLDS_B, rope=0.01, correlation=c, random_state=s, n_draws=DRAWS
        )
    )
for _metric in ("precision", "recall", "f2", "jaccard"):
    call(f"bcv/compare/{_metric}")(
        lambda s, m=_metric: op.compare_cv_counts(
            data.FOLDS_A, data.FOLDS_B, metric=m, rope=0.01, random_state=s, n_draws=DRAWS
        )
    )
call("bcv/estimate/f1")(
    lambda s: op.estimate_cv_counts(data.FOLDS_B, random_state=s, n_draws=DRAWS)
)
call("bcv/estimate/jeffreys")(
    lambda s: op.estimate_cv_counts(
        data.FOLDS_B, prior="jeffreys", hdi_prob=0.9, random_state=s, n_draws=DRAWS
    )
)


class Threshold:
    """An estimator that cuts the sum of some features at the middle of the classes' means."""

    def __init__(self, columns=(0,)):
        self.columns = columns

    def get_params(self, deep=True):
        return {"columns": self.columns}

    def set_params(self, **params):
        self.columns = params["columns"]
        return self

    def _sum(self, x):
        return np.asarray(x)[:, list(self.columns)].sum(axis=1)

    def fit(self, x, y):
        total, y = self._sum(x), np.asarray(y)
        self.classes_ = np.array([0, 1])
        self.cut_ = (total[y == 0].mean() + total[y == 1].mean()) / 2
        return self

    def predict(self, x):
        return (self._sum(x) > self.cut_).astype(int)

    def predict_proba(self, x):
        p = 1 / (1 + np.exp(self.cut_ - self._sum(x)))
        return np.stack([1 - p, p], axis=1)


def crossed(seed, **options):
    x, y = data.features()
    return op.cross_compare(
        Threshold((0, 1, 2)),
        Threshold((0,)),
        x,
        y,
        rope=0.01,
        names=("all", "one"),
        n_draws=DRAWS,
        random_state=seed,
        n_jobs=1,
        **{"cv": op.BlockedTwoFold(3, random_state=0), "metric": "f1", **options},
    )


call("cross/f1")(crossed)
call("cross/accuracy/integrated")(lambda s: crossed(s, metric="accuracy", correlation="integrated"))
call("cross/roc_auc")(lambda s: crossed(s, metric="roc_auc", cv=5))
call("cross/splits")(
    lambda s: [
        [int(np.sum(train)), int(np.sum(data.features()[1][test]))]
        for train, test in op.BlockedTwoFold(3, random_state=0).split(*data.features())
    ]
)

# === planning, labelling, monitoring ==============================================================

SIMULATED = {"n_simulations": 300, "n_draws": 300}
WORLD = {"accuracies": (0.90, 0.86), "agreement": 0.9}
RATES = {
    "theta_pos": {"11": 0.3, "10": 0.3, "01": 0.2, "00": 0.2},
    "theta_neg": {"11": 0.2, "10": 0.2, "01": 0.3, "00": 0.3},
    "prevalence": 0.5,
}

for _goal in ("≫", "decided", "not_worse"):
    call(f"plan/accuracies/{_goal}")(
        lambda s, g=_goal: op.plan(scenario=WORLD, rope=0.01, goal=g, random_state=s, **SIMULATED)
    )
call("plan/rates")(
    lambda s: op.plan(scenario=RATES, goal="≫", rope=0.05, random_state=s, **SIMULATED)
)
call("plan/rates/unpaired")(
    lambda s: op.plan(
        scenario=RATES, goal="≫", rope=0.05, paired=False, random_state=s, **SIMULATED
    )
)
call("plan/pilot")(
    lambda s: op.plan(
        pilot=seen(data.binary),
        a="A",
        b="B",
        metric="accuracy",
        rope=0.01,
        goal="≫",
        target=0.7,
        random_state=s,
        **SIMULATED,
    )
)
call("plan/unreachable")(
    lambda s: op.plan(
        scenario=WORLD, rope=0.039, goal="≫", max_items=2_000, random_state=s, **SIMULATED
    )
)
call("plan/questions")(
    lambda s: plan_answers(
        op.plan(scenario=WORLD, rope=0.01, goal="≫", random_state=s, n_simulations=500, n_draws=300)
    )
)
call("plan/suite")(
    lambda s: op.plan(
        pilot=suite(), a="A", b="B", goal="≫", n_simulations=100, n_draws=300, random_state=s
    )
)
call("power/rates")(
    lambda s: op.power(
        **RATES, sizes=[500, 1500], goal="≫", metric="f1", rope=0.05, random_state=s, **SIMULATED
    )
)
call("power/rates/unpaired")(
    lambda s: op.power(
        **RATES, sizes=[500, 1500], goal="≫", rope=0.05, paired=False, random_state=s, **SIMULATED
    )
)
call("power/pilot")(
    lambda s: op.power(
        seen(data.binary),
        "A",
        "B",
        sizes=[300, 1200],
        metric="accuracy",
        rope=0.01,
        goal="decided",
        random_state=s,
        **SIMULATED,
    )
)
call("power/pilot/scores")(
    lambda s: op.power(
        op.Scores.from_values(data.grades()),
        "A",
        "B",
        sizes=[200],
        metric="mean",
        rope=0.1,
        random_state=s,
        n_simulations=100,
        n_draws=300,
    )
)


def plan_answers(found):
    return {
        "probability": found.probability(500),
        "width": found.width(500),
        "detectable": found.detectable(500),
        "n_simulations": 500,
    }


def proposed(seed, **options):
    truth, said = data.pool()
    return op.propose(
        said["A"],
        said["B"],
        budget=200,
        random_state=seed,
        **{"metric": "f1", "pos_label": "spam", **options},
    )


call("propose/f1")(proposed)
call("propose/accuracy")(lambda s: proposed(s, metric="accuracy", pos_label=None))
call("propose/judge")(lambda s: proposed(s, judge=data.pool()[0]))
call("propose/verdicts")(
    lambda s: op.propose(
        *data.judged_answers()[0].values(), budget=100, verdicts=True, random_state=s
    )
)
call("propose/items")(lambda s: distinct(proposed(s)))


def distinct(proposal):
    """Return what holds of the items whatever the seed: how many, all different, in the pool."""
    items = proposal.items
    return {
        "n": len(items),
        "distinct": len(set(items.tolist())),
        "in_pool": bool((items < 3_000).all()),
    }


def watched(seed, kind="far", metric="accuracy", **options):
    """Return a monitor after four batches; it keeps its folder for as long as it is read."""
    truth, said = getattr(data, kind)()
    with tempfile.TemporaryDirectory() as folder:
        monitor = op.Monitor(
            folder, "A", "B", metric=metric, rope=0.01, n_draws=DRAWS, random_state=seed, **options
        )
        for k in range(4):
            rows = slice(k * len(truth) // 4, (k + 1) * len(truth) // 4)
            monitor.add(truth[rows], {m: said[m][rows] for m in "AB"}, key=f"batch {k}")
        return {
            "facts": monitor.to_dict(),
            "stopped": monitor.stopped and monitor.stopped.number,
            "at 2": monitor.at(2).to_dict(),
            "n": monitor.outcomes.n,
        }


call("monitor/accuracy")(watched)
call("monitor/f1/width")(lambda s: watched(s, metric="f1", stop=("width", 0.05)))
call("monitor/accuracy/decision")(lambda s: watched(s, stop="decision"))
call("monitor/accuracy/bayes-factor")(lambda s: watched(s, stop=("bayes_factor", 10)))
call("monitor/alike")(lambda s: watched(s, kind="alike", stop="decision"))

# === nhst =========================================================================================

DIFFERENCES = [[0.021, 0.012], [0.015, 0.018], [0.009, 0.022], [0.017, 0.004], [0.020, 0.011]]
SCORES_A, SCORES_B = [0.91, 0.85, 0.77, 0.88, 0.69, 0.95], [0.89, 0.86, 0.74, 0.85, 0.66, 0.94]
TESTS = {
    "sign_test": lambda s: op.nhst.sign_test(31, 14),
    "mcnemar": lambda s: op.nhst.mcnemar(31, 14),
    "mcnemar/mid-p": lambda s: op.nhst.mcnemar(31, 14, mid_p=True),
    "welch_test": lambda s: op.nhst.welch_test(500, 430, 401),
    "sign_test_over_classes": lambda s: op.nhst.sign_test_over_classes(SCORES_A, SCORES_B),
    "paired_t_over_classes": lambda s: op.nhst.paired_t_over_classes(SCORES_A, SCORES_B),
    "f_5x2": lambda s: op.nhst.f_5x2(DIFFERENCES),
    "t_5x2": lambda s: op.nhst.t_5x2(DIFFERENCES),
    "corrected_resampled_t": lambda s: op.nhst.corrected_resampled_t(np.ravel(DIFFERENCES), 9, 1),
    "agreement": lambda s: list(seen(data.binary).select(["A", "B"]).agreement()),
}
for _name, _test in TESTS.items():
    call(f"nhst/{_name}")(_test)

# === outcomes, names, reading =====================================================================

call("names/metrics")(lambda s: sorted(op.metrics.names()))
call("names/score-metrics")(lambda s: sorted(op.metrics.score_names()))
call("names/set-metrics")(lambda s: sorted(op.metrics.set_names()))
call("names/public")(lambda s: sorted(op.__all__))
call("names/decisions")(lambda s: {one.name: [one.symbol, one.words] for one in op.Decision})
call("names/metric-facts")(
    lambda s: {
        name: [
            op.metrics.get(name).label,
            *op.metrics.get(name).bounds,
            op.metrics.get(name).greater_is_better,
        ]
        for name in op.metrics.names()
    }
)
call("names/results")(lambda s: sorted(op.results.__all__))
call("outcomes/labels")(lambda s: seen(data.three))
call("outcomes/binarize")(lambda s: seen(data.three).binarize("y"))
call("outcomes/select-unpair")(lambda s: seen(data.binary).select(["A", "C"]).unpair())
call("outcomes/add")(lambda s: seen(data.binary) + seen(data.far))
call("outcomes/json")(lambda s: op.Outcomes.from_json(seen(data.three).to_json()))
call("outcomes/groups")(lambda s: seen(data.binary, groups=data.groups()))
call("outcomes/tags")(lambda s: tagged())
call("outcomes/sets")(lambda s: op.Outcomes.from_label_sets(*data.named_sets()))
call("outcomes/annotators")(
    lambda s: op.Outcomes.from_annotators(*data.annotated(), truth="majority")
)
call("outcomes/judged")(lambda s: judged())
call("outcomes/pool")(lambda s: pooled())
call("outcomes/scores")(lambda s: op.Scores.from_arrays(*data.probabilities()))
call("outcomes/mixed-types")(
    lambda s: op.Outcomes.from_labels(
        [1, 0, 1, 0], {"A": ["1", "0", "0", "0"], "B": [1.0, 0.0, 1.0, 1.0]}
    )
)


def rows(n=300):
    """Return a table of two models, as text or numbers would come from a file."""
    truth, said = data.words()
    return [
        {
            "id": k,
            "country": "df"[k % 2],
            "author": k // 5,
            "w": 1 + k % 3,
            "label": truth[k],
            "old": said["B"][k],
            "new": said["A"][k],
        }
        for k in range(n)
    ]


def scored_rows(n=200):
    truth, said = data.probabilities()
    return [
        {
            "id": k,
            "label": int(truth[k]),
            "old": round(float(said["B"][k]), 4),
            "new": round(float(said["A"][k]), 4),
        }
        for k in range(n)
    ]


def from_file(name: str, text: str, read: Callable[[Path], object]) -> object:
    """Write a small file, read it and forget it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, "utf-8")
        return read(path)


NEW_OLD = {"truth": "label", "models": ["old", "new"]}
READ = {
    "plain": {},
    "groups": {"groups": "author"},
    "weight": {"weight": "w"},
    "count": {"count": "w"},
    "where": {"where": {"country": "d"}},
    "by": {"by": "country"},
    "id": {"id": "id"},
}
for _name, _options in READ.items():
    call(f"read/csv/{_name}")(
        lambda s, o=_options: from_file(
            "p.csv", text_of(rows()), lambda path: op.read(path, **NEW_OLD, **o)
        )
    )
call("read/jsonl")(
    lambda s: from_file("p.jsonl", text_of(rows(), "jsonl"), lambda path: op.read(path, **NEW_OLD))
)
call("read/tsv")(
    lambda s: from_file(
        "p.tsv", text_of(rows()).replace(",", "\t"), lambda path: op.read(path, **NEW_OLD)
    )
)
call("read/stream")(lambda s: op.read(io.StringIO(text_of(rows())), format="csv", **NEW_OLD))
call("read/csv/null-drop")(
    lambda s: from_file(
        "p.jsonl",
        text_of(
            [{**row, "new": None if row["id"] == 3 else row["new"]} for row in rows()], "jsonl"
        ),
        lambda path: op.read(path, on_null="drop", **NEW_OLD),
    )
)
call("read/csv/compare")(
    lambda s: from_file(
        "p.csv",
        text_of(rows()),
        lambda path: op.compare(
            op.read(path, **NEW_OLD),
            "new",
            "old",
            metric="f1",
            pos_label="spam",
            rope=0.01,
            n_draws=DRAWS,
            random_state=s,
        ),
    )
)
call("read/csv/slices")(
    lambda s: from_file(
        "p.csv",
        text_of(rows()),
        lambda path: op.compare_slices(
            path,
            "new",
            "old",
            by="country",
            truth="label",
            metric="accuracy",
            rope=0.01,
            n_draws=1_000,
            random_state=s,
        ),
    )
)
call("read/correct")(
    lambda s: from_file(
        "p.csv",
        text_of(
            [
                {"id": k, "A": int(data.correct()["A"][k]), "B": int(data.correct()["B"][k])}
                for k in range(200)
            ]
        ),
        lambda path: op.read(path, correct=["A", "B"]),
    )
)
call("read/long")(
    lambda s: op.read(
        io.StringIO(
            text_of(
                [
                    {"q": k, "model": m, "score": int(data.correct()[m][k])}
                    for k in range(100)
                    for m in "AB"
                ]
            )
        ),
        format="long",
        id="q",
        model="model",
        score="score",
    )
)
call("read/joined")(lambda s: joined())
call("read/joined/drop")(lambda s: joined(on_missing="drop", short=10))
call("read_scores/csv")(
    lambda s: from_file(
        "p.csv", text_of(scored_rows()), lambda path: op.read_scores(path, **NEW_OLD)
    )
)
call("read_scores/csv/compare")(
    lambda s: from_file(
        "p.csv",
        text_of(scored_rows()),
        lambda path: op.compare(
            op.read_scores(path, **NEW_OLD),
            "new",
            "old",
            metric="roc_auc",
            rope=0.01,
            n_draws=DRAWS,
            random_state=s,
        ),
    )
)
call("read_scores/grades")(
    lambda s: from_file(
        "p.csv",
        text_of(
            [{"id": k, "A": data.grades()["A"][k], "B": data.grades()["B"][k]} for k in range(200)]
        ),
        lambda path: op.read_scores(path, models=["A", "B"]),
    )
)


def joined(short=0, **options):
    """Read gold and one file for each model, joined on an id."""
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, column in (("gold", "label"), ("old", "old"), ("new", "new")):
            kept = rows(120)[: 120 - short] if name == "new" else rows(120)
            files[name] = Path(folder) / f"{name}.csv"
            files[name].write_text(
                text_of([{"id": r["id"], "label": r[column]} for r in kept]), "utf-8"
            )
        return op.read(files, id="id", label="label", **options)


@call("read/parquet")
def _(s):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(pa.Table.from_pylist(rows()), Path(folder) / "p.parquet")
        return op.read(Path(folder) / "p.parquet", **NEW_OLD)


@call("read/pandas")
def _(s):
    import pandas as pd

    return op.read(pd.DataFrame(rows()), **NEW_OLD)


@call("read/polars")
def _(s):
    import polars as pl

    return op.read(pl.DataFrame(rows()), groups="author", **NEW_OLD)


@call("read/conll")
def _(s):
    text = "Ada NNP B-PER\nLovelace NNP I-PER\nlived VBD O\n\n# # O\nLondon NNP B-LOC\n"
    return from_file("gold.conll", text, op.read_conll)


LOGGED = {
    "lm-eval": ("lm_eval", {"format": "lm-eval", "score": "acc", "on_missing": "drop"}),
    "lm-eval/recognized": ("lm_eval", {"score": "acc_norm", "on_missing": "drop"}),
    "inspect/once": ("inspect/once", {"format": "inspect", "score": "match", "on_missing": "drop"}),
    "inspect/epochs": ("inspect/epochs", {"format": "inspect", "score": "match"}),
    "inspect/epochs-csv": ("inspect/epochs.csv", {"format": "inspect", "score": "match"}),
    "inspect/chat-parquet": ("inspect/chat.parquet", {"format": "inspect", "score": "match"}),
    "promptfoo": ("promptfoo", {"format": "promptfoo"}),
    "pydantic-evals": ("pydantic_evals", {"format": "pydantic-evals"}),
    "deepeval": ("deepeval", {"format": "deepeval"}),
    "openai-evals": ("openai_evals", {"format": "openai-evals"}),
    "helm": ("helm", {"format": "helm", "score": "exact_match"}),
}
for _name, (_path, _options) in LOGGED.items():
    call(f"logs/{_name}")(lambda s, p=_path, o=_options: op.read(LOGS / p, **o))
for _name, (_path, _options) in {
    "inspect": ("inspect/epochs", {"format": "inspect", "score": "match"}),
    "helm": ("helm", {"format": "helm", "score": "num_output_characters"}),
    "pydantic-evals": ("pydantic_evals", {"format": "pydantic-evals", "score": "Length"}),
}.items():
    call(f"logs/scores/{_name}")(lambda s, p=_path, o=_options: op.read_scores(LOGS / p, **o))
call("logs/rank/pydantic-evals")(
    lambda s: op.rank(
        op.read(LOGS / "pydantic_evals", format="pydantic-evals"),
        metric="accuracy",
        rope=0.02,
        n_draws=DRAWS,
        random_state=s,
    )
)
call("logs/compare/promptfoo")(
    lambda s: first_two(op.read(LOGS / "promptfoo", format="promptfoo"), s)
)


def first_two(outcomes, seed):
    a, b = outcomes.models[:2]
    return op.compare(
        outcomes, a, b, metric="accuracy", rope=0.02, n_draws=DRAWS, random_state=seed
    )


call("datasets/news20")(
    lambda s: op.compare(
        *(
            op.Outcomes.from_labels(
                op.datasets.load_news20().y_true, op.datasets.load_news20().predictions
            ),
            "nb_mult",
            "svm_l2",
        ),
        metric="accuracy",
        rope=0.01,
        n_draws=DRAWS,
        random_state=s,
    )
)

# === what must be refused =========================================================================

Y, YA, YB = [1, 0, 1, 0] * 5, [1, 0, 1, 1] * 5, [1, 1, 0, 0] * 5
REFUSED = {
    "metric-unknown": lambda s: op.compare(Y, YA, YB, metric="f1_makro"),
    "metric-no-name": lambda s: op.compare(Y, YA, YB, metric=3),
    "lengths": lambda s: op.compare(Y, YA[:-1], YB),
    "empty": lambda s: op.compare([], [], []),
    "missing-value": lambda s: op.compare(Y, [None, *YA[1:]], YB),
    "nan": lambda s: op.compare(Y, [float("nan"), *YA[1:]], YB),
    "scores-as-labels": lambda s: op.compare(Y, [0.5] * 20, YB, metric="f1"),
    "rope-negative": lambda s: op.compare(Y, YA, YB, rope=-0.1),
    "rope-turned": lambda s: op.compare(Y, YA, YB, rope=(0.1, -0.1)),
    "rope-text": lambda s: op.compare(Y, YA, YB, rope="wide"),
    "rope-too-wide": lambda s: op.compare(Y, YA, YB, rope=1.5),
    "hdi-one": lambda s: op.compare(Y, YA, YB, hdi_prob=1.0),
    "hdi-per-cent": lambda s: op.compare(Y, YA, YB, hdi_prob=95),
    "draws-zero": lambda s: op.compare(Y, YA, YB, n_draws=0),
    "draws-fraction": lambda s: op.compare(Y, YA, YB, n_draws=10.5),
    "prior-unknown": lambda s: op.compare(Y, YA, YB, prior="flat"),
    "prior-negative": lambda s: op.compare(Y, YA, YB, prior=-1.0),
    "prior-shape": lambda s: op.compare(Y, YA, YB, prior=np.ones((3, 3))),
    "pos_label-absent": lambda s: op.compare(Y, YA, YB, metric="f1", pos_label=7),
    "pos_label-needed": lambda s: two(data.words, s, "f1"),
    "rank-uniform": lambda s: ranked(data.binary, s, "f1", prior="uniform"),
    "stop-unknown": lambda s: op.Monitor(".", "A", "B", stop="decided"),
    "logs-score-needed": lambda s: op.read(LOGS / "lm_eval", format="lm-eval"),
    "logs-missing-items": lambda s: op.read(LOGS / "inspect/once", format="inspect", score="match"),
    "labels-twice": lambda s: op.compare(Y, YA, YB, labels=[0, 1, 1]),
    "names-equal": lambda s: op.compare(Y, YA, YB, names=("A", "A")),
    "groups-length": lambda s: op.compare(Y, YA, YB, groups=[1, 2]),
    "weights-negative": lambda s: op.compare(Y, YA, YB, sample_weight=[-1.0] * 20),
    "weights-length": lambda s: op.compare(Y, YA, YB, sample_weight=[1.0]),
    "engine-unknown": lambda s: op.compare(Y, YA, YB, engine="stan"),
    "model-unknown": lambda s: op.compare(seen(data.binary), "A", "D"),
    "seed-text": lambda s: op.compare(Y, YA, YB, random_state="seven"),
    "truth-none-f1": lambda s: op.compare(None, YA, YB, metric="f1"),
    "ordinal-text": lambda s: two(data.three, s, "ordinal_mae"),
    "confusion-paired": lambda s: op.Outcomes.from_confusion({"a": [[1, 2]], "b": [[1], [2]]}),
    "counts-negative": lambda s: op.Outcomes.from_counts([1, 0], {"m": [1, 1]}, [3, -2]),
    "correct-numbers": lambda s: op.Outcomes.from_correct({"a": [1, 2, 3]}),
    "tags-scheme": lambda s: op.Outcomes.from_tags([["S-PER"]], {"a": [["O"]]}, scheme="IOB2"),
    "scheme-unknown": lambda s: op.Outcomes.from_tags([["O"]], {"a": [["O"]]}, scheme="IOB9"),
    "prevalence-sum": lambda s: seen(data.words).at_prevalence({"spam": 0.7, "ham": 0.7}),
    "prevalence-class": lambda s: seen(data.words).at_prevalence({"eggs": 0.1}),
    "label-errors-half": lambda s: two(data.binary, s, "accuracy").with_label_errors(0.6),
    "label-errors-correct": lambda s: ab(
        op.Outcomes.from_correct(data.correct()), s, "accuracy"
    ).with_label_errors(0.03),
    "fragility-scores": lambda s: two(data.probabilities, s, "roc_auc").fragility(),
    "curve-kind": lambda s: two(data.probabilities, s, "roc_auc").curve("lift"),
    "curve-labels": lambda s: two(data.binary, s, "f1").curve("roc"),
    "ratio-negative": lambda s: two(data.binary, s, "matthews_corrcoef").ratio(rope=-1),
    "items-spans": lambda s: ab(tagged(), s, "f1").item_table(),
    "point-null-bootstrap": lambda s: two(
        data.binary, s, "f1", prior="bootstrap"
    ).bayes_factor_point_null(),
    "rank-one-model": lambda s: op.rank(Y, {"A": YA}),
    "scorecard-no-metric": lambda s: op.scorecard(Y, YA, YB, metrics=[]),
    "slices-none": lambda s: op.compare_slices(seen(data.binary), "A", "B"),
    "gate-require": lambda s: gated(data.far, s, "accuracy", require="equal"),
    "gate-guard": lambda s: gated(data.far, s, "accuracy", guards=[("recall",)]),
    "assert-fails": lambda s: op.testing.assert_not_worse(
        seen(data.far), "B", "A", metric="accuracy", rope=0.01, random_state=1
    ),
    "policy-task": lambda s: op.gate(suite(), "A", "B", policy={"bbh": "advisory"}),
    "policy-advisory": lambda s: op.gate(
        suite(), "A", "B", policy={task: "advisory" for task in data.tasks()}
    ),
    "suite-metric": lambda s: op.compare(suite(), "A", "B", metric="accuracy"),
    "suite-weights": lambda s: suite(weights={"arc": 1}),
    "plan-nothing": lambda s: op.plan(),
    "plan-goal": lambda s: op.plan(scenario=WORLD, goal="superb"),
    "plan-agreement": lambda s: op.plan(scenario={"accuracies": (0.9, 0.2), "agreement": 0.9}),
    "power-sizes": lambda s: op.power(**RATES, sizes=[0]),
    "propose-budget": lambda s: op.propose(YA, YB, budget=100),
    "runs-one-each": lambda s: op.compare_runs(Y, [YA], [YB], metric="accuracy"),
    "fold-scores-lengths": lambda s: op.compare_cv_scores([0.8, 0.9], [0.7]),
    "bcv-odd-folds": lambda s: op.compare_cv_counts(data.FOLDS_A[:3], data.FOLDS_B[:3]),
    "nhst-negative": lambda s: op.nhst.sign_test(-1, 3),
    "read-column": lambda s: op.read(
        io.StringIO("a,b\n1,2\n"), format="csv", truth="c", models=["b"]
    ),
    "read-format": lambda s: op.read("x", format="lm_eval"),
    "read-absent": lambda s: op.read("nothing-here.csv", truth="a", models=["b"]),
    "read-null": lambda s: op.read(
        io.StringIO('{"a": 1, "b": null}\n'), format="jsonl", truth="a", models=["b"]
    ),
    "json-broken": lambda s: op.Outcomes.from_json("{}"),
    "votes-winner": lambda s: op.Scores.from_votes(["a", "b"], ["b", "a"], ["c", "a"]),
    "judged-people": lambda s: op.Outcomes.from_judged({"a": [1, 0]}, human={"b": [1, 0]}),
}
for _name, _refused in REFUSED.items():
    call(f"refused/{_name}")(_refused)

# === the default prior of three classes or more, under every verb ==================================

CLASSES = {"3": data.three, "10": data.ten, "50": data.fifty}
for _name, _set in CLASSES.items():
    for _metric in ("f1_macro", "accuracy"):
        call(f"learned/{_name}/estimate/{_metric}")(lambda s, d=_set, m=_metric: one(d, s, m))
    call(f"learned/{_name}/compare")(lambda s, d=_set: two(d, s, "f1_macro", n_draws=500))
    call(f"learned/{_name}/rank")(lambda s, d=_set: ranked(d, s, "f1_macro"))
    call(f"learned/{_name}/gate")(lambda s, d=_set: gated(d, s, "f1_macro", rope=0.01))
    call(f"learned/{_name}/ratio")(lambda s, d=_set: two(d, s, "f1_macro").ratio(rope=0.05))
    call(f"learned/{_name}/slices")(
        lambda s, d=_set: op.compare_slices(
            seen(d, by={"day": np.array(list("pqr"))[np.arange(len(d()[0])) % 3]}),
            "A", "B", metric="f1_macro", rope=0.02, n_draws=500, random_state=s,
        )
    )  # fmt: skip
for _name in ("3", "10"):
    call(f"learned/{_name}/scorecard")(
        lambda s, d=CLASSES[_name]: carded(d, s, ["accuracy", "f1_macro", "f1_weighted"])
    )
    call(f"learned/{_name}/unpaired")(
        lambda s, d=CLASSES[_name]: two(d, s, "f1_macro", paired=False)
    )

# === label sets under each prior ----------------------------------------------------------------------

for _prior in ("unit", "uniform", "jeffreys", "hierarchical", "learned", "bootstrap"):
    for _metric in ("f1_macro", "f1_micro", "f1_samples"):
        call(f"sets/{_metric}/prior-{_prior}")(
            lambda s, m=_metric, p=_prior: two(data.label_sets, s, m, prior=p, n_draws=500)
        )
call("sets/f1_macro/groups")(
    lambda s: two(data.label_sets, s, "f1_macro", groups=np.arange(350) // 5)
)
call("sets/f1_samples/weights")(
    lambda s: two(data.label_sets, s, "f1_samples", sample_weight=data.weights(350))
)
call("sets/f1_macro/labels")(
    lambda s: ab(
        op.Outcomes.from_label_sets(*data.named_sets()), s, "f1_macro", labels=["p", "q", "t"]
    )
)

# === pairs: each property with each verb and each prior, and each verb with each prior ==================

PAIR_PRIORS = (None, "unit", "uniform", "jeffreys", "hierarchical", "learned", "bootstrap")


def two_days(n):
    return {"day": np.array(["mon", "tue"])[np.arange(n) % 2]}


# Of each property: outcomes or scores, and what they are asked. Slices come with labels, or beside.
PAIR_DATA = {
    "two": (lambda **by: seen(data.binary, **by), {"metric": "f1"}),
    "three": (lambda **by: seen(data.three, **by), {"metric": "f1_macro"}),
    "levels": (lambda **by: seen(data.levels, **by), {"metric": "ordinal_mae"}),
    "groups": (lambda **by: seen(data.binary, groups=data.groups(), **by), {"metric": "f1"}),
    "weights": (lambda **by: seen(data.binary, sample_weight=data.weights(), **by), {"metric": "f1"}),
    "correct": (lambda **by: op.Outcomes.from_correct(data.correct(), **by), {"metric": "accuracy"}),
    "prevalence": (lambda **by: seen(data.words, **by).at_prevalence({"spam": 0.1}),
                   {"metric": "f1", "pos_label": "spam"}),
    "unpaired": (lambda **by: seen(data.binary, **by).unpair(), {"metric": "f1"}),
    "sets": (lambda: op.Outcomes.from_label_sets(*data.named_sets()), {"metric": "f1_micro"}),
    "spans": (lambda: tagged(), {"metric": "f1"}),
    "pool": (lambda: pooled(), {"metric": "accuracy"}),
    "judged": (lambda: judged(), {"metric": "accuracy"}),
    "annotators": (lambda: op.Outcomes.from_annotators(*data.annotated(), truth="majority"),
                   {"metric": "accuracy"}),
    "scores": (lambda: op.Scores.from_arrays(*data.probabilities()), {"metric": "roc_auc"}),
    "grades": (lambda: op.Scores.from_values(data.grades()), {"metric": "mean"}),
}  # fmt: skip
LABELLED = list(PAIR_DATA)[:8]
PAIR_VERBS = {
    "compare": lambda o, asked: op.compare(o, "A", "B", **asked),
    "estimate": lambda o, asked: op.estimate(
        o, "A", **{name: value for name, value in asked.items() if name != "rope"}),
    "rank": lambda o, asked: op.rank(o, **asked),
    "scorecard": lambda o, asked: op.scorecard(
        o, "A", "B", metrics=[asked["metric"]],
        **{name: value for name, value in asked.items() if name != "metric"}),
    "gate": lambda o, asked: op.gate(o, "A", "B", **asked),
    "slices": lambda o, asked: op.compare_slices(o, "A", "B", **asked),
    "ratio": lambda o, asked: op.compare(o, "A", "B", **asked).ratio(rope=0.05),
    "items": lambda o, asked: op.compare(o, "A", "B", **asked).item_table(top=3),
    "fragility": lambda o, asked: op.compare(o, "A", "B", **asked).fragility(),
}  # fmt: skip


def paired(property, verb, prior, seed):
    """Ask one verb of data with one property, under one prior."""
    made, asked = PAIR_DATA[property]
    asked = {"rope": 0.02, **asked, "prior": prior, "n_draws": 500, "random_state": seed}
    if verb != "slices":
        return PAIR_VERBS[verb](made(), asked)
    by = two_days(int(made().n))
    if property in LABELLED:
        return PAIR_VERBS[verb](made(by=by), asked)
    return PAIR_VERBS[verb](made(), {**asked, "by": by})


for _p, _property in enumerate(PAIR_DATA):
    for _v, _verb in enumerate(PAIR_VERBS):
        _prior = PAIR_PRIORS[(_p + _v) % len(PAIR_PRIORS)]
        call(f"pairs/{_property}/{_verb}/{_prior or 'default'}")(
            lambda s, p=_property, v=_verb, prior=_prior: paired(p, v, prior, s)
        )
