"""Several comparisons side by side: one per class, or one per metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform import present
from outperform._typing import Label, Seed
from outperform.comparison import engine, pictures, rows
from outperform.comparison.comparing import two_models
from outperform.comparison.concluding import conclude
from outperform.comparison.question import Question, ask, rope_for
from outperform.comparison.result import Comparison
from outperform.comparison.scored import Asked, ScoreQuestion
from outperform.comparison.scored.asking import ask_any
from outperform.comparison.tabular import Tabular
from outperform.comparison.views import of_one_class
from outperform.decision import check_prob
from outperform.errors import UsageError, unknown_name
from outperform.outcomes.occurring import true_codes
from outperform.posterior import child, seed_sequence


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ComparisonTable(Tabular):
    """Comparisons with a key each, as a table with the papers' columns.

    Parameters
    ----------
    what
        What the keys are: ``"class"`` or ``"metric"``.
    keys
        One for each comparison.
    comparisons
        The comparisons.

    Examples
    --------
    >>> import outperform as op
    >>> card = op.scorecard([1, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0],
    ...                     metrics=["recall", "accuracy"], rope=0.05, random_state=1)
    >>> card["recall"].names
    ('A', 'B')
    >>> len(card)
    2
    """

    what: str
    keys: tuple[Label, ...]
    comparisons: tuple[Comparison, ...]

    def __getitem__(self, key: Label) -> Comparison:
        if key not in self.keys:
            raise UsageError(unknown_name(self._noun, key, map(str, self.keys)))
        return self.comparisons[self.keys.index(key)]

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def table(self) -> present.Table:
        """Return the rows: p-values, posterior, verdict."""
        return rows.full_table(self.what, self.keys, self.comparisons)

    def to_latex(
        self,
        *,
        columns: Sequence[str] | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the rows as a LaTeX table, with symbols for verdicts and letters for doubts.

        All columns together lie on their side; a few of them stand upright.

        Parameters
        ----------
        columns
            The columns to show, by their names in a data frame; all if None.
        caption
            Plain text for the caption; by default what is compared, with which model and ROPE.
        label
            What the paper's references call the table; made of the names if None.
        """
        table = rows.compact_table(self.table(), columns)
        return present.captioned(table, caption).to_latex(label=label or self._latex_label())

    def to_dict(self) -> dict[str, Any]:
        """Return all comparisons as plain values, with a schema version."""
        return {
            "schema": 1,
            "kind": "comparisons",
            "by": self.what,
            "keys": list(self.keys),
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw one interval a comparison, in the order of the keys, with its verdict.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        return pictures.plot_forest(self.what, self.keys, self.comparisons, ax)

    def __str__(self) -> str:
        return rows.as_text(self.what, self.table(), self.comparisons)

    def __repr__(self) -> str:
        symbols = "".join(comparison.decision.symbol for comparison in self.comparisons)
        return f"ComparisonTable(by {self._noun}, {len(self)} comparisons: {symbols})"

    @property
    def _noun(self) -> str:
        return rows.noun(self.what, self.comparisons[0].question)

    def _latex_label(self) -> str:
        first = self.comparisons[0]
        metric = () if self.what == "metric" else (first.metric,)
        return present.latex_label(*first.names, *metric, "by", self._noun)


def compare_classes(comparison: Comparison) -> ComparisonTable:
    """Compare each class against the rest with the metric's one-class form."""
    asked = comparison.counted
    metric = of_one_class(asked.metric)
    given = asked.given
    # A class that is never true has nothing to find, unless somebody named it.
    named = () if given.labels is None else given.labels
    true = set(true_codes(asked.seen).tolist()) or set(range(asked.seen.n_classes))
    labels = tuple(
        label for code, label in enumerate(asked.seen.labels) if code in true or label in named
    )
    questions = [
        ask(
            asked.seen,
            metric=metric,
            model=given.model,
            default_model="unit",
            prior=given.prior,
            paired=given.paired,
            labels=None,
            pos_label=label,
            prevalence=given.prevalence,
            counting=asked.counting,
        )
        for label in labels
    ]
    found = _answer_classes(comparison, questions)
    return ComparisonTable(what="class", keys=labels, comparisons=found)


def _answer_classes(
    comparison: Comparison, questions: Sequence[Question]
) -> tuple[Comparison, ...]:
    """Answer one question a class; those that tell all classes apart share their draws."""
    rope, seed = comparison.rope, comparison.seed
    found: dict[int, Comparison] = {}
    whole = [code for code, one in enumerate(questions) if one.view.n_classes > 2]
    if whole:
        together = [questions[code] for code in whole]
        answers = comparison.ask_together(together, rope=rope, seed=child(seed, whole[0]))
        found.update(zip(whole, answers, strict=True))
    for code, question in enumerate(questions):
        if code not in found:
            # One stream per class, so that a class's row does not depend on the others.
            found[code] = comparison.ask_also(question, rope=rope, seed=child(seed, code))
    return tuple(found[code] for code in range(len(questions)))


def scorecard(
    y_true: Any,
    pred_a: Any,
    pred_b: Any,
    *,
    metrics: Sequence[Any],
    rope: Any = None,
    hdi_prob: float = 0.95,
    prior: Any = None,
    model: str | None = None,
    paired: bool = True,
    n_draws: int = 20_000,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    prevalence: Any = None,
    names: tuple[str, str] = ("A", "B"),
    groups: Any = None,
    sample_weight: Any = None,
) -> ComparisonTable:
    """Compare two classifiers in several metrics from one set of draws.

    Metrics that look at the same table under the same model share every draw.

    Parameters
    ----------
    y_true
        The true labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers.
    pred_a, pred_b
        The predicted labels of A and of B, or the names of two models in the outcomes; for
        metrics of scores, their scores.
    metrics
        The metrics, as :func:`compare` takes them.
    rope
        The region of practical equivalence of every metric.
    hdi_prob
        The mass of the interval.
    prior
        Of model ``"flat"``: ``"uniform"``, ``"jeffreys"``, an array or a :class:`Prior`.
    model
        As for :func:`compare`.
    paired
        Whether to use that the documents are the same.
    n_draws
        How many draws.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Threads; the draws do not depend on it.
    labels
        The classes averaged over.
    pos_label
        The positive class of binary metrics.
    prevalence
        The class proportions where the models are to be used, as for :func:`compare`.
    names
        What to call A and B.
    groups
        The group of each document, such as its author or its prompt, if groups rather than
        documents should get one weight each.
    sample_weight
        As for :func:`compare`.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> card = op.scorecard(news.y_true, news.predictions["nb_mult"], news.predictions["svm_l2"],
    ...                     metrics=["accuracy", "f1_macro"], rope=0.01, random_state=0)
    >>> [c.decision.symbol for c in card]
    ['≫', '≫']
    """
    if isinstance(metrics, str) or not metrics:
        raise UsageError(f"metrics must be a list such as ['f1', 'recall']; got {metrics!r}")
    seen = two_models(
        y_true,
        pred_a,
        pred_b,
        names,
        labels,
        groups,
        metric=metrics[0],
        sample_weight=sample_weight,
    )
    prob, seed = check_prob(hdi_prob), seed_sequence(random_state)
    questions = [
        ask_any(
            seen,
            metric=metric,
            model=model,
            default_model="unit",
            prior=prior,
            paired=paired,
            labels=labels,
            pos_label=pos_label,
            prevalence=prevalence,
        )
        for metric in metrics
    ]
    answers = _answer_together(questions, engine.check_draws(n_draws), seed, n_jobs)
    found = tuple(
        conclude(
            question,
            answered,
            rope=rope_for(question, rope),
            prob=prob,
            seed=seed,
        )
        for question, answered in zip(questions, answers, strict=True)
    )
    return ComparisonTable(
        what="metric", keys=tuple(question.metric.name for question in questions), comparisons=found
    )


def _answer_together(
    questions: Sequence[Asked],
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> list[engine.Answer]:
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, question in enumerate(questions):
        if isinstance(question, ScoreQuestion):  # a function of one's own has the rows as they came
            groups.setdefault(("scores", question.metric.function is None), []).append(place)
            continue
        # The labels False and True may be the data's own, or a class against the rest.
        # One type may be called "span", as all types together are.
        view = question.view.labels, question.positive is None, question.pos_label
        of_documents = question.measured.per_document
        groups.setdefault((*view, of_documents, question.model.name), []).append(place)
    answers: dict[int, engine.Answer] = {}
    for places in groups.values():
        together = [questions[place] for place in places]
        answered = engine.answer(together, n_draws=n_draws, seed=seed, n_jobs=n_jobs)
        answers.update(zip(places, answered, strict=True))
    return [answers[place] for place in range(len(questions))]
