"""From the files on the command line to outcomes, and from text to values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outperform.cli.progress import bar
from outperform.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from outperform._typing import Label
    from outperform.cli.options import Joined
    from outperform.outcomes import Outcomes, Scores


def read_outcomes(
    sources: Sequence[str], models: Sequence[str | None], reading: Joined
) -> Outcomes:
    """Read what was named on the command line; texts that list labels are split."""
    seen = split_labels(_read(sources, models, reading), reading)
    return seen if reading.pool is None else seen.in_pool(_read_pool(reading.pool, seen, reading))


def split_labels(seen: Outcomes, reading: Joined) -> Outcomes:
    """Split texts that list several labels, if there is something between them."""
    separator = reading.label_separator
    return seen if separator is None else seen.split_labels(separator)


def _read_pool(source: str, seen: Outcomes, reading: Joined) -> Outcomes:
    """Count the predictions of two models for all documents of a pool."""
    import outperform as op

    if len(seen.models) != 2:
        raise UsageError("--pool is for a comparison of two models; leave it out")
    a, b = seen.models
    asked = {"where": where_of(reading.where), **reading.dialect()}
    with bar("counting") as progress:
        return op.read(source, truth=a, models=[b], progress=progress, **asked)


def _read(sources: Sequence[str], models: Sequence[str | None], reading: Joined) -> Outcomes:
    import outperform as op
    from outperform.ingest import holds_outcomes

    if reading.confusion:
        if reading.groups is not None:
            raise UsageError("confusion matrices have added up their groups; leave --groups out")
        return _confusions(sources, models, encoding=reading.encoding)
    shared = {"on_null": reading.on_null.value, **reading.dialect()}
    if len(sources) == 1:
        if reading.truth is None and holds_outcomes(sources[0]):
            return _counted_before(sources[0], models, reading)
        truth, *columns = _columns(reading.truth, models)
        asked = reading.asked()
        with bar("counting") as progress:
            return op.read(
                sources[0], truth=truth, models=columns, progress=progress, **asked, **shared
            )
    if len(sources) != len(models) + 1:
        raise UsageError(
            f"give one file, or a gold file and one for each of {_counted(models)}; "
            f"got {', '.join(sources)}"
        )
    files = dict(zip(("gold", *_names(sources[1:], models)), sources, strict=True))
    joined: dict[str, Any] = {
        "id": _needed(reading.id, "--id"),
        "label": _needed(reading.label, "--label"),
        "truth": reading.truth,
        "groups": reading.groups,
        "isolate": reading.isolate,
    }
    with bar("counting") as progress:
        return op.read(
            files, on_missing=reading.on_missing.value, progress=progress, **joined, **shared
        )


def _counted_before(source: str, models: Sequence[str | None], reading: Joined) -> Outcomes:
    """Add up outcomes that ``count`` wrote, of the models that were named or of all."""
    import outperform as op

    named = [name for name in models if name is not None]
    seen = op.read(source, models=named or None, **reading.asked())
    if len(seen.models) != len(models):
        raise UsageError(
            f"{source} holds {', '.join(map(repr, seen.models))}; name {_counted(models)} of them"
        )
    return seen


def _confusions(sources: Sequence[str], models: Sequence[str | None], *, encoding: str) -> Outcomes:
    from outperform.ingest import read_confusions

    if len(sources) != len(models):
        raise UsageError(
            f"give one confusion matrix for each of {_counted(models)}; got {', '.join(sources)}"
        )
    files = dict(zip(_names(sources, models), sources, strict=True))
    return read_confusions(files, encoding=encoding)


def _counted(models: Sequence[object]) -> str:
    return "one model" if len(models) == 1 else f"{len(models)} models"


def _names(sources: Sequence[str], models: Sequence[str | None]) -> list[str]:
    """Name models as asked, or after their files."""
    names = [
        name or Path(source).name.partition(".")[0]
        for name, source in zip(models, sources, strict=True)
    ]
    if len(set(names)) != len(names):
        raise UsageError(f"both models would be called {names[0]!r}; name them with --a and --b")
    return names


def _needed(value: str | None, option: str) -> str:
    if value is None:
        raise UsageError(f"give {option}, the name of a column")
    return value


def _columns(truth: str | None, models: Sequence[str | None]) -> list[str]:
    """Return the columns of one file, the truth first."""
    options = ("--truth", "--a", "--b") if len(models) == 2 else ("--truth", "--of")
    names = [_needed(name, option) for name, option in zip((truth, *models), options, strict=True)]
    if len(set(names)) != len(names):
        raise UsageError(f"{', '.join(options)} must differ; got {', '.join(map(repr, names))}")
    return names


def needed_columns(models: Sequence[str | None]) -> list[str]:
    """Return the columns of the models, or say which option names them."""
    options = ("--a", "--b") if len(models) == 2 else ("--of",)
    return [_needed(name, option) for name, option in zip(models, options, strict=True)]


def rope_of(text: str | None) -> Any:
    """Read a ROPE: a half-width, or two ends with a comma between."""
    if text is None:
        return None
    try:
        ends = [float(end) for end in text.split(",")]
    except ValueError:
        ends = []
    if len(ends) not in (1, 2):
        raise UsageError(f"--rope must be a number such as 0.01, or two, -0.02,0.01; got {text!r}")
    return ends[0] if len(ends) == 1 else tuple(ends)


def where_of(conditions: Sequence[str] | None) -> dict[str, list[str]] | None:
    """Read conditions such as country=DE; several for one column are alternatives."""
    found: dict[str, list[str]] = {}
    for condition in conditions or ():
        column, sign, value = condition.partition("=")
        if not sign or not column:
            raise UsageError(f"--where must be a column and a value, country=DE; got {condition!r}")
        found.setdefault(column, []).append(value)
    return found or None


def prior_of(text: str | None) -> Any:
    """Read a prior: a name or a number."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def prevalence_of(outcomes: Outcomes | Scores, text: str | None) -> Any:
    """Read class proportions: one share, or shares or counts by class with commas between."""
    if text is None:
        return None
    found: dict[Label | None, float] = {}
    for part in text.split(","):
        label, sign, value = part.rpartition("=")  # a class may have = in its name
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if number != number or (not sign and "," in text):
            raise UsageError(
                "--prevalence must be a share such as 0.02, or shares or counts by class, "
                f"fraud=20,ok=980; got {text!r}"
            )
        if not sign:
            return number
        key = label_of(outcomes, label)
        if key in found:
            raise UsageError(f"--prevalence names the class {label!r} twice; got {text!r}")
        found[key] = number
    return found


def label_of(outcomes: Outcomes | Scores, text: str | None) -> Label | None:
    """Return the class that is written like this."""
    if text is None:
        return None
    by_text = {str(known): known for known in outcomes.labels}
    if text not in by_text:
        raise UsageError(unknown_name("class", text, by_text))
    return by_text[text]


def labels_of(outcomes: Outcomes | Scores, text: str | None) -> list[Label] | None:
    """Return the classes that are written like this, with commas between."""
    if text is None:
        return None
    found = (label_of(outcomes, part) for part in text.split(","))
    return [label for label in found if label is not None]
