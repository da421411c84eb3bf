"""The data sets that the calls are made on: each a function of nothing, built from a numpy seed.

Every builder is cached, so that a data set is made once, and returns arrays that nobody changes.
Errors of models are correlated: an item has a difficulty that all models share.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import outperform as op

MODELS = ("A", "B", "C")
RIGHT = (0.90, 0.84, 0.83)  # which share of the items each model gets right

cached = lru_cache(maxsize=None)


def generator(seed: int) -> np.random.Generator:
    """Return the generator of one data set."""
    return np.random.default_rng(20_000 + seed)


def is_right(rng, n, shares=RIGHT):
    """Return for each model which of n items it gets right, hard items for all models alike."""
    hard = rng.random(n)
    found = []
    for share in shares:
        trouble = 0.6 * hard + 0.4 * rng.random(n)
        found.append(trouble < np.quantile(trouble, share))
    return found


def answers(rng, truth, classes, shares=RIGHT, models=MODELS):
    """Return labels that each model predicts: the truth, or another class where it is wrong."""
    classes = np.asarray(classes)
    code = np.searchsorted(classes, truth)
    said = {}
    for model, right in zip(models, is_right(rng, len(truth), shares)):
        other = (code + rng.integers(1, len(classes), len(truth))) % len(classes)
        said[model] = classes[np.where(right, code, other)]
    return said


# --- labels -----------------------------------------------------------------------------------


@cached
def binary():
    rng = generator(1)
    truth = (rng.random(600) < 0.35).astype(int)
    return truth, answers(rng, truth, [0, 1])


@cached
def words():
    """Two classes of text, so that a positive class must be named."""
    truth, said = binary()
    name = np.array(["ham", "spam"])
    return name[truth], {model: name[one] for model, one in said.items()}


@cached
def small():
    rng = generator(2)
    truth = (rng.random(40) < 0.5).astype(int)
    return truth, answers(rng, truth, [0, 1], (0.9, 0.8, 0.7))


@cached
def alike():
    """Two models that hardly differ, on many items: practically equivalent."""
    rng = generator(3)
    truth = (rng.random(6_000) < 0.4).astype(int)
    first = np.where(rng.random(6_000) < 0.9, truth, 1 - truth)
    second = np.where(rng.random(6_000) < 0.01, 1 - first, first)
    return truth, {"A": first, "B": second}


@cached
def far():
    """A model that is much better than another."""
    rng = generator(4)
    truth = (rng.random(800) < 0.4).astype(int)
    return truth, answers(rng, truth, [0, 1], (0.95, 0.80, 0.78))


@cached
def three():
    rng = generator(5)
    truth = rng.choice(["x", "y", "z"], 700, p=[0.5, 0.3, 0.2])
    return truth, answers(rng, truth, ["x", "y", "z"])


@cached
def levels():
    rng = generator(6)
    truth = rng.integers(1, 6, 500)
    said = {}
    for model, spread in zip(MODELS, (0.6, 0.8, 0.9)):
        said[model] = np.clip(np.round(truth + rng.normal(0, spread, 500)), 1, 5).astype(int)
    return truth, said


@cached
def twenty():
    rng = generator(7)
    names = [f"c{k:02d}" for k in range(20)]
    truth = rng.choice(names, 1_500)
    return truth, answers(rng, truth, names)


@cached
def zipf():
    """200 classes, of which a few are frequent and most are rare."""
    rng = generator(8)
    names = [f"k{k:03d}" for k in range(200)]
    share = 1 / np.arange(1, 201)
    truth = rng.choice(names, 2_000, p=share / share.sum())
    return truth, answers(rng, truth, names)


def classes_of(seed, k, n):
    """Return k classes, some of them rarer than others, and n items."""
    rng = generator(seed)
    names = [f"k{code:04d}" for code in range(k)]
    share = 1 / np.sqrt(np.arange(1, k + 1))
    truth = rng.choice(names, n, p=share / share.sum())
    return truth, answers(rng, truth, names)


@cached
def ten():
    return classes_of(13, 10, 800)


@cached
def fifty():
    return classes_of(14, 50, 1_200)


@cached
def refusals():
    """A model that sometimes answers with a class that is never true."""
    truth, said = three()
    odd = np.where(np.arange(len(truth)) % 35 == 0, "sorry", said["A"])
    return truth, {"A": odd, "B": said["B"]}


@cached
def groups(n=600, per=6):
    return np.arange(n) // per


@cached
def weights(n=600):
    return np.where(generator(9).random(n) < 0.3, 3.0, 0.5)


@cached
def correct():
    rng = generator(10)
    return dict(zip(MODELS, is_right(rng, 500, (0.80, 0.74, 0.73))))


@cached
def label_sets():
    rng = generator(11)
    truth = rng.random((350, 5)) < [0.4, 0.3, 0.3, 0.2, 0.15]
    hard = rng.random((350, 1)) < 0.4
    said = {
        m: truth ^ (hard & (rng.random((350, 5)) < p)) for m, p in zip(MODELS, (0.2, 0.4, 0.45))
    }
    return truth, said


@cached
def named_sets():
    """The same as lists of names."""
    truth, said = label_sets()
    names = np.array(list("pqrst"))
    lists = lambda rows: [list(names[row]) for row in rows]  # noqa: E731
    return lists(truth), {model: lists(rows) for model, rows in said.items()}


@cached
def tags():
    """Sentences with names of people and places, and taggers that miss some."""
    rng = generator(12)
    people, places = ["B-PER", "I-PER", "O"], ["B-LOC", "O"]
    gold, said = [], {model: [] for model in MODELS}
    for _ in range(250):
        parts = [people if rng.random() < 0.5 else places for _ in range(rng.integers(1, 4))]
        gold.append([tag for part in parts for tag in part])
        for model, miss in zip(MODELS, (0.08, 0.2, 0.22)):
            row = []
            for part in parts:
                luck = rng.random()
                if luck < miss:
                    row += ["O"] * len(part)
                elif luck < 1.5 * miss:
                    row += ["B-LOC"] + ["O"] * (len(part) - 1)
                else:
                    row += part
            said[model].append(row)
    return gold, said


@cached
def spans():
    """The same as spans: first token, the token after the last, and the type."""

    def of(row):
        found = []
        for place, tag in enumerate(row):
            if tag.startswith("B-"):
                end = place + 1
                while end < len(row) and row[end].startswith("I-"):
                    end += 1
                found.append((place, end, tag[2:]))
        return found

    gold, said = tags()
    return [of(row) for row in gold], {m: [of(row) for row in rows] for m, rows in said.items()}


# --- numbers ----------------------------------------------------------------------------------


@cached
def probabilities():
    rng = generator(20)
    truth = rng.random(500) < 0.35
    hard = rng.normal(size=500)
    said = {}
    for model, lift in zip(MODELS, (1.6, 1.2, 1.1)):
        margin = 2 * lift * (truth - 0.5) + hard + 0.5 * rng.normal(size=500)
        said[model] = 1 / (1 + np.exp(-margin))
    return truth, said


@cached
def class_probabilities():
    rng = generator(21)
    names = ["x", "y", "z"]
    truth = rng.choice(names, 400, p=[0.5, 0.3, 0.2])
    said = {}
    for model, lift in zip(MODELS, (1.6, 1.1, 1.0)):
        margin = lift * (truth[:, None] == names) + rng.normal(0, 0.8, (400, 3))
        said[model] = np.exp(margin) / np.exp(margin).sum(axis=1, keepdims=True)
    return truth, said


@cached
def grades():
    rng = generator(22)
    base = rng.normal(6, 1.2, 400)
    return {
        m: np.round(base + lift + rng.normal(0, 1, 400), 1)
        for m, lift in zip(MODELS, (0.4, 0.0, -0.1))
    }


@cached
def seconds():
    rng = generator(23)
    return {m: rng.gamma(2.0, scale, 400) for m, scale in zip(MODELS, (1.0, 1.5, 1.6))}


@cached
def regression():
    rng = generator(24)
    target = rng.gamma(4, 3, 400)
    return target, {
        m: np.abs(target + rng.normal(0, noise, 400)) + 0.01
        for m, noise in zip(MODELS, (1.5, 2.0, 2.1))
    }


@cached
def texts():
    rng = generator(25)
    known = np.array(
        ["the", "a", "cat", "dog", "sat", "ran", "on", "over", "mat", "road", "today", "now"]
    )
    gold = [" ".join(rng.choice(known, rng.integers(4, 9))) for _ in range(150)]
    said = {}
    for model, wrong in zip(MODELS, (0.08, 0.16, 0.18)):
        said[model] = [
            " ".join(w if rng.random() > wrong else "uh" for w in text.split()) for text in gold
        ]
    return gold, said


@cached
def masks():
    rng = generator(26)
    truth = rng.random((80, 8, 8)) < 0.4
    return truth, {
        m: truth ^ (rng.random((80, 8, 8)) < p) for m, p in zip(MODELS, (0.1, 0.2, 0.22))
    }


@cached
def documents():
    rng = generator(27)
    relevance = rng.integers(0, 3, (120, 20))
    return relevance, {
        m: relevance + rng.normal(0, noise, relevance.shape)
        for m, noise in zip(MODELS, (2.0, 3.0, 3.2))
    }


@cached
def repeated():
    """Eight tries at each of 120 tasks, right or wrong."""
    rng = generator(28)
    easy = rng.random((120, 1))
    return {m: rng.random((120, 8)) < lift * easy for m, lift in zip(MODELS, (0.8, 0.6, 0.55))}


@cached
def spent():
    rng = generator(30)
    return {
        m: {"right": rng.random(400) < p, "cents": rng.gamma(2.0, cost, 400)}
        for m, p, cost in [("small", 0.74, 1.0), ("large", 0.78, 3.0)]
    }


# --- labels of other origin ---------------------------------------------------------------------


@cached
def judged_answers():
    rng = generator(40)
    right = dict(zip("AB", is_right(rng, 1_000, (0.80, 0.72))))
    lenient = {"A": 0.4, "B": 0.15}
    judge = {
        m: np.where(bits, rng.random(1_000) < 0.95, rng.random(1_000) < lenient[m])
        for m, bits in right.items()
    }
    looked = np.arange(1_000) < 200
    human = {m: np.where(looked, bits, np.nan) for m, bits in right.items()}
    return judge, human


@cached
def judged_labels():
    rng = generator(41)
    names = ["bug", "feature", "question"]
    truth = rng.choice(names, 1_000, p=[0.5, 0.3, 0.2])
    said = answers(rng, truth, names, (0.86, 0.76), ("A", "B"))
    judge = answers(rng, truth, names, (0.9,), ("judge",))["judge"]
    return said, np.where(np.arange(1_000) < 200, truth, None), judge


@cached
def judged_grades():
    rng = generator(42)
    quality = rng.normal(6, 1.5, 800)
    given = {m: quality + plus + rng.normal(size=800) for m, plus in (("A", 0.4), ("B", 0.0))}
    marks = {m: one + rng.normal(size=800) + (m == "A") for m, one in given.items()}
    human = {m: np.where(np.arange(800) < 200, one, np.nan) for m, one in given.items()}
    return marks, human


@cached
def annotated():
    rng = generator(43)
    truth = (rng.random(500) < 0.4).astype(int)
    one = lambda share: np.where(rng.random(500) < share, truth, 1 - truth)  # noqa: E731
    return np.stack([one(p) for p in (0.85, 0.8, 0.75)], axis=1), {"A": one(0.92), "B": one(0.84)}


@cached
def votes():
    rng = generator(44)
    strength = {"large": 0.5, "medium": 0.2, "small": -0.6}
    first, second = rng.permuted([list(strength)] * 600, axis=1)[:, :2].T
    ahead = np.array([strength[a] - strength[b] + 0.3 for a, b in zip(first, second)])
    ahead = ahead + rng.logistic(size=600)
    return first, second, np.where(abs(ahead) < 0.4, "tie", np.where(ahead > 0, first, second))


@cached
def pool():
    """Predictions for a pool of 3,000 items, and the truth that nobody knows yet."""
    rng = generator(45)
    truth = np.where(rng.random(3_000) < 0.3, "spam", "ham")
    return truth, answers(rng, truth, ["ham", "spam"], (0.93, 0.89), ("A", "B"))


@cached
def chosen():
    """The items of the pool that got a label: 150 on which the models disagree, 100 others."""
    rng = generator(46)
    apart = pool()[1]["A"] != pool()[1]["B"]
    picked = [
        rng.choice(np.flatnonzero(rows), n, replace=False)
        for rows, n in ((apart, 150), (~apart, 100))
    ]
    return np.concatenate(picked)


@cached
def counted():
    """Two models in a table of counts: truth, predictions, how often."""
    truth = ["spam"] * 4 + ["ham"] * 4
    new, old = ["spam", "spam", "ham", "ham"] * 2, ["spam", "ham"] * 4
    return op.Outcomes.from_counts(
        truth, {"new": new, "old": old}, [170, 25, 4, 11, 20, 60, 15, 1895]
    )


# --- runs, folds, tasks, slices -------------------------------------------------------------------


@cached
def runs():
    rng = generator(50)
    truth = rng.integers(0, 2, 600)
    train = lambda share: np.where(rng.random(600) < share, truth, 1 - truth)  # noqa: E731
    a = [train(share) for share in (0.84, 0.81, 0.87, 0.82, 0.86)]
    b = [train(share) for share in (0.80, 0.82, 0.77, 0.83)]
    return truth, a, b


@cached
def fold_scores():
    rng = generator(51)
    a, b = {}, {}
    for name in ("mail", "news", "chat", "tickets", "reviews", "forum"):
        level = rng.uniform(0.7, 0.9)
        a[name] = list(np.round(level + 0.015 + rng.normal(0, 0.01, 5), 3))
        b[name] = list(np.round(level + rng.normal(0, 0.01, 5), 3))
    return a, b


FOLDS_A = [[412, 61, 88], [405, 66, 95], [409, 58, 91], [403, 70, 97], [414, 63, 86], [401, 64, 99]]
FOLDS_B = [[431, 55, 69], [428, 60, 72], [433, 57, 67], [424, 62, 76], [430, 58, 70], [427, 61, 73]]


@cached
def features():
    rng = generator(52)
    truth = (rng.random(300) < 0.4).astype(int)
    return rng.normal(size=(300, 3)) + 1.2 * truth[:, None], truth


@cached
def tasks():
    """Five tasks of right and wrong, on which two models lead by more or less."""
    rng = generator(53)
    shares = {
        "arc": (0.75, 0.70, 0.69),
        "gsm": (0.55, 0.45, 0.44),
        "hella": (0.81, 0.80, 0.79),
        "mmlu": (0.66, 0.62, 0.62),
        "squad": (0.74, 0.75, 0.73),
    }
    return {
        task: op.Outcomes.from_correct(dict(zip(MODELS, is_right(rng, 400 + 100 * k, three))))
        for k, (task, three) in enumerate(shares.items())
    }


@cached
def sliced():
    """Two classes in 3 countries and 4 channels; A fails in one of the twelve."""
    rng = generator(54)
    n = 2_400
    truth = rng.integers(0, 2, n)
    country, channel = (
        np.array(["de", "fr", "pl"])[np.arange(n) % 3],
        np.array(list("mwpa"))[np.arange(n) // 3 % 4],
    )
    said = answers(rng, truth, [0, 1], (0.92, 0.90, 0.9))
    fails = (country == "pl") & (channel == "m") & (rng.random(n) < 0.3)
    said["A"] = np.where(fails, 1 - truth, said["A"])
    return truth, said, {"country": country, "channel": channel}
