"""BibTeX for the package and for the papers behind a result."""

from __future__ import annotations

from collections.abc import Iterable

from outperform._version import __version__
from outperform.comparison import Comparison

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
_OF_MODEL = {"hierarchical": "icdm", "free": "icdm", "unit": "icdm"}


def bibtex(comparisons: Iterable[Comparison]) -> str:
    """Return the entries for the package and for the papers that the models come from."""
    papers = dict.fromkeys(paper for one in comparisons for paper in _papers(one))
    return "\n\n".join([_package(), *(_entry(paper) for paper in papers)])


def _papers(comparison: Comparison) -> list[str]:
    """Name the papers; what ``flat`` and the verdicts do is the first one's."""
    folds = ["acl"] if hasattr(comparison, "folds") else []
    return [_OF_MODEL.get(comparison.question.model.name, "sigir"), *folds]


def _package() -> str:
    return (
        "@software{outperform,\n  title = {outperform},\n"
        f"  author = {{{{the outperform developers}}}},\n  version = {{{__version__}}}\n}}"
    )


def _entry(paper: str) -> str:
    key, *values = _PAPERS[paper]
    lines = [f"  {name} = {{{value}}}" for name, value in zip(_FIELDS, values, strict=True)]
    return f"@inproceedings{{{key},\n" + ",\n".join(lines) + "\n}"
