"""Common mistakes on the command line (``guesses.toml``), and the corrected commands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, Protocol

from outperform.errors import OutperformError

_PAIRS = (("--a", "--b"), ("--candidate", "--baseline"))
_ONE = ("--model", "--model")
# Options whose value can be a comma-separated list.
_LISTS = {
    "--accuracies", "--labels", "--metrics", "--priors", "--rope", "--ropes", "--sizes",
    "--theta-neg", "--theta-pos",
}  # fmt: skip
FIGURES = ("figure", "graph", "pdf", "plot", "png", "save-figure", "save-plot", "svg")
_COMPLEMENTS = ("alpha", "significance", "significance-level")


class Parameter(Protocol):
    """typer option or argument."""

    opts: list[str]
    param_type_name: str


class Advice(NamedTuple):
    """Advice on an option that no other option replaces."""

    reason: str
    drop: bool


class Guesses(NamedTuple):
    """Known guesses: what each of them means."""

    commands: Mapping[str, str]
    options: Mapping[str, str]
    models: Mapping[str, str]
    files: Mapping[str, str]
    flags: Mapping[str, str]
    advice: Mapping[tuple[str, str], Advice]


@cache
def guesses() -> Guesses:
    """Return the known guesses."""
    text = files("outperform.cli").joinpath("guesses.toml").read_text("utf-8")
    table = tomllib.loads(text)
    meanings = (
        {guess: meant for meant, words in table[name].items() for guess in words.split()}
        for name in ("commands", "options", "models", "files", "flags")
    )
    advice = {
        (command, guess): Advice(row["reason"], row.get("drop", False))
        for row in table["advice"]
        for command in row.get("commands", "*").split()
        for guess in row["guesses"].split()
    }
    commands, options, models, sources, flags = meanings
    return Guesses(commands, options, models, sources, flags, advice)


def _advice(command: str, guess: str) -> Advice | None:
    """Return the advice about an option for one command."""
    return guesses().advice.get((command, guess)) or guesses().advice.get((_ANY, guess))


_ANY = "*"


def plain(option: str) -> str:
    """Return an option without leading hyphens, in the usual spelling.

    Examples
    --------
    >>> plain("--Random_State")
    'random-state'
    """
    return option.lstrip("-").replace("_", "-").lower()


class Token(NamedTuple):
    """An option with its value, or a flag with None; a word without an option has the option ''."""

    option: str
    value: str | None


def words_of(tokens: Iterable[Token]) -> list[str]:
    """Return tokens as command-line words."""
    pairs = ((token.option or None, token.value) for token in tokens)
    return [word for pair in pairs for word in pair if word is not None]


class Line:
    """Words after a command, divided into options with values and other words.

    Parameters
    ----------
    command
        Name of the command.
    params
        Options and arguments of the command.
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
        self.metavars = {
            name: getattr(param, "metavar", None) for param in options for name in param.opts
        }
        self.pair = next((pair for pair in _PAIRS if self.known.issuperset(pair)), _ONE)
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

    def renamed(self, old: str, new: str, value: str | None = None) -> list[str]:
        """Return the words with another name for an option, and perhaps another value."""
        names = {"--output": ("--output", "-o")}.get(old, (old,))
        return words_of(
            Token(new, value or token.value) if token.option in names else token
            for token in self.tokens
        )

    def meant(self, option: str) -> str:
        """Return the option that an unknown option probably means, with its value if known."""
        guess, known = plain(option), guesses()
        if (self.command, guess) in known.advice:
            return ""
        listed = self._listed(guess)
        if listed or (_ANY, guess) in known.advice:
            return listed
        if guess in known.files:
            return _FILE
        if guess in self.columns and "--where" in self.known:
            return "--where"
        return self._similar(guess) if len(guess) > 2 else ""

    def _listed(self, guess: str) -> str:
        """Return the meaning of a guess from the table of known guesses."""
        known = guesses()
        if f"--{guess}" in self.known:
            return f"--{guess}"
        if model_of(guess) and self.known.issuperset(self.pair):
            return self.pair[model_of(guess) == "second"]
        if guess in _AVERAGES:
            return "--metric" if "--metric" in self.known else ""
        for table in (known.options, known.flags):
            for name in re.split(" (?=--)", table.get(guess, "")):
                if name and name.split()[0] in self.known:
                    return name
        return ""

    def _similar(self, guess: str) -> str:
        """Return the option that a guess abbreviates, extends, misspells or shares a word with."""
        names = {name[2:]: name for name in sorted(self.known) if name.startswith("--")}
        longer = [name for name in names if name.startswith(guess)]
        shorter = [name for name in names if guess.startswith(f"{name}-")]
        alike = [name for name in names if name[0] == guess[0]]
        near = get_close_matches(guess, alike, n=1, cutoff=0.75)
        similar = [names[name] for name in (*longer, *shorter, *near)]
        parts = [part for part in guess.split("-") if 3 < len(part) < len(guess)]
        spelled = get_close_matches(guess, guesses().options, n=1, cutoff=0.85)
        return next(
            (name for name in (*similar, *map(self._listed, (*parts, *spelled))) if name), ""
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns of the first file."""
        sources = [token.value or "" for token in self.tokens if not token.option]
        return columns_of(sources[0]) if sources else ()

    def hint(self, option: str) -> str:
        """Return advice on an unknown option."""
        guess, meant = plain(option), self.meant(option)
        if meant == _FILE:
            return "files need no option"
        if meant in self.pair and model_of(guess) == "next":
            meant = " and ".join(dict.fromkeys(self.pair))
        advice = _advice(self.command, guess)
        return f"did you mean {meant}?" if meant else advice.reason if advice else ""

    def is_clear(self, token: Token) -> bool:
        """Return whether a token is known, or an unknown option can be replaced or dropped."""
        option, advice = token.option, _advice(self.command, plain(token.option))
        is_known = not option or option in self.known or bool(self.meant(option))
        return is_known or (advice is not None and advice.drop)

    def corrected(self) -> list[str] | None:
        """Return the command and words with known options; None if an option has no equivalent."""
        if self.command == "explain":  # the words of this command need no options
            words = [token.value for token in self.tokens if token.value]
            return [self.command, *(words or ["metrics"])]
        if not all(map(self.is_clear, self.tokens)):
            return None
        tokens: list[Token] = []
        for token in self.tokens:
            meant = "" if not token.option else self.meant(token.option)
            if not token.option or token.option in self.known:
                tokens.append(token)
            elif meant:
                tokens += self._replaced(token, meant)
        unsigned = [_without_sign(token) for token in self.joined(tokens)]
        command, tokens = _for_metrics(self.command, unsigned)
        return _for_models(command, tokens)

    def _replaced(self, token: Token, meant: str) -> list[Token]:
        """Return the replacement for an unknown option and its value."""
        guess, value = plain(token.option), token.value
        option, _, fixed = meant.partition(" ")
        if option == _FILE:
            return [Token("", value)]
        if option == "--where" and guess in self.columns:
            return [Token(option, f"{guess}={value or 'VALUE'}")]
        if fixed or option in self.flags:
            return [Token(option, fixed or None)]
        if guess in _AVERAGES:
            return [Token(_AVERAGE, value)]
        if option == "--hdi-prob":
            return [Token(option, _mass(value or "0.95", complement=guess in _COMPLEMENTS))]
        if option in ("--report", "--output") and value is None:
            kind = guess if guess in ("svg", "pdf") else "png"
            return [Token(option, f"figure.{kind}" if guess in FIGURES else "report.html")]
        if model_of(guess) == "next":
            return [Token("", f"{_NEXT}{part}") for part in (value or "NAME").split(",")]
        return [Token(option, value or self.metavars.get(option) or "VALUE")]

    def joined(self, tokens: Sequence[Token]) -> list[Token]:
        """Return the tokens with models assigned to options, and lists joined."""
        joined: list[Token] = []
        used = {token.option for token in tokens}
        free = [option for option in self.pair if option not in used or option in self.repeated]
        for token in tokens:
            positions = {other.option: i for i, other in enumerate(joined)}
            if token.option == _AVERAGE:
                position = positions.get("--metric")
                metric = None if position is None else joined.pop(position).value
                joined.insert(
                    len(joined) if position is None else position, _averaged(token, metric)
                )
            elif token.option in ("--metric", "--metrics", "--accuracies") and (
                token.option in positions
            ):
                position = positions[token.option]
                joined[position] = Token(token.option, f"{joined[position].value},{token.value}")
            elif not token.option and (token.value or "").startswith(_NEXT):
                option = free.pop(0) if free else self.pair[1]
                free += [option] if option in self.repeated else []
                joined.append(Token(option, (token.value or "").removeprefix(_NEXT)))
            elif token.option or not joined or not is_stray(token.value or ""):
                joined.append(token)
            else:
                joined[-1:] = self._with_stray(joined[-1], token.value or "")
        return joined

    def _with_stray(self, before: Token, stray: str) -> list[Token]:
        """Return a token and the word after it, which may be part of its value."""
        if before.option in _LISTS:
            return [Token(before.option, f"{before.value},{stray}")]
        if before.option == "--where" and "=" not in (before.value or ""):
            return [Token(before.option, f"{before.value}={stray}")]
        if before.option in self.repeated:
            return [before, Token(before.option, stray)]
        if before.option == self.pair[0]:
            return [before, Token(self.pair[1], stray)]
        if before.option in self.flags and stray.isdecimal():
            return [before]  # such as --verbose 2
        return [before, Token("", stray)]


_NEXT = "\0"  # marks a model name that has no option yet
_FILE = "FILE"  # instead of an option
_AVERAGE = "--average"
_AVERAGES = ("average", "averaging")
_NUMBERED = re.compile(
    r"(?:model|pred|preds|prediction|predictions|y-pred|sys|system|clf|classifier|llm|run|file|col|column|m)-?"
    r"(?:(?P<first>a|1|new)|(?P<second>b|2|old))|(?P<new>new-model)|(?P<old>old-model)"
)


def model_of(guess: str) -> str:
    """Return which model an option means: the first, second or next; '' if none.

    Examples
    --------
    >>> model_of("model-a"), model_of("pred2"), model_of("baseline"), model_of("seed")
    ('first', 'second', 'second', '')
    """
    match = _NUMBERED.fullmatch(guess)
    if match is not None:
        return "first" if match["first"] or match["new"] else "second"
    return guesses().models.get(guess, "")


def _averaged(average: Token, metric: str | None) -> Token:
    """Return the metric with an average: macro, micro or weighted; binary adds nothing."""
    name = (metric or "f1").partition("_")[0]
    suffix = "" if average.value in (None, "binary") else f"_{average.value}"
    return Token("--metric", f"{name}{suffix}")


_PAGES = (".html", ".png", ".svg", ".pdf")


def _takes_value(name: str, following: str) -> bool:
    """Return whether an unknown option probably takes the following word as its value."""
    guess, known = plain(name), guesses()
    is_number = re.fullmatch(r"-?[\d.]+%?", following) is not None
    if following.startswith("-") and not is_number:
        return False
    if guess in known.flags or (_ANY, guess) in known.advice:
        is_page = following.endswith(_PAGES)
        return is_number or is_page or following in (";", ",", "|", "\t")
    if guess in known.files:
        return not is_stray(following)
    if "--report" in known.options.get(guess, "") or guess in FIGURES:
        return following.endswith(_PAGES)
    return True


def is_stray(word: str) -> bool:
    """Return whether a word without an option is not a source of data: no file, no address."""
    return not re.search(r"[/\\*?:]|\.[A-Za-z]+$|^-?$", word) and not Path(word).exists()


def is_file(word: str) -> bool:
    """Return whether a word is the path of a file."""
    try:
        return Path(word).is_file()
    except (OSError, ValueError):
        return False


def _without_sign(token: Token) -> Token:
    """Return the half-width of a ROPE that was typed as the largest loss, with its sign."""
    value = token.value or ""
    is_loss = token.option == "--rope" and "," not in value
    return Token(token.option, value.removeprefix("-")) if is_loss else token


def _mass(text: str, *, complement: bool) -> str:
    """Return the mass of an interval, also if typed as its complement or as a percentage.

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
    position = next((i for i, token in enumerate(tokens) if token.option == "--metric"), None)
    text = "" if position is None else tokens[position].value or ""
    first, *others = dict.fromkeys(text.split(","))
    if position is None or not others or "=" in text:
        return command, tokens
    if command == "gate":
        named = [Token("--metric", first), *(Token("--guard", f"{name}:0.01") for name in others)]
    else:
        command, named = "scorecard", [Token("--metrics", text)]
    return command, [*tokens[:position], *named, *tokens[position + 1 :]]


def _for_models(command: str, tokens: list[Token]) -> list[str]:
    """Return the words, with ``rank`` instead of ``compare`` for more than two models."""
    pair = _PAIRS[0]
    if command == "compare" and sum(token.option in pair for token in tokens) > 2:
        command = "rank"
        tokens = [Token("--model", value) if name in pair else Token(name, value)
                  for name, value in tokens]  # fmt: skip
    return [command, *words_of(tokens)]


def columns_of(source: str) -> tuple[str, ...]:
    """Return the columns of a file; none if it is not a file or cannot be read."""
    from outperform.io.request import column_names

    if not is_file(source):
        return ()
    try:
        return column_names(source) or ()
    except (OutperformError, OSError):
        return ()
