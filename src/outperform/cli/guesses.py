"""Wrong guesses on the command line, and the line to type instead.

The guesses that are known are in ``guesses.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from outperform.cli import groups
from outperform.errors import OutperformError, UsageError

_PAIRS = (("--a", "--b"), ("--candidate", "--baseline"))
_MODELS = ("--model", "--model")
# Options whose value can be a list with commas.
_LISTS = {
    "--accuracies", "--labels", "--metrics", "--priors", "--rope", "--ropes", "--sizes",
    "--theta-neg", "--theta-pos",
}  # fmt: skip
_COMPLEMENTS = ("alpha", "significance", "significance-level")
_FORMATS = {
    name: name for name in ("text", "json", "markdown", "latex", "html", "github", "csv")
} | {"md": "markdown", "tex": "latex"}
# Names of columns that probably contain the true labels.
_TRUTHS = {
    "actual", "class", "gold", "ground_truth", "label", "labels", "reference", "target", "true",
    "truth", "y", "y_true",
}  # fmt: skip
_IDS = {"id", "index", "item", "item_id", "key"}


class Parameter(Protocol):
    """An option or argument of typer."""

    opts: list[str]
    param_type_name: str


class Command(Protocol):
    """A command of typer."""

    name: str | None
    help: str | None

    @property
    def params(self) -> Sequence[Parameter]:
        """Options and arguments."""


class Advice(NamedTuple):
    """What to do about an option that no other option replaces."""

    reason: str
    drop: bool


class Guesses(NamedTuple):
    """The known guesses: what each of them means."""

    commands: Mapping[str, str]
    options: Mapping[str, str]
    models: Mapping[str, str]
    flags: Mapping[str, str]
    advice: Mapping[tuple[str, str], Advice]


@cache
def guesses() -> Guesses:
    """Return the known guesses."""
    text = files("outperform.cli").joinpath("guesses.toml").read_text("utf-8")
    table = tomllib.loads(text)
    meanings = (
        {guess: meant for meant, words in table[name].items() for guess in words.split()}
        for name in ("commands", "options", "models", "flags")
    )
    advice = {
        (command, guess): Advice(row["reason"], row.get("drop", False))
        for row in table["advice"]
        for command in row.get("commands", "*").split()
        for guess in row["guesses"].split()
    }
    commands, options, models, flags = meanings
    return Guesses(commands, options, models, flags, advice)


def _advice(command: str, guess: str) -> Advice | None:
    """Return the advice about an option for one command."""
    return guesses().advice.get((command, guess)) or guesses().advice.get((_ANY, guess))


_ANY = "*"


def _plain(option: str) -> str:
    """Return an option without the hyphens in front, in the usual spelling.

    Examples
    --------
    >>> _plain("--Random_State")
    'random-state'
    """
    return option.lstrip("-").replace("_", "-").lower()


class Token(NamedTuple):
    """An option with its value, or a flag with None; a word without option has the option ''."""

    option: str
    value: str | None


_MAX_WORD = 200  # characters of a word in a line to type


def _typed(words: Iterable[str]) -> str:
    """Return a line to type, with very long words cut."""
    cut = (word if len(word) <= _MAX_WORD else f"{word[:_MAX_WORD]}…" for word in words)
    return groups.typed_line(list(cut))


def _words(tokens: Iterable[Token]) -> list[str]:
    return [word for token in tokens for word in token if word]


class Line:
    """The words after a command, divided into options with values and other words.

    Parameters
    ----------
    command
        Name of the command.
    params
        Its options and arguments.
    words
        Words after the command.
    """

    def __init__(self, command: str, params: Sequence[Parameter], words: Sequence[str]) -> None:
        options = [param for param in params if param.param_type_name == "option"]
        self.command, self.params, self.words = command, params, list(words)
        self.known = {name for param in options for name in param.opts} | {"--help", "-h"}
        self.flags = {"--help", "-h"} | {
            name for param in options if getattr(param, "is_flag", False) for name in param.opts
        }
        self.repeated = {
            name for param in options if getattr(param, "multiple", False) for name in param.opts
        }
        self.pair = next((pair for pair in _PAIRS if self.known.issuperset(pair)), _MODELS)
        self.tokens = list(self._divided())

    def _divided(self) -> Iterator[Token]:
        rest = list(self.words)
        while rest:
            word = rest.pop(0)
            name, equals, value = word.partition("=")
            if word == "--":
                yield from (Token("", other) for other in rest)
                return
            if not word.startswith("-") or word == "-" or re.match(r"-[.\d]", word):
                yield Token("", word)
            elif equals:
                yield Token(name, value)
            elif name in self.flags:
                yield Token(name, None)
            elif name not in self.known and name[:2] in self.known and name[1] != "-":
                yield Token(name[:2], name[2:])  # such as -ofile
            elif rest and (name in self.known or _takes_value(name, rest[0])):
                yield Token(name, rest.pop(0))
            else:
                yield Token(name, None)

    def meant(self, option: str) -> str:
        """Return the known option that an unknown one probably means, perhaps with its value."""
        guess, known = _plain(option), guesses()
        if (self.command, guess) in known.advice:
            return ""
        if f"--{guess}" in self.known:
            return f"--{guess}"
        if guess in known.models and self.known.issuperset(self.pair):
            return self.pair[known.models[guess] == "second"]
        if guess in ("average", "averaging"):
            return "--metric" if "--metric" in self.known else ""
        for table in (known.options, known.flags):
            for name in re.split(" (?=--)", table.get(guess, "")):
                if name and name.split()[0] in self.known:
                    return name
        if (_ANY, guess) in known.advice:
            return ""
        if len(guess) < 3:
            return ""
        longer = sorted(name for name in self.known if name.startswith(f"--{guess}"))
        near = get_close_matches(f"--{guess}", sorted(self.known), n=1, cutoff=0.75)
        return next(iter([*longer, *near]), "")

    def hint(self, option: str) -> str:
        """Return what to do about an unknown option."""
        guess, meant = _plain(option), self.meant(option)
        if meant in self.pair and guesses().models.get(guess) == "next":
            meant = " and ".join(dict.fromkeys(self.pair))
        advice = _advice(self.command, guess)
        return f"did you mean {meant}?" if meant else advice.reason if advice else ""

    def is_clear(self, token: Token) -> bool:
        """Return whether a token is known, or an unknown option means a known one or nothing."""
        option, advice = token.option, _advice(self.command, _plain(token.option))
        is_known = not option or option in self.known or bool(self.meant(option))
        return is_known or (advice is not None and advice.drop)

    def corrected(self) -> list[str] | None:
        """Return the command and words with known options; None if an option means none."""
        if not all(map(self.is_clear, self.tokens)):
            return None
        tokens: list[Token] = []
        for token in self.tokens:
            meant = "" if not token.option else self.meant(token.option)
            if not token.option or token.option in self.known:
                tokens.append(token)
            elif meant:
                tokens += self._replaced(token, meant)
        command, tokens = _for_metrics(self.command, self._joined(tokens))
        return _for_models(command, tokens)

    def _replaced(self, token: Token, meant: str) -> list[Token]:
        """Return what to type instead of an unknown option with its value."""
        guess, value = _plain(token.option), token.value
        option, _, fixed = meant.partition(" ")
        if fixed or option in self.flags:
            return [Token(option, fixed or None)]
        if guess in ("average", "averaging"):
            return [Token(option, f"f1_{value}")]
        if option == "--hdi-prob" and value is not None:
            return [Token(option, _mass(value, complement=guess in _COMPLEMENTS))]
        if option in ("--report", "--output") and value is None:
            return [Token(option, "report.html")]
        if guesses().models.get(guess) == "next":
            return [Token("", f"{_NEXT}{part}") for part in (value or "NAME").split(",")]
        return [Token(option, value or "VALUE")]

    def _joined(self, tokens: Sequence[Token]) -> list[Token]:
        """Return the tokens with models in their places, and lists with commas."""
        joined: list[Token] = []
        used = {token.option for token in tokens}
        free = [option for option in self.pair if option not in used or option in self.repeated]
        for token in tokens:
            before = joined[-1] if joined else Token("", None)
            places = [i for i, other in enumerate(joined) if other.option == token.option]
            stray = token.value or ""
            if token.option in ("--metric", "--metrics", "--accuracies") and places:
                values = f"{joined[places[0]].value},{token.value}"
                is_f1 = (token.value or "").startswith("f1_") and "," not in values
                joined[places[0]] = Token(token.option, stray if is_f1 else values)
            elif not token.option and stray.startswith(_NEXT):
                option = free.pop(0) if free else self.pair[1]
                free += [option] if option in self.repeated else []
                joined.append(Token(option, stray.removeprefix(_NEXT)))
            elif token.option or not _is_stray(stray):
                joined.append(token)
            elif before.option in _LISTS:
                joined[-1] = Token(before.option, f"{before.value},{stray}")
            elif before.option in (*self.repeated, *self.pair):
                option = before.option if before.option in self.repeated else self.pair[1]
                joined.append(Token(option, stray))
            else:
                joined.append(token)
        return joined


_NEXT = "\0"  # marks the name of a model that has no option yet


def _takes_value(name: str, following: str) -> bool:
    """Return whether an unknown option probably takes the following word as its value."""
    guess, known = _plain(name), guesses()
    is_number = re.fullmatch(r"-?[\d.]+%?", following) is not None
    if following.startswith("-") and not is_number:
        return False
    if guess in known.flags or (_ANY, guess) in known.advice:
        return is_number or following in (";", ",", "|", "\t")
    if "--report" in known.options.get(guess, ""):
        return following.endswith((".html", ".png", ".svg", ".pdf"))
    return True


def _is_stray(word: str) -> bool:
    """Return whether a word without option is not a source of data: no file, no address."""
    return not re.search(r"[/\\*?:]|\.[A-Za-z]+$|^-?$", word) and not Path(word).exists()


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except (OSError, ValueError):
        return False


def _mass(text: str, *, complement: bool) -> str:
    """Return the mass of an interval, from its complement or in per cent too.

    Examples
    --------
    >>> _mass("0.05", complement=True), _mass("90%", complement=False)
    ('0.95', '0.9')
    """
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        return text
    value = value / 100 if value > 1 else value
    return f"{1 - value if complement else value:g}"


def _for_metrics(command: str, tokens: list[Token]) -> tuple[str, list[Token]]:
    """Return the command for several metrics: ``scorecard``, or a gate with guards."""
    place = next((i for i, token in enumerate(tokens) if token.option == "--metric"), None)
    text = "" if place is None else tokens[place].value or ""
    first, *others = dict.fromkeys(text.split(","))
    if place is None or not others or "=" in text:
        return command, tokens
    if command == "gate":
        named = [Token("--metric", first), *(Token("--guard", f"{name}:0.01") for name in others)]
    else:
        command, named = "scorecard", [Token("--metrics", text)]
    return command, [*tokens[:place], *named, *tokens[place + 1 :]]


def _for_models(command: str, tokens: list[Token]) -> list[str]:
    """Return the words, with ``rank`` instead of ``compare`` for more than two models."""
    pair = _PAIRS[0]
    if command == "compare" and sum(token.option in pair for token in tokens) > 2:
        command = "rank"
        tokens = [Token("--model", value) if name in pair else Token(name, value)
                  for name, value in tokens]  # fmt: skip
    return [command, *_words(tokens)]


class _Context(Protocol):
    command: Command
    command_path: str


class Mistake(Protocol):
    """A usage error of typer; for an unknown option, it has ``option_name``."""

    message: str
    ctx: _Context | None

    def format_message(self) -> str:
        """Return the message of typer."""


def usage_message(error: Mistake, words: Sequence[str]) -> str:
    """Return one line about wrong arguments, with the line to type or the help to read.

    Parameters
    ----------
    error
        Error of typer.
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
    """Return what is wrong with the words after a command, and the line to type if it is known."""
    if option is not None:
        words = line.corrected()
        unclear = [token.option for token in line.tokens if not line.is_clear(token)]
        option = option if words is not None or not line.meant(option) else unclear[0]
        hint = line.hint(option)
        return f"no such option: {option}{'; ' if hint else ''}{hint}", words
    message = error.format_message()
    param = getattr(error, "param", None)
    choices = re.findall("'([^']*)'", message.partition(" is not one of ")[2])
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
        _refuse_columns(line, [token.value or "" for token in line.tokens if not token.option])
        return f"{line.command} takes one file; got {', '.join(map(repr, strays))} too", None
    return message.rstrip("."), None


