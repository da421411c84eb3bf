"""``write_report``: one HTML file with results, findings and data."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from outperform import __version__
from outperform._files import write_atomically
from outperform.comparison.items import ItemTable
from outperform.comparison.result import Comparison, ComparisonTable
from outperform.display.cards import details_html, folded, marked_terms, style
from outperform.display.colours import with_colours
from outperform.display.document import Document
from outperform.display.formats import json_value
from outperform.display.numbers import for_text
from outperform.display.pictures import Html, element
from outperform.errors import UsageError, either, param
from outperform.findings import listed
from outperform.inference.spec import Spec
from outperform.report.items import items_html, named_items
from outperform.report.sections import comparison_part
from outperform.results.details import FoldDetails
from outperform.suite.result import SuiteComparison, SuiteRanking
from outperform.wrong_calls import explained

_PAPERS = {
    "sigir": (
        "zhang2016bayesian",
        "Bayesian Performance Comparison of Text Classifiers",
        "Zhang, Dell and Wang, Jun and Yilmaz, Emine and Wang, Xiaoling and Zhou, Yuxin",
        "Proceedings of the 39th International ACM SIGIR Conference on Research and "
        "Development in Information Retrieval",
        "2016",
        "15--24",
        "10.1145/2911451.2911547",
    ),
    "icdm": (
        "zhang2015hierarchical",
        "A Bayesian Hierarchical Model for Comparing Average F1 Scores",
        "Zhang, Dell and Wang, Jun and Zhao, Xiaoxue and Wang, Xiaoling",
        "2015 IEEE International Conference on Data Mining",
        "2015",
        "589--598",
        "10.1109/ICDM.2015.44",
    ),
    "acl": (
        "wang2019bayes",
        "Bayes Test of Precision, Recall, and F1 Measure for Comparison of Two Natural Language "
        "Processing Models",
        "Wang, Ruibo and Li, Jihong",
        "Proceedings of the 57th Annual Meeting of the Association for Computational Linguistics",
        "2019",
        "4135--4145",
        "10.18653/v1/P19-1405",
    ),
}
_FIELDS = ("title", "author", "booktitle", "year", "pages", "doi")
_OF_PRIOR = {"hierarchical": "icdm", "learned": "icdm", "unit": "icdm"}


def bibtex(results: Iterable[object]) -> str:
    """Return the entries for the package and for the papers behind the priors."""
    papers = dict.fromkeys(paper for result in results for paper in _papers(result))
    return "\n\n".join([_package(), *(_entry(paper) for paper in papers)])


def _papers(result: object) -> list[str]:
    """Return the papers behind a result. The SIGIR paper covers the decisions and other priors."""
    spec = _spec(result)
    folds = ["acl"] if isinstance(getattr(result, "details", None), FoldDetails) else []
    return ["sigir" if spec is None else _OF_PRIOR.get(spec.prior.name, "sigir"), *folds]


def _spec(result: object) -> Spec | None:
    """Return the spec of a result, or that of its main comparison."""
    for part in (result, *(getattr(result, name, None) for name in ("main", "whole", "own"))):
        spec: Spec | None = getattr(part, "spec", None)
        if spec is not None:
            return spec
    return None


def _package() -> str:
    return (
        "@software{outperform,\n  title = {outperform},\n"
        f"  author = {{{{the outperform developers}}}},\n  version = {{{__version__}}}\n}}"
    )


def _entry(paper: str) -> str:
    key, *values = _PAPERS[paper]
    lines = [f"  {name} = {{{value}}}" for name, value in zip(_FIELDS, values, strict=True)]
    return f"@inproceedings{{{key},\n" + ",\n".join(lines) + "\n}"


SCHEMA = 1
_POSITIONS = 200
_POSITIONS_OF_ALL = 1_200
_FEWEST_POSITIONS = 50
_MOST_WITH_CLASSES = 12


class Result(Protocol):
    """A result that a page can show: any result that notebooks can show."""

    def _document(self) -> Document: ...

    def to_dict(self) -> Mapping[str, Any]:
        """Return everything as plain values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Provenance of a page: the data, the command that wrote it, and the date."""

    sources: tuple[str, ...]
    command: str | None
    date: datetime

    @property
    def when(self) -> str:
        """Date as text."""
        zone = self.date.tzname()
        return f"{self.date:%Y-%m-%d %H:%M}" + (f" {zone}" if zone else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain values."""
        date = self.date.isoformat(timespec="seconds")
        return {"sources": list(self.sources), "command": self.command, "date": date}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One result on the page."""

    name: str
    heading: str
    html: Html


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Everything on the page."""

    title: str
    made: Made
    overview: Html | None
    sections: tuple[Section, ...]
    bibtex: str
    data: dict[str, Any]
    live: list[dict[str, Any]]


