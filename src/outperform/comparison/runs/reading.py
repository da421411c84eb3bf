"""Which runs belong to which of the two models, and where each is found among all runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from outperform._typing import Label
from outperform.comparison.comparing import check_names
from outperform.comparison.disagreements import are_same
from outperform.comparison.question import refuse_counted
from outperform.comparison.scored.asking import Seen, seen_by
from outperform.errors import DataError, UsageError
from outperform.outcomes import Outcomes, Scores
from outperform.outcomes.aligning import frame_columns, is_frame


class Side(NamedTuple):
    """One of the two models: its name, its runs, and which model of a question each is."""

    name: str
    runs: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def n(self) -> int:
        """The number of runs."""
        return len(self.runs)

    @property
    def deterministic(self) -> bool:
        """Whether several runs all gave the same answers."""
        return self.n > 1 and len(set(self.places)) == 1


class Runs(NamedTuple):
    """What was seen of all runs, and whose they are."""

    seen: Seen
    a: Side
    b: Side


def read_runs(
    y_true: Any,
    runs_a: Any,
    runs_b: Any,
    *,
    names: tuple[str, str] | None,
    metric: Any,
    labels: Sequence[Label] | None,
    sample_weight: Any,
    groups: Any,
) -> Runs:
    """Return what was seen of all runs, counted, kept as scores, or selected."""
    if isinstance(y_true, (Outcomes, Scores)):
        refuse_counted(groups=groups, sample_weight=sample_weight)
        of_a, of_b = (_named(runs, side) for runs, side in ((runs_a, "a"), (runs_b, "b")))
        called = _common_names(of_a, of_b) if names is None else check_names(names)
        _refuse_shared(of_a, of_b)
        seen: Seen = y_true.select([*of_a, *of_b])
    else:
        called = check_names(("A", "B") if names is None else names)
        columns_a = _columns(runs_a, called[0], "a")
        columns_b = _columns(runs_b, called[1], "b")
        if is_frame(runs_a) or is_frame(runs_b):
            columns_a, columns_b = _apart(called, columns_a, columns_b)
        of_a, of_b = tuple(columns_a), tuple(columns_b)
        _refuse_shared(of_a, of_b)
        seen = seen_by(
            y_true,
            {**columns_a, **columns_b},
            metric=metric,
            labels=labels,
            sample_weight=sample_weight,
            groups=groups,
        )
    _refuse_unpaired(seen)
    if len(of_a) == len(of_b) == 1:
        raise UsageError(
            "with one run of each model nothing is known of how far runs spread; give several "
            "runs of at least one of them, or compare these two as single models"
        )
    return _without_copies(seen, (called[0], of_a), (called[1], of_b))


def _named(runs: Any, side: str) -> tuple[str, ...]:
    given = () if isinstance(runs, (str, Mapping)) else tuple(runs)
    if not given or not all(isinstance(one, str) for one in given):
        raise UsageError(
            f"with outcomes or scores, runs_{side} must name the runs, "
            f"e.g. ['bert-1', 'bert-2']; got {_shown(runs)}"
        )
    if len(set(given)) != len(given):
        raise UsageError(f"runs_{side} names a run twice: {list(given)}")
    return given


def _columns(runs: Any, name: str, side: str) -> dict[str, Any]:
    if is_frame(runs):
        named = frame_columns(runs, name=f"runs_{side}").items()
        found = {str(run): answers for run, answers in named}
    elif isinstance(runs, Mapping):
        found = {str(run): answers for run, answers in runs.items()}
    elif isinstance(runs, (str, bytes)) or not hasattr(runs, "__len__"):
        found = {}
    else:
        found = {f"{name}-{place}": answers for place, answers in enumerate(runs, start=1)}
    if not found or any(np.ndim(answers) == 0 for answers in found.values()):
        raise UsageError(
            f"runs_{side} must hold the predictions of each run: a list of arrays, an array with "
            "a row for each run, a frame with a column for each, or a mapping from names; got "
            f"{_shown(runs)}"
        )
    return found


def _apart(
    names: tuple[str, str], runs_a: dict[str, Any], runs_b: dict[str, Any]
) -> tuple[dict[str, Any], ...]:
    """Put the model's name before each run where frames call runs of both models the same."""
    if not runs_a.keys() & runs_b.keys():
        return runs_a, runs_b
    return tuple(
        {f"{name}-{run}": answers for run, answers in runs.items()}
        for name, runs in zip(names, (runs_a, runs_b), strict=True)
    )


def _shown(runs: Any) -> str:
    if isinstance(runs, str):
        return repr(runs)
    shape = getattr(runs, "shape", None)
    size = "" if not hasattr(runs, "__len__") else f" of {len(runs)}"
    return f"a {type(runs).__name__}" + (size if shape is None else f" of shape {shape}")


def _refuse_shared(of_a: Sequence[str], of_b: Sequence[str]) -> None:
    shared = [run for run in of_a if run in of_b]
    if shared:
        raise UsageError(f"a run belongs to one model only; {shared[0]!r} is among those of both")


def _refuse_unpaired(seen: Seen) -> None:
    if isinstance(seen, Outcomes) and not seen.paired:
        raise DataError(
            "which documents each run got right is unknown, so what the runs share cannot be told "
            "from what sets them apart; give label arrays of the same documents"
        )


def _common_names(of_a: Sequence[str], of_b: Sequence[str]) -> tuple[str, str]:
    """Return what the names of each model's runs begin with, or A and B where that says nothing.

    Examples
    --------
    >>> _common_names(["bert-1", "bert-2"], ["gpt_s1", "gpt_s12"])
    ('bert', 'gpt_s')
    """
    a, b = (_common_name(runs) for runs in (of_a, of_b))
    return (a, b) if a and b and a != b else ("A", "B")


def _common_name(runs: Sequence[str]) -> str:
    if len(runs) == 1:
        return runs[0]
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*runs, strict=False))
    return "".join(letters[0] for letters in same).rstrip("0123456789 -_.:/#")


def _without_copies(seen: Seen, *models: tuple[str, tuple[str, ...]]) -> Runs:
    """Keep one run of a model whose runs are all the same; its prior is then that of one."""
    kept: list[str] = []
    sides = []
    for name, runs in models:
        same = len(runs) > 1 and all(are_same(seen, runs[0], run) for run in runs[1:])
        first = len(kept)
        kept += runs[:1] if same else runs
        places = [first] * len(runs) if same else range(first, len(kept))
        sides.append(Side(name=name, runs=runs, places=tuple(places)))
    return Runs(seen.select(kept), *sides)