def _with_choice(line: Line, param: Parameter, choices: Sequence[str]) -> list[str] | None:
    """Return the line with the choice that a wrong one probably means; None if it is unclear."""
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
    return [line.command, *_words(tokens)]


def _unknown_command(
    words: Sequence[str], commands: Mapping[str, Command], option: str | None
) -> tuple[str, list[str] | None]:
    """Return what is wrong before or with a command, and the line to type if it is known."""
    place = next((i for i, word in enumerate(words) if not word.startswith("-")), None)
    if option is not None and place is None:
        meant = {"version": "--version", "help": "--help"}.get(_plain(option)[:7]) or (
            guesses().commands.get(_plain(option)) or ""
        )
        is_known = meant in ("--version", "--help")
        return f"no such option: {option}", [meant] if is_known else None
    word = "" if place is None else words[place]
    rest = [other for i, other in enumerate(words) if i != place]
    if option is not None:
        later = next((other for other in words if other in commands), None)
        if later is None:
            return f"no such option: {option}", None
        rest = [other for other in words if other != later]
        return f"options come after the command; got {option} first", [later, *rest]
    later = next((other for other in rest if other in commands), None)
    guess = _plain(word)
    if later is not None and guess not in guesses().commands:
        rest.remove(later)
        return f"the command comes first; got {word!r}", [later, word, *rest]
    near = get_close_matches(guess, commands, n=1)
    meant = guess if guess in commands else guesses().commands.get(guess) or "".join(near)
    if not meant and (not _is_stray(word) or _is_file(word)):
        meant = "gate" if {"--candidate", "--baseline"}.intersection(rest) else "compare"
        problem, rest = f"pass a command before {word!r}", [word, *rest]
    elif not meant:
        return f"no such command {word!r}", None
    else:
        problem = f"no such command {word!r}; did you mean {meant!r}?"
    if meant == "--help":
        return problem, [*(other for other in rest[:1] if other in commands), meant]
    if meant == "--version":
        return problem, [meant]
    line = Line(meant, commands[meant].params, rest).corrected()
    return problem, line or [meant, *rest]


