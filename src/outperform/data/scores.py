"""``Scores``: one number, or one per class, for each item and model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from outperform._typing import (
    AnyArray,
    ColumnLike,
    FloatArray,
    IntArray,
    Label,
    ModelsLike,
    StatisticsLike,
)
from outperform.data.checks import named
from outperform.data.drawn import Drawn, DrawnLike, column_of, name_of, refuse_ratings
from outperform.data.items import read_ids
from outperform.data.labels import Rows, align, align_rows, only_column
from outperform.data.moments import Moments
from outperform.data.score_columns import (
    GRADES,
    VOTES,
    in_class_order,
    joined,
    joined_counts,
    read_grades,
    read_scores,
    read_statistics,
    read_truth,
    read_values,
    read_votes,
    refuse_unconnected,
    truth_texts,
)
from outperform.data.table import group_codes, read_weights, total
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.findings import Finding
from outperform.wrong_calls import ByKeyword, explained


class AddedUp(tuple[FloatArray, ...]):
    """Stands for the rows of scores that were added up where they are stored."""

    def __new__(cls, n_models: int) -> AddedUp:
        """Return a tuple of the right length whose elements cannot be used."""
        return super().__new__(cls, (np.empty(0),) * n_models)

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return what a copy is made from."""
        return (len(self),)

    def _refuse(self) -> UsageError:
        return UsageError(
            "these scores were added up where they are stored, so that only metrics of sums can be "
            "computed, such as mean, rmse or r2; for anything else, read the rows with "
            f"{param('keep=', 'rows')}, or a random sample of them"
        )

    def __iter__(self) -> Iterator[FloatArray]:
        raise self._refuse()

    def __getitem__(self, index: Any) -> Any:
        raise self._refuse()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Scores(ByKeyword):
    """Scores of one or more models on the same items.

    Scores are probabilities, margins or grades of answers. Their rows are kept in memory, or, for
    metrics of sums over very many rows, only the sums of these: see ``moments``.

    Parameters
    ----------
    models
        Names of the models.
    labels
        Classes, in the order of the columns of probabilities; empty without a truth.
    truth
        Code of the true class of each row; None for grades, which have no truth.
    values
        Each model's scores, one per row, or one per row and class.
    counts
        Number of items that each row represents. None means one each.
    group
        Code of the group of each row; None if items are independent.
    weights
        Importance weight of each row's item; None for equal weights.
    findings
        Findings about the data.
    sources
        Names of the score or of the columns that the values were read from, if known.
    ids
        Id of each row's item. None means its number.
    columns
        Names of the item statistics, empty if they are unnamed. None if the values are scores.
    voted_on
        For votes, the names of all models that were voted on, selected or not; otherwise empty.
    drawn
        For a judge's grades, how the items graded by people were drawn, if declared.
    moments
        Sums over all rows, if the rows were added up where they are stored; then ``values`` cannot
        be used. None if the rows are in memory.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Scores.from_arrays([1, 0, 1], {"bert": [0.9, 0.2, 0.4], "gpt": [0.8, 0.1, 0.7]})
    >>> seen
    Scores(n=3, models=('bert', 'gpt'), labels=(0, 1))
    >>> c = op.compare(seen, "bert", "gpt", metric="roc_auc", rope=0.01, random_state=1)
    >>> c.observed
    0.0
    """

    kind: ClassVar[Literal["scores"]] = "scores"

    models: tuple[str, ...]
    labels: tuple[Label, ...]
    truth: IntArray | None  # (n_rows,)
    values: tuple[FloatArray, ...]  # (n_rows,) or (n_rows, n_classes)
    counts: AnyArray | None = None  # (n_rows,)
    group: IntArray | None = None  # (n_rows,)
    weights: FloatArray | None = None  # (n_rows,)
    findings: tuple[Finding, ...] = ()
    sources: tuple[str, ...] = ()
    ids: AnyArray | None = None  # (n_rows,)
    columns: tuple[str, ...] | None = None
    voted_on: tuple[str, ...] = ()
    drawn: Drawn | None = None
    moments: Moments | None = None

    @classmethod
    @explained
    def from_arrays(
        cls,
        y_true: ColumnLike,
        scores: ModelsLike,
        *,
        labels: Sequence[Label] | None = None,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Scores:
        """Build scores from the truth and each model's scores on the same items.

        Parameters
        ----------
        y_true
            True labels: a list, array or series.
        scores
            For each model, by name, one number per item or one per item and class. In the latter
            case, pass a frame whose columns are named after the classes, or an array with columns
            in the order of ``labels``.
        labels
            All classes, in the order of the columns. Default: those that occur, sorted.
        groups
            Group of each item, such as its author or prompt. Each group, not each item, is then one
            independent unit.
        sample_weight
            Weight of each item, as in scikit-learn.
        ids
            Id of each item, for :meth:`Comparison.item_table`. Default: its row number.

        Examples
        --------
        >>> import outperform as op
        >>> op.Scores.from_arrays(["ham", "spam"], {"m": [0.1, 0.7]}).n_classes
        2
        """
        beside = {"groups": groups, "sample_weight": sample_weight, "ids": ids}
        rows = align(named(scores), truth=y_true, what="scores", beside=beside)
        truth, ordered, findings = read_truth(rows.truth, labels)
        findings += truth_texts(ordered, truth)
        arrays = read_scores(
            {
                model: in_class_order(values, ordered, name=f"scores of {model!r}")
                for model, values in rows.models.items()
            }
        )
        n_rows = len(next(iter(arrays.values())))
        if len(truth) != n_rows:
            raise DataError(
                f"y_true has {len(truth)} rows but the scores have {n_rows}; both must list the "
                "same items in the same order"
            )
        for name, array in arrays.items():
            if array.ndim == 2 and array.shape[1] != len(ordered):
                raise DataError(
                    f"scores of {name!r} must have one column for each of the {len(ordered)} "
                    f"classes; got shape {array.shape}; list classes that never occur in "
                    f"{param('labels=')}"
                )
        made = cls(
            models=tuple(arrays),
            labels=ordered,
            truth=truth,
            values=tuple(arrays.values()),
            findings=rows.findings + findings,
        )
        return made._weighed(**rows.beside)

    @classmethod
    def from_values(
        cls,
        values: ModelsLike,
        *,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Scores:
        """Build scores from grades of the same items, which need no truth.

        Parameters
        ----------
        values
            For each model, by name or as a frame, one number per item.
        groups
            Group of each row, such as the item that several samples answer.
        sample_weight, ids
            As for :meth:`from_arrays`.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Scores.from_values({"a": [7, 9, 4], "b": [6, 9, 5]}, groups=["p", "p", "q"])
        >>> seen.n, seen.n_groups
        (3, 2)
        """
        beside = {"groups": groups, "sample_weight": sample_weight, "ids": ids}
        rows = align(named(values), what="scores", beside=beside)
        return cls._of_rows(read_values(rows.models), rows)

    @classmethod
    def from_targets(
        cls,
        y_true: ColumnLike,
        predictions: ModelsLike,
        *,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Scores:
        """Build scores from true numbers and each model's predictions, for regression metrics.

        Parameters
        ----------
        y_true
            True number of each item.
        predictions
            For each model, by name or as a frame, one number per item.
        groups, sample_weight, ids
            As for :meth:`from_arrays`.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Scores.from_targets([3.1, 4.0, 7.2], {"m": [3.0, 4.4, 7.0]})
        >>> round(op.estimate(seen, "m", metric="mae", random_state=1).observed, 4)
        0.2333
        """
        beside = {"groups": groups, "sample_weight": sample_weight, "ids": ids}
        rows = align(named(predictions), truth=y_true, beside=beside)
        columns = {"y_true": rows.truth, **rows.models}
        target, *arrays = read_scores(
            {name: only_column(values, name=name) for name, values in columns.items()}
        ).values()
        pairs = {
            model: np.stack([target, array], axis=1)
            for model, array in zip(rows.models, arrays, strict=True)
        }
        made = cls.from_statistics(pairs, columns=("target", "prediction"), **rows.beside)
        return replace(made, findings=rows.findings)

    @classmethod
    def _from_items(
        cls,
        read: Callable[[object, object], FloatArray],
        y_true: object,
        predictions: ModelsLike,
        *,
        columns: Sequence[str],
        **beside: ColumnLike | None,
    ) -> Scores:
        """Build item statistics from references and each model's output."""
        rows = align(named(predictions), truth=y_true, beside=beside)
        by_model = {model: read(rows.truth, values) for model, values in rows.models.items()}
        made = cls.from_statistics(by_model, columns=columns, **rows.beside)
        return replace(made, findings=rows.findings)

    @classmethod
    def from_statistics(
        cls,
        statistics: Mapping[str, StatisticsLike],
        *,
        columns: Sequence[str] = (),
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Scores:
        """Build scores from several numbers per item; a metric is a function of their sums.

        Parameters
        ----------
        statistics
            For each model, by name, an array with one row per item and one column per statistic,
            for example a sentence's edits and words; or a mapping from the names of the statistics
            to their columns.
        columns
            Names of the statistics if they are not the keys of a mapping. Built-in metrics check
            them.
        groups, sample_weight, ids
            As for :meth:`from_arrays`.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Scores.from_statistics({"a": [[1, 9], [0, 5]], "b": [[2, 9], [2, 5]]})
        >>> c = op.compare(
        ...     seen, "a", "b", metric=lambda means: means[0] / means[1], rope=0.01, random_state=1
        ... )
        >>> round(c.a.observed, 4), round(c.b.observed, 4)
        (0.0714, 0.2857)
        """
        beside = {"groups": groups, "sample_weight": sample_weight, "ids": ids}
        arrays, names, rows = read_statistics(named(statistics), columns, beside)
        return cls._of_rows(arrays, rows, columns=names)

    @classmethod
    def from_votes(
        cls,
        first: ColumnLike,
        second: ColumnLike,
        winner: ColumnLike,
        *,
        tie: str = "tie",
        ordered: bool = True,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Scores:
        """Build scores from pairwise votes, for ``win_rate`` (the default) and ``elo``.

        Parameters
        ----------
        first, second
            The two models compared in each vote, in the order shown.
        winner
            The preferred model, or ``tie``.
        tie
            Value of ``winner`` that means a tie.
        ordered
            Whether this is the order in which voters saw the models. If so, position bias is
            estimated and removed.
        groups
            Prompt or voter of each vote, whichever repeats more often.
        sample_weight, ids
            As for :meth:`from_arrays`.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Scores.from_votes(
        ...     ["a", "b", "a", "b"], ["b", "a", "b", "a"], ["a", "a", "b", "tie"])
        >>> op.estimate(seen, "a", random_state=1).observed
        0.625
        """
        columns = {"first": first, "second": second, "winner": winner}
        beside = {"groups": groups, "sample_weight": sample_weight, "ids": ids}
        rows, findings = align_rows({**columns, **beside})
        votes = read_votes({name: rows[name] for name in columns}, tie=tie, ordered=ordered)
        own = Rows(None, {}, {name: rows[name] for name in beside}, findings)
        scores = replace(cls._of_rows(votes, own, columns=VOTES), voted_on=tuple(votes))
        refuse_unconnected(scores.values[0], scores.models)
        return scores

    @classmethod
    @explained
    def from_judged(
        cls,
        judged: ModelsLike,
        *,
        human: ModelsLike,
        drawn: DrawnLike | None = None,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Scores:
        """Build scores from a judge's grades and some human grades, for ``judged_mean``.

        Parameters
        ----------
        judged
            For each model, by name or as a frame, the judge's grade of every item.
        human
            For each model, the human grade of every item, with NaN for ungraded items. An item must
            be graded for all models or for none.
        drawn
            How the human-graded items were drawn: ``"random"``, or each item's probability of being
            graded. NaN means that the probability is unknown, which is allowed for ungraded items.
        groups, sample_weight, ids
            As for :meth:`from_arrays`.

        Examples
        --------
        >>> import outperform as op
        >>> nan = float("nan")
        >>> judged = {"new": [8, 9, 6, 7, 9, 8], "old": [7, 9, 5, 6, 8, 8]}
        >>> human = {"new": [6, 7, 5, 5, 8, nan], "old": [6, 8, 3, 4, 7, nan]}
        >>> seen = op.Scores.from_judged(judged, human=human, drawn="random")
        >>> round(op.estimate(seen, "new").observed, 4)
        6.1667
        """
        declared: Drawn | None = name_of(drawn)
        refuse_ratings(declared)
        people = named(human)
        beside = {"groups": groups, "sample_weight": sample_weight, "ids": ids}
        by_people = {f"human {model!r}": values for model, values in people.items()}
        columns = {**beside, **by_people, "drawn": column_of(drawn)}
        rows = align(named(judged), what="judged", beside=columns)
        labelled = dict(zip(people, (rows.beside.pop(name) for name in by_people), strict=True))
        chances = rows.beside.pop("drawn")
        if chances is not None:
            declared = "probabilities"
        grades = read_grades(rows.models, labelled, chances=chances)
        return replace(cls._of_rows(grades, rows, columns=GRADES), drawn=declared)

    @classmethod
    def _of_rows(
        cls, arrays: Mapping[str, FloatArray], rows: Rows, *, columns: tuple[str, ...] | None = None
    ) -> Scores:
        made = cls(
            models=tuple(arrays),
            labels=(),
            truth=None,
            values=tuple(arrays.values()),
            columns=columns,
            findings=rows.findings,
        )
        return made._weighed(**rows.beside)

    @classmethod
    def _of_moments(cls, moments: Moments, **beside: Any) -> Scores:
        """Build scores whose rows were added up where they are stored."""
        values = AddedUp(len(moments.models))
        return cls(
            models=moments.models, labels=(), truth=None, values=values, moments=moments, **beside
        )

    def _weighed(
        self, groups: ColumnLike | None, sample_weight: ColumnLike | None, ids: ColumnLike | None
    ) -> Scores:
        weights = read_weights(sample_weight, self.n_rows)
        group = None if groups is None else group_codes(groups, self.n_rows)[0]
        names = None if ids is None else read_ids(ids, self.n_rows)
        weighed = replace(self, weights=weights, group=group, ids=names)
        if weights is None or weights.all():
            return weighed
        kept = weighed._take(np.flatnonzero(weights))  # items of weight 0 are dropped
        if kept.group is None:
            return kept
        return replace(kept, group=np.unique(kept.group, return_inverse=True)[1])

    # Properties

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values[0])

    @property
    def n(self) -> int:
        """Number of items."""
        if self.moments is not None:
            return self.moments.n
        return self.n_rows if self.counts is None else int(total(self.counts))

    @property
    def n_classes(self) -> int | None:
        """Number of classes; None without a truth."""
        return len(self.labels) or None

    @property
    def n_groups(self) -> int | None:
        """Number of groups; None if items are independent."""
        if self.moments is not None:
            return self.moments.n_units if self.moments.grouped else None
        return None if self.group is None else int(self.group.max()) + 1

    # Derived scores

    def select(self, models: Sequence[str]) -> Scores:
        """Return the scores of some models, in this order.

        Parameters
        ----------
        models
            Names of the models.
        """
        for name in models:
            if name not in self.models:
                raise UsageError(unknown_name("model", name, self.models))
        if self.moments is not None:
            moments = self.moments.select(models)
            values = AddedUp(len(models))
            return replace(self, models=tuple(models), values=values, moments=moments)
        positions = [self.models.index(name) for name in models]
        return replace(
            self,
            models=tuple(models),
            values=tuple(self.values[position] for position in positions),
        )

    def __add__(self, other: Scores) -> Scores:
        """Combine two sets of different items."""
        if not isinstance(other, Scores):
            return NotImplemented
        if self.moments is not None and other.moments is not None:
            return Scores._of_moments(
                self.moments + other.moments,
                findings=tuple(dict.fromkeys((*self.findings, *other.findings))),
                sources=tuple(dict.fromkeys((*self.sources, *other.sources))),
            )
        own, others = (
            (scores.models, scores.labels, scores.columns, scores.voted_on)
            for scores in (self, other)
        )
        if self.drawn != other.drawn:
            raise DataError(
                "the human-graded items of the two parts were drawn in different ways, "
                f"{self.drawn!r} and {other.drawn!r}; declare the same for both"
            )
        shapes = (
            [values.shape[1:] for values in self.values],
            [values.shape[1:] for values in other.values],
        )
        if own != others or shapes[0] != shapes[1]:
            raise DataError(
                "scores can be added only with the same models, classes and columns in the same "
                f"order; got {self!r} and {other!r}"
            )
        if self.group is not None or other.group is not None:
            raise DataError(
                "groups that occur in both parts cannot be matched; concatenate the columns "
                "first and build Scores from all rows"
            )
        lengths = self.n_rows, other.n_rows
        return replace(
            self,
            values=tuple(map(np.concatenate, zip(self.values, other.values, strict=True))),
            truth=joined(self.truth, other.truth),
            counts=joined_counts(self.counts, other.counts, lengths),
            weights=joined_counts(self.weights, other.weights, lengths),
            ids=joined(self.ids, other.ids),
            findings=tuple(dict.fromkeys((*self.findings, *other.findings))),
            sources=tuple(dict.fromkeys((*self.sources, *other.sources))),
        )

    def _take(self, rows: IntArray) -> Scores:
        """Return some rows in this order."""
        return replace(
            self,
            truth=None if self.truth is None else self.truth[rows],
            values=tuple(array[rows] for array in self.values),
            counts=None if self.counts is None else self.counts[rows],
            group=None if self.group is None else self.group[rows],
            weights=None if self.weights is None else self.weights[rows],
            ids=None if self.ids is None else self.ids[rows],
        )

    def __repr__(self) -> str:
        parts = [f"n={self.n}", f"models={self.models}"]
        if self.labels:
            parts.append(f"labels={self.labels}")
        if self.columns is not None:
            shown = self.columns or self.values[0].shape[1]
            parts.append(f"statistics={shown}")
        if self.n_groups is not None:
            parts.append(f"groups={self.n_groups}")
        if self.weights is not None:
            parts.append("weighted=True")
        if self.moments is not None:
            parts.append("added_up=True")
        return f"Scores({', '.join(parts)})"
