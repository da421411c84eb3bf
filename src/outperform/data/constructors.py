"""The constructors of ``Outcomes``, one for each form in which data come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from outperform._files import parse
from outperform._typing import (
    ColumnLike,
    Label,
    LabelsLike,
    MatrixLike,
    ModelsLike,
    SpansLike,
    StatisticsLike,
    TagsLike,
)
from outperform.data import build, serialization
from outperform.data.annotators import FromAnnotators
from outperform.data.checks import check_labels
from outperform.data.drawn import DrawnLike
from outperform.data.judged import of_judged
from outperform.data.missing import MissingTexts
from outperform.data.scores import Scores
from outperform.data.spans import get_scheme
from outperform.data.tag_schemes import SchemeLike
from outperform.errors import DataError
from outperform.wrong_calls import explained


class Constructors(FromAnnotators):
    """Makes outcomes of labels, counts, matrices, tags and spans."""

    @classmethod
    @explained
    def from_labels(
        cls,
        y_true: LabelsLike,
        predictions: ModelsLike,
        *,
        labels: Sequence[Label] | None = None,
        sample_weight: ColumnLike | None = None,
        by: Mapping[str, ColumnLike] | None = None,
        groups: ColumnLike | None = None,
        ids: ColumnLike | None = None,
        na_values: Sequence[str] | None = None,
        empty_is_label: bool = False,
        never_true: Sequence[Label] | None = None,
    ) -> Self:
        """Count label arrays of the same items.

        Series and frames with an index are aligned by it, in the order of ``y_true``, with a
        finding if that moves rows; different indices are refused, and ``.to_numpy()`` takes rows
        by position, as lists and arrays are. None, NaN, NA, NaT and what a masked array masks are
        missing values and raise an error. Indicator matrices and lists of sets are counted as
        by :meth:`from_label_sets`.

        Parameters
        ----------
        y_true
            The true labels: a list, array or series.
        predictions
            The predicted labels of each model: a mapping from names, or a frame with a column
            for each model.
        labels
            Classes that must be in the table even if they never occur.
        sample_weight
            How much the item of each row matters, as in scikit-learn; rows that stand for
            several items are counts: :meth:`from_counts`.
        by
            Columns that divide the items into slices, by name.
        groups
            Group of each item, such as its author or prompt. Each group, not each item, is then one
            independent unit.
        ids
            What each item is called, for :meth:`Comparison.items`; its number by default.
        na_values
            The texts that mean a missing value, which raises an error; all others are labels. By
            default texts such as ``"NA"`` and ``"nan"`` are labels with a finding, which withholds
            the decision of a gate; ``[]`` declares that no text means a missing value.
        empty_is_label
            Whether the empty text is a label; by default it is one with a finding of the same kind.
        never_true
            Classes that models may predict and that are meant never to be true, such as
            ``["refusal"]``; see :meth:`with_never_true`.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_labels(["NA", "01"], {"m": ["NA", "1"]}, na_values=[]).labels
        ('01', '1', 'NA')
        >>> seen = op.Outcomes.from_labels([1, 0, 1], {"m": [1, 1, 1]}, groups=["x", "x", "y"])
        >>> seen.n, seen.groups.n
        (3, 2)
        """
        fields = build.of_labels(
            y_true,
            predictions,
            labels=labels,
            weights=sample_weight,
            by=by,
            groups=groups,
            ids=ids,
            missing=MissingTexts.from_param(na_values, empty_is_label),
        )
        if never_true is not None:
            known = set(fields["labels"])
            fields["never_true"] = check_labels(never_true, like=known, name="never_true")
        return cls(**fields)

    @classmethod
    def from_counts(
        cls,
        truth: ColumnLike,
        predictions: ModelsLike,
        counts: ColumnLike,
        *,
        labels: Sequence[Label] | None = None,
        by: Mapping[str, ColumnLike] | None = None,
        groups: ColumnLike | None = None,
    ) -> Self:
        """Take a table that is already counted, such as a GROUP BY result.

        Parameters
        ----------
        truth
            The true label of each cell.
        predictions
            Each model's prediction in each cell, by name.
        counts
            How many items each cell holds; repeated cells are added up.
        labels
            Classes that must be in the table even if they never occur.
        by
            The slice of each cell: columns by name.
        groups
            The group of each cell, if groups rather than items should get one weight each.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_counts([1, 0], {"m": [1, 0]}, [10**20, 5]).n
        100000000000000000005
        """
        fields = build.of_counts(truth, predictions, counts, labels=labels, by=by, groups=groups)
        return cls(**fields)

    @classmethod
    def from_pool(
        cls,
        y_true: ColumnLike,
        predictions: ModelsLike,
        *,
        which: ColumnLike | None = None,
        labels: Sequence[Label] | None = None,
    ) -> Self:
        """Count items that were chosen from a pool by the predictions of two models.

        Items on which the models disagree may be labelled more often than others: every
        pair of predictions is a stratum, and the pool's own counts say how much each matters.
        Within a stratum the choice must not depend on anything else, as that of
        :func:`propose` does not.

        Parameters
        ----------
        y_true
            The true labels of the labelled items, in the order of ``which``; or, without
            it, a value for each item of the pool, None or NaN where it has no label.
        predictions
            The predictions of both models for the whole pool, by name.
        which
            The place of each labelled item in the pool, counted from 0.
        labels
            Classes that must be in the table even if they never occur.

        Examples
        --------
        >>> import outperform as op
        >>> pool = {"old": [1, 1, 0, 0, 0, 0], "new": [1, 0, 0, 0, 1, 0]}
        >>> op.Outcomes.from_pool([1, 0, 0], pool, which=[1, 4, 2])
        Outcomes(n=3, models=('old', 'new'), labels=(0, 1), paired=True, cells=3, pool=6)
        >>> op.Outcomes.from_pool([None, 1, 0, None, 0, None], pool).n
        3
        """
        return cls(**build.of_pool(y_true, predictions, which=which, labels=labels))

    @classmethod
    def from_judged(
        cls,
        judged: ModelsLike,
        *,
        human: ColumnLike | ModelsLike,
        judge: ColumnLike | None = None,
        labels: Sequence[Label] | None = None,
        drawn: DrawnLike | None = None,
    ) -> Self:
        """Count items that a judge looked at, all of them, and people at some.

        The judge may be a language model, a cheap annotator or an older system. Its errors are
        learned from the items that people labelled, for each combination of its verdicts on the
        models apart, so it may be lenient, or favour a model. How people's items were drawn must
        be declared: labels that follow complaints or a model's errors mislead, and a gate stays
        undecided without a declaration.

        Parameters
        ----------
        judged
            Whether the judge calls each item's answer right, for each model by name. With
            ``judge``, the predictions of each model.
        human
            The same by people, NaN or None where nobody looked; an item is labelled for
            all models or for none. With ``judge``, the true class of each item, or NaN.
        judge
            Of classes, what the judge takes for the true class of each item.
        labels
            Of classes, those that must be in the table even if they never occur.
        drawn
            How people's items were drawn: ``"random"``; ``"by_ratings"``, by what the judge and,
            of classes, the models say of an item and nothing else; or the probability that each
            item had of being labelled, NaN if it is unknown for an item that nobody labelled.

        Examples
        --------
        >>> import outperform as op
        >>> nan = float("nan")
        >>> judged = {"new": [1, 1, 0, 1, 1, 0], "old": [1, 0, 0, 1, 0, 1]}
        >>> human = {"new": [1, nan, 0, 1, nan, nan], "old": [1, nan, 1, 1, nan, nan]}
        >>> op.Outcomes.from_judged(judged, human=human, drawn="random").pool.n
        6
        """
        return cls(**of_judged(judged, human=human, judge=judge, labels=labels, drawn=drawn))

    @classmethod
    def from_confusion(
        cls, matrices: Mapping[str, MatrixLike], *, labels: Sequence[Label] | None = None
    ) -> Self:
        """Take one confusion matrix per model: rows are the truth, columns the predictions.

        Which items the models shared is unknown, so these outcomes are unpaired.

        Parameters
        ----------
        matrices
            A square array of counts for each model, by name.
        labels
            The class of each row and column; 0, 1, … by default.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_confusion({"a": [[5, 1], [2, 8]], "b": [[4, 2], [1, 9]]})
        >>> seen.paired, seen.n
        (False, 16)
        """
        return cls(**build.of_confusion(matrices, labels=labels))

    @classmethod
    def from_correct(
        cls,
        correct: ModelsLike,
        *,
        by: Mapping[str, ColumnLike] | None = None,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Self:
        """Count items of which only right or wrong is known, per model.

        Parameters
        ----------
        correct
            For each model, by name or as a frame, a boolean (or 0/1) per item: was it right?
        by
            Columns that divide the items into slices, by name.
        groups
            The group of each item, such as the question that several samples answer, if
            groups rather than items should get one weight each.
        sample_weight, ids
            As for :meth:`from_labels`.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_correct({"a": [1, 1, 0], "b": [1, 0, 0]}).kind
        'correct'
        """
        fields = build.of_correct(correct, groups=groups, weights=sample_weight, by=by, ids=ids)
        return cls(**fields)

    @staticmethod
    def from_statistics(
        statistics: Mapping[str, StatisticsLike],
        *,
        columns: Sequence[str] = (),
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Scores:
        """Take several numbers an item, which are kept as :class:`Scores`, row by row.

        Parameters
        ----------
        statistics
            For each model, by name, an array with a row for each item and a column for each
            statistic, such as the edits and the words of a sentence, or a mapping from names.
        columns, groups, sample_weight, ids
            As for :meth:`Scores.from_statistics`.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_statistics({"a": [[1, 9], [0, 5]], "b": [[2, 9], [2, 5]]})
        >>> op.compare(seen, "a", "b", metric="wer", rope=0.01, random_state=1).a.observed
        0.07142857142857142
        """
        return Scores.from_statistics(
            statistics, columns=columns, groups=groups, sample_weight=sample_weight, ids=ids
        )

    @classmethod
    def from_label_sets(
        cls,
        y_true: LabelsLike,
        predictions: ModelsLike,
        *,
        labels: Sequence[Label] | None = None,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        by: Mapping[str, ColumnLike] | None = None,
        ids: ColumnLike | None = None,
    ) -> Self:
        """Count items that have several labels, or none.

        The labels of an item go wrong together, so each item keeps all of them and
        later gets one weight.

        Parameters
        ----------
        y_true
            An indicator matrix with 1 where an item (row) has a label (column), as numpy
            array, scipy sparse matrix or data frame; or a collection of labels for each
            item. Lists of equal length that hold only 0 and 1 are rows of a matrix.
        predictions
            The same for each model, by name.
        labels
            The label of each column of a matrix; 0, 1, … or a data frame's own names by
            default. Beside collections, labels that must count even if they never occur.
        groups
            The group of each item, such as its author, if groups rather than items
            should get one weight each.
        sample_weight, by, ids
            As in :meth:`from_labels`.

        Examples
        --------
        >>> import outperform as op
        >>> truth = [{"sport"}, {"sport", "money"}, set()]
        >>> seen = op.Outcomes.from_label_sets(truth, {"bert": [{"sport"}, {"money"}, set()]})
        >>> seen.n, seen.labels, seen.kind
        (3, ('money', 'sport'), 'label_sets')
        >>> seen.margins("bert").actual, seen.margins("bert").hits
        (array([1, 2]), array([1, 1]))
        """
        fields = build.of_label_sets(
            y_true,
            predictions,
            labels=labels,
            weights=sample_weight,
            groups=groups,
            by=by,
            ids=ids,
        )
        return cls(**fields)

    @classmethod
    def from_tags(
        cls,
        gold: TagsLike,
        predictions: Mapping[str, TagsLike],
        *,
        scheme: SchemeLike,
        strict: bool = False,
        groups: ColumnLike | None = None,
        by: Mapping[str, ColumnLike] | None = None,
        ids: ColumnLike | None = None,
    ) -> Self:
        """Count the spans of tag sequences, such as named entities or words.

        A predicted span counts if its boundaries and its type are those of a
        gold span. Spans of one sentence go wrong together, so each sentence
        keeps its spans and later gets one weight.

        Parameters
        ----------
        gold
            The true tags: a list of tags for each sentence.
        predictions
            The predicted tags of each model, by name.
        scheme
            ``"IOB1"``, ``"IOB2"``, ``"IOE1"``, ``"IOE2"``, ``"IOBES"``, ``"BILOU"``, ``"BMES"``,
            ``"BB2B3MES"``, or a table of your own; see :mod:`outperform.data.spans`.
        strict
            Whether a sequence that breaks the scheme loses its span; by default
            it is read as conlleval reads it.
        groups
            The document (or author, or prompt) of each sentence, if these rather
            than sentences should get one weight each.
        by
            The columns that divide the sentences into slices, by name.
        ids
            The name of each sentence, for ``c.item_table()``. Default: its number, from 0.

        Examples
        --------
        >>> import outperform as op
        >>> gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"]]
        >>> tagged = [["B-PER", "I-PER", "O"], ["O", "O", "B-LOC"]]
        >>> seen = op.Outcomes.from_tags(gold, {"crf": tagged}, scheme="IOB2")
        >>> seen
        Outcomes(n=2, models=('crf',), labels=('LOC', 'PER'), paired=True, cells=3, kind='spans')
        >>> seen.margins("crf").hits.tolist()
        [0, 1]
        """
        return cls(
            **build.of_tags(
                *(gold, predictions),
                scheme=get_scheme(scheme),
                strict=strict,
                groups=groups,
                by=by,
                ids=ids,
            )
        )

    @classmethod
    def from_spans(
        cls,
        gold: SpansLike,
        predictions: Mapping[str, SpansLike],
        *,
        groups: ColumnLike | None = None,
        by: Mapping[str, ColumnLike] | None = None,
        ids: ColumnLike | None = None,
    ) -> Self:
        """Count spans given as (start, end, type); whether the end is inclusive is yours.

        Parameters
        ----------
        gold
            The true spans: a list of ``(start, end, type)`` for each document.
        predictions
            The predicted spans of each model, by name.
        groups
            What should get one weight each, if not the documents themselves.
        by
            The columns that divide the documents into slices, by name.
        ids
            The name of each document, for ``c.item_table()``. Default: its number, from 0.

        Examples
        --------
        >>> import outperform as op
        >>> gold = [[(0, 2, "PER")], [(1, 2, "LOC")]]
        >>> op.Outcomes.from_spans(gold, {"crf": [[(0, 2, "PER")], []]}).margins("crf").predicted
        array([0, 1])
        """
        return cls(**build.of_spans(gold, predictions, groups=groups, by=by, ids=ids))

    @classmethod
    def from_span_counts(
        cls, truth: ColumnLike, predictions: Mapping[str, ColumnLike], counts: ColumnLike
    ) -> Self:
        """Take spans that are already counted, with None for "no span"; they are independent.

        Parameters
        ----------
        truth
            The type of each cell's true span, or None where it is spurious.
        predictions
            The same type where a model found the span, None where not, by model.
        counts
            How many spans each cell holds.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_span_counts(
        ...     ["X", "X", "X", "X", None, None, None],
        ...     {"A": ["X", "X", None, None, "X", "X", None],
        ...      "B": ["X", None, "X", None, "X", None, "X"]},
        ...     [70, 8, 5, 17, 6, 4, 3],
        ... ).margins("A").predicted
        array([88])
        """
        return cls(**build.of_span_counts(truth, predictions, counts))

    @classmethod
    def from_tp_fp_fn(cls, counts: Mapping[str, Sequence[int]], *, label: Label = "span") -> Self:
        """Take true positives, false positives and false negatives of each model.

        Nothing is known of true negatives, nor of what the models found together,
        so these outcomes are unpaired.

        Parameters
        ----------
        counts
            ``(tp, fp, fn)`` of each model, by name.
        label
            What to call the class.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_tp_fp_fn({"A": (80, 10, 20), "B": (70, 15, 30)})
        >>> print(round(op.compare(seen, "A", "B", metric="f1", rope=0.01).p_greater, 6))
        0.969889
        """
        return cls(**build.of_tp_fp_fn(counts, label=label))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Take back what :meth:`to_dict` gave; a DataError says where it was changed.

        Parameters
        ----------
        data
            The mapping.
        """
        return cls(**serialization.from_dict(data))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Take back what :meth:`to_json` gave; a DataError says where it was changed.

        Parameters
        ----------
        text
            The JSON text, or its bytes in UTF-8.
        """
        try:
            data = parse(text)
        except DataError as error:
            raise DataError(f"these are not outcomes in JSON: {error}") from error
        return cls.from_dict(data)
