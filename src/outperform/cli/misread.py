"""Messages about mistakes on the command line, with the corrected command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from outperform.cli import groups
from outperform.cli.guesses import (
    Line,
    Parameter,
    Token,
    columns_of,
    guesses,
    is_file,
    is_stray,
    plain,
    words_of,
)
from outperform.display.figure_style import FIGURE_SUFFIXES
from outperform.errors import UsageError

_FORMATS = {
    name: name for name in ("text", "json", "markdown", "latex", "html", "github", "csv")
} | {"md": "markdown", "tex": "latex"}
# Column names that probably contain the true labels.
_PIXELS = {".bmp", ".gif", ".jpeg", ".jpg", ".tif", ".tiff", ".webp"}
_UNWRITTEN = {*_PIXELS, ".doc", ".docx", ".eps", ".parquet", ".ppt", ".pptx", ".xls", ".xlsx"}
_FIGURES = "compare, rank, slices and plan write one, as -o figure.png"
_TRUTHS = {
    "actual", "class", "gold", "ground_truth", "label", "labels", "reference", "target", "true",
    "truth", "y", "y_true",
}  # fmt: skip
_IDS = {"id", "index", "item", "item_id", "key"}


class Command(Protocol):
    """typer command."""

    name: str | None
    help: str | None

    @property
    def params(self) -> Sequence[Parameter]:
        """Options and arguments."""


_MAX_WORD = 200  # maximum number of characters of a word in a suggested command


def _typed(words: Iterable[str]) -> str:
    """Return a suggested command, with very long words shortened."""
    cut = (word if len(word) <= _MAX_WORD else f"{word[:_MAX_WORD]}…" for word in words)
    return groups.typed_line(list(cut))


class _Context(Protocol):
    command: Command
    command_path: str


class Mistake(Protocol):
    """typer usage error; for an unknown option, it has ``option_name``."""

    message: str
    ctx: _Context | None

    def format_message(self) -> str:
        """Return typer's message."""


def usage_message(error: Mistake, words: Sequence[str]) -> str:
    """Return one line about invalid arguments, with the corrected command or a help command.

    Parameters
    ----------
    error
        typer error.
    words
        Words after ``outperform``.
    """
    if error.ctx is None:
        return f"{_sentence(error.format_message())} See outperform --help"
    try:
        return _usage_message(error, error.ctx, words)
    except UsageError as misread:
        return str(misread)


def _usage_message(error: Mistake, ctx: _Context, words: Sequence[str]) -> str:
    command, path = ctx.command, ctx.command_path
    option: str | None = getattr(error, "option_name", None) if _is_option(error) else None
    commands: Mapping[str, Command] | None = getattr(command, "commands", None)
    if commands is not None:
        problem, line = _unknown_command(words, commands, option)
    else:
        name = command.name or ""
        after = words[words.index(name) + 1 :] if name in words else words
        problem, line = _wrong_words(error, Line(name, command.params, after), option)
    problem = problem or error.message
    if line is not None:
        colon = "" if problem.endswith("?") else ";"
        return f"{_lower(problem)}{colon} {'T' if not colon else 't'}ype: {_typed(line)}"
    help_option = "--help-all" if option is not None and commands is None else "--help"
    return f"{_sentence(problem)} See {path} {help_option}"


def _is_option(error: Mistake) -> bool:
    """Return whether the error is an unknown option."""
    return hasattr(error, "possibilities")


def _lower(text: str) -> str:
    text = " ".join(text.split()).replace("Value error, ", "")
    return f"{text[0].lower()}{text[1:]}"


def _sentence(text: str) -> str:
    return _lower(text) if text.endswith((".", "?", "!")) else f"{_lower(text)}."


def _wrong_words(error: Mistake, line: Line, option: str | None) -> tuple[str, list[str] | None]:
    """Return the problem with the words after a command, and the corrected command if known."""
    if option is not None:
        words = line.corrected()
        unclear = [token.option for token in line.tokens if not line.is_clear(token)]
        option = option if words is not None or not line.meant(option) else unclear[0]
        hint = line.hint(option)
        return f"no such option: {option}{'; ' if hint else ''}{hint}", words
    message = error.format_message()
    param = getattr(error, "param", None)
    choices = re.findall("'([^']*)'", message.partition(" is not one of ")[2])
    if choices and param is not None and "--format" in param.opts and "html" in choices:
        figure = _as_figure(line)
        if figure is not None:
            return "a figure is a file, whose ending sets the format", figure
    if choices and param is not None:
        return message.rstrip("."), _with_choice(line, param, choices)
    if message.startswith("Missing argument"):
        from_options = _files_of_options(line)
        if from_options is not None:
            return "pass files without an option", from_options
    if message.startswith("Missing") and param is not None and error.ctx is not None:
        example = re.search("Example: outperform (.*)", error.ctx.command.help or "")
        if example is not None:
            return f"{message.rstrip('.')}. Example: outperform {example[1]}", None
    if message.startswith("Got unexpected extra argument"):
        strays = [token.value or "" for token in line.tokens if not token.option][1:]
        if line.command == "example":
            others = [word for word in line.words if word not in strays]
            return "example takes one name", [line.command, *others, "-o", strays[0]]
        _refuse_columns(line, [token.value or "" for token in line.tokens if not token.option])
        return f"{line.command} takes one file; also got {', '.join(map(repr, strays))}", None
    return message.rstrip("."), None


