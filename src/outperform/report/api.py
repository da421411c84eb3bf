"""``write_report``: one HTML file with the answer, the findings and the data."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from outperform import __version__
from outperform._files import write_atomically
from outperform.comparison.again import ComparisonTable
from outperform.display.formats import json_value
from outperform.display.numbers import for_text
from outperform.errors import UsageError, param, require
from outperform.report import sections
from outperform.report.charts import HEIGHT, WIDTH
from outperform.report.sections import (
    Classes,
    Differences,
    Overview,
    class_part,
    confusion_differences,
    make_overview,
)
from outperform.report.slider import Answer, answer_everywhere
from outperform.results.base import FoldDetails
from outperform.results.comparison import Comparison

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


def bibtex(comparisons: Iterable[Comparison]) -> str:
    """Return the entries for the package and for the papers that the priors come from."""
    papers = dict.fromkeys(paper for one in comparisons for paper in _papers(one))
    return "\n\n".join([_package(), *(_entry(paper) for paper in papers)])


def _papers(comparison: Comparison) -> list[str]:
    """Name the papers; what the other priors and the decisions do is the first one's."""
    folds = ["acl"] if isinstance(comparison.details, FoldDetails) else []
    return [_OF_PRIOR.get(comparison.spec.prior.name, "sigir"), *folds]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One comparison on the page."""

    name: str
    heading: str
    now: Answer
    last: int
    chosen: int
    symmetric: bool
    shares: tuple[sections.Share, ...]
    picture: str
    numbers: sections.Grid
    details: tuple[tuple[str, str], ...]
    curve: str
    classes: Classes | None
    differences: Differences | None
    models: tuple[str, str]
    paragraph: str
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything on the page."""

    title: str
    overview: Overview | None
    sections: tuple[Section, ...]
    bibtex: str
    data: dict[str, Any]
    live: list[dict[str, Any]]


def make_document(
    comparisons: Sequence[Comparison],
    *,
    by: str | None,
    keys: Sequence[object],
    title: str | None,
) -> Document:
    """Work out everything that the page shows."""
    many = len(comparisons) > 1
    share = _POSITIONS_OF_ALL // len(comparisons)
    most = min(_POSITIONS, max(_FEWEST_POSITIONS, share))
    headings = [_heading(by, key, one) for key, one in zip(keys, comparisons, strict=True)]
    shown: set[object] = set()
    sections, data, live = [], [], []
    for place, (heading, one) in enumerate(zip(headings, comparisons, strict=True), start=1):
        with_classes = by != "class" and len(comparisons) <= _MOST_WITH_CLASSES
        section, facts, answers = _section(
            f"c{place}", heading, one, most=most, with_classes=with_classes, shown=shown
        )
        sections.append(section)
        data.append(facts)
        live.append(answers)
    return Document(
        title=_title(comparisons) if title is None else for_text(title),
        overview=make_overview(headings, comparisons, data) if many else None,
        sections=tuple(sections),
        bibtex=bibtex(comparisons),
        data={"schema": SCHEMA, "kind": "report", "by": by, "comparisons": data},
        live=live,
    )


def _section(
    name: str,
    heading: str,
    comparison: Comparison,
    *,
    most: int,
    with_classes: bool,
    shown: set[object],
) -> tuple[Section, dict[str, Any], dict[str, Any]]:
    facts = comparison.to_dict()
    live = answer_everywhere(comparison, facts, most=most)
    picture, domain = sections.posterior(comparison, facts, name=name)
    classes = class_part(comparison) if with_classes else None
    # Comparisons of the same models on the same data differ in the same places.
    seen = id(comparison.spec.data), comparison.names
    differences = None if seen in shown else confusion_differences(comparison)
    shown.add(seen)
    section = Section(
        name=name,
        heading=heading,
        now=live.now,
        last=len(live.answers) - 1,
        chosen=live.chosen,
        symmetric=comparison.rope.symmetric,
        shares=sections.shares(facts, live.now),
        picture=picture,
        numbers=sections.numbers_grid(facts),
        details=sections.details(facts),
        curve=sections.curve(facts),
        classes=classes,
        differences=differences,
        models=sections.short_names(facts),
        paragraph=sections.paragraph(comparison),
        signature=for_text(comparison.signature),
    )
    more = {} if classes is None else {"classes": classes.data}
    moving = {
        "name": name,
        "picture": sections.picture_words(facts),
        "domain": domain,
        "width": WIDTH,
        "height": HEIGHT,
    }
    return section, {**facts, **more}, {**moving, **live.packed()}


