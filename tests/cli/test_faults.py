"""Faults around the command: closed pipes, Ctrl-C, no place to write, odd surroundings."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from outperform import __version__
from outperform.cli import app
from outperform.cli.main import COMMANDS, main

COMPARE = ["compare", "preds.csv", "--truth", "label", "--a", "bert", "--b", "gpt"]
COMPARE += ["--metric", "accuracy", "--seed", "1", "--rope", "0.02"]
POWER = ["power", "--theta-pos", ".3,.3,.2,.2", "--theta-neg", ".2,.2,.3,.3"]
LONG = [*POWER, "--sizes", "5000,10000,20000", "--simulations", "1000000"]
PROGRAM = [sys.executable, "-m", "outperform"]


def unhurried(stderr):
    """Return what was said, without how long it takes on a busy machine."""
    return re.sub(rb"outperform: \w+( takes about|: ).* s\b.*\n", b"", stderr)


def run(*arguments, **more):
    options = {"capture_output": True, "text": True, "check": False, "timeout": 120} | more
    return subprocess.run([*PROGRAM, *arguments], **options)


def as_program(capfd, *arguments):
    """Run the command as a program; return its exit code, stdout and stderr."""
    done = run(*arguments)
    return done.returncode, done.stdout, done.stderr


def here(capfd, *arguments):
    """Run the command in this process, which takes a tenth of the time."""
    code = main(arguments)
    return code, *capfd.readouterr()


WAYS = {"program": as_program, "here": here}


def environment(**changes):
    """Return the surroundings with some variables changed, or taken away if None."""
    changed = os.environ | {name: value for name, value in changes.items() if value is not None}
    return {name: value for name, value in changed.items() if changes.get(name, "") is not None}


# Whoever reads stops reading


@pytest.mark.parametrize("arguments", [COMPARE, ["example", "news20"], ["--help"]])
def test_a_closed_pipe(folder, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*arguments, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_only_the_head_is_read(folder):
    command = " ".join([*PROGRAM, "example", "news20"])
    script = f"{command} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("id,label,")
    # 0 if the pipe took everything before its reader went.
    assert (done.returncode in (0, 141), done.stderr) == (True, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout(folder):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run(*COMPARE, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 5
    assert re.fullmatch(r"outperform: .*No space left.*\n", done.stderr)


# Interrupted


def hear_ctrl_c():
    """Undo what a shell does to programs in the background, which then ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# What Python does before the command begins, which may take long, is not the command's.
BEGUN = "import sys; from outperform.cli.main import entry; print(flush=True); entry()"


def interrupt(process, *, after):
    assert process.stdout.readline() == "\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    try:
        written, said = process.communicate(timeout=20)
    finally:
        process.kill()
    return process.returncode, written, said


@pytest.mark.parametrize("after", [0.1, 0.4, 3.0])
def test_ctrl_c(folder, after):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", BEGUN, *LONG, "-o", "power.txt"]
    with subprocess.Popen(command, **options, preexec_fn=hear_ctrl_c) as process:
        code, written, said = interrupt(process, after=after)
    assert (code, written) == (130, "")
    assert said in ("", "outperform: interrupted\n")
    assert not Path("power.txt").exists()


# Nowhere to write


def unwritable(folder):
    """Return a folder in which nothing can be made, also by those who may do anything."""
    if os.geteuid() == 0:
        return Path("/sys")
    place = folder / "locked"
    place.mkdir(mode=0o500)
    return place