def _as_figure(line: Line) -> list[str] | None:
    """Return the command that writes a figure if ``--format`` names one; otherwise None."""
    formats = [token for token in line.tokens if token.option in ("--format", "-f")]
    kind = formats[-1].value or ""
    if f".{kind.lower()}" not in FIGURE_SUFFIXES:
        return None
    rest = [token for token in line.tokens if token not in formats]
    files = [token.value or "" for token in rest if token.option in ("--output", "-o")]
    if not any(file.lower().endswith(FIGURE_SUFFIXES) for file in files):
        rest = [token for token in rest if token.option not in ("--output", "-o")]
        rest.append(Token("-o", f"figure.{kind.lower()}"))
    return [line.command, *words_of(rest)]


def _with_choice(line: Line, param: Parameter, choices: Sequence[str]) -> list[str] | None:
    """Return the command with the choice that was probably meant; None if unclear."""
    tokens: list[Token] = []
    for token in line.tokens:
        value = token.value or ""
        if token.option in param.opts and value not in choices:
            plain = _FORMATS.get(value, value.replace("-", "_").lower())
            near = get_close_matches(plain, choices, n=1)
            if not near:
                return None
            value = near[0]
        tokens.append(Token(token.option, value if token.value is not None else None))
    return [line.command, *words_of(tokens)]


def _unknown_command(
    words: Sequence[str], commands: Mapping[str, Command], option: str | None
) -> tuple[str, list[str] | None]:
    """Return the problem with a command or the words before it, and the correction if known."""
    position = next((i for i, word in enumerate(words) if not word.startswith("-")), None)
    if option is not None and position is None:
        meant = guesses().commands.get(plain(option), "")
        return f"no such option: {option}", None if meant in commands else meant.split() or None
    word = "" if position is None else words[position]
    rest = [other for i, other in enumerate(words) if i != position]
    if option is not None:
        later = next((other for other in words if other in commands), None)
        if later is None:
            return f"no such option: {option}", None
        rest = [other for other in words if other != later]
        return f"options come after the command; got {option} first", [later, *rest]
    later = next((other for other in rest if other in commands), None)
    guess = plain(word)
    if later is not None and guess not in guesses().commands:
        rest.remove(later)
        return f"the command comes first; got {word!r}", [later, word, *rest]
    known = {**guesses().commands, **{name: name for name in commands}}
    pool = known if len(guess) > 2 else {}
    near = get_close_matches(guess, commands, n=1) or get_close_matches(guess, pool, n=1)
    meant = known.get(guess) or "".join(known[name] for name in near)
    if not meant and (not is_stray(word) or is_file(word)):
        meant = "gate" if {"--candidate", "--baseline"}.intersection(rest) else "compare"
        problem, rest = f"pass a command before {word!r}", [word, *rest]
    elif not meant:
        return f"no such command {word!r}", None
    else:
        problem = f"no such command {word!r}; did you mean {meant!r}?"
    if meant == "--help":
        return problem, [*(other for other in rest[:1] if other in commands), meant]
    name, *added = meant.split()
    if name not in commands:  # an option, such as --version
        return problem, [name]
    if added and not added[0].startswith("--"):
        return problem, [name, *added]
    line = Line(name, commands[name].params, [*rest, *added]).corrected()
    return problem, line or [name, *rest, *added]