def refuse_misread(command: Command, words: Sequence[str], values: Mapping[str, Any]) -> None:
    """Raise an error if words that can be parsed probably mean something else.

    Parameters
    ----------
    command
        Command of typer.
    words
        Words after the command.
    values
        Values of its parameters.
    """
    line = Line(command.name or "", command.params, words)
    for option in ("--metric", "--metrics"):
        values_of = [token.value for token in line.tokens if token.option == option]
        if len({*values_of}) > 1:
            raise _misread(line, f"{option} is passed {len(values_of)} times", line.words)
    metric = values.get("metric")
    if metric and "," in metric and "=" not in metric:
        raise _misread(line, f"--metric takes one metric; got {metric!r}", line.words)
    output = str(values.get("output"))
    is_page = output.lower().endswith((".html", ".htm"))
    if is_page and "--report" in line.known and values.get("style") is None:
        tokens = [
            token._replace(option="--report") if token.option in ("--output", "-o") else token
            for token in line.tokens
        ]
        raise _misread(line, "--output writes text; for a page, use --report", _words(tokens))
    if output in _FORMATS and "--format" in line.known:
        style = Token("--format", _FORMATS[output])
        tokens = [style if token.option in ("--output", "-o") else token for token in line.tokens]
        raise _misread(line, f"--output must be a file name; got {output}", _words(tokens))
    sources = [word for word in values.get("files") or () if isinstance(word, str)]
    truth, label = values.get("truth"), values.get("label")
    if truth is not None and sources and truth not in sources and _is_file(truth):
        problem = f"--truth {truth} is a file; list it with the others"
        raise _misread(line, problem, [truth, *line.words])
    if len(sources) == 1 and label is not None and truth is None and not values.get("correct"):
        renamed = [token._replace(option="--truth") if token.option == "--label" else token
                   for token in line.tokens]  # fmt: skip
        if label in _columns(sources[0]):
            problem = "--label is the column of joined files; with one table, use --truth"
            raise _misread(line, problem, _words(renamed))
    weights = values.get("weights")
    if (
        weights is not None
        and not values.get("by")
        and weights in _columns(next(iter(sources), ""))
    ):
        renamed = [
            token._replace(option="--weight") if token.option == "--weights" else token
            for token in line.tokens
        ]
        raise _misread(line, "--weights weights the tasks of --by", _words(renamed))
    if sources:
        _refuse_columns(line, sources)


