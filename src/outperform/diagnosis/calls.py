"""The calls that a diagnosis proposes, spelled for a shell, for Python and for tools of agents."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Value: TypeAlias = str | float | bool | tuple[str, ...] | Mapping[str, str]

# Options whose name is not that of their parameter.
OPTIONS = {"models": "--model", "model": "--model-column", "format": "--read-as"}
_PAIRS = {"gate": ("candidate", "baseline")}
_OF_TWO = ("compare", "gate", "slices", "watch", "report", "scorecard")
_FUNCTIONS = {"slices": "compare_slices", "report": "compare"}
_TOOLS = ("compare", "rank", "gate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: a verb, its files, the models, and how to read and what to ask.

    Parameters
    ----------
    verb
        Name of the command.
    sources
        Files or folders.
    models
        Names of the models: two of ``compare``, all of ``rank``.
    reading, question
        Keyword arguments for reading, and of the question.
    are_columns
        Whether the models are columns of predictions or scores, so they must be named for reading.
    scores
        Whether the files contain scores, not labels.
    named
        Files by name, for a join.
    """

    verb: str
    sources: tuple[str, ...]
    models: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    question: Mapping[str, Any] = field(default_factory=dict)
    are_columns: bool = False
    scores: bool = False
    named: Mapping[str, str] | None = None

    @property
    def _pair(self) -> tuple[str, str]:
        return _PAIRS.get(self.verb, ("a", "b"))

    @property
    def command(self) -> str:
        """Command line of a shell."""
        words = ["outperform", self.verb, *map(_as_path, self.sources)]
        if self.verb in _OF_TWO:
            for option, name in zip(self._pair, self.models, strict=False):
                words += _option(option, name)
        elif self.are_columns:
            words += _option("models", list(self.models))
        for name, value in {**self.reading, **self.question}.items():
            words += _option(name, value)
        return " ".join(map(quoted, words))

    @property
    def python(self) -> str:
        """Call of Python."""
        reader = "op.read_scores" if self.scores else "op.read"
        source: Any = dict(self.named) if self.named else list(self.sources)
        if len(self.sources) == 1:
            source = self.sources[0]
        reading = {**self._keywords}
        separator = reading.pop("label_separator", None)
        data = f"{reader}({', '.join([repr(source), *_passed(reading)])})"
        data += "" if separator is None else f".split_labels({separator!r})"
        models = [] if self.verb == "rank" else [repr(name) for name in self.models]
        function = _FUNCTIONS.get(self.verb, self.verb)
        return f"op.{function}({', '.join([data, *models, *_passed(self.question)])})"

    @property
    def arguments(self) -> dict[str, Value] | None:
        """Arguments of the tool with the name of the verb; None if there is no such tool."""
        if self.verb not in _TOOLS or "label_separator" in self.reading:
            return None
        source: Any = dict(self.named) if self.named else self.sources
        known: dict[str, Any] = {"source": self.sources[0] if len(self.sources) == 1 else source}
        if self.verb == "rank":
            known |= {"models": self.models} if self.are_columns else {}
        else:
            known |= dict(zip(self._pair, self.models, strict=False))
        reading = {name: value for name, value in self._keywords.items() if name != "models"}
        return {
            name: _frozen(value) for name, value in {**known, **reading, **self.question}.items()
        }

    @property
    def _keywords(self) -> dict[str, Any]:
        """Keyword arguments for reading, as those of the library."""
        models = {"models": list(self.models)} if self.are_columns else {}
        reading = dict(self.reading)
        if "encoding" in reading:
            reading["dialect"] = {"encoding": reading.pop("encoding")}
        if isinstance(reading.get("correct"), tuple):
            reading["correct"] = list(reading["correct"])
        return {**models, **reading}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _passed(keywords: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in keywords.items()]


def _as_path(path: str) -> str:
    """Return a path that is not taken for an option or an address."""
    return f"./{path}" if path.startswith("-") else path


def _option(name: str, value: Any) -> list[str]:
    """Return an option with its value, or several of them."""
    option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if value is True:
        return [option]
    words: list[str] = []
    if isinstance(value, Mapping):
        parts = [
            (key, part)
            for key, several in value.items()
            for part in (several if isinstance(several, (list, tuple)) else [several])
        ]
        value = [f"{key}={part}" for key, part in parts]
        value = ",".join(value) if name == "score" else value
    for item in value if isinstance(value, (list, tuple)) else [value]:
        text = f"{item:g}" if isinstance(item, float) else str(item)
        words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return words


def in_python(code: str) -> str:
    """Return the command that runs a line of Python and prints its value."""
    return " ".join(map(quoted, ["python", "-c", f"import outperform as op; print({code})"]))


def quoted(word: str) -> str:
    r"""Return a word quoted for a shell; characters that cannot be seen are written as escapes.

    Examples
    --------
    >>> print(quoted("preds.csv"), quoted("my file's.csv"), quoted("a\nb"))
    preds.csv 'my file'"'"'s.csv' $'a\nb'
    """
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(map(_escaped, word))
    return f"$'{escaped}'"


def _escaped(character: str) -> str:
    """Return a character within ``$'…'``; an undecodable byte of a file name is that byte."""
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
