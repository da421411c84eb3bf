"""What a comparison can be asked about its items, and in other terms than a difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from outperform.decision.rope import RopeLike
from outperform.results.base import verb

if TYPE_CHECKING:
    from outperform.comparison.coverage import ExpectedCoverage
    from outperform.comparison.curves import Curve, Kind
    from outperform.comparison.items import ItemTable
    from outperform.comparison.ratio import Ratio
    from outperform.sensitivity.fragility import Fragility


class AskItems:
    """Which items carry a comparison: each method is a verb that takes the comparison."""

    __slots__ = ()

    def items(
        self,
        *,
        which: Literal["flips", "all"] = "flips",
        top: int | None = None,
        columns: Mapping[str, object] | None = None,
    ) -> ItemTable:
        """Return the items that set the models apart, the most influential first.

        The influence of an item is the observed A − B less what it would be without the item, in
        the metric's own units; the interval moves by about as much.

        Parameters
        ----------
        which
            ``"flips"``: the items that only one of the models got right. ``"all"``: every item.
        top
            How many at most; all if None.
        columns
            What else to show, by name: a mapping from ids to values; or, of items without ids,
            a value for each in the order of the rows.

        Examples
        --------
        >>> import outperform as op
        >>> c = op.compare([1, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], metric="accuracy", rope=0.05)
        >>> for one in c.items(columns={"text": ["hi", "buy", "yo", "win"]}):
        ...     print(one.id, one.right, round(one.influence, 3), one.columns["text"])
        3 B -0.417 win
        1 A 0.25 buy
        2 A 0.25 yo
        """
        found: ItemTable = verb("items")(self, which=which, top=top, columns=columns)
        return found

    def fragility(self) -> Fragility:
        """Return how many gold labels would have to be wrong to change the decision.

        It is the fewest if they are wrong in the most adverse way, every other thing being as it
        is: a new gold label is one of the classes that are ever true, and the classes that are
        averaged over stay the same. Where only right or wrong is known, a wrong label makes
        whoever was right wrong, and may make right whoever was wrong.

        For accuracy with a closed form every table with fewer changes is asked, if there are at
        most 100 of them, and the number is exact. Else each label that is changed is the one
        that moves the observed difference most, and the number is one that does.

        Examples
        --------
        >>> import outperform as op
        >>> new, old = [1] * 90 + [0] * 10, [1] * 70 + [0] * 30
        >>> seen = op.Outcomes.from_correct({"new": new, "old": old})
        >>> op.compare(seen, "new", "old", rope=0.01).fragility().n
        6
        """
        found: Fragility = verb("fragility")(self)
        return found

    def expected_coverage(self) -> ExpectedCoverage:
        """Return how often 95% intervals held the truth in the nearest simulated setting.

        The coverage map of the documentation is looked up: the number of classes and of items
        that are nearest on the log scale, then how even the classes are, then how far right
        answers of both models are correlated. Nothing is simulated, and how often models are
        right is not looked at. Refused where no setting is of this kind: the map is of two
        models on one test set of labels, paired, with the default prior, in twelve metrics.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_counts(
        ...     [0, 0, 0, 1, 1, 1], {"new": [0, 0, 1, 1, 1, 0], "old": [0, 1, 1, 1, 0, 0]},
        ...     [75, 5, 20, 70, 8, 22])
        >>> c = op.compare(seen, "new", "old", metric="accuracy", rope=0.01)
        >>> print(c.expected_coverage().setting)
        2 classes, even, 200 items, nearly equal models
        """
        found: ExpectedCoverage = verb("expected_coverage")(self)
        return found


class AskContrasts:
    """The same comparison in other terms than A − B: each method is a verb that takes it."""

    __slots__ = ()

    def ratio(self, *, rope: RopeLike) -> Ratio:
        """Return the same comparison as A / B, in per cent; nothing is drawn again.

        Refused where B is not surely above 0.

        Parameters
        ----------
        rope
            The ratios that do not matter: a half-width around one such as 0.05, or a pair such
            as (0.9, 1.1).

        Examples
        --------
        >>> import outperform as op
        >>> old, new = [2.0, 3.0, 7.0, 4.0] * 25, [1.0, 2.0, 4.0, 3.0] * 25
        >>> c = op.compare(None, new, old, metric="mean_cost", rope=0.1, random_state=1)
        >>> found = c.ratio(rope=0.05)
        >>> found.decision.symbol, round(found.mean, 2)
        ('≫', 0.63)
        """
        found: Ratio = verb("ratio")(self, rope=rope)
        return found

    def curve(self, kind: Kind) -> Curve:
        """Return a curve of both models, and of A − B, with simultaneous bands.

        Drawn from 4,000 weightings of the items; half an item of each class is added above all
        scores and below all (in each bin of a calibration curve), so that no band has zero width.

        Parameters
        ----------
        kind
            ``"roc"``, ``"precision_recall"``, ``"calibration"`` (ten bins of equal width) or
            ``"net_benefit"`` (at every threshold that ten items reach in both models).

        Examples
        --------
        >>> import outperform as op
        >>> y, a, b = [1, 0, 1, 0] * 30, [0.9, 0.1, 0.6, 0.5] * 30, [0.6, 0.7, 0.4, 0.1] * 30
        >>> c = op.compare(y, a, b, metric="roc_auc", rope=0.01, random_state=1)
        >>> c.curve("roc").apart.any()
        np.True_
        """
        found: Curve = verb("curve")(self, kind)
        return found
