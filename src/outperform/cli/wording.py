"""What the library says in the words of Python, in the words of the command line."""

from __future__ import annotations

import re
import shlex
from ast import literal_eval

_OPTIONS = {
    "accuracies": "--accuracies",
    "agreement": "--agreement",
    "by": "--by",
    "candidate": "--candidate",
    "correct": "--correct",
    "count": "--count",
    "encoding": "--encoding",
    "format": "--read-as",
    "groups": "--groups",
    "hdi_prob": "--hdi-prob",
    "id": "--id",
    "label": "--label",
    "labels": "--labels",
    "metric": "--metric",
    "most": "--most",
    "model": "--model",
    "models": "--of",
    "n_draws": "--draws",
    "n_simulations": "--simulations",
    "on_missing": "--on-missing",
    "on_null": "--on-null",
    "pos_label": "--pos-label",
    "prevalence": "--prevalence",
    "prior": "--prior",
    "query": "--query",
    "random_state": "--seed",
    "rope": "--rope",
    "sizes": "--sizes",
    "table": "--table",
    "target": "--target",
    "theta_neg": "--theta-neg",
    "theta_pos": "--theta-pos",
    "truth": "--truth",
    "weight": "--weight",
    "where": "--where",
}
_NAMES = "|".join(_OPTIONS)
_GIVEN = re.compile(rf"\b({_NAMES})=(?:'([^']*)'|\"([^\"]*)\"|([\d.]+\d))")
_WITHOUT = re.compile(rf"(?<!['\"\w-])({_NAMES})=(?=[\s,;.]|$)")
_LISTED = re.compile(r"\bmodels=(\['[^\]]*'\])")
_FIRST = re.compile(rf"^({_NAMES})(?= (?:must|as|\d))")
# Words that nobody says by chance.
_ANYWHERE = re.compile(
    r"(?<!['\"\w-])(hdi_prob|n_draws|n_simulations|on_missing|on_null|pos_label|random_state|"
    r"theta_neg|theta_pos)(?![\w='\"])"
)
_EITHER = re.compile(r"(--pos-label \S+ or )'(\w+)'$")
_FIXED = {
    "model='unit', paired=False, or as prior an array for the rows of one model's confusion "
    "matrix": "--model unit",
    "header=False (--no-header)": "--no-header",
    "new_truth=True": "--new-truth",
    "divide them with by=, e.g. by=['country']": "count them with --by",
    "give exactly one world: pilot=,": "give exactly one world: the file of a pilot,",
    "name two models of the pilot with a= and b=": "name two models of the pilot with --a and --b",
    "only the correlation 'fixed' takes rho1 and rho2, and it needs both; e.g. "
    "Correlation.fixed(0.2, 0.4)": "--correlation fixed needs two numbers that only the library "
    "takes; use averaged, integrated or full",
    "paired=False": "--unpaired",
    "give one, such as ('width', 0.02)": "give one, such as --stop width=0.02",
    "overwrite=True": "--force",
    "count them with Outcomes.from_pool": "compare two models with --pool",
    ": give None instead of y_true, or make Scores.from_values": "; leave --truth out",
    "; give labels= with all classes that could have occurred": ", and a metric needs two",
    ", or say quote=None if quotes are ordinary characters": "",
}


def in_options(message: str) -> str:
    """Name options instead of arguments, as in ``--pos-label spam`` for ``pos_label='spam'``.

    Examples
    --------
    >>> in_options("hdi_prob must lie between 0 and 1; got 95.0; did you mean 0.95?")
    '--hdi-prob must lie between 0 and 1; got 95.0; did you mean 0.95?'
    >>> in_options('leave these rows out with on_null="drop"')
    'leave these rows out with --on-null drop'
    """
    for words, instead in _FIXED.items():
        message = message.replace(words, instead)
    message = _LISTED.sub(_models, message)
    message = _EITHER.sub(r"\1\2", _GIVEN.sub(_option, message))
    for pattern in (_WITHOUT, _FIRST, _ANYWHERE):
        message = pattern.sub(lambda found: _OPTIONS[found[1]], message)
    return message


def _models(found: re.Match[str]) -> str:
    try:
        names = literal_eval(found[1])
    except (SyntaxError, ValueError):  # a name with a bracket in it
        return found[0]
    return " ".join(f"--of {shlex.quote(name)}" for name in names)


def _option(found: re.Match[str]) -> str:
    value = next(text for text in found.groups()[1:] if text is not None)
    return f"{_OPTIONS[found[1]]} {shlex.quote(value)}"
