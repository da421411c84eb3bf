"""Write the sample reports of the site; `docs/conf.py` calls it when the pages are done."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import outperform as op

GROUP = "rec.sport.hockey"


@cache
def news() -> op.Outcomes:
    """Count the bundled predictions once."""
    data = op.datasets.load_news20()
    return op.Outcomes.from_labels(data.y_true, data.predictions)


def two_classes() -> Any:
    """Compare two models on one class against the rest."""
    seen = news().select(["svm_l1", "svm_l2"]).binarize(GROUP)
    return op.compare(seen, "svm_l1", "svm_l2", metric="f1", rope=0.02, random_state=0)


def twenty_classes() -> Any:
    """Compare two models by their macro average."""
    return op.compare(news(), "nb_mult", "svm_l2", metric="f1_macro", rope=0.02, random_state=0)


def ranking() -> Any:
    """Rank four models, with the leader against each of the others."""
    found = op.rank(news(), metric="f1_macro", rope=0.01, random_state=0)
    return [found, *(found.compare(found.leader.name, name) for name in found.names[1:])]


def gate() -> Any:
    """Judge a candidate by its macro average and by one class."""
    guards = [("recall", "sci.med", 0.02)]
    return op.gate(
        news(), "svm_l2", "svm_l1", metric="f1_macro", rope=0.005, guards=guards, random_state=0
    )


SAMPLES: dict[str, tuple[str, Callable[[], Any]]] = {
    "two-classes": ("Two support vector machines, one class against the rest", two_classes),
    "twenty-classes": ("Naive Bayes and a support vector machine, 20 classes", twenty_classes),
    "ranking": ("Four models, the best against the others", ranking),
    "gate": ("May svm_l2 replace svm_l1?", gate),
}


def write_samples(folder: Path) -> None:
    """Write every sample into a folder."""
    folder.mkdir(exist_ok=True)
    for name, (title, make) in SAMPLES.items():
        op.write_report(make(), folder / f"{name}.html", title=title, overwrite=True)


if __name__ == "__main__":
    write_samples(Path("samples"))
