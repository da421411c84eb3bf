"""Terms, metrics and findings explained, for ``outperform explain`` and coding agents."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib.resources import files
from typing import NamedTuple

from outperform import metrics
from outperform.display.cards import findings_explained, glossary
from outperform.errors import UsageError, param, unknown_name
from outperform.findings import TEMPLATES
from outperform.metrics.metric import Metric
from outperform.metrics.registry import find

SITE = "https://outperform.github.io/outperform/"


class Explanation(NamedTuple):
    """What a term, metric or finding means, and the page of the documentation about it."""

    name: str
    text: str
    page: str


def explained(words: Sequence[str]) -> list[Explanation]:
    """Explain terms, metrics and findings.

    Parameters
    ----------
    words
        Terms such as rope, metrics, or findings. A term can consist of several words.

    Examples
    --------
    >>> [entry.name for entry in explained(["accuracy", "sparse_cells"])]
    ['accuracy', 'sparse_cells (warning)']
    """
    with suppress(UsageError):
        return [_explained(" ".join(words))]
    return [_explained(word) for word in words]


def _explained(word: str) -> Explanation:
    """Return the name, meaning and documentation page of a term, metric or finding."""
    terms, findings = glossary(), findings_explained()
    known = (*metrics.names(), *metrics.set_names(), *metrics.score_names())
    synonyms = {synonym: term for term in terms.values() for synonym in term.get("also", ())}
    text = word.strip().lower()
    name = text.replace(" ", "_").replace("-", "_")
    if text in ("metric", "metrics"):
        return _entry("metrics", f"{', '.join(known)}.", "reference/metrics")
    metric = None if name in terms else find(text)
    if metric is not None:
        return _entry(metric.name, _metric_text(metric), "reference/metrics")
    term = terms.get(name) or synonyms.get(name) or synonyms.get(text)
    if term is not None:
        return _entry(term["name"], term["text"], term["page"])
    if name not in findings:
        similar = get_close_matches(name, [*known, *findings])  # the full list is too long
        raise UsageError(unknown_name("term, metric or finding", word, [*terms, *similar]))
    variants = [template for template in TEMPLATES.values() if template.name == name]
    options = dict.fromkeys(param(each.parameter) for each in variants if each.parameter)
    option = f" Option: {' or '.join(options)}." if options else ""
    levels = " or ".join(dict.fromkeys(level for template in variants for level in template.levels))
    return _entry(f"{name} ({levels})", findings[name] + option, "reference/findings")


def _entry(name: str, text: str, page: str) -> Explanation:
    return Explanation(name, text, f"{SITE}{page}.html")


def _metric_text(metric: Metric) -> str:
    """Return the definition of a metric, its range, and whether higher is better."""
    low, high = metric.bounds or (float("-inf"), float("inf"))
    bounds = {
        (True, True): f"Range: {low:g} to {high:g}",
        (True, False): f"Range: {low:g} or more",
        (False, True): f"Range: {high:g} or less",
        (False, False): "The unit is that of the data",
    }[low > float("-inf"), high < float("inf")]
    label = metric.label[0].upper() + metric.label[1:]
    definition = _definition(metric.name)
    direction = f"{bounds}; {'higher' if metric.greater_is_better else 'lower'} is better."
    return " ".join(filter(None, (f"{label}.", definition, direction)))


def _definition(name: str) -> str:
    """Return what a metric measures; empty for a metric from a plug-in.

    Examples
    --------
    >>> _definition("f2_macro")[-62:]
    'This is the mean over classes, which all have the same weight.'
    """
    texts = tomllib.loads(files("outperform.display").joinpath("metrics.toml").read_text("utf-8"))
    stem, _, variant = name.rpartition("_")
    for base, suffix in ((name, ""), (stem, variant)):
        family = re.sub(r"\d+(\.\d+)?", "N", base)
        text = texts["metrics"].get(base) or texts["metrics"].get(family)
        if text is not None:
            return f"{text} {texts['variants'].get(suffix, '')}".strip()
    return ""