def _misread(line: Line, problem: str, words: Sequence[str]) -> UsageError:
    """Return an error with the line to type."""
    again = Line(line.command, line.params, words)
    return UsageError(f"{problem}; type: {_typed(again.corrected() or [line.command, *words])}")


def _refuse_columns(line: Line, sources: Sequence[str]) -> None:
    """Raise an error if words after the first file are its columns, or belong to an option."""
    strays = [word for word in sources if _is_stray(word)]
    lists = [
        token
        for token in line.tokens
        if token.option in ("--model", *line.pair) and "," in (token.value or "")
    ]
    if not strays and not lists:
        return
    source = next((word for word in sources if word not in strays), "")
    columns = _columns(source)
    if any({*columns}.issuperset((token.value or "").split(",")) for token in lists):
        tokens = []
        for token in line.tokens:
            parts = (token.value or "").split(",") if token in lists else [token.value]
            options = (token.option,) * len(parts)
            if len(parts) > 1 and token.option not in line.repeated:
                options = line.pair
            tokens += [Token(*pair) for pair in zip(options, parts, strict=False)]
        problem = f"{lists[0].option} takes one column; got {lists[0].value!r}"
        raise _misread(line, problem, _words(tokens))
    others = [token for token in line._joined(line.tokens) if not token.option]
    if strays and len(others) < len(sources):
        raise _misread(line, f"{strays[0]!r} is not a file", line.words)
    if strays and {*columns}.issuperset(strays):
        files = [word for word in line.words if word not in strays]
        named = _as_options(line, strays, columns)
        problem = f"{strays[0]!r} is a column of {source}, not a file"
        if named is None:
            names = ", ".join(dict.fromkeys(("--truth", *line.pair)))
            raise UsageError(f"{problem}; pass columns with {names}")
        raise _misread(line, problem, [*files, *named])


