"""Lines of logs are parsed once, strictly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outperform as op
from outperform.errors import DataError
from outperform.io import json_lines
from outperform.io.formats import Dialect
from outperform.io.paths import find_files

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
LINE = {"doc_id": 0, "filter": "none", "metrics": ["acc"], "doc_hash": "q", "acc": 1.0}


def _read(path):
    (file,) = find_files(str(path), Dialect(format="jsonl"), folder=str(path.parent))
    return [
        {name: json_lines.whole(value) for name, value in zip(keys, values, strict=True)}
        for keys, values in json_lines.keys_and_values(file)
    ]


@given(records=st.lists(st.dictionaries(st.text(), VALUES, max_size=4), min_size=1, max_size=5))
def test_a_line_is_what_json_says(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_text("\n \n".join(json.dumps(one) for one in records), encoding="utf-8")
    assert _read(path) == records


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a": 1, "a": 2}', "occurs twice"),
        ('{"b": {"a": 1, "a": 2}}', "occurs twice"),
        ('{"a": 1} {"a": 2}', "line 2 is not JSON"),
        ('{"a": 1', "line 2 is not JSON"),
        ('[["a", 1]]', "must be an object"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, reason):
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(DataError, match=reason):
        _read(path)


def test_lines_of_logs_are_parsed_once(tmp_path, monkeypatch):
    for model in ("a", "b"):
        folder = tmp_path / "logs" / "run" / model
        folder.mkdir(parents=True)
        for task in ("x", "y"):
            lines = [json.dumps({**LINE, "doc_id": k, "doc": {"k": k}}) for k in range(30)]
            path = folder / f"samples_{task}_2026-09-01T00-00-00.000000.jsonl"
            path.write_text("\n".join(lines), encoding="utf-8")
    times = []
    scan = json_lines._scan_pairs
    monkeypatch.setattr(json_lines, "_scan_pairs", lambda *args: times.append(1) or scan(*args))
    monkeypatch.setattr(json_lines, "_object", None)
    assert op.read(tmp_path / "logs", by="k").n == 60
    assert len(times) == 120
