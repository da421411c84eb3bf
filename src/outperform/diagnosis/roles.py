"""What the columns of a table are believed to be, and why."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, NamedTuple

from outperform.diagnosis.samples import Column, Sample, missing_in
from outperform.io.request import probable_roles, true_column

Content = Literal[
    "labels", "label sets", "correct", "probabilities", "targets", "grades", "nothing"
]
_SHARE = 0.5  # of a column's rows that contain a class of the truth
_MOST_SLICES = 50
_COUNTS = {"n", "count", "counts", "freq", "frequency", "n_items"}
_WEIGHTS = {"weight", "weights", "sample_weight", "importance", "w"}
_PREDICTED = ("pred", "yhat", "y_hat", "output", "response", "system")


class Belief(NamedTuple):
    """Role of a column, and the reason."""

    role: str
    why: str


@dataclass
class Roles:
    """Roles of the columns of one table.

    Attributes
    ----------
    content
        What the models' columns contain.
    truth, id, count, weight
        Columns with these roles; None if there is none.
    models
        Columns of the models.
    scored
        Columns of scores, if the models' columns are labels.
    groups, slices
        Columns that may be groups or slices.
    separator
        Separator of several labels in one cell.
    others
        Other columns that may be the truth.
    beliefs
        Role and reason of each column.
    """

    content: Content = "nothing"
    truth: str | None = None
    id: str | None = None
    count: str | None = None
    weight: str | None = None
    models: list[str] = field(default_factory=list)
    scored: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    slices: list[str] = field(default_factory=list)
    separator: str | None = None
    others: list[str] = field(default_factory=list)
    beliefs: dict[str, Belief] = field(default_factory=dict)

    def say(self, name: str, role: str, why: str) -> None:
        """Record the role of a column, unless it has one."""
        self.beliefs.setdefault(name, Belief(role, why))


def roles_of(sample: Sample) -> Roles:
    """Return the roles of the columns of a table with one row per item."""
    roles, columns = Roles(), sample.columns
    _find_truth_by_name(columns, roles)
    _find_helpers(columns, roles)
    left = [column for name, column in columns.items() if name not in roles.beliefs]
    if roles.truth is not None:
        _find_models(columns[roles.truth], left, roles)
    elif not _find_right_or_wrong(left, roles) and not _find_truth_by_values(left, roles):
        _find_grades(left, roles)
    for column in left:
        _find_slices(column, roles)
    return roles


def _find_truth_by_name(columns: dict[str, Column], roles: Roles) -> None:
    name = true_column(list(columns))
    if name is None or not columns[name].known or columns[name].kind == "lists":
        return
    column = columns[name]
    if column.can_be_labels or column.is_number:
        roles.truth = name
        roles.say(name, "truth", "its name is usual for true labels")


def _find_helpers(columns: dict[str, Column], roles: Roles) -> None:
    """Find ids, groups, counts and weights."""
    named = probable_roles(list(columns)).get("id")
    names = [named] if named is not None else []
    names += [name for name in columns if name.lower().endswith("id") and name != named]
    for name in names:
        column = columns[name]
        if name in roles.beliefs or column.kind not in ("text", "whole numbers"):
            continue
        if roles.id is None and column.is_unique:
            roles.id = name
            roles.say(name, "id", "its name is usual for an id, and all values differ")
    for name, column in columns.items():
        if name in roles.beliefs:
            continue
        if column.repeats:
            roles.groups.append(name)
            rows = len(column.known) / len(column.counts)
            why = f"it is named like an id, and each value has {rows:.2g} rows on average"
            roles.say(name, "group", why)
        elif name == named and column.kind in ("text", "whole numbers"):
            roles.say(name, "repeated id", "its name is usual for an id, but values repeat")
        elif name.lower() in _COUNTS and column.kind == "whole numbers" and roles.truth:
            roles.count = roles.count or name
            roles.say(name, "count", "its name is usual for the number of items per row")
        elif name.lower() in _WEIGHTS and column.is_number:
            roles.weight = roles.weight or name
            roles.say(name, "weight", "its name is usual for the weight of an item")


def _find_models(truth: Column, left: list[Column], roles: Roles) -> None:
    """Find the columns of predictions and scores, given the true labels."""
    if truth.kind == "numbers":
        roles.content = "targets"
        for column in left:
            if column.is_number and not column.is_right_or_wrong:
                roles.models.append(column.name)
                roles.say(column.name, "prediction", "it contains numbers, as the truth does")
        return
    roles.separator = truth.separator
    roles.content = "labels" if truth.separator is None else "label sets"
    classes = _classes(truth, roles.separator)
    predicted = [column for column in left if _shares(column, classes, roles.separator)]
    for column in left:
        source = _judged(column, truth, predicted)
        if source is None and column not in predicted:
            continue
        if source is None:
            roles.models.append(column.name)
            roles.say(column.name, "prediction", f"its values are classes of {truth.name!r}")
        else:
            roles.say(column.name, "right or wrong", f"it shows where {source!r} equals the truth")
    for column in left:
        if column.name in roles.beliefs:
            continue
        if column.kind == "numbers" and all(0 <= value <= 1 for value in column.known):
            roles.scored.append(column.name)
            roles.say(column.name, "score", "its numbers lie between 0 and 1")
    if not roles.models:
        roles.scored = roles.scored or [c.name for c in left if c.kind == "numbers"]
        for name in roles.scored:
            roles.say(name, "score", "it contains numbers that are not classes")
        roles.models, roles.scored = roles.scored, []
        roles.content = "probabilities"


def _classes(column: Column, separator: str | None) -> set[object]:
    if separator is None:
        return set(column.counts)
    return {part.strip() for value in column.counts for part in value.split(separator)}


def _shares(column: Column, classes: set[object], separator: str | None) -> bool:
    """Return whether most rows of a column contain classes of the truth."""
    if not column.known or column.kind not in ("whole numbers", "booleans", "text"):
        return False
    if separator is None:
        texts = {str(value) for value in classes}
        n = sum(count for value, count in column.counts.items() if str(value) in texts)
    else:
        n = sum(
            count
            for value, count in column.counts.items()
            if {part.strip() for part in str(value).split(separator)} <= classes
        )
    return n >= _SHARE * len(column.known)


def _judged(column: Column, truth: Column, predicted: list[Column]) -> str | None:
    """Return the column of predictions that this one rates as right or wrong, if any."""
    if not column.is_right_or_wrong or column.kind == "text":
        return None
    right = [bool(value) for value in column.values]
    for other in predicted:
        hits = [a == b for a, b in zip(other.values, truth.values, strict=True)]
        if other is not column and other.counts.keys() != {1} and hits == right:
            return other.name
    return None


def _find_right_or_wrong(left: list[Column], roles: Roles) -> bool:
    columns = [column for column in left if column.is_right_or_wrong]
    for column in columns:
        roles.models.append(column.name)
        roles.say(column.name, "right or wrong", "its values are 0/1, true/false or pass/fail")
    if columns:
        roles.content = "correct"
    return bool(columns)


def _find_truth_by_values(left: list[Column], roles: Roles) -> bool:
    """Find the truth among columns that share their classes; none has a usual name."""
    labels = [column for column in left if column.can_be_labels]
    shared = {
        column.name: sum(_shares(column, set(other.counts), None) for other in labels) - 1
        for column in labels
    }
    best = max(shared.values(), default=0)
    alike = [column for column in labels if shared[column.name] == best and best > 0]
    if len(alike) < 2 or all(column.is_number and len(column.counts) > 20 for column in alike):
        return False
    unlike = [c for c in alike if not c.name.lower().startswith(_PREDICTED)]
    if len(unlike) == 1:
        truth, why = unlike[0], "it shares its classes with columns that are named as predictions"
    elif len(alike) == 2:
        truth, why = alike[0], "it is the first of two columns with the same classes: check this"
    else:
        equal = {column.name: 0 for column in alike}
        for a, b in combinations(alike, 2):
            same = sum(x == y for x, y in zip(a.values, b.values, strict=True))
            equal[a.name] += same
            equal[b.name] += same
        truth = max(alike, key=lambda column: equal[column.name])
        why = "it agrees most with the other columns of the same classes: check this"
    roles.truth = truth.name
    roles.others = [column.name for column in alike if column is not truth]
    roles.say(truth.name, "truth", why)
    _find_models(truth, [column for column in left if column is not truth], roles)
    return True


def _find_grades(left: list[Column], roles: Roles) -> None:
    columns = [column for column in left if column.is_number and column.known]
    if not columns:
        return
    fractions = [column for column in columns if column.kind == "numbers"]
    for column in fractions or columns:
        roles.models.append(column.name)
        roles.say(column.name, "grade", "it contains numbers, and no column has true labels")
    roles.content = "grades"


def _find_slices(column: Column, roles: Roles) -> None:
    if column.name in roles.beliefs:
        return
    if column.can_be_labels and 2 <= len(column.counts) <= _MOST_SLICES:
        roles.slices.append(column.name)
        roles.say(column.name, "slice", f"it has {len(column.counts)} categories")
    elif column.kind == "lists":
        roles.say(column.name, "unused", "it contains lists or objects")
    elif not column.known:
        roles.say(column.name, "unused", "it is empty")
    else:
        roles.say(column.name, "unused", "its values are neither classes nor scores")


def n_missing(sample: Sample, names: Collection[str | None]) -> int:
    """Return the number of rows with a missing value in some of these columns."""
    columns = [sample.columns[name] for name in names if name is not None]
    return missing_in(columns) if columns else 0
