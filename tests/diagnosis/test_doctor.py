"""A diagnosis: what it believes and why, and that the first command it proposes runs."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import outperform as op
from outperform.cli.app import OPTIONS as TYPED
from outperform.cli.main import main
from outperform.diagnosis.calls import OPTIONS, Call, quoted
from outperform.errors import DataError, UsageError
from tests.diagnosis.files import collected, written

# Nothing can be asked: all evaluations failed, or the metric is a function.
NOTHING = {"logs/inspect/stopped", "monitors/statistics"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return collected() | written(tmp_path_factory.mktemp("files"))


def run(command):
    """Run a command as typed in a shell, and return its exit code."""
    words = shlex.split(command)
    if words[0] == "python":
        done = subprocess.run([sys.executable, *words[1:]], check=False, capture_output=True)
        return done.returncode
    assert words[0] == "outperform"
    return main(words[1:])


def test_first_commands_run(files, capsys):
    assert len(files) >= 50
    failed = {}
    for name, paths in files.items():
        diagnosis = op.doctor(*paths)
        if name in NOTHING:
            assert not diagnosis.suggestions
            assert diagnosis.notes
            continue
        first = diagnosis.suggestions[0]
        code = run(first.command)
        may_be_undecided = first.command.startswith("outperform watch")
        if code not in (0, 1) and not (may_be_undecided and code == 4):
            failed[name] = (first.command, code, capsys.readouterr().err[-300:])
        capsys.readouterr()
    assert not failed


def test_options_are_those_of_the_command_line():
    assert all(TYPED[name] == option for name, option in OPTIONS.items())


def table(folder, text, name="preds.csv"):
    path = folder / name
    path.write_text(text, "utf-8")
    return op.doctor(path)


def roles(diagnosis):
    return {column.name: column.role for column in diagnosis.columns}


def test_columns_have_roles_and_reasons(tmp_path):
    rows = (f"d{k},u{k // 3},{'ab'[k % 2]},{'ab'[k % 5 % 2]},{int(k % 2 == k % 5 % 2)},x{k % 3}"
            for k in range(60))  # fmt: skip
    diagnosis = table(tmp_path, "id,user_id,label,bert,bert_ok,country\n" + "\n".join(rows) + "\n")
    assert roles(diagnosis) == {
        "id": "id", "user_id": "group", "label": "truth", "bert": "prediction",
        "bert_ok": "right or wrong", "country": "slice",
    }  # fmt: skip
    assert all(column.why for column in diagnosis.columns)
    first = diagnosis.suggestions[0]
    assert "--groups user_id" in first.command
    assert "remove --groups" in first.why


def test_an_ambiguous_truth_comes_with_alternatives(tmp_path):
    rows = "\n".join(f"{'ab'[k % 2]},{'ab'[k % 3 % 2]}" for k in range(40))
    diagnosis = table(tmp_path, f"u,v\n{rows}\n")
    truths = [one.command.split("--truth ")[1].split()[0] for one in diagnosis.suggestions]
    assert truths == ["u", "v"]
    assert "check this" in diagnosis.suggestions[0].why


def test_rows_beyond_the_first_are_not_read(tmp_path):
    rows = "".join(f"{k},{k % 2},{k % 2}\n" for k in range(12_000))
    diagnosis = table(tmp_path, f"id,label,bert\n{rows}")
    assert (diagnosis.n_rows, diagnosis.n_seen) == (12_000, 10_000)
    assert "first 10,000 were read" in str(diagnosis)


def test_large_files_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr("outperform.diagnosis.samples.MOST_BYTES", 1_000)
    rows = "".join(f"{k},{k % 2},{k % 2}\n" for k in range(2_000))
    diagnosis = table(tmp_path, f"id,label,bert\n{rows}")
    assert diagnosis.n_rows is None
    assert 0 < diagnosis.n_seen < 200
    assert "only the first" in str(diagnosis)


def test_repeated_ids_and_missing_values_are_shown(tmp_path):
    rows = "".join(f"{k // 2},{k % 2},{'' if k == 3 else k % 2}\n" for k in range(30))
    diagnosis = table(tmp_path, f"id,label,bert\n{rows}")
    assert diagnosis.n_repeated_ids == 15
    assert {column.name: column.n_missing for column in diagnosis.columns}["bert"] == 1
    assert "--on-null drop" in diagnosis.suggestions[0].command


def test_what_is_not_a_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no file"):
        op.doctor(tmp_path / "absent.csv")
    with pytest.raises(UsageError, match="pass the path"):
        op.doctor()
    with pytest.raises(UsageError, match="path of a file"):
        op.doctor([1, 2])
    with pytest.raises(UsageError, match="not a file on this machine"):
        op.doctor("s3://bucket/preds.csv")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a regular file"):
        op.doctor(tmp_path / "pipe")
    (tmp_path / "picture.csv").write_bytes(b"PNG\0\1\2" * 50)
    with pytest.raises(DataError, match="not a table"):
        op.doctor(tmp_path / "picture.csv")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(DataError, match="empty"):
        op.doctor(tmp_path / "empty.csv")


def test_a_result_is_not_data():
    path = Path(__file__).parents[1] / "corpus" / "7e908e4" / "results" / "comparison.json"
    with pytest.raises(DataError, match="contains no data"):
        op.doctor(path)


@pytest.mark.skipif(sys.platform == "win32", reason="quoted for a POSIX shell")
@pytest.mark.parametrize("word", ["preds.csv", "my preds.csv", "a'b$HOME`x`", "a\nb\x1b[1m", "é!"])
def test_words_survive_a_shell(word):
    shown = subprocess.run(["bash", "-c", f"printf %s {quoted(word)}"], capture_output=True,
                           check=True)  # fmt: skip
    assert shown.stdout.decode() == word
    assert quoted(word).isprintable()


def test_calls_are_spelled_in_three_ways():
    call = Call(
        verb="compare", sources=("-p.csv",), models=("a b", "-c"), reading={"truth": "y"},
        question={"rope": 0.01}, are_columns=True,
    )  # fmt: skip
    assert call.command == "outperform compare ./-p.csv --a 'a b' --b=-c --truth y --rope 0.01"
    assert call.python == (
        "op.compare(op.read('-p.csv', models=['a b', '-c'], truth='y'), 'a b', '-c', rope=0.01)"
    )
    assert call.arguments == {
        "source": "-p.csv", "a": "a b", "b": "-c", "truth": "y", "rope": 0.01,
    }  # fmt: skip