def _as_options(line: Line, strays: Sequence[str], columns: Sequence[str]) -> list[str] | None:
    """Return columns that were passed without options, with options; None if it is unclear."""
    passed = {token.option for token in line.tokens}
    is_many = "--model" in line.repeated
    free = [option for option in dict.fromkeys(line.pair) if option not in passed]
    names, words = list(strays), []
    if not passed.intersection(("--truth", "--correct")):
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
    if [models.get(_plain(name)) for name in names] in (["second", None], ["second", "first"]):
        names.reverse()  # the old model is B, or the baseline
    return words + [word for pair in zip(free, names, strict=False) for word in pair]


def _columns(source: str) -> tuple[str, ...]:
    """Return the columns of a file; none if it is no file or cannot be read."""
    from outperform.io.request import column_names

    if not _is_file(source):
        return ()
    try:
        return column_names(source) or ()
    except (OutperformError, OSError):
        return ()


def _files_of_options(line: Line) -> list[str] | None:
    """Return the line to type if files are the values of options; None if they are not."""
    options = ("--truth", *line.pair)
    named = [token for token in line.tokens if token.option in options and token.value]
    named = sorted(
        (token for token in named if _is_file(str(token.value))),
        key=lambda token: options.index(token.option),
    )
    if not named:
        return None
    columns = _columns(str(named[0].value))
    id = next((name for name in columns if name.lower() in _IDS), "ID")
    others = [name for name in columns if name != id]
    label = others[0] if len(others) == 1 else "LABEL"
    rest = [token for token in line.tokens if token not in named]
    sources = [str(token.value) for token in named]
    return [line.command, *sources, *_words(rest), "--id", id, "--label", label]