def refuse_misread(command: Command, words: Sequence[str], values: Mapping[str, Any]) -> None:
    """Raise an error if words that can be parsed are probably mistakes.

    Parameters
    ----------
    command
        typer command.
    words
        Words after the command.
    values
        Values of the command's parameters.
    """
    line = Line(command.name or "", command.params, words)
    for option in ("--metric", "--metrics"):
        passed = [token.value for token in line.tokens if token.option == option]
        if len({*passed}) > 1:
            raise _misread(line, f"{option} is passed {len(passed)} times", line.words)
    metric, prior = values.get("metric") or "", values.get("prior") or ""
    if "," in metric and "=" not in metric:
        raise _misread(line, f"--metric takes one metric; got {metric!r}", line.words)
    if "," in prior and "--priors" in line.known:
        problem = f"--prior takes one prior; got {prior!r}"
        raise _misread(line, problem, line.renamed("--prior", "--priors"))
    _refuse_output(line, values)
    _refuse_sources(line, values)


def _refuse_output(line: Line, values: Mapping[str, Any]) -> None:
    """Raise an error if the output file was probably meant as a format or a page."""
    output = str(values.get("output"))
    if output in _FORMATS and "--format" in line.known:
        renamed = line.renamed("--output", "--format", _FORMATS[output])
        raise _misread(line, f"--output must be a file name; got {output}", renamed)
    suffix = Path(output).suffix.lower()
    writes_pages = any(
        "--format" in p.opts and " html" in (getattr(p, "help", "") or "") for p in line.params
    )
    passed = [token for token in line.tokens if token.option in ("--format", "-f")]
    without = [word for word in line.words if word != output and word not in ("--output", "-o")]
    if suffix in (".html", ".htm") and "--report" in line.known and not writes_pages:
        renamed = line.renamed("--output", "--report")
        raise _misread(line, "--output writes text; for a page, use --report", renamed)
    if suffix in FIGURE_SUFFIXES and "--format" in line.known and not writes_pages:
        raise _misread(line, f"{line.command} has no figure; {_FIGURES}", without)
    if suffix in FIGURE_SUFFIXES and passed:
        rest = words_of(token for token in line.tokens if token not in passed)
        raise _misread(line, f"{output} is a figure, which has no --format", rest)
    if suffix in _UNWRITTEN and "--format" in line.known:
        other = str(Path(output).with_suffix(".png" if suffix in _PIXELS else ".html"))
        renamed = line.renamed("--output", "-o", other)
        raise _misread(line, f"--output cannot write {suffix} files", renamed)


def _refuse_sources(line: Line, values: Mapping[str, Any]) -> None:
    """Raise an error if files were probably passed as columns, or columns as files."""
    named = values.get("files") or values.get("sources") or [values.get("source")]
    sources = [str(word) for word in named if isinstance(word, str)]
    if not sources or values.get("format") is not None:
        return
    truth, label, weights = (values.get(name) or "" for name in ("truth", "label", "weights"))
    is_path = "." in truth and truth not in sources and is_file(truth)
    if is_path and truth not in columns_of(sources[0]):
        problem = f"--truth {truth} is a file; list it with the others"
        raise _misread(line, problem, [truth, *line.words])
    human = str(values.get("human") or "")
    if human and human in columns_of(sources[0]) and not is_file(human):
        raise UsageError(
            f"--human is a file, and {human!r} is a column of {sources[0]}; write the human labels "
            "to a file of their own, in columns with the names of the models and an id, and pass "
            "it as --human FILE --id COLUMN"
        )
    if human and not values.get("id"):
        _refuse_human(line, values, {*columns_of(sources[0])}.intersection(columns_of(human)))
    if values.get("query") and columns_of(sources[0]):
        raise UsageError("--query is SQL for a database; to select rows, use --where COLUMN=VALUE")
    needs_truth = len(sources) == 1 and not truth and not values.get("correct")
    if needs_truth and label and label in columns_of(sources[0]):
        problem = "--label is the column of joined files; with one table, use --truth"
        raise _misread(line, problem, line.renamed("--label", "--truth"))
    if weights and not values.get("by") and weights in columns_of(sources[0]):
        problem = "--weights sets the weights of the tasks of --by"
        raise _misread(line, problem, line.renamed("--weights", "--weight"))
    _refuse_columns(line, sources)


def _refuse_human(line: Line, values: Mapping[str, Any], shared: Iterable[str]) -> None:
    """Raise an error if the column that joins the human labels can be guessed."""
    id = next((name for name in sorted(shared) if name.lower() in _IDS), None)
    if id is None:
        return
    tokens = list(line.tokens)
    if not values.get("truth") and not values.get("correct"):  # the columns are verdicts
        tokens = [
            Token("--correct", token.value) if token.option in line.pair else token
            for token in tokens
        ]
    problem = "the human labels are joined on an id"
    raise _misread(line, problem, words_of([*tokens, Token("--id", id)]))


