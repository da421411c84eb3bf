"""Damaged evaluation logs of every format: refused by the name of the file, or read to the same."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

import outperform as op
from outperform.data.views import count_of
from outperform.errors import OutperformError

LOGS = Path(__file__).parent / "evaluations"
VARIANTS = 100
FEW = 6  # of a format that is read by DuckDB, which takes its time


class Source(NamedTuple):
    """Logs of one format: where they are, how they are asked, and which scores nothing checks."""

    path: str
    options: dict
    unchecked: str = "$^"  # a digit of a score that stands alone can turn into another one


SOURCES = {
    "lm-eval": Source("lm_eval/two", {"score": "acc", "where": {"task": "tiny_mc"}}, r'"acc": \S+'),
    "inspect": Source("inspect/chat/json", {"score": "match"}),
    "promptfoo": Source("promptfoo/prompts", {}),
    "openai-evals": Source("openai_evals/few", {}),
    "pydantic-evals": Source("pydantic_evals/again", {}),
    "deepeval": Source("deepeval/few", {}),
    "helm": Source("helm/again", {"score": "exact_match"}),
}


@pytest.fixture(params=SOURCES)
def logs(request, tmp_path):
    """Return logs that may be damaged, unpacked, and how to read them."""
    source = SOURCES[request.param]
    shutil.copytree(LOGS / source.path, tmp_path / "logs")
    if request.param == "lm-eval":
        for path in (tmp_path / "logs").rglob("samples_tiny_gen_*"):
            path.unlink()
    for path in (tmp_path / "logs").rglob("*.gz"):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    return request.param, tmp_path / "logs"


def seen_in(kind, folder):
    seen = op.read(folder, format=kind, **SOURCES[kind].options)
    return seen.n, sorted(count_of(seen, model, "tp", positive=1) for model in seen.models)


# Ways to damage bytes, the last ones by way of what they say


def cut(data, chance):
    return data[: chance.randrange(1, len(data) - 2)]


def turn(data, chance, unchecked):
    spared = {k for one in re.finditer(unchecked, data.decode()) for k in range(*one.span())}
    place = chance.choice([k for k in range(len(data)) if k not in spared])
    turned = bytes([data[place] ^ (1 << chance.randrange(8))])
    return data[:place] + turned + data[place + 1 :]


def places(found, of):
    """Return every container with the keys or indices under which it holds something fitting."""
    todo, known = [found], []
    while todo:
        one = todo.pop()
        pairs = list(one.items() if isinstance(one, dict) else enumerate(one))
        known += [(one, key) for key, value in pairs if of(one, value)]
        todo += [value for _, value in pairs if isinstance(value, (dict, list))]
    return known


def drop(found, chance):
    one, key = chance.choice(places(found, lambda inside, _: isinstance(inside, dict)))
    del one[key]


def retype(found, chance):
    one, key = chance.choice(places(found, lambda *_: True))
    others = [None, "text", 7, 0.5, True, [], {}, ["x"]]
    one[key] = chance.choice([value for value in others if type(value) is not type(one[key])])


def unnumber(found, chance):
    def is_number(_, value):
        return isinstance(value, (int, float)) and not isinstance(value, bool)

    known = places(found, is_number)
    if not known:  # a line without numbers
        return
    one, key = chance.choice(known)
    one[key] = float("nan")


def double(found, chance):
    rows = [
        (inside, key)
        for inside, key in places(found, lambda inside, value: isinstance(value, dict))
        if isinstance(inside, list)
    ]
    one, key = chance.choice(rows)
    one.insert(key, one[key])


def lose(found, chance):
    rows = [
        (inside, key)
        for inside, key in places(found, lambda inside, value: isinstance(value, dict))
        if isinstance(inside, list)
    ]
    one, key = chance.choice(rows)
    del one[key]


def rewrite(path, change, chance):
    """Change what a file says: a document, or the lines of one."""
    if path.suffix == ".jsonl":
        found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        change(found, chance)
        path.write_text("".join(json.dumps(line) + "\n" for line in found), "utf-8")
    else:
        found = json.loads(path.read_text("utf-8"))
        change(found, chance)
        path.write_text(json.dumps(found), "utf-8")


def damage(kind, path, chance):
    way = chance.choice([cut, turn, turn, drop, drop, retype, retype, unnumber, double, lose, None])
    if way is cut:
        path.write_bytes(cut(path.read_bytes(), chance))
    elif way is turn:
        path.write_bytes(turn(path.read_bytes(), chance, SOURCES[kind].unchecked))
    elif way is None:
        other = chance.choice([one for one in SOURCES if one != kind])
        files = sorted(one for one in (LOGS / SOURCES[other].path).rglob("*.*") if one.is_file())
        data = chance.choice(files).read_bytes()
        packed = data.startswith(b"\x1f\x8b")
        path.write_bytes(chance.choice([b"", gzip.decompress(data) if packed else data]))
    else:
        rewrite(path, way, chance)
    return getattr(way, "__name__", "other")


def told(kind, folder):
    """Return what is read, or why it is refused."""
    try:
        return seen_in(kind, folder)
    except OutperformError as error:
        return str(error)


def refusals(kind, folder, chance, number):
    """Damage one file after the other, and return what was said of it."""
    files = sorted(one for one in folder.rglob("*.*") if one.is_file())
    expected = seen_in(kind, folder)
    found = []
    for _ in range(number):
        path = chance.choice(files)
        data = path.read_bytes()
        way = damage(kind, path, chance)
        said = told(kind, folder)
        path.write_bytes(data)
        if said != expected:
            # A run of HELM is a folder.
            name = path.parent.name if kind == "helm" else path.name
            found.append((name, way, said))
    assert seen_in(kind, folder) == expected
    return found


def check(refused):
    for name, way, said in refused:
        assert isinstance(said, str), (name, way, said)
        # A row that is gone has no place: then the model that lacks an item is named.
        assert name in said or " lacks " in said, (way, said)


def test_damage_is_refused_by_name_or_changes_nothing(logs):
    kind, folder = logs
    number = FEW if kind == "lm-eval" else VARIANTS
    refused = refusals(kind, folder, random.Random(kind), number)
    assert len(refused) > number / 4
    check(refused)


@pytest.mark.slow
def test_more_damage_is_refused_by_name_or_changes_nothing(logs):
    kind, folder = logs
    number = VARIANTS if kind == "lm-eval" else 10 * VARIANTS
    check(refusals(kind, folder, random.Random(f"more {kind}"), number))
