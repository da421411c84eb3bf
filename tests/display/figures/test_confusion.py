from __future__ import annotations

import numpy as np
import pytest

from outperform.display.forest_figure import draw_confusion
from outperform.errors import UsageError
from tests.display.payloads import every_payload
from tests.lazily import lazily

pyplot = lazily("matplotlib.pyplot")
Figure = lazily("matplotlib.figure.Figure")

A, B = np.array([[90, 10], [20, 80]]), np.array([[85, 15], [20, 80]])


def square(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(3, (n, n)) + np.diag(rng.poisson(100, n))


def test_counts_are_written_and_differences_signed(three, texts):
    axes = draw_confusion(A, B, labels=["ham", "spam"], names=("bert", "gpt"), axes=three)
    assert list(axes) == list(three)
    assert texts(axes[0]) == ["90", "10", "20", "80"]
    assert texts(axes[1]) == ["85", "15", "20", "80"]
    assert texts(axes[2]) == ["+5", "−5", "0", "0"]
    assert [ax.get_title() for ax in axes] == ["bert", "gpt", "bert − gpt"]
    assert axes[2].get_xlabel() == "+ bert more, − gpt more\nblue: bert better, orange: worse"
    assert [text.get_text() for text in axes[0].get_yticklabels()] == ["ham", "spam"]
    assert axes[0].get_ylabel() == "true"


def test_rows_can_be_shares(three, texts):
    a = [[3, 1], [0, 0]]
    axes = draw_confusion(a, A, labels=["x", "y"], normalise=True, axes=three)
    assert texts(axes[0]) == ["75", "25", "0", "0"]
    assert axes[0].get_ylabel() == "true (rows in %)"
    assert axes[0].images[0].get_array().shape == (2, 2)


def test_shades_are_the_square_root_and_the_same_for_both(three):
    axes = draw_confusion(A, B, labels=["x", "y"], axes=three)
    for ax, values in zip(axes, (A, B), strict=False):
        assert np.asarray(ax.images[0].get_array()) == pytest.approx(np.sqrt(values / 90))


def test_numbers_stand_out_from_their_cells(three, grey):
    axes = draw_confusion(A, B, labels=["x", "y"], axes=three)
    for ax in axes:
        image = ax.images[0]
        for text in ax.texts:
            column, row = (int(place) for place in text.get_position())
            cell = image.cmap(image.norm(image.get_array()[row, column]))
            assert abs(grey(text.get_color()) - grey(cell)) > 0.45


def squares(panel):
    """Return the collections of filled and of open squares, and each square's cell and area."""
    for collection in panel.collections:
        boxes = [path.get_extents() for path in collection.get_paths()]
        middles = [((box.y0 + box.y1) / 2, (box.x0 + box.x1) / 2) for box in boxes]
        cells = [(round(row), round(column)) for row, column in middles]
        yield collection, dict(zip(cells, [box.width**2 for box in boxes], strict=True))


def test_many_classes_become_squares(three, grey):
    a, b = square(30), square(30, seed=1)
    axes = draw_confusion(a, b, labels=range(30), names=("bert", "gpt"), axes=three)
    assert [len(ax.texts) for ax in axes] == [0, 0, 0]
    difference = a - b
    most = np.abs(difference).max()
    (filled, more), (hollow, less) = squares(axes[2])
    assert sorted(more) == [tuple(cell) for cell in np.argwhere(difference > 0).tolist()]
    assert sorted(less) == [tuple(cell) for cell in np.argwhere(difference < 0).tolist()]
    for cell, area in (more | less).items():
        assert area == pytest.approx(0.94**2 * abs(difference[cell]) / most)
    assert grey(hollow.get_facecolor()[0]) - grey(filled.get_facecolor()[0]) > 0.3
    assert axes[2].get_xlabel() == "■ bert more, □ gpt more\nblue: bert better, orange: worse"


def test_more_is_better_on_the_diagonal_and_worse_off_it(three):
    axes = draw_confusion([[9, 3], [1, 5]], [[7, 1], [2, 6]], labels=["x", "y"], axes=three)
    signs = np.sign(np.asarray(axes[2].images[0].get_array()))
    assert signs.tolist() == [[1, -1], [1, -1]]


def test_a_new_figure_says_who_is_right_more_often():
    axes = draw_confusion(A, B, labels=["ham", "spam"], names=("bert", "gpt"))
    assert axes[0].figure.get_suptitle() == "bert is right on 5 more items than gpt"
    pyplot.close(axes[0].figure)
    axes = draw_confusion(A, B, labels=["ham", "spam"], names=("bert", "gpt"), some=True)
    said = "In these 2 classes bert is right on 5 more items than gpt"
    assert axes[0].figure.get_suptitle().replace("\n", " ") == said
    pyplot.close(axes[0].figure)


@pytest.mark.parametrize("n", [2, 5, 12, 30])
def test_new_figures_are_readable(n, crowded, outside, written):
    labels = [f"a class {place}" for place in range(n)]
    axes = draw_confusion(square(n), square(n, seed=1), labels=labels)
    for ax in axes:
        assert crowded(ax) == []
        assert outside(ax, written) == []
    assert len(axes[0].get_yticklabels()) == n
    assert min(text.get_fontsize() for text in axes[0].get_yticklabels()) >= 5
    pyplot.close(axes[0].figure)


def test_two_classes_fit_one_column(crowded, outside, written):
    axes = Figure(figsize=(3.4, 2.1), layout="compressed").subplots(1, 3)
    draw_confusion(A, B, labels=["ham", "spam"], names=("bert", "gpt"), axes=axes)
    for ax in axes:
        assert crowded(ax) == []
        assert outside(ax, written) == []
    assert axes[0].texts


def test_small_axes_name_every_second_class(three, crowded):
    axes = draw_confusion(square(60), square(60, seed=1), labels=range(60), axes=three)
    assert len(axes[0].get_yticklabels()) < 60
    assert crowded(axes[0]) == []


def test_equal_matrices_differ_nowhere(three, texts):
    axes = draw_confusion(square(10), square(10), labels=range(10), axes=three)
    assert texts(axes[2]) == []
    axes = draw_confusion(square(30), square(30), labels=range(30), axes=three)
    assert [len(cells) for _, cells in squares(axes[2])] == [0, 0]


def test_nothing_counted_is_drawn(three):
    draw_confusion(np.zeros((2, 2)), np.zeros((2, 2)), labels=["x", "y"], axes=three)
    three[0].figure.draw_without_rendering()


@pytest.mark.filterwarnings("ignore:Glyph")
def test_payloads_are_text(three, payloads, written):
    n = len(payloads)
    draw_confusion(square(n), square(n), labels=payloads, names=payloads[:2], axes=three)
    assert_only_text(three, written)


@pytest.mark.filterwarnings("ignore:Glyph")
@every_payload
def test_payloads_are_names_and_no_more(three, payload):
    for ax in three:
        ax.clear()
    axes = draw_confusion(A, B, labels=["a", "b"], names=(payload, payload), axes=three)
    for ax in axes:
        assert not ax.title.get_parse_math()
        assert len(ax.get_title()) < 60


def assert_only_text(axes, written):
    for text in written(axes[0]):
        assert not text.get_parse_math()
        assert "\u202e" not in text.get_text()


def test_classes_that_begin_alike_stay_apart(three):
    labels = ["talk.politics.guns", "talk.politics.misc"]
    axes = draw_confusion(A, B, labels=labels, axes=three)
    assert len({text.get_text() for text in axes[0].get_yticklabels()}) == 2


@pytest.mark.parametrize(
    ("a", "labels", "match"),
    [
        ([[1, 2]], ["x", "y"], r"square.*\(1, 2\)"),
        ([[1, 2], [3, np.nan]], ["x", "y"], "square, with a finite row"),
        ([[1]], ["x"], "2 to 60 classes"),
        (np.ones((61, 61)), range(61), "got 61: select classes with labels="),
    ],
)
def test_what_cannot_be_drawn_is_refused(three, a, labels, match):
    with pytest.raises(UsageError, match=match):
        draw_confusion(a, a, labels=labels, axes=three)


def test_two_axes_are_refused(ax):
    with pytest.raises(UsageError, match=r"axes must be three.*got 1"):
        draw_confusion(A, B, labels=["x", "y"], axes=[ax])


@pytest.mark.parametrize("size", ["column", "text"])
def test_numbers_fit_cells_of_new_figure(size):
    counts = np.array([[276, 10, 2], [13, 201, 18], [1, 12, 280]])
    labels = ["sci.electronics", "sci.med", "sci.space"]
    axes = draw_confusion(counts, counts[::-1], labels=labels, size=size)
    try:
        axes[0].figure.draw_without_rendering()
        for ax in axes:
            cell = ax.get_window_extent().width / len(labels)
            assert all(text.get_window_extent().width < cell for text in ax.texts)
    finally:
        pyplot.close(axes[0].figure)
