"""Which table answers a metric at other class proportions, and where the shares belong in it."""

from __future__ import annotations

from typing import Any, NamedTuple

from outperform._typing import Label
from outperform.comparison.views import View, known_positive
from outperform.errors import DataError, UsageError
from outperform.outcomes import Outcomes
from outperform.posterior import Model, Prevalence


class Placed(NamedTuple):
    """A prevalence, and the true class of the table that each of its shares is about."""

    prevalence: Prevalence
    codes: tuple[int, ...]

    def mean_shares(self, table: Outcomes, model: str) -> dict[int, float]:
        """Return the mean share of each class there; classes not named keep their mix."""
        actual = table.margins(model).actual.astype(float)
        named = dict(zip(self.codes, self.prevalence.shares, strict=True))
        left = 1.0 - sum(named.values())
        others = sum(count for code, count in enumerate(actual) if code not in named)
        return {
            code: named[code] if code in named else left * count / max(others, 1.0)
            for code, count in enumerate(actual)
        }

    def averaged(self, view: View) -> View:
        """Return the view with every class that has a share averaged over, also if never true."""
        if view.classes is None or not view.measured.over_classes:
            return view
        named = zip(self.codes, self.prevalence.shares, strict=True)
        codes = sorted({*view.classes, *(code for code, share in named if share > 0)})
        return view._replace(classes=None if len(codes) == view.table.n_classes else tuple(codes))


def place(view: View, given: Any, *, pos_label: Label | None) -> tuple[View, Placed]:
    """Check a prevalence against the classes and choose the table that it can be put in.

    One class against the rest will do where only that class is named. Where others are, the
    mix of the rest changes too, so the true classes must be told apart.
    """
    _refuse_kind(view.seen)
    positive = view.pos_label
    if positive is None:
        positive = known_positive(view.seen, pos_label)
    prevalence = Prevalence.from_param(given, view.seen, positive=positive)
    codes = tuple(view.seen.code(label) for label in prevalence.labels)
    if view.pos_label is None:
        return view, Placed(prevalence, codes)
    code = view.seen.code(view.pos_label)
    if view.seen.n_classes == 2 or codes == (code,):
        return view, Placed(prevalence, tuple(int(one == code) for one in codes))
    whole = view._replace(table=view.seen, positive=code, classes=(code,))
    return whole, Placed(prevalence, codes)


def refuse_unseen(table: Outcomes, model: Model, placed: Placed | None) -> None:
    """Refuse a class of which nothing is known, by data or by prior, and which has a share."""
    if placed is None or model.proper:
        return
    for name in table.models:
        shares = placed.mean_shares(table, name)
        actual = table.margins(name).actual
        unseen = [table.labels[code] for code in placed.codes if not actual[code]]
        others = [code for code in shares if code not in placed.codes]
        if others and not any(actual[code] for code in others):
            unseen += [table.labels[code] for code in others]
        if unseen:
            raise DataError(
                f"no document of {name} is of class {', '.join(map(repr, unseen))}, which has a "
                f"share in prevalence=, and model {model.name!r} has no prior for it; add "
                "documents of the class, or use a model with a prior such as model='unit'"
            )


def _refuse_kind(seen: Outcomes) -> None:
    why = {
        "spans": "spans have no true negatives, so their classes have no proportions",
        "correct": "only right or wrong is known of these outcomes, not the classes",
    }
    if seen.kind != "classes":
        raise UsageError(
            f"{why.get(seen.kind, 'these outcomes have no classes')}; leave prevalence out"
        )