@pytest.mark.parametrize(
    ("how", "arguments"),
    [
        ("program", COMPARE),
        ("here", COMPARE),
        ("here", ["report", *COMPARE[1:]]),
        ("here", ["example", "news20"]),
        ("here", [*POWER, "--simulations", "100"]),
    ],
)
def test_an_unwritable_folder(folder, capfd, how, arguments):
    place = unwritable(folder)
    if not place.exists():
        pytest.skip("every folder can be written to")
    code, written, said = WAYS[how](capfd, *arguments, "-o", str(place / "answer"))
    assert (code, written) == (5, "")
    assert re.fullmatch(rf"outperform: cannot write '{place}/answer': .*\n", said)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(folder):
    pytest.importorskip("resource")
    code = (
        "import resource, signal, sys\n"
        "from outperform.cli.main import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    Path("preds2.csv").write_text("old", encoding="utf-8")
    before = sorted(os.listdir())
    arguments = ["example", "news20", "-o", "preds2.csv", "--force"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 5
    assert re.fullmatch(r"outperform: cannot write 'preds2.csv': .*\n", done.stderr)
    assert Path("preds2.csv").read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("how", "arguments"),
    [
        ("program", ["example", "news20"]),
        ("here", ["example", "news20"]),
        ("here", ["report", *COMPARE[1:]]),
    ],
)
def test_what_is_there_is_kept_without_force(folder, capfd, how, arguments):
    Path("kept").write_text("old", encoding="utf-8")
    code, _, said = WAYS[how](capfd, *arguments, "-o", "kept")
    assert code == 2
    assert re.fullmatch(r"outperform: .*kept.*--force.*\n", said)
    assert Path("kept").read_text(encoding="utf-8") == "old"
    assert WAYS[how](capfd, *arguments, "-o", "kept", "--force")[0] == 0
    assert Path("kept").stat().st_size > 1000


# Odd surroundings

PLACES = {
    "no HOME": {"HOME": None, "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None},
    "HOME that is not there": {"HOME": "/nonexistent/home"},
    "LC_ALL=C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "LC_ALL=POSIX": {"LC_ALL": "POSIX"},
    "LC_ALL=tr_TR": {"LC_ALL": "tr_TR.UTF-8"},
    "ASCII": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "no terminal": {"TERM": "dumb"},
    "warnings are errors": {"PYTHONWARNINGS": "error", "PYTHONWARNDEFAULTENCODING": "1"},
    "optimised": {"PYTHONOPTIMIZE": "2"},
    "another clock": {"TZ": "Pacific/Kiritimati"},
}


# Three commands in one process, so that Python and its libraries begin once.
THREE = """
import sys
from outperform import __version__
from outperform.cli import app
from outperform.cli.main import COMMANDS, main
asked = sys.argv[1:]
for more in (["-f", "json", "-o", "odd.json"], [], ["--help"]):
    sys.stdout.flush()
    begun = sys.stdout.buffer.write(b"begun\\n")
    code = main([*asked, *more])
    if code:
        sys.exit(code)
"""


@pytest.mark.parametrize("place", PLACES)
def test_the_answer_is_the_same_everywhere(folder, place):
    assert main([*COMPARE, "-f", "json", "-o", "plain.json"]) == 0
    odd = environment(**PLACES[place])
    done = subprocess.run(
        [sys.executable, "-c", THREE, *COMPARE],
        env=odd, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, unhurried(done.stderr)) == (0, b"")
    nothing, file, shown, help_text = done.stdout.split(b"begun\n")
    assert (nothing, file) == (b"", b"")
    assert shown
    assert b"--metric" in help_text
    assert Path("odd.json").read_bytes() == Path("plain.json").read_bytes()


def test_a_message_can_be_said_in_ascii(folder):
    odd = environment(PYTHONIOENCODING="ascii")
    done = run("compare", "preds.csv", "--truth", "größe", "--a", "x", "--b", "y", env=odd)
    assert done.returncode == 2
    assert done.stderr.startswith("outperform: no column 'gr\\xf6")


# Parts that are not installed

WITHOUT = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
from outperform.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("hidden", "arguments", "words"),
    [
        ("typer", COMPARE, ['pip install "outperform[cli]"']),
        ("duckdb", COMPARE, ["duckdb", 'pip install "outperform[cli]"']),
    ],
)
def test_what_is_not_installed_is_named_in_one_line(folder, hidden, arguments, words):
    code = WITHOUT.format(hidden={hidden})
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert re.fullmatch(r"outperform: .*\n", done.stderr), done.stderr
    assert all(word in done.stderr for word in words)
    assert not Path("report.html").exists()


def test_rich_is_not_needed_for_an_answer(folder):
    code = WITHOUT.format(hidden={"rich"})
    done = subprocess.run(
        [sys.executable, "-c", code, *COMPARE], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 5)
    assert "Traceback" not in done.stderr


# Installed without the command line


def without_typer(folder, *arguments):
    """Run the command where typer cannot be found."""
    code = (
        "import sys; sys.modules['typer'] = None; sys.argv[0] = 'outperform'; "
        "from outperform.__main__ import entry; entry()"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], [], ["gate", "--help"]])
def test_help_without_typer_names_the_commands(tmp_path, arguments):
    done = without_typer(tmp_path, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")] == [
        *COMMANDS
    ]
    assert done.stdout.endswith('install the command line: pip install "outperform[cli]"\n')


def test_the_version_without_typer(tmp_path):
    done = without_typer(tmp_path, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"outperform {__version__}\n", "")


def test_a_gate_without_typer(tmp_path):
    done = without_typer(tmp_path, "gate", "preds.csv", "--candidate", "new", "--baseline", "old")
    said = (
        "outperform: the command line is not installed; install it with: "
        'pip install "outperform[cli]"\n'
    )
    assert (done.returncode, done.stdout, done.stderr) == (5, "", said)


def test_the_plain_list_of_commands_is_the_real_one():
    real = {name: command.__doc__.partition("\n")[0] for name, command in app.COMMANDS.items()}
    assert real == COMMANDS
    assert [*real] == [*COMMANDS]
