"""Constructors of ``Outcomes``, one per form of data."""

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
    """Constructors of outcomes from labels, counts, matrices, tags and spans."""

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
        """Count label arrays for the same items.

        Series and frames are aligned by index, in the order of ``y_true``, with a finding if this
        moves rows. A mismatch raises an error. Lists and arrays are matched by position; for a
        series, use ``.to_numpy()``. None, NaN, NA, NaT and masked values count as missing and raise
        an error. Indicator matrices and lists of sets are counted as by :meth:`from_label_sets`.

        Parameters
        ----------
        y_true
            True labels: a list, array or series.
        predictions
            Predicted labels of each model: a mapping from model names, or a frame with one column
            per model.
        labels
            Classes that must be in the table even if they never occur.
        sample_weight
            Weight of each item, as in scikit-learn. If a row represents several items, use
            :meth:`from_counts` instead.
        by
            Columns that define slices, by name.
        groups
            Group of each item, such as its author or prompt. Each group, not each item, is then one
            independent unit.
        ids
            Id of each item, for :meth:`Comparison.item_table`. Default: its row number.
        na_values
            Texts that mark a missing value, which raises an error; any other text is a label. By
            default, texts such as ``"NA"`` and ``"nan"`` are labels, with a finding that withholds
            the decision of a gate. ``[]`` declares that no text marks a missing value.
        empty_is_label
            Whether the empty text is a label. By default it is, with the same kind of finding.
        never_true
            Classes that models may predict but that are never true by design, such as
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
        """Build outcomes from a table of counts, such as a GROUP BY result.

        Parameters
        ----------
        truth
            True label of each cell.
        predictions
            Each model's prediction in each cell, by name.
        counts
            Number of items in each cell. Repeated cells are added up.
        labels
            Classes that must be in the table even if they never occur.
        by
            Columns that define the slice of each cell, by name.
        groups
            Group of each cell. Each group, not each item, is then one independent unit.

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
        """Count items that were selected from a pool based on two models' predictions.

        Items on which the models disagree may be labelled more often than others. Every pair of
        predictions is a stratum, weighted by its count in the pool. Within a stratum the selection
        must not depend on anything else. :func:`select_items` selects in this way.

        Parameters
        ----------
        y_true
            True labels of the labelled items, in the order of ``which``. Without ``which``, one
            value per item of the pool, with None or NaN for unlabelled items.
        predictions
            Predictions of both models for the entire pool, by name.
        which
            Index of each labelled item in the pool, counted from 0.
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
    @explained
    def from_judged(
        cls,
        judged: ModelsLike,
        *,
        human: ColumnLike | ModelsLike,
        judge: ColumnLike | None = None,
        labels: Sequence[Label] | None = None,
        drawn: DrawnLike | None = None,
    ) -> Self:
        """Count items that were all rated by a judge and partly labelled by people.

        The judge may be a language model, a cheap annotator or an older system. Its errors are
        estimated from the items labelled by people, separately for each combination of its verdicts
        on the models, so it may be lenient or favour a model. Declare how the human-labelled items
        were drawn. Labels that follow complaints or a model's errors are misleading, and without a
        declaration a gate remains undecided.

        Parameters
        ----------
        judged
            The judge's verdict (right or wrong) on each item, by model name. With ``judge``, the
            predictions of each model instead.
        human
            The same verdicts by people, with NaN or None for unlabelled items. Each item must be
            labelled for all models or for none. With ``judge``, the true class of each item, or
            NaN.
        judge
            True class of each item according to the judge, if items have classes.
        labels
            Classes that must be in the table even if they never occur.
        drawn
            How the human-labelled items were drawn: ``"random"``; ``"by_ratings"``, by the judge's
            verdicts (for classes, also the predictions) and nothing else; or each item's
            probability of being labelled. NaN means that the probability is unknown, which is
            allowed for unlabelled items.

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
        """Build outcomes from one confusion matrix per model, with true classes in rows.

        Predicted classes are in columns. The matrices do not show which items both models got
        right, so these outcomes are unpaired.

        Parameters
        ----------
        matrices
            One square array of counts per model, by name.
        labels
            Class of each row and column. Default: 0, 1, …

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_confusion({"a": [[5, 1], [2, 8]], "b": [[4, 2], [1, 9]]})
        >>> seen.paired, seen.n
        (False, 16)
        """
        return cls(**build.of_confusion(matrices, labels=labels))

    @classmethod
    @explained
    def from_correct(
        cls,
        correct: ModelsLike,
        *,
        by: Mapping[str, ColumnLike] | None = None,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Self:
        """Count items for which only each model's correctness is known.

        Parameters
        ----------
        correct
            For each model, by name or as a frame, whether each item is right: one boolean (or 0/1)
            per item.
        by
            Columns that define slices, by name.
        groups
            Group of each item, such as the question that several samples answer. Each group, not
            each item, is then one independent unit.
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
        """Read several numbers per item, and return :class:`Scores` with one row per item.

        Parameters
        ----------
        statistics
            For each model, by name, an array with one row per item and one column per statistic,
            for example a sentence's edits and words, or a mapping from names.
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
        """Count items with label sets, that is, several labels per item, or none.

        Errors cluster within an item, so all labels of an item form one unit.

        Parameters
        ----------
        y_true
            An indicator matrix with 1 if an item (row) has a label (column), as a NumPy array, a
            SciPy sparse matrix or a data frame; or one collection of labels per item. Lists of
            equal length that contain only 0 and 1 are rows of a matrix.
        predictions
            The same for each model, by name.
        labels
            Label of each column of a matrix. Default: 0, 1, … or the column names of a data frame.
            With collections, labels that must be included even if they never occur.
        groups
            Group of each item, such as its author. Each group, not each item, is then one
            independent unit.
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
        """Count the spans in tag sequences, such as named entities or words.

        A predicted span is a hit if its boundaries and its type equal those of a gold span. Errors
        cluster within sentences, so all spans of a sentence form one unit.

        Parameters
        ----------
        gold
            True tags: one list of tags per sentence.
        predictions
            Predicted tags of each model, by name.
        scheme
            ``"IOB1"``, ``"IOB2"``, ``"IOE1"``, ``"IOE2"``, ``"IOBES"``, ``"BILOU"``, ``"BMES"``,
            ``"BB2B3MES"``, or a custom table; see :mod:`outperform.data.spans`.
        strict
            Whether a sequence that breaks the scheme loses its span. By default it is read as in
            conlleval.
        groups
            Group (document, author or prompt) of each sentence. Each group, not each sentence, is
            then one independent unit.
        by
            Columns that define slices of the sentences, by name.
        ids
            Id of each sentence, for ``c.item_table()``. Default: its number, counted from 0.

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
        """Count spans of the form (start, end, type); the end may be inclusive or exclusive.

        Parameters
        ----------
        gold
            True spans: one list of ``(start, end, type)`` per document.
        predictions
            Predicted spans of each model, by name.
        groups
            Group of each document. Each group, not each document, is then one independent unit.
        by
            Columns that define slices of the documents, by name.
        ids
            Id of each document, for ``c.item_table()``. Default: its number, counted from 0.

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
        """Build outcomes from counts of independent spans, with None for "no span".

        Parameters
        ----------
        truth
            Type of each cell's true span, or None if there is none.
        predictions
            By model name: the same type if the model found the span, otherwise None.
        counts
            Number of spans in each cell.

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
        """Build outcomes from each model's true positives, false positives and false negatives.

        The counts show neither the true negatives nor which spans both models found, so these
        outcomes are unpaired.

        Parameters
        ----------
        counts
            ``(tp, fp, fn)`` of each model, by name.
        label
            Name of the class.

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
        """Restore outcomes from :meth:`to_dict`; raises a DataError that names any altered field.

        Parameters
        ----------
        data
            The mapping.
        """
        return cls(**serialization.from_dict(data))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Restore outcomes from :meth:`to_json`; raises a DataError that names any altered field.

        Parameters
        ----------
        text
            JSON text, or its bytes in UTF-8.
        """
        try:
            data = parse(text)
        except DataError as error:
            raise DataError(f"this JSON does not contain outcomes: {error}") from error
        return cls.from_dict(data)
