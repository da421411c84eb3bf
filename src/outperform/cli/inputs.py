"""How files on the command line are read, and from them to outcomes and scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

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
    from outperform.metrics.metric import Metric

    Seen = TypeVar("Seen", Outcomes, Scores, Suite)


def parse_format(text: str) -> str:
    """Read the name of a format; plug-ins are searched for those that are not built in."""
    if text not in FORMATS and text not in LOGS:
        known = ", ".join(map(repr, (*FORMATS, *LOGS.names())))
        raise typer.BadParameter(f"{text!r} is not one of {known}.")
    return text


def complete_format(incomplete: str) -> list[str]:
    """Return the formats that a shell can complete a name to."""
    return [name for name in (*FORMATS, *LOGS.names()) if name.startswith(incomplete)]


Models = Sequence[str | None] | None
"""The models that a command asks of, None where one was not named; None for all there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungrouped:
    """How one table is to be read whose items are taken one by one."""

    truth: Annotated[
        str | None,
        o.in_data(
            metavar="COLUMN", help="The true labels: a column, or the name of the gold file."
        ),
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
        o.in_data(metavar="COLUMN", help="Names the model of each row, with --read-as long."),
    ] = None
    score: Annotated[
        str | None,
        o.in_data(
            metavar="NAME",
            help="The score to read in evaluation logs, or one per task, arc=acc,gsm8k=exact; its "
            "column with --read-as long.",
        ),
    ] = None
    skip_failed: Annotated[
        bool,
        o.in_data("--skip-failed", help="Leave out logs of evaluations that failed."),
    ] = False
    latest: Annotated[
        bool,
        o.in_data("--latest", help="Keep the newest log of the same model and task."),
    ] = False
    count: Annotated[
        str | None,
        o.in_data(metavar="COLUMN", help="Column with the number of items each row represents."),
    ] = None
    never_true: o.NeverTrue = None
    where: o.Where = None
    table: Annotated[
        str | None,
        o.in_files(metavar="NAME", help="The table of a database."),
    ] = None
    query: Annotated[
        str | None,
        o.in_files(metavar="SQL", help="SQL SELECT to run instead of reading --table."),
    ] = None
    on_null: Annotated[
        o.Missing,
        o.in_data(
            metavar="CHOICE",
            help="Rows with a missing value, such as an empty field: raise an error or drop.",
        ),
    ] = "raise"
    na_values: Annotated[
        list[str] | None,
        o.in_data(
            "--na",
            metavar="TEXT",
            help="A text that means a missing value, such as NA. Repeat for more texts.",
        ),
    ] = None
    no_na: Annotated[
        bool,
        o.in_data("--no-na", help="No text means a missing value: NA, nan and null are labels."),
    ] = False
    empty_is_label: Annotated[
        bool,
        o.in_data("--empty-is-label", help="An empty field is a label, not a missing value."),
    ] = False
    no_header: Annotated[
        bool,
        o.in_files("--no-header", help="The file has no header row; columns are named 0, 1, …"),
    ] = False
    encoding: o.Encoding = "utf-8"
    format: Annotated[
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
    ] = None
    storage_options: Annotated[
        str | None,
        o.in_files(
            metavar="FILE",
            help="A JSON file that says how to reach s3://, gs:// or abfs://: keys, region, …",
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the keywords of ``read``, which have the names of the fields."""
        keywords = {field.name: getattr(self, field.name) for field in fields(Ungrouped)}
        for name in ("never_true", "no_na", "no_header", "encoding"):  # no keywords of their own
            del keywords[name]
        texts = {"score": score_of(self.score), "where": where_of(self.where)}
        return {**keywords, **texts, **self.declared(), **self.dialect()}

    def declared(self) -> dict[str, Any]:
        """Return which texts are missing values, as the readers of tables take it."""
        if self.na_values and self.no_na:
            raise UsageError("--no-na says that no text is missing; leave it or --na out")
        given = {"na_values": [] if self.no_na else self.na_values or None}
        return given | {"empty_is_label": self.empty_is_label}

    def dialect(self) -> dict[str, Any]:
        """Return what the readers of tables take."""
        other: dict[str, Any] = {"header": False} if self.no_header else {}
        other |= {"encoding": self.encoding} if self.encoding != "utf-8" else {}
        return {
            "dialect": other or None,
            "format": self.format,
            "storage_options": storage_of(self.storage_options),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTable(Ungrouped):
    """How one table is to be read."""

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
        """Return the arguments of ``read`` for one table."""
        return {**Ungrouped.arguments(self), "weight": self.weight, "groups": self.groups}


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined(OneTable):
    """How one table, or several that are joined, are to be read."""

    label: Annotated[
        str | None,
        o.in_data(metavar="COLUMN", help="The labels in joined files."),
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
        o.in_data(metavar="CHOICE", help="Items that a joined file lacks: raise an error or drop."),
    ] = "raise"

    @property
    def confusion(self) -> bool:
        """Whether the files are confusion matrices, for commands that take them."""
        return False

    @property
    def pool(self) -> str | None:
        """Where all items of a pool are, for commands that take one."""
        return None

    def with_people(self, seen: Outcomes) -> Outcomes:
        """Return what was seen, for commands that know no judge."""
        return seen


def read_outcomes(sources: Sequence[str], models: Models, reading: Joined) -> Outcomes:
    """Read what was named on the command line; texts that list labels are split."""
    seen = reading.with_people(split_labels(_read(sources, models, reading), reading))
    if reading.pool is not None:
        seen = seen.in_pool(_read_pool(reading.pool, seen, reading))
    return declared(seen, reading.never_true)


def declared(seen: Outcomes, never_true: Sequence[str] | None) -> Outcomes:
    """Declare the classes that are meant never to be true; they need not occur."""
    labels = never_true_of(seen, never_true)
    return seen if labels is None else seen.with_never_true(labels)


def never_true_of(seen: Outcomes | Scores, texts: Sequence[str] | None) -> list[Label] | None:
    """Return classes that are written like this, of the type of the others."""
    if not texts:
        return None
    if isinstance(seen, op.Scores) or seen.kind == "correct":
        refuse_never_true(texts)
        return None
    labels = [like(seen.labels[0], text) for text in texts]
    for text, label in zip(texts, labels, strict=True):
        if label is None:
            raise UsageError(
                f"--never-true must be a class of the type of {seen.labels[0]!r}; got {text!r}"
            )
    return [label for label in labels if label is not None]


def refuse_never_true(texts: Sequence[str] | None) -> None:
    """Refuse classes where only scores, or right and wrong, are known."""
    if texts:
        raise UsageError("--never-true is for labels, and there are none; leave it out")


def like(label: Label, text: str) -> Label | None:
    """Read a class of the type of another; None if it cannot be one."""
    if isinstance(label, bool):
        return {"False": False, "True": True}.get(text)
    if isinstance(label, int):
        return int(text) if text.removeprefix("-").isdecimal() else None
    return text


def split_labels(seen: Outcomes, reading: Joined) -> Outcomes:
    """Split texts that list several labels, if there is something between them."""
    separator = reading.label_separator
    return seen if separator is None else seen.split_labels(separator)


def _read_pool(source: str, seen: Outcomes, reading: Joined) -> Outcomes:
    """Count the predictions of two models for all items of a pool."""
    if len(seen.models) != 2 or seen.kind == "correct":
        raise UsageError("--pool is for the predictions of two models; leave it out")
    a, b = seen.models
    asked = {"where": where_of(reading.where), **reading.declared(), **reading.dialect()}
    with shown("counting"):
        return op.read(source, truth=a, models=[b], **asked)


def _read(sources: Sequence[str], models: Models, reading: Joined) -> Outcomes:
    if reading.confusion:
        if reading.groups is not None:
            raise UsageError("confusion matrices have added up their groups; leave --groups out")
        return _confusions(sources, models, encoding=reading.encoding)
    if are_logs(sources, reading):
        return read_logs(op.read, sources, models, reading)
    if len(sources) == 1:
        return read_table(sources[0], models, reading)
    beside = _read_counts(sources, reading)
    if beside is not None:
        return chosen_models(beside, models, ", ".join(sources))
    return _read_files(sources, models, reading)


def read_table(
    source: str, models: Models, reading: Ungrouped, by: Sequence[str] | None = None
) -> Outcomes:
    """Read models from one table, or outcomes that ``count`` wrote."""
    if are_logs([source], reading):
        return read_logs(op.read, [source], models, reading, by=by or None)
    asked = {**reading.arguments(), "by": by or None}
    named = [name for name in models or () if name is not None]
    columns = None if models is None or len(named) < len(models) else named
    if reading.truth is None and not reading.correct and _are_counts(source, reading):
        texts = ("format", "dialect", "on_null")  # counts have no dialect, and nothing missing
        given = {name: value for name, value in asked.items() if name not in texts}
        return chosen_models(op.read(source, models=columns, **given), models, source)
    if reading.correct:
        columns = None  # they are named already; models choose among them
    elif models is not None:
        _refuse_unnamed(source, models, reading)
    with shown("counting"):
        seen = op.read(source, models=columns, **asked)
    return chosen_models(seen, models, source) if reading.correct else seen


def _are_counts(source: str, reading: Ungrouped) -> bool:
    from outperform.io.addresses import Storage
    from outperform.io.counted_files import holds_outcomes

    return holds_outcomes(source, Storage.of(storage_of(reading.storage_options)))


def are_logs(sources: Sequence[str], reading: Ungrouped) -> bool:
    """Return whether the files are evaluation logs, by what was said or by their names."""
    from outperform.io.logs.read import recognized

    if reading.format is not None:
        return reading.format not in FORMATS
    return recognized(list(sources)) is not None


def read_logs(
    read: Callable[..., Seen], sources: Sequence[str], models: Models, reading: Ungrouped, **by: Any
) -> Seen:
    """Read evaluation logs, or a table with one row for each item and model."""
    asked = asked_of_logs(reading, **by)
    with shown("reading"):
        seen = read(sources[0] if len(sources) == 1 else list(sources), **asked)
    return chosen_models(seen, models, ", ".join(sources))


def asked_of_logs(reading: Ungrouped, **by: Any) -> dict[str, Any]:
    """Return the options that were given, by the names of the library's parameters."""
    options = {**reading.arguments(), "on_missing": getattr(reading, "on_missing", None), **by}
    return {name: value for name, value in options.items() if value not in (None, False)}


def _read_counts(sources: Sequence[str], reading: Joined) -> Outcomes | None:
    """Put the counts of two models beside each other; None if no file holds counts."""
    counted = [source for source in sources if _are_counts(source, reading)]
    if not counted:
        return None
    if len(sources) != 2 or len(counted) != 2 or reading.truth is not None or reading.label:
        raise UsageError(
            f"{counted[0]} holds counts, which cannot be joined; compare two files of counts, one "
            "for each model, or join the files that were counted"
        )
    counts = [read_table(source, None, reading).unpair() for source in sources]
    for source, table in zip(sources, counts, strict=True):
        if len(table.models) != 1:
            raise UsageError(
                f"{source} holds {', '.join(map(repr, table.models))}; of two files of counts each "
                "must hold one model: count it with --of. To add files up, name their folder"
            )
    if (counts[0].groups is None) != (counts[1].groups is None):
        raise UsageError("both files must be counted with --groups, or neither")
    if counts[0].models == counts[1].models:
        stems = [_stem(source) for source in sources]
        _refuse_twins(stems)
        counts = [replace(table, models=(name,)) for table, name in zip(counts, stems, strict=True)]
    # Loaded late, so that help and completion stay fast.
    from outperform.data.views import stand_beside

    return stand_beside(*counts)


def _read_files(sources: Sequence[str], models: Models, reading: Joined) -> Outcomes:
    """Join one file a model on an id, and gold if there is a truth."""
    id = _needed(reading.id, "--id, the column on which several files are joined")
    if len(reading.correct or ()) > 1:
        raise UsageError(
            "files that are joined have one column each that says right or wrong; give --correct "
            f"once; got {', '.join(map(repr, reading.correct or ()))}"
        )
    correct = reading.correct[0] if reading.correct else None
    if correct is None:
        _needed(
            reading.label,
            "--label, the column of the labels in each file, or --correct, the one that says "
            "right or wrong",
        )
    files, truth = _named_files(sources, models, reading)
    with shown("counting"):
        seen = op.read(
            files,
            id=id,
            label=reading.label,
            correct=correct,
            truth=truth,
            groups=reading.groups,
            on_missing=reading.on_missing,
            on_null=reading.on_null,
            **reading.declared(),
            **reading.dialect(),
        )
    return chosen_models(seen, models, ", ".join(sources))


def _named_files(
    sources: Sequence[str], models: Models, reading: Joined
) -> tuple[dict[str, str], str | None]:
    """Return the files by name, and the truth: a column or the name of a file."""
    from outperform.io.join import GOLD

    stems = [_stem(source) for source in sources]
    golds = [index for index, name in enumerate(stems) if name.lower() in GOLD]
    truth, gold = reading.truth, golds[0] if len(golds) == 1 and not reading.correct else None
    if truth in (*sources, *stems):
        gold = (sources if truth in sources else stems).index(truth)
    others = [source for index, source in enumerate(sources) if index != gold]
    if gold is None and not reading.correct:  # a column may say whose the truth is
        _refuse_twins(stems)
        return dict(zip(stems, sources, strict=True)), truth
    if models is not None and len(others) != len(models):
        gold_too = "" if reading.correct else "a gold file and "
        raise UsageError(
            f"give one file, or {gold_too}one for each of {_counted(models)}; "
            f"got {', '.join(sources)}"
        )
    names = _names(others, models or [None] * len(others))
    if gold is None:
        return dict(zip(names, others, strict=True)), truth
    _refuse_twins([stems[gold], *names])
    files = {stems[gold]: sources[gold], **dict(zip(names, others, strict=True))}
    is_column = truth is not None and truth not in (*sources, *stems)
    return files, truth if is_column else stems[gold]


def chosen_models(seen: Seen, models: Models, source: str) -> Seen:
    """Return the models that were asked for, in that order."""
    if models is None:
        return seen
    named = [name for name in models if name is not None]
    if len(named) == len(models) and named != list(seen.models):
        return seen.select(named)
    if len(seen.models) != len(models):
        raise UsageError(
            f"{source} contains {', '.join(map(repr, seen.models))}; select {_counted(models)} of "
            "them"
            f" with {' and '.join(_options(models))}"
        )
    return seen


def _confusions(sources: Sequence[str], models: Models, *, encoding: str) -> Outcomes:
    from outperform.io.count_tables import read_confusions

    if models is not None and len(sources) != len(models):
        raise UsageError(
            f"give one confusion matrix for each of {_counted(models)}; got {', '.join(sources)}"
        )
    names = _names(sources, models or [None] * len(sources))
    return read_confusions(dict(zip(names, sources, strict=True)), encoding=encoding)


def _counted(models: Sequence[object]) -> str:
    return "one model" if len(models) == 1 else f"{len(models)} models"


def _options(models: Sequence[object]) -> tuple[str, ...]:
    return ("--a", "--b") if len(models) == 2 else ("--of",)


def _stem(source: str) -> str:
    from outperform.io.paths import stem

    return source if source == "-" else stem(source)


def _names(sources: Sequence[str], models: Sequence[str | None]) -> list[str]:
    """Name models after their files if that is what they were called, or as asked in this order."""
    stems = [_stem(source) for source in sources]
    if len(set(stems)) == len(stems) and all(name in stems for name in models):
        return stems
    names = [name or stem for name, stem in zip(models, stems, strict=True)]
    _refuse_twins(names)
    return names


def _refuse_twins(names: Sequence[str]) -> None:
    twin = next((name for name in names if names.count(name) > 1), None)
    if twin is not None:
        raise UsageError(f"two files would be called {twin!r}; name the models with --a and --b")


def _needed(value: str | None, option: str) -> str:
    if value is None:
        raise UsageError(f"give {option}")
    return value


def _refuse_unnamed(source: str, models: Sequence[str | None], reading: Ungrouped) -> None:
    """Refuse columns of one file that nobody named, or that were named twice."""
    names, options = [reading.truth, *models], ["--truth", *_options(models)]
    lacking = [option for option, name in zip(options, names, strict=False) if name is None]
    if lacking:
        hint = "; or --correct for each model, if columns say right or wrong"
        what = "the name of a column" if len(lacking) == 1 else "the names of columns"
        raise UsageError(
            f"give {', '.join(lacking)}, {what}"
            f"{hint if reading.truth is None else ''}{columns_there(source, reading)}"
        )
    if len(set(names)) != len(names):
        raise UsageError(f"every column has one role; got {', '.join(map(repr, names))}")


def columns_there(source: str, reading: Ungrouped) -> str:
    """Say which columns a file has, if that can be told before it is read."""
    from outperform.io.request import columns_of

    names = columns_of(source, **reading.dialect())
    return "" if names is None else f". Columns of {source}: {names}"


def needed_columns(models: Sequence[str | None]) -> list[str]:
    """Return the columns of the models, or say which option names them."""
    pairs = zip(models, _options(models), strict=True)
    return [_needed(name, f"{option}, the name of a column") for name, option in pairs]


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
    allowed: dict[str, list[str]] = {}
    for condition in conditions or ():
        column, sign, value = condition.partition("=")
        if not sign or not column:
            raise UsageError(f"--where must be a column and a value, country=DE; got {condition!r}")
        allowed.setdefault(column, []).append(value)
    return allowed or None


def storage_of(path: str | None) -> dict[str, Any] | None:
    """Read how to reach a store; no complaint has a word of what the file holds."""
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
            f"--storage-options must name a JSON file with one object in it, such as "
            f'{{"access_key": …, "secret_key": …, "region": …}}; {path} holds something else'
        )
    Storage.of(options)  # says what is wrong with it
    return options


def score_of(text: str | None) -> str | dict[str, str] | None:
    """Read the name of a score, or one for each task: arc=acc,gsm8k=exact_match."""
    if text is None or "=" not in text:
        return text
    scores: dict[str, str] = {}
    for part in text.split(","):
        task, sign, score = part.partition("=")
        if not sign or not task or not score or task in scores:
            raise UsageError(
                "--score must be a name, or one for each task, arc=acc,gsm8k=exact_match; got "
                f"{text!r}"
            )
        scores[task] = score
    return scores


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
    shares: dict[Label | None, float] = {}
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
        if key in shares:
            raise UsageError(f"--prevalence names the class {label!r} twice; got {text!r}")
        shares[key] = number
    return shares


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
    labels = (label_of(outcomes, part) for part in text.split(","))
    return [label for label in labels if label is not None]


def read_seen(
    sources: Sequence[str], models: Models, reading: Joined, metrics: Sequence[str | None]
) -> Outcomes | Scores:
    """Read scores if the metrics are of scores, and count labels otherwise."""
    from outperform.inference.spec import refuse_columns
    from outperform.metrics.registry import check_name, get_score, is_of_scores

    for metric in metrics:
        check_name(metric)
    of_scores = [metric for metric in metrics if metric is not None and is_of_scores(metric)]
    if not of_scores:
        return read_outcomes(sources, models, reading)
    if len(of_scores) < len(metrics):
        raise UsageError(
            f"{', '.join(of_scores)} read scores and the other metrics labels; ask for one kind"
        )
    refuse_never_true(reading.never_true)
    if are_logs(sources, reading):
        return read_logs(op.read_scores, sources, models, reading)
    for metric in of_scores:
        if get_score(metric).basis.read is not None:
            raise refuse_columns(metric)
    return _read_columns(sources, models, reading, of_scores[0])


def _read_columns(sources: Sequence[str], models: Models, reading: Joined, metric: str) -> Scores:
    """Read scores from columns of one file."""
    if not models:
        raise UsageError("give --of once for each column of scores")
    named = [name for name in models if name is not None]
    columns = named if len(named) == len(models) else needed_columns(models)
    asked = reading.arguments()
    not_for_scores = ("correct", "count", "weight", "table", "query")
    given = [f"--{name}" for name in not_for_scores if asked.pop(name) not in (None, False)]
    if reading.confusion or reading.label is not None or len(sources) != 1 or given:
        what = f"; leave {', '.join(given)} out" if given else ""
        raise UsageError(
            f"{metric} needs the scores themselves: give one file with a column a model{what}"
        )
    with shown("reading"):
        return op.read_scores(
            sources[0],
            models=columns,
            **asked,
        )


def priced(
    seen: Outcomes | Scores, metric: str | None, cost: str | None, unit: str | None
) -> str | Metric | None:
    """Return the metric that was named, or the cost that was given instead."""
    if cost is None:
        if unit is not None:
            raise UsageError("--unit is that of --cost, which is not given")
        return metric
    if metric is not None:
        raise UsageError(f"give --metric or --cost, not both; got {metric!r} and {cost!r}")
    from outperform import metrics

    return metrics.cost(dict(_pair(seen, part) for part in cost.split(",")), unit=unit)


def _pair(seen: Outcomes | Scores, text: str) -> tuple[tuple[Label, Label], float]:
    """Read truth:prediction=cost; a class may have colons of its own."""
    pair, sign, number = text.strip().rpartition("=")
    try:
        cost = float(number)
    except ValueError:
        sign = ""
    if not sign or ":" not in pair:
        raise UsageError(
            f"--cost must be truth:prediction=cost, e.g. fraud:ok=100,ok:fraud=5; got {text!r}"
        )
    known = {str(label): label for label in seen.labels}
    cuts = [index for index, sign in enumerate(pair) if sign == ":"]
    splits = [(pair[:cut], pair[cut + 1 :]) for cut in cuts]
    named = [split for split in splits if split[0] in known and split[1] in known]
    if len(named) != 1:
        unknown = [name for name in splits[0] if name not in known]
        raise UsageError(
            unknown_name("class", unknown[0], known)
            if unknown
            else f"{pair!r} in --cost can be read in more than one way"
        )
    return (known[named[0][0]], known[named[0][1]]), cost