def make_contents(
    results: Sequence[Result],
    *,
    by: str | None,
    headings: Sequence[str],
    title: str | None,
    made: Made,
) -> Contents:
    """Return everything that the page shows."""
    compared = [result for result in results if isinstance(result, Comparison)]
    most = min(_POSITIONS, max(_FEWEST_POSITIONS, _POSITIONS_OF_ALL // max(len(compared), 1)))
    with_classes = by != "class" and len(compared) <= _MOST_WITH_CLASSES
    level = "h2" if len(results) == 1 else "h3"
    # then no findings are added
    has_items = any(isinstance(result, ItemTable) for result in results)
    shown: set[object] = set()
    sections: list[Section] = []
    data: list[Mapping[str, Any]] = []
    live: list[dict[str, Any]] = []
    for number, (heading, result) in enumerate(zip(headings, results, strict=True), start=1):
        name = f"c{number}"
        if isinstance(result, Comparison):
            part = comparison_part(
                name, result, most=most, with_classes=with_classes, shown=shown, heading=level
            )
            items = None if has_items else named_items(result)
            item_html = () if items is None else (items_html(name, items, heading=level),)
            html = Html("\n".join((part.html, *item_html)))
            data.append(part.facts if items is None else {**part.facts, "items": items.to_dict()})
            live.append(part.live)
        elif isinstance(result, ItemTable):
            html = items_html(name, result)
            data.append(result.to_dict())
        else:
            html = result._document().section(level)
            data.append(result.to_dict())
        sections.append(Section(name=name, heading=heading, html=html))
    overview = None
    if len(compared) > 1:
        pairs = zip(headings, results, strict=True)
        keys = tuple(heading for heading, result in pairs if result in compared)
        table = ComparisonTable(what="result", keys=keys, comparisons=tuple(compared))
        overview = Html("\n".join(table._document().html_parts()))
    return Contents(
        title=_title(results, headings) if title is None else for_text(title),
        made=made,
        overview=overview,
        sections=tuple(sections),
        bibtex=bibtex(results),
        data={"schema": SCHEMA, "kind": "report", "by": by, **made.to_dict(), "results": data},
        live=live,
    )


def _heading(result: object) -> str:
    if isinstance(result, Comparison):
        a, b = map(for_text, result.names)
        return f"{a} against {b}, {for_text(result.spec.metric.label)}"
    if isinstance(result, (SuiteComparison, SuiteRanking)):
        tasks, names = listed(map(for_text, result.tasks), most=4), [*map(for_text, result.names)]
        several = isinstance(result, SuiteRanking)
        return f"{f'{len(names)} models' if several else ' against '.join(names)} on {tasks}"
    kind = _KINDS.get(type(result).__name__, type(result).__name__)
    spec = _spec(result)
    metric = getattr(result, "metric_label", None) if spec is None else spec.metric.label
    return f"{kind}, {for_text(metric)}" if metric else kind


_KINDS = {
    "ItemTable": "Items",
    "SliceComparison": "Slices",
    "Proposal": "Items to label",
    "Plan": "Sample size",
}


def _title(results: Sequence[Result], headings: Sequence[str]) -> str:
    if len(results) == 1:
        return headings[0]
    compared = [result for result in results if isinstance(result, Comparison)]
    if len(compared) < len(results):
        return f"{len(results)} results"
    first = compared[0]
    if any(comparison.names != first.names for comparison in compared):
        return f"{len(results)} comparisons"
    a, b = map(for_text, first.names)
    return f"{a} against {b}, {len(results)} comparisons"


def render(contents: Contents) -> str:
    """Return the contents as a self-contained HTML page."""
    sheet, script = style() + with_colours(_text("page.css")), _text("page.js")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(sheet, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"outperform {__version__}"),
        element("link", rel="icon", href="data:,"),
        element("title", contents.title),
        element("style", Html(sheet)),
    )
    body = element(
        "body",
        element("header", element("h1", contents.title), _origin(contents.made)),
        element("main", *_main(contents)),
        element("footer", element("p", _FOOT, element("code", "data"), ".")),
        _block(contents.data, "data"),
        _block(contents.live, "live"),
        element("script", Html(script)),
        class_="outperform page",
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


_FOOT = (
    f"Made by outperform {__version__}. This page is self-contained. Its data are embedded as "
    "JSON in the element "
)


def _origin(made: Made) -> Html:
    """Return the data, the date and the command, if known."""
    command = None if made.command is None else element("code", for_text(made.command))
    pairs = [
        ("Data", ", ".join(map(for_text, made.sources)) or None),
        ("Written", made.when),
        ("Command", command),
    ]
    rows = [
        element("div", element("dt", label), element("dd", text))
        for label, text in pairs
        if text is not None
    ]
    return element("dl", *rows, class_="origin")


def _main(contents: Contents) -> list[Html]:
    many = len(contents.sections) > 1
    parts = []
    if many:
        links = [
            element("li", element("a", section.heading, href=f"#{section.name}"))
            for section in contents.sections
        ]
        title = element("h2", "Contents")
        parts.append(element("nav", title, element("ol", *links), aria_label="Contents"))
    if contents.overview is not None:
        parts.append(element("section", element("h2", "Overview"), contents.overview))
    for section in contents.sections:
        title = element("h2", section.heading) if many else element("h2", "Result", class_="unseen")
        parts.append(element("section", title, section.html, class_="result", id=section.name))
    meanings = folded("Terms used here", details_html(list(marked_terms().items())))
    entries = element("pre", contents.bibtex, tabindex="0", aria_label="BibTeX entries")
    cited = folded("How to cite the package and its papers", entries)
    return [*parts, element("section", meanings, cited, class_="last")]


def _block(value: object, name: str) -> Html:
    return element("script", Html(_json(value)), type="application/json", id=name)


def _text(name: str) -> str:
    """Return a file of the package, with line endings as a browser reads them."""
    text = files("outperform.report").joinpath("templates", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """Return a security policy that allows only this style sheet and script, by hash."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _json(value: object) -> str:
    """Return JSON that no label can break out of: ASCII only, without HTML's special characters."""
    text = json.dumps(_plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return json_value(value)


@explained
def write_report(
    what: Result | Iterable[Result],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    source: str | None = None,
    command: str | None = None,
    date: datetime | None = None,
    overwrite: bool = False,
) -> Path:
    """Write results to a self-contained HTML page, and return its path.

    The page of a comparison shows the decision, the posterior with a slider for the ROPE, all
    numbers, the classes, where the predictions differ, the findings and the method. If the items
    have ids, it also lists those that only one model got right, with a search box. The page of any
    other result shows what a notebook shows. The page works offline and on a phone, can be printed,
    and shows the same result without scripts. For each width, the slider shows what
    :meth:`Comparison.with_rope` returns.

    Parameters
    ----------
    what
        A result (for example a comparison, a ranking, a gate, slices or a plan), or several.
    path
        File to write; its folder must exist.
    title
        Title of the page. Default: the models and the metric.
    source
        Origin of the data. Default: the files that were read.
    command
        Command that created the page.
    date
        Date of the page. Default: ``SOURCE_DATE_EPOCH`` if it is set, otherwise now.
    overwrite
        Whether to replace an existing file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
    >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01)
    >>> with TemporaryDirectory() as folder:
    ...     op.write_report(c, f"{folder}/report.html").name
    'report.html'
    """
    if isinstance(what, (str, os.PathLike)):
        raise UsageError(
            f"the result comes first: type op.write_report(result, {os.fspath(what)!r})"
        )
    target = _target(path, overwrite=overwrite)
    by, headings, results = _several(what)
    sources = _sources(results) if source is None else (source,)
    made = Made(sources=sources, command=command, date=_now() if date is None else date)
    contents = make_contents(results, by=by, headings=headings, title=title, made=made)
    write_atomically(target, render(contents).encode("utf-8"))
    return target


def _now() -> datetime:
    """Return the current time, or ``SOURCE_DATE_EPOCH``, which makes builds reproducible."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)


def _sources(results: Iterable[object]) -> tuple[str, ...]:
    specs = [spec for result in results if (spec := _spec(result)) is not None]
    # Sources of scores are names; sources of outcomes are objects with a name.
    names = [getattr(source, "name", source) for spec in specs for source in spec.data.sources]
    return tuple(dict.fromkeys(str(name) for name in names if name))


_OTHER_FORMATS = {
    *(".csv", ".docx", ".gif", ".jpeg", ".jpg", ".json", ".md", ".parquet", ".pdf", ".png"),
    *(".svg", ".tex", ".tsv", ".txt", ".webp", ".xlsx", ".yaml", ".yml"),
}


def _target(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    try:
        target = Path(path)
        exists, parent = os.path.lexists(target), target.parent.is_dir()
    except (TypeError, ValueError) as error:
        raise UsageError(f"path must name a file such as 'report.html'; got {path!r}") from error
    if target.suffix.lower() in _OTHER_FORMATS:
        raise UsageError(
            f"a report is an HTML page; write {os.fspath(target.with_suffix('.html'))!r} instead "
            f"of {os.fspath(target)!r}. "
            + either(
                "To save a figure, type result.plot().figure.savefig('figure.png')",
                "For a figure, use outperform compare with -o figure.png",
            )
        )
    if not parent:
        raise UsageError(f"the folder of {os.fspath(target)!r} does not exist; create it first")
    if exists and not overwrite:
        raise UsageError(
            f"{os.fspath(target)!r} already exists; choose another path, or pass "
            f"{param('overwrite=', True)} to replace it"
        )
    return target


def _several(what: object) -> tuple[str | None, list[str], list[Any]]:
    """Return the kind of keys, the headings, and the results."""
    if isinstance(what, ComparisonTable):
        keys = [f"{what.what} {for_text(key)}" for key in what.keys]
        return what.what, keys, list(what.comparisons)
    if hasattr(what, "_document"):
        return None, [_heading(what)], [what]
    results: list[Any] = []
    if isinstance(what, Iterable) and not isinstance(what, (str, bytes)):
        results = list(what)
    wrong = [type(result).__name__ for result in results if not hasattr(result, "_document")]
    if wrong or not results:
        raise UsageError(
            "a report needs at least one result, for example a comparison; got "
            + (f"a list with {wrong[0]}" if wrong else f"none, in {type(what).__name__}")
        )
    pairs: list[tuple[str, Any]] = []
    for result in results:
        pairs += zip(*_several(result)[1:], strict=True)
    return None, [heading for heading, _ in pairs], [result for _, result in pairs]