def _heading(by: str | None, key: object, comparison: Comparison) -> str:
    if by is not None:
        return f"{by} {for_text(key)}"
    a, b = map(for_text, comparison.names)
    return f"{a} against {b}, {for_text(comparison.spec.metric.label)}"


def _title(comparisons: Sequence[Comparison]) -> str:
    first = comparisons[0]
    if len(comparisons) == 1:
        return _heading(None, None, first)
    if any(one.names != first.names for one in comparisons):
        return f"{len(comparisons)} comparisons"
    a, b = map(for_text, first.names)
    return f"{a} against {b}, {len(comparisons)} comparisons"


def render(document: Document) -> str:
    """Return a document as one HTML page that loads nothing."""
    jinja2 = require("jinja2", extra="report", purpose="write_report()")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(_text),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _text("page.css"), _text("page.js")
    trusted = environment.filters["safe"]
    page: str = environment.get_template("page.html.jinja").render(
        document=document,
        version=__version__,
        policy=_policy(style, script),
        style=trusted(style),
        script=trusted(script),
        data=trusted(_json(document.data)),
        live=trusted(_json(document.live)),
        trusted=trusted,
    )
    return page


def _text(name: str) -> str:
    """Return a file that comes with the package; line ends as a browser will see them."""
    text = files("outperform.report").joinpath("templates", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """Allow this style sheet and this script by their hashes, and nothing else."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _json(value: object) -> str:
    """Return JSON that no label can end: ASCII only, and no sign that HTML knows."""
    text = json.dumps(_plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return json_value(value)


def write_report(
    what: Comparison | ComparisonTable | Iterable[Comparison],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write comparisons as one HTML page that needs nothing else, and return its path.

    The page shows the decision, the posterior with a slider for the ROPE, every number, the
    classes, where the predictions differ, the findings and the method. It works offline, prints,
    and says the same without scripts. What the slider shows for a width is what
    :meth:`Comparison.with_rope` says for it.

    Parameters
    ----------
    what
        A comparison, a table of comparisons, or several comparisons.
    path
        Where to write; its folder must exist.
    title
        What stands above the page; made from the models and the metric if None.
    overwrite
        Whether a file that is there already may be replaced.

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
    target = _target(path, overwrite=overwrite)
    by, keys, comparisons = _several(what)
    document = make_document(comparisons, by=by, keys=keys, title=title)
    write_atomically(target, render(document).encode("utf-8"))
    return target


def _target(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    try:
        target = Path(path)
        exists, parent = os.path.lexists(target), target.parent.is_dir()
    except (TypeError, ValueError) as error:
        raise UsageError(f"path must name a file such as 'report.html'; got {path!r}") from error
    if not parent:
        raise UsageError(f"the folder of {os.fspath(target)!r} does not exist; make it first")
    if exists and not overwrite:
        raise UsageError(
            f"{os.fspath(target)!r} exists; give another path, or {param('overwrite=', True)} to "
            "replace it"
        )
    return target


def _several(what: object) -> tuple[str | None, list[object], list[Comparison]]:
    """Return what the keys are, the keys, and the comparisons."""
    if isinstance(what, Comparison):
        return None, [None], [what]
    if isinstance(what, ComparisonTable):
        return what.what, list(what.keys), list(what.comparisons)
    found = list(what) if isinstance(what, Iterable) and not isinstance(what, (str, bytes)) else []
    wrong = [type(one).__name__ for one in found if not isinstance(one, Comparison)]
    if wrong or not found:
        raise UsageError(
            "a report needs a comparison, a table of comparisons or several comparisons; got "
            + (f"one {wrong[0]} among them" if wrong else f"none, in {type(what).__name__}")
        )
    return None, [None] * len(found), found
