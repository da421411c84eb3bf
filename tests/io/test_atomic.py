"""A file that is written is the old one or the new one, never half of it."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from outperform._files import create_atomically, write_atomically
from outperform.errors import ResourceError, UsageError
from tests.loops import each

WRITER = """
import sys
from outperform._files import write_atomically
print("ready", flush=True)
turn = 0
while True:
    turn += 1
    write_atomically(sys.argv[1], bytes([turn % 251]) * 400_000)
"""


def complete(data):
    return len(data) == 400_000 and len(set(data)) == 1


def kill_at_random_points(path, times):
    """Start a writer again and again, kill it at once or a little later, and look."""
    rng = np.random.default_rng(7)
    write_atomically(path, b"\0" * 400_000)
    for pause in rng.uniform(0, 0.02, size=times):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE
        )
        try:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(pause)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        assert complete(path.read_bytes())


def test_a_killed_writer_leaves_a_complete_file(tmp_path):
    kill_at_random_points(tmp_path / "report.html", 30)


@pytest.mark.slow
def test_a_writer_killed_two_hundred_times_leaves_a_complete_file(tmp_path):
    kill_at_random_points(tmp_path / "report.html", 200)


def test_two_writers_leave_one_of_their_files(tmp_path):
    path = tmp_path / "report.html"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    try:
        for writer in writers:
            writer.stdout.readline()
        for _ in range(50):
            assert not path.exists() or complete(path.read_bytes())
            time.sleep(0.002)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
            writer.stdout.close()
    assert complete(path.read_bytes())


def test_the_new_file_takes_the_place_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "a.json"
    for data in (b"old", b"", b"new"):
        write_atomically(path, data)
        assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["a.json"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_permissions_stay(tmp_path, mode):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomically(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


@each("name", ["folder", "no/such/folder/a", "pipe", "x" * 300, "nul\0"])
def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path, name):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="cannot write"):
        write_atomically(f"{tmp_path}/{name}", b"data")
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    resource = pytest.importorskip("resource")
    code = (
        "import resource, signal, sys\n"
        "from outperform._files import write_atomically\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    write_atomically(sys.argv[1], b'x' * 5000)\n"
        "except MemoryError as error:\n"
        "    print(type(error).__name__)\n"
    )
    assert resource.RLIMIT_FSIZE is not None
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{ResourceError.__name__}\n"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.json"]


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o6644, 0o1600])
def test_no_rights_of_others_pass_to_new_content(tmp_path, mode):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomically(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode & 0o777


# New files, of which each name is given once

RACER = """
import sys
from outperform._files import create_atomically
sys.stdin.read(1)
print(sum(create_atomically(f"{sys.argv[1]}/{k}", sys.argv[2].encode()) for k in range(200)))
"""


def test_of_many_that_want_a_name_one_gets_it(tmp_path):
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two", "three")
    ]
    for racer in racers:  # all of them have started before any begins
        racer.stdin.write("x")
        racer.stdin.flush()
    got = [int(racer.communicate()[0]) for racer in racers]
    assert sum(got) == 200
    texts = [path.read_text() for path in tmp_path.iterdir()]
    assert sorted(texts.count(name) for name in ("one", "two", "three")) == sorted(got)
    assert len(texts) == 200


def test_a_name_that_is_taken_stays_as_it_is(tmp_path):
    path = tmp_path / "a.json"
    assert create_atomically(path, b"first")
    assert not create_atomically(path, b"second")
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    assert not create_atomically(path, b"third")
    assert os.listdir(tmp_path) == ["a.json"]


@each("number", ["ENOSYS", "EMLINK", "EINVAL", "EXDEV", "EPERM", "EOPNOTSUPP"])
def test_a_file_system_without_hard_links_is_named_as_the_reason(tmp_path, monkeypatch, number):
    def link(*_):
        code = getattr(errno, number)
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(ResourceError, match=r"does not support hard links .* use a folder on"):
        create_atomically(tmp_path / "a.json", b"data")
    assert os.listdir(tmp_path) == []


def test_a_system_without_hard_links_is_told(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "link")
    with pytest.raises(ResourceError, match="does not support hard links"):
        create_atomically(tmp_path / "a.json", b"data")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["no/such/folder/a", "x" * 300, "nul\0"])
def test_what_cannot_be_created_is_refused_and_leaves_nothing(tmp_path, name):
    with pytest.raises(UsageError, match="cannot write"):
        create_atomically(f"{tmp_path}/{name}", b"data")
    assert os.listdir(tmp_path) == []
