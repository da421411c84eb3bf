"""Train the four text classifiers on 20 Newsgroups and store their answers.

    python -m scripts.make_news20 20news-bydate.tar.xz src/outperform/datasets/news20.npz

Needs scikit-learn and takes about a minute. The archive holds the "bydate" split
as ``20news-bydate/20news-bydate-{train,test}/<group>/<id>``. Before anything is
written, the F1 scores are compared with the published ones.
"""

from __future__ import annotations

import argparse
import tarfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets._twenty_newsgroups import (
    strip_newsgroup_footer,
    strip_newsgroup_header,
    strip_newsgroup_quoting,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import f1_score
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from papers.published import published

# How many of the 20 printed scores may differ, and by how much: the L1 machine
# does not converge, so its answers depend on the library version.
ALLOWED_DIFFERENCES = {"nb_bern": 0, "nb_mult": 0, "svm_l1": 8, "svm_l2": 2}
LARGEST_DIFFERENCE = 0.0045


# scikit-learn's own loader shuffles twice, with these seeds. The order moves a handful of
# the L2 machine's answers: in this one all p-values of the SIGIR paper come out as printed,
# in sorted order four of them do not, though its ICDM scores fit in one group more.
SHUFFLING_SEEDS = (0, 42)


class Documents(NamedTuple):
    """The texts of one half of the split and the groups that they belong to."""

    texts: list[str]
    groups: list[str]


def read_archive(path: Path) -> dict[str, Documents]:
    """Return the halves ``"train"`` and ``"test"``, in order of group and file name."""
    found: dict[str, dict[tuple[str, str], str]] = {"train": {}, "test": {}}
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and (file := archive.extractfile(member)) is not None:
                half, group, document = member.name.split("/")[-3:]
                found[half.rpartition("-")[2]][group, document] = file.read().decode("latin-1")
    return {
        half: Documents([texts[key] for key in sorted(texts)], [key[0] for key in sorted(texts)])
        for half, texts in found.items()
    }


def shuffled(documents: Documents) -> Documents:
    """Return documents in the order in which scikit-learn's loader hands them out."""
    order = np.arange(len(documents.texts))
    for seed in SHUFFLING_SEEDS:
        positions = np.arange(order.size)
        np.random.RandomState(seed).shuffle(positions)
        order = order[positions]
    return Documents([documents.texts[i] for i in order], [documents.groups[i] for i in order])


def strip(text: str) -> str:
    """Remove the header, then the footer, then quoted lines."""
    return strip_newsgroup_quoting(strip_newsgroup_footer(strip_newsgroup_header(text)))


def classifiers() -> dict[str, ClassifierMixin]:
    """Return the four classifiers with the settings that give the published scores."""
    return {
        "nb_bern": BernoulliNB(alpha=1e-14, force_alpha=True),
        "nb_mult": MultinomialNB(alpha=1e-3),
        "svm_l1": LinearSVC(penalty="l1", dual=False, C=4, random_state=0),
        "svm_l2": LinearSVC(penalty="l2", dual=False, C=2, random_state=0),
    }


def predict(train: Documents, test: Documents) -> dict[str, np.ndarray]:
    """Return each classifier's answers for the test documents."""
    vectorizer = CountVectorizer()
    # The papers say TF-IDF; their scores are those of normalised counts.
    known = normalize(vectorizer.fit_transform(strip(text) for text in train.texts))
    new = normalize(vectorizer.transform(strip(text) for text in test.texts))
    answers = {}
    for name, classifier in classifiers().items():
        with warnings.catch_warnings():
            # The published answers are those of a machine that was stopped early.
            warnings.simplefilter("ignore", ConvergenceWarning)
            answers[name] = classifier.fit(known, train.groups).predict(new)
        print(f"{name} trained")
    return answers


def check(truth: np.ndarray, answers: dict[str, np.ndarray]) -> None:
    """Stop unless the F1 scores are the published ones."""
    table = published("icdm2015")["table_2_f1"]
    for name, answer in answers.items():
        micro, macro = (f1_score(truth, answer, average=average) for average in ("micro", "macro"))
        gap = np.abs(f1_score(truth, answer, average=None) - table["per_category"][name])
        differing = int((gap > 0.0005 + 1e-9).sum())
        print(
            f"{name}: micro {micro:.3f} ({table['micro'][name]:.3f} published), "
            f"macro {macro:.3f} ({table['macro'][name]:.3f} published), "
            f"{differing} of 20 groups differ, at most by {gap.max():.4f}"
        )
        averages = round(micro, 3), round(macro, 3)
        few_differ = differing <= ALLOWED_DIFFERENCES[name] and gap.max() <= LARGEST_DIFFERENCE
        if averages != (table["micro"][name], table["macro"][name]) or not few_differ:
            raise SystemExit(f"the F1 scores of {name} are not the published ones; nothing written")


def store(path: Path, truth: np.ndarray, answers: dict[str, np.ndarray]) -> None:
    """Write the group names once and everything else as one byte per document."""
    names = np.unique(truth)
    coded = {
        name: np.searchsorted(names, labels).astype(np.uint8)
        for name, labels in {"y_true": truth, **answers}.items()
    }
    np.savez_compressed(path, allow_pickle=False, target_names=names, **coded)
    print(f"{path}: {len(truth)} documents, {path.stat().st_size} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("archive", type=Path, help="20news-bydate.tar.xz")
    parser.add_argument("output", type=Path, help="the .npz file to write")
    arguments = parser.parse_args()
    halves = read_archive(arguments.archive)
    truth = np.asarray(halves["test"].groups)
    answers = predict(shuffled(halves["train"]), halves["test"])
    check(truth, answers)
    store(arguments.output, truth, answers)


if __name__ == "__main__":
    main()