def _misread(line: Line, problem: str, words: Sequence[str]) -> UsageError:
    """Return an error with the corrected command."""
    again = Line(line.command, line.params, words)
    return UsageError(f"{problem}; type: {_typed(again.corrected() or [line.command, *words])}")


def _refuse_columns(line: Line, sources: Sequence[str]) -> None:
    """Raise an error if words after the first file are columns, or belong to an option."""
    strays = [word for word in sources if is_stray(word)]
    lists = [
        token
        for token in line.tokens
        if token.option in ("--model", "--by", *line.pair) and "," in (token.value or "")
    ]
    if not strays and not lists:
        return
    source = next((word for word in sources if word not in strays), "")
    columns = columns_of(source)
    lists = [token for token in lists if _is_list(token, columns)]
    if lists:
        tokens = [part for token in line.tokens for part in _parts(line, token, lists)]
        problem = f"{lists[0].option} takes one column; got {lists[0].value!r}"
        raise _misread(line, problem, words_of(tokens))
    others = [token for token in line.joined(line.tokens) if not token.option]
    if strays and len(others) < len(sources):
        raise _misread(line, f"{strays[0]!r} is not a file", line.words)
    if strays and {*columns}.issuperset(strays):
        files = [word for word in line.words if word not in strays]
        is_join = len(strays) + 1 < len(sources)
        named = _as_join(line, strays) if is_join else _as_options(line, strays, columns)
        problem = f"{strays[0]!r} is a column of {source}, not a file"
        if named is None:
            names = ", ".join(dict.fromkeys(("--truth", *line.pair)))
            raise UsageError(f"{problem}; pass columns with {names}")
        raise _misread(line, problem, [*files, *named])


def _is_list(token: Token, columns: Sequence[str]) -> bool:
    """Return whether the value of an option is a comma-separated list of columns."""
    return token.value not in columns and {*columns}.issuperset((token.value or "").split(","))


def _parts(line: Line, token: Token, lists: Sequence[Token]) -> list[Token]:
    """Return the token, or one token per listed column."""
    if token not in lists:
        return [token]
    parts = (token.value or "").split(",")
    is_repeated = token.option in line.repeated
    options = [token.option] * len(parts) if is_repeated else list(line.pair)
    return [Token(*pair) for pair in zip(options, parts, strict=False)]


def _as_options(line: Line, strays: Sequence[str], columns: Sequence[str]) -> list[str] | None:
    """Return columns that were passed without options, with options added; None if unclear."""
    passed = {token.option for token in line.tokens}
    is_many = "--model" in line.repeated
    free = [option for option in dict.fromkeys(line.pair) if option not in passed]
    names, words = list(strays), []
    if line.command == "slices" and "--by" not in passed and len(names) in (1, 3):
        words += ["--by", names.pop()]
    if "--truth" in line.known and not passed.intersection(("--truth", "--correct")):
        truths = [name for name in names if name.lower() in _TRUTHS]
        if not truths and len(names) > len(free) and not is_many:
            truths = names[:1]
        names = [name for name in names if name not in truths[:1]]
        known = [name for name in columns if name.lower() in _TRUTHS]
        words += ["--truth", *(truths or known or ["COLUMN"])[:1]]
    if is_many:
        free = ["--model"] * len(names)
    if len(names) > len(free):
        return None
    models = guesses().models
    if [models.get(plain(name)) for name in names] in (["second", None], ["second", "first"]):
        names.reverse()  # the old model is B, or the baseline
    return words + [word for pair in zip(free, names, strict=False) for word in pair]


def _as_join(line: Line, strays: Sequence[str]) -> list[str] | None:
    """Return the columns of joined files with options added; None if unclear."""
    options = [name for name in ("--id", "--label") if name not in [t.option for t in line.tokens]]
    names = sorted(strays, key=lambda name: name.lower() not in _IDS)
    if len(names) != len(options):
        return None
    return [word for pair in zip(options, names, strict=True) for word in pair]


def _files_of_options(line: Line) -> list[str] | None:
    """Return the corrected command if files were passed as option values; otherwise None."""
    options = ("--truth", *line.pair)
    named = [token for token in line.tokens if token.option in options and token.value]
    named = sorted(
        (token for token in named if is_file(str(token.value))),
        key=lambda token: options.index(token.option),
    )
    if not named:
        return None
    columns = columns_of(str(named[0].value))
    id = next((name for name in columns if name.lower() in _IDS), "ID")
    others = [name for name in columns if name != id]
    label = others[0] if len(others) == 1 else "LABEL"
    rest = [token for token in line.tokens if token not in named]
    sources = [str(token.value) for token in named]
    return [line.command, *sources, *words_of(rest), "--id", id, "--label", label]
