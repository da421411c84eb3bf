"""Options for reading files, and the resulting outcomes and scores."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

import outperform as op
from outperform.cli import options as o
from outperform.cli.exit_codes import shown
from outperform.errors import UsageError, unknown_name
from outperform.io.catalogue import LOGS
from outperform.io.formats import FORMATS

if TYPE_CHECKING:
    from outperform._typing import Label
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.inference.suite import Suite
    from outperform.io.logs.read import CountedFile
    from outperform.metrics.metric import Metric

    Data = TypeVar("Data", Outcomes, Scores, Suite)


def parse_format(text: str) -> str:
    """Check the name of a built-in or plug-in format."""
    if text not in FORMATS and text not in LOGS:
        known = ", ".join(map(repr, (*FORMATS, *LOGS.names())))
        raise typer.BadParameter(f"{text!r} is not one of {known}.")
    return text


def complete_format(incomplete: str) -> list[str]:
    """Return the formats that start with this text, for shell completion."""
    return [name for name in (*FORMATS, *LOGS.names()) if name.startswith(incomplete)]


ReadAs = Annotated[
    str | None,
    o.in_files(
        "--read-as",
        metavar="KIND",
        help=f"Input format, if the file name does not show it: {', '.join(FORMATS)}. "
        f"Evaluation logs: {', '.join(name for name in LOGS.built_in if name != 'long')}; "
        "long for one row per item and model.",
        parser=parse_format,
        autocompletion=complete_format,
    ),
]

Models = Sequence[str | None] | None
"""Model names of a command, with None for names not passed; or None for all models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungrouped:
    """Options for reading one table of independent items."""

    truth: Annotated[
        str | None,
        o.in_data(metavar="COLUMN", help="Column of true labels, or the gold file."),
    ] = None
    correct: Annotated[
        list[str] | None,
        o.in_data(
            metavar="COLUMN",
            help="Use instead of --truth when the data record correctness: the right/wrong column "
            "of each model (repeat), or the column shared by all joined files.",
        ),
    ] = None
    id: Annotated[
        str | None,
        o.in_data(metavar="COLUMN", help="Item id column, used to join files."),
    ] = None
    model: Annotated[
        str | None,
        o.in_data("--model-column", metavar="COLUMN", help="Model column, with --read-as long."),
    ] = None
    score: Annotated[
        str | None,
        o.in_data(
            metavar="NAME",
            help="Score to read from evaluation logs, or one per task: arc=acc,gsm8k=exact. With "
            "--read-as long, its column.",
        ),
    ] = None
    skip_failed: Annotated[
        bool,
        o.in_data("--skip-failed", help="Drop logs of failed evaluations."),
    ] = False
    latest: Annotated[
        bool,
        o.in_data("--latest", help="Keep only the newest log of each model and task."),
    ] = False
    last: Annotated[
        str | None,
        o.in_data(metavar="DAYS", help="Of counts by day: only the last days, e.g. 7d or 4w."),
    ] = None
    since: Annotated[
        str | None,
        o.in_data(metavar="DATE", help="Of counts by day: only from this day on."),
    ] = None
    count: Annotated[
        str | None,
        o.in_data(metavar="COLUMN", help="Column with the number of items each row represents."),
    ] = None
    never_true: o.NeverTrue = None
    where: o.Where = None
    table: Annotated[
        str | None,
        o.in_files(metavar="NAME", help="Database table to read."),
    ] = None
    query: Annotated[
        str | None,
        o.in_files(metavar="SQL", help="SQL SELECT to run instead of reading --table."),
    ] = None
    on_null: Annotated[
        o.Missing,
        o.in_data(
            metavar="CHOICE",
            help="Treatment of rows with a missing value, such as an empty field: raise (an error) "
            "or drop.",
        ),
    ] = "raise"
    na_values: Annotated[
        list[str] | None,
        o.in_data(
            "--na",
            metavar="TEXT",
            help="Text that represents a missing value, e.g. NA. Repeat for more texts.",
        ),
    ] = None
    no_na: Annotated[
        bool,
        o.in_data("--no-na", help="Treat every text as a label, including NA, nan and null."),
    ] = False
    empty_is_label: Annotated[
        bool,
        o.in_data(
            "--empty-is-label", help="Treat an empty field as a label, not as a missing value."
        ),
    ] = False
    no_header: Annotated[
        bool,
        o.in_files("--no-header", help="The file has no header row; columns are named 0, 1, …"),
    ] = False
    encoding: o.Encoding = "utf-8"
    format: ReadAs = None
    storage_options: Annotated[
        str | None,
        o.in_files(
            metavar="FILE",
            help="JSON file with access keys, region, … for s3://, gs:// or abfs://.",
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``read``, most of which have the names of the fields."""
        keywords = {field.name: getattr(self, field.name) for field in fields(Ungrouped)}
        for name in ("never_true", "no_na", "no_header", "encoding"):  # not keywords of read
            del keywords[name]
        texts = {"score": score_of(self.score), "where": where_of(self.where)}
        return {**keywords, **texts, **self.declared(), **self.dialect()}

    def declared(self) -> dict[str, Any]:
        """Return the texts for missing values, as keyword arguments of the table readers."""
        if self.na_values and self.no_na:
            raise UsageError("--na and --no-na contradict each other; remove one of them")
        na_values = [] if self.no_na else self.na_values or None
        return {"na_values": na_values, "empty_is_label": self.empty_is_label}

    def dialect(self) -> dict[str, Any]:
        """Return the format and storage, as keyword arguments of the table readers."""
        dialect: dict[str, Any] = {"header": False} if self.no_header else {}
        dialect |= {"encoding": self.encoding} if self.encoding != "utf-8" else {}
        return {
            "dialect": dialect or None,
            "format": self.format,
            "storage_options": storage_of(self.storage_options),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTable(Ungrouped):
    """Options for reading one table."""

    weight: Annotated[
        str | None,
        o.in_data(metavar="COLUMN", help="Column of item weights, e.g. 1 / sampling probability."),
    ] = None
    groups: Annotated[
        str | None,
        o.in_data(
            metavar="COLUMN",
            help="Column of group ids (e.g. author). Each group counts as one unit.",
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``read``."""
        return {**Ungrouped.arguments(self), "weight": self.weight, "groups": self.groups}


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined(OneTable):
    """Options for reading one table or joined files."""

    label: Annotated[
        str | None,
        o.in_data(metavar="COLUMN", help="Label column of joined files."),
    ] = None
    label_separator: Annotated[
        str | None,
        o.in_data(
            metavar="TEXT",
            help="Separator for items with several labels, e.g. '|'.",
        ),
    ] = None
    on_missing: Annotated[
        o.Missing,
        o.in_data(
            metavar="CHOICE",
            help="Treatment of items that are not in all files: raise (an error) or drop.",
        ),
    ] = "raise"

    @property
    def confusion(self) -> bool:
        """Whether the files are confusion matrices; overridden by commands that read them."""
        return False

    @property
    def pool(self) -> str | None:
        """File of the full pool; overridden by commands that read one."""
        return None

    def with_people(self, outcomes: Outcomes) -> Outcomes:
        """Return the outcomes; overridden by commands that read human labels."""
        return outcomes


def read_outcomes(sources: Sequence[str], models: Models, reading: Joined) -> Outcomes:
    """Read outcomes, split label lists, and add human labels, pool and never-true classes."""
    outcomes = _read(sources, models, reading)
    if reading.label_separator is not None:
        outcomes = outcomes.split_labels(reading.label_separator)
    outcomes = reading.with_people(outcomes)
    if reading.pool is not None:
        outcomes = outcomes.in_pool(_read_pool(reading.pool, outcomes, reading))
    return declared(outcomes, reading.never_true)


def declared(outcomes: Outcomes, never_true: Sequence[str] | None) -> Outcomes:
    """Declare the classes that are never true by design; they need not occur."""
    labels = never_true_of(outcomes, never_true)
    return outcomes if labels is None else outcomes.with_never_true(labels)


def never_true_of(data: Outcomes | Scores, texts: Sequence[str] | None) -> list[Label] | None:
    """Parse classes that are never true, as values of the type of the other classes."""
    if not texts:
        return None
    if isinstance(data, op.Scores) or data.kind == "correct":
        refuse_never_true(texts)
        return None
    labels = [like(data.labels[0], text) for text in texts]
    for text, label in zip(texts, labels, strict=True):
        if label is None:
            raise UsageError(
                f"--never-true must be a class of the type of {data.labels[0]!r}; got {text!r}"
            )
    return [label for label in labels if label is not None]


def refuse_never_true(texts: Sequence[str] | None) -> None:
    """Raise an error for ``--never-true`` if the data have no labels."""
    if texts:
        raise UsageError("--never-true applies to labels, but these data have none; remove it")


def like(label: Label, text: str) -> Label | None:
    """Parse a class as a value of the type of ``label``; None if that is impossible."""
    if isinstance(label, bool):
        return {"False": False, "True": True}.get(text)
    if isinstance(label, int):
        return int(text) if text.removeprefix("-").isdecimal() else None
    return text


def _read_pool(source: str, outcomes: Outcomes, reading: Joined) -> Outcomes:
    """Count the predictions of two models for all items of a pool."""
    if len(outcomes.models) != 2 or outcomes.kind == "correct":
        raise UsageError("--pool needs the predictions of exactly two models; remove it")
    a, b = outcomes.models
    keywords = {"where": where_of(reading.where), **reading.declared(), **reading.dialect()}
    with shown("counting"):
        return op.read(source, truth=a, models=[b], **keywords)


def _read(sources: Sequence[str], models: Models, reading: Joined) -> Outcomes:
    if reading.confusion:
        if reading.groups is not None:
            raise UsageError("confusion matrices do not contain groups; remove --groups")
        return _confusions(sources, models, encoding=reading.encoding)
    if are_logs(sources, reading):
        return read_logs(op.read, sources, models, reading)
    if len(sources) == 1:
        return read_table(sources[0], models, reading)
    outcomes = _read_counts(sources, reading)
    if outcomes is not None:
        return chosen_models(outcomes, models, ", ".join(sources))
    return _read_files(sources, models, reading)


def read_table(
    source: str, models: Models, reading: Ungrouped, by: Sequence[str] | None = None
) -> Outcomes:
    """Read models from one table, or outcomes that ``count`` has written."""
    if are_logs([source], reading):
        return read_logs(op.read, [source], models, reading, by=by or None)
    keywords = {**reading.arguments(), "by": by or None}
    names = [name for name in models or () if name is not None]
    columns = None if models is None or len(names) < len(models) else names
    if reading.truth is None and not reading.correct and _are_counts(source, reading):
        # files of counts have no dialect or missing values
        for name in ("format", "dialect", "on_null"):
            del keywords[name]
        return chosen_models(op.read(source, models=columns, **keywords), models, source)
    if reading.correct:
        columns = None  # --correct names the columns; models select among them
    elif models is not None:
        _check_columns(source, models, reading)
    with shown("counting"):
        outcomes = op.read(source, models=columns, **keywords)
    return chosen_models(outcomes, models, source) if reading.correct else outcomes


def _are_counts(source: str, reading: Ungrouped) -> bool:
    from outperform.io.addresses import Storage
    from outperform.io.counted_files import holds_outcomes

    return holds_outcomes(source, Storage.of(storage_of(reading.storage_options)))


def are_logs(sources: Sequence[str], reading: Ungrouped) -> bool:
    """Return whether the files are evaluation logs, by ``--read-as`` or by their names."""
    from outperform.io.logs.read import recognized

    if reading.format is not None:
        return reading.format not in FORMATS
    return recognized(list(sources)) is not None


def read_logs(
    read: Callable[..., Data], sources: Sequence[str], models: Models, reading: Ungrouped, **by: Any
) -> Data:
    """Read evaluation logs, or a table with one row per item and model."""
    keywords = asked_of_logs(reading, **by)
    with shown("reading"):
        data = read(sources[0] if len(sources) == 1 else list(sources), **keywords)
    return chosen_models(data, models, ", ".join(sources))


def counted_logs(
    sources: Sequence[str], models: Models, by: Sequence[str] | None, reading: OneTable
) -> CountedFile | None:
    """Return the scores of evaluation logs as text for one file; None for other sources."""
    if reading.format == "long" or not are_logs(sources, reading):
        return None
    from outperform.io.logs.read import count_logs

    keywords = asked_of_logs(reading, by=by, models=models)
    source = sources[0] if len(sources) == 1 else list(sources)
    return count_logs(source, **{"format": None, **keywords})


def asked_of_logs(reading: Ungrouped, **by: Any) -> dict[str, Any]:
    """Return the options that were passed, as keyword arguments of the library."""
    options = {**reading.arguments(), "on_missing": getattr(reading, "on_missing", None), **by}
    return {name: value for name, value in options.items() if value not in (None, False)}


def _read_counts(sources: Sequence[str], reading: Joined) -> Outcomes | None:
    """Combine two files of counts, one per model; None if no file contains counts."""
    counted = [source for source in sources if _are_counts(source, reading)]
    if not counted:
        return None
    if len(sources) != 2 or len(counted) != 2 or reading.truth is not None or reading.label:
        raise UsageError(
            f"{counted[0]} contains counts, which cannot be joined; pass two files of counts, one "
            "per model, or join the files that were counted"
        )
    counts = [read_table(source, None, reading).unpair() for source in sources]
    for source, table in zip(sources, counts, strict=True):
        if len(table.models) != 1:
            raise UsageError(
                f"{source} contains {', '.join(map(repr, table.models))}; each of two files of "
                "counts must contain one model: count it with --model. To combine files, pass "
                "their folder"
            )
    if (counts[0].groups is None) != (counts[1].groups is None):
        raise UsageError(
            "only one file was counted with --groups; count both files with it, or neither"
        )
    if counts[0].models == counts[1].models:
        stems = [_stem(source) for source in sources]
        _check_unique(stems)
        counts = [replace(table, models=(name,)) for table, name in zip(counts, stems, strict=True)]
    # Imported here to keep help and completion fast.
    from outperform.data.views import stand_beside

    return stand_beside(*counts)


def _read_files(sources: Sequence[str], models: Models, reading: Joined) -> Outcomes:
    """Join one file per model, and the gold file if there is one, on an id."""
    if len(reading.correct or ()) > 1:
        raise UsageError(
            "joined files must share one right/wrong column; pass --correct once; got "
            f"{', '.join(map(repr, reading.correct or ()))}"
        )
    correct = reading.correct[0] if reading.correct else None
    needed = [] if reading.id is not None else ["--id, the column to join the files on"]
    if correct is None and reading.label is None:
        needed.append("--label, their label column (or --correct, their right/wrong column)")
    if needed:
        listing = columns_there(sources[0], reading)
        added = _probable_join(sources[0], reading)
        raise UsageError(
            f"pass {', and '.join(needed)}{listing}{f'; add {added}' if added else ''}"
        )
    files, truth = _named_files(sources, models, reading)
    with shown("counting"):
        outcomes = op.read(
            files,
            id=reading.id,
            label=reading.label,
            correct=correct,
            truth=truth,
            groups=reading.groups,
            on_missing=reading.on_missing,
            on_null=reading.on_null,
            **reading.declared(),
            **reading.dialect(),
        )
    return chosen_models(outcomes, models, ", ".join(sources))


def _probable_join(source: str, reading: Joined) -> str:
    """Return the options that probably join files with these columns; empty if unclear."""
    from outperform.io.request import probable_columns

    names = probable_columns(source)
    words = [] if reading.id is not None else ["--id", names.get("id", "")]
    if not reading.correct and reading.label is None:
        words += ["--label", names["label"]] if "label" in names else []
        words += ["--correct", names["correct"]] if {*names} == {"id", "correct"} else []
        words += [""] if len(words) < 3 else []
    return shlex.join(words) if all(words) else ""


def _named_files(
    sources: Sequence[str], models: Models, reading: Joined
) -> tuple[dict[str, str], str | None]:
    """Return the files by model name, and the truth: a column or the name of a file."""
    from outperform.io.join import GOLD

    stems = [_stem(source) for source in sources]
    golds = [index for index, name in enumerate(stems) if name.lower() in GOLD]
    truth, gold = reading.truth, golds[0] if len(golds) == 1 and not reading.correct else None
    if truth in (*sources, *stems):
        gold = (sources if truth in sources else stems).index(truth)
    others = [source for index, source in enumerate(sources) if index != gold]
    if gold is None and not reading.correct:  # the truth may be a column in one of the files
        _check_unique(stems)
        return dict(zip(stems, sources, strict=True)), truth
    if models is not None and len(others) != len(models):
        gold_too = "" if reading.correct else "a gold file and "
        raise UsageError(
            f"pass one file, or {gold_too}one for each of {_counted(models)}; "
            f"got {', '.join(sources)}"
        )
    names = _names(others, models or [None] * len(others))
    if gold is None:
        return dict(zip(names, others, strict=True)), truth
    _check_unique([stems[gold], *names])
    files = {stems[gold]: sources[gold], **dict(zip(names, others, strict=True))}
    is_column = truth is not None and truth not in (*sources, *stems)
    return files, truth if is_column else stems[gold]


def chosen_models(data: Data, models: Models, source: str) -> Data:
    """Return the selected models, in order."""
    if models is None:
        return data
    names = [name for name in models if name is not None]
    if len(names) == len(models) and names != list(data.models):
        return data.select(names)
    if len(data.models) != len(models):
        raise UsageError(
            f"{source} contains {', '.join(map(repr, data.models))}; select {_counted(models)} of "
            f"them with {' and '.join(_options(models))}"
        )
    return data


def _confusions(sources: Sequence[str], models: Models, *, encoding: str) -> Outcomes:
    from outperform.io.count_tables import read_confusions

    if models is not None and len(sources) != len(models):
        raise UsageError(
            f"pass one confusion matrix for each of {_counted(models)}; got {', '.join(sources)}"
        )
    names = _names(sources, models or [None] * len(sources))
    return read_confusions(dict(zip(names, sources, strict=True)), encoding=encoding)


def _counted(models: Sequence[object]) -> str:
    return "one model" if len(models) == 1 else f"{len(models)} models"


def _options(models: Sequence[object]) -> tuple[str, ...]:
    return ("--a", "--b") if len(models) == 2 else ("--model",)


def _stem(source: str) -> str:
    from outperform.io.paths import stem

    return source if source == "-" else stem(source)


def _names(sources: Sequence[str], models: Sequence[str | None]) -> list[str]:
    """Return the model names: file names if these match, otherwise as passed, in this order."""
    stems = [_stem(source) for source in sources]
    if len(set(stems)) == len(stems) and all(name in stems for name in models):
        return stems
    names = [name or stem for name, stem in zip(models, stems, strict=True)]
    _check_unique(names)
    return names


def _check_unique(names: Sequence[str]) -> None:
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        raise UsageError(
            f"two files would have the name {duplicate!r}; name the models with --a and --b"
        )


def _needed(value: str | None, option: str) -> str:
    if value is None:
        raise UsageError(f"pass {option}")
    return value


def _check_columns(source: str, models: Sequence[str | None], reading: Ungrouped) -> None:
    """Raise an error if a column of one file is not named, or named twice."""
    names, options = [reading.truth, *models], ["--truth", *_options(models)]
    missing = [option for option, name in zip(options, names, strict=False) if name is None]
    if missing:
        hint = (
            "; or --correct for each model, if the columns record right or wrong; or --a and --b "
            "with --metric mean, if they contain grades"
        )
        what = "the name of a column" if len(missing) == 1 else "the names of columns"
        raise UsageError(
            f"pass {', '.join(missing)}, {what}"
            f"{hint if reading.truth is None else ''}{columns_there(source, reading)}"
        )
    if len(set(names)) != len(names):
        raise UsageError(f"every column has one role; got {', '.join(map(repr, names))}")


def columns_there(source: str, reading: Ungrouped) -> str:
    """Return a sentence that lists the columns of a file, if known before reading it.

    For a table with one row per item and model, it gives the options to read it.
    """
    from outperform.io.columnar import listed
    from outperform.io.request import LongLayout, column_names

    names = column_names(source, **reading.dialect())
    if names is None:
        return ""
    layout = LongLayout.of(names)
    listing = f". Columns of {source}: {listed(names)}"
    if layout is not None:
        raise UsageError(f"{source} {layout.advice}{listing}")
    return listing


def needed_columns(models: Sequence[str | None]) -> list[str]:
    """Return the columns of the models; raise an error if one is missing."""
    pairs = zip(models, _options(models), strict=True)
    return [_needed(name, f"{option}, the name of a column") for name, option in pairs]


def rope_of(text: str | None) -> Any:
    """Parse a ROPE: a half-width, perhaps with ±, or two comma-separated ends."""
    if text is None:
        return None
    parts = text.removeprefix("±").removeprefix("+-").removeprefix("+/-").split(",")
    try:
        ends = [float(end) for end in parts]
    except ValueError:
        ends = []
    # With a decimal comma, 0,01 would be the ROPE from 0 to 1.
    is_comma = len(parts) == 2 and parts[0].strip() in ("0", "-0") and parts[1].isdecimal()
    if len(ends) not in (1, 2) or is_comma:
        meant = f"{parts[0]}.{parts[1]}" if is_comma else _meant_rope(text)
        hint = f"; did you mean {meant}?" if meant else ""
        raise UsageError(
            f"--rope must be a number such as 0.01, or two such as -0.02,0.01; got {text!r}{hint}"
        )
    return ends[0] if len(ends) == 1 else tuple(ends)


def _meant_rope(text: str) -> str:
    """Return the ROPE that an invalid text probably means; empty if that is unclear.

    Examples
    --------
    >>> _meant_rope("1%"), _meant_rope("[-0.02 0.01]"), _meant_rope("small")
    ('0.01', '-0.02,0.01', '')
    """
    if text.endswith("%"):
        try:
            return f"{float(text[:-1]) / 100:g}"
        except ValueError:
            return ""
    parts = re.split(r"[\s,;:]+", text.strip(" ()[]"))
    numbers = [part for part in parts if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)", part)]
    return ",".join(numbers) if len(numbers) == len(parts) <= 2 else ""


def where_of(conditions: Sequence[str] | None) -> dict[str, list[str]] | None:
    """Parse conditions such as country=DE; several values of a column are alternatives."""
    allowed: dict[str, list[str]] = {}
    for condition in conditions or ():
        column, sign, value = condition.partition("=")
        if not sign or not column:
            raise UsageError(f"--where must be COLUMN=VALUE, e.g. country=DE; got {condition!r}")
        allowed.setdefault(column, []).append(value)
    return allowed or None


def storage_of(path: str | None) -> dict[str, Any] | None:
    """Read storage options from a file. Errors never quote it, because it may contain secrets."""
    if path is None:
        return None
    from outperform._files import parse
    from outperform.io.addresses import Storage

    try:
        options = parse(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"--storage-options {path} cannot be read: {error.strerror}") from None
    except ValueError:
        options = None
    if not isinstance(options, dict):
        raise UsageError(
            f"--storage-options must be a JSON file with one object, such as "
            f'{{"access_key": …, "secret_key": …, "region": …}}; {path} contains something else'
        )
    Storage.of(options)  # raises an error if an option is wrong
    return options


def score_of(text: str | None) -> str | dict[str, str] | None:
    """Parse the name of a score, or one per task: arc=acc,gsm8k=exact_match."""
    if text is None or "=" not in text:
        return text
    scores: dict[str, str] = {}
    for part in text.split(","):
        task, sign, score = part.partition("=")
        if not sign or not task or not score or task in scores:
            raise UsageError(
                "--score must be a name, or one per task such as arc=acc,gsm8k=exact_match; got "
                f"{text!r}"
            )
        scores[task] = score
    return scores


def prior_of(text: str | None) -> Any:
    """Parse a prior: a name or a number."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def prevalence_of(outcomes: Outcomes | Scores, text: str | None) -> Any:
    """Parse class proportions: one share, or comma-separated shares or counts per class."""
    if text is None:
        return None
    shares: dict[Label | None, float] = {}
    for part in text.split(","):
        label, sign, value = part.rpartition("=")  # a class may contain =
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if number != number or (not sign and "," in text):
            raise UsageError(
                "--prevalence must be a share such as 0.02, or shares or counts by class such as "
                f"fraud=20,ok=980; got {text!r}"
            )
        if not sign:
            return number
        key = label_of(outcomes, label)
        if key in shares:
            raise UsageError(f"--prevalence names the class {label!r} twice; got {text!r}")
        shares[key] = number
    return shares


def label_of(outcomes: Outcomes | Scores, text: str | None) -> Label | None:
    """Return the class with this text."""
    if text is None:
        return None
    by_text = {str(known): known for known in outcomes.labels}
    if text not in by_text:
        raise UsageError(unknown_name("class", text, by_text))
    return by_text[text]


def labels_of(outcomes: Outcomes | Scores, text: str | None) -> list[Label] | None:
    """Return the classes of a comma-separated list."""
    if text is None:
        return None
    labels = (label_of(outcomes, part) for part in text.split(","))
    return [label for label in labels if label is not None]


def read_seen(
    sources: Sequence[str], models: Models, reading: Joined, metrics: Sequence[str | None]
) -> Outcomes | Scores:
    """Read scores if the metrics need scores, otherwise outcomes."""
    from outperform.inference.spec import refuse_columns
    from outperform.metrics.added_up import stored_rows
    from outperform.metrics.registry import check_name, get_score, is_of_scores

    for metric in metrics:
        check_name(metric)
    score_metrics = [metric for metric in metrics if metric is not None and is_of_scores(metric)]
    if not score_metrics:
        return read_outcomes(sources, models, reading)
    if len(score_metrics) < len(metrics):
        raise UsageError(
            f"{', '.join(score_metrics)} need scores, but the other metrics need labels; use one "
            "kind of metric"
        )
    refuse_never_true(reading.never_true)
    if are_logs(sources, reading):
        return read_logs(op.read_scores, sources, models, reading)
    for metric in score_metrics:
        if get_score(metric).basis.read is not None:
            raise refuse_columns(metric)
    by_rows = any(stored_rows(get_score(metric)) is None for metric in score_metrics)
    keep: Literal["rows"] | None = "rows" if by_rows else None
    return _read_columns(sources, models, reading, score_metrics[0], keep=keep)


def read_runs(sources: Sequence[str], models: Models, reading: Joined) -> Outcomes | Scores:
    """Read runs of one model: logs with one run per path, or columns of right, wrong or grades."""
    from outperform.io.logs.samples import LONG
    from outperform.io.read import read_repeated
    from outperform.io.request import column_names

    if are_logs(sources, reading) and reading.format != LONG:
        names = [_stem(source.rstrip("/")) for source in sources]
        if len(set(names)) < len(names):
            names = list(sources)
        _check_unique(names)
        named = sources[0] if len(sources) == 1 else dict(zip(names, sources, strict=True))
        with shown("reading"):
            data = read_repeated(named, **asked_of_logs(reading))
        several = ", ".join(sources)
        if isinstance(data, op.Scores):
            return chosen_models(data, models, several)
        return chosen_models(data, models, several)
    table = len(sources) == 1 and reading.label is None
    is_known = reading.truth or reading.correct or are_logs(sources, reading)
    if not table or is_known or _are_counts(sources[0], reading):
        return read_outcomes(sources, models, reading)
    names = [name for name in models or () if name is not None]
    if not names:
        others = (reading.groups, reading.id, reading.weight)
        names = [name for name in column_names(sources[0]) or () if name not in others]
    return _read_columns(sources, names, reading, "mean", keep="rows")


def _read_columns(
    sources: Sequence[str],
    models: Models,
    reading: Joined,
    metric: str,
    *,
    keep: Literal["rows"] | None = None,
) -> Scores:
    """Read scores from columns of one file."""
    if not models:
        raise UsageError("pass --model once per score column")
    names = [name for name in models if name is not None]
    columns = names if len(names) == len(models) else needed_columns(models)
    keywords = reading.arguments()
    not_for_scores = ("correct", "count", "weight", "table", "query", "last", "since")
    unusable = [f"--{name}" for name in not_for_scores if keywords.pop(name) not in (None, False)]
    if reading.confusion or reading.label is not None or len(sources) != 1 or unusable:
        hint = f"; remove {', '.join(unusable)}" if unusable else ""
        raise UsageError(f"{metric} needs scores: pass one file with one column per model{hint}")
    with shown("reading"):
        return op.read_scores(sources[0], models=columns, keep=keep, **keywords)


def priced(
    data: Outcomes | Scores, metric: str | None, cost: str | None, unit: str | None
) -> str | Metric | None:
    """Return the metric, or the mean cost if costs were passed instead."""
    if cost is None:
        if unit is not None:
            raise UsageError("--unit needs --cost; pass both")
        return metric
    if metric is not None:
        raise UsageError(f"use --metric or --cost, not both; got {metric!r} and {cost!r}")
    from outperform import metrics

    return metrics.cost(dict(_pair(data, part) for part in cost.split(",")), unit=unit)


def _pair(data: Outcomes | Scores, text: str) -> tuple[tuple[Label, Label], float]:
    """Parse truth:prediction=cost; a class may contain colons."""
    pair, sign, number = text.strip().rpartition("=")
    try:
        cost = float(number)
    except ValueError:
        sign = ""
    if not sign or ":" not in pair:
        raise UsageError(
            f"--cost must be truth:prediction=cost, e.g. fraud:ok=100,ok:fraud=5; got {text!r}"
        )
    known = {str(label): label for label in data.labels}
    colons = [index for index, character in enumerate(pair) if character == ":"]
    splits = [(pair[:colon], pair[colon + 1 :]) for colon in colons]
    matches = [split for split in splits if split[0] in known and split[1] in known]
    if len(matches) != 1:
        unknown = [name for name in splits[0] if name not in known]
        raise UsageError(
            unknown_name("class", unknown[0], known)
            if unknown
            else f"{pair!r} in --cost is ambiguous"
        )
    return (known[matches[0][0]], known[matches[0][1]]), cost
