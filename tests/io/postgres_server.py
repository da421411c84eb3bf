"""A throw-away PostgreSQL server, and a wire to it that counts bytes and can be interrupted."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

CANARY = "canary%40s3cret"
SECRET = "canary@s3cret"
MARK = ">>> "  # begins every entry of the log


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server: its address, with the password in it, and its folders."""

    address: str
    programs: str
    folder: str

    def connect(self):
        import psycopg

        return psycopg.connect(self.address, autocommit=True)

    def ask(self, statement, parameters=None):
        """Return all rows of a statement, on a connection of its own."""
        with self.connect() as connection:
            return connection.execute(statement, parameters).fetchall()

    def dump(self):
        """Return everything in the database, large objects and sequences too."""
        command = (f"{self.programs}/pg_dump", "--dbname", self.address, "--blobs")
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
        # Newer versions bracket a dump with a key that is drawn each time.
        lines = done.stdout.splitlines()
        return [line for line in lines if not line.startswith(("\\restrict", "\\unrestrict"))]

    def log(self):
        """Return the entries of the server's log."""
        return (Path(self.folder) / "log").read_text(encoding="utf-8").split(MARK)

    def crashes(self):
        """Return how many backends the server has seen killed."""
        return sum("was terminated by signal 9" in entry for entry in self.log())

    def wait(self):
        """Return once the server answers again."""
        import psycopg

        for _ in range(300):
            with suppress(psycopg.OperationalError):
                self.ask("SELECT 1")
                return
            time.sleep(0.1)
        raise TimeoutError("the server did not come back")


def _programs() -> str | None:
    found = shutil.which("initdb")
    folders = [str(Path(found).resolve().parent)] if found else []
    return next(iter([*folders, *sorted(glob.glob("/usr/lib/postgresql/*/bin"))[::-1]]), None)


def _run(folder, *command):
    # PostgreSQL refuses to run as root.
    user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    subprocess.run(command, check=True, capture_output=True, cwd=folder, timeout=60, **user)


def free_port():
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def started() -> Iterator[Server]:
    """Start a server that logs every statement and its plan, or skip the test."""
    pytest.importorskip("ibis")
    pytest.importorskip("psycopg")
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="op-pg-") as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        secret = Path(folder) / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o644)
        data = f"{folder}/data"
        _run(
            folder, f"{programs}/initdb", "-D", data, "-U", "tester", "-A", "scram-sha-256",
            "--pwfile", str(secret), "-N", "-E", "UTF8", "--locale", "C",
        )  # fmt: skip
        settings = {
            "listen_addresses": "127.0.0.1",
            "fsync": "off",
            "max_wal_size": "8GB",
            "shared_preload_libraries": "pg_stat_statements,auto_explain",
            "log_statement": "all",
            "log_line_prefix": f"'{MARK}'",
            "auto_explain.log_min_duration": "0",
            "auto_explain.log_analyze": "on",
        }
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        control = (f"{programs}/pg_ctl", "-D", data, "-w", "-l", f"{folder}/log")
        _run(folder, *control, "-o", f"-p {port} -k {folder} {options}", "start")
        try:
            address = f"postgresql://tester:{CANARY}@127.0.0.1:{port}/postgres"
            yield Server(address=address, programs=programs, folder=folder)
        finally:
            _run(folder, *control, "-m", "immediate", "stop")


class Wire:
    """A port that hands everything on to a server and counts what comes back.

    Once ``limit`` bytes came back, or once ``word`` is sent, ``action`` is called, while nothing
    moves and one time only. It may return ``"cut"``.
    """

    def __init__(self, server, *, limit=float("inf"), word=None, action=None):
        port = server.address.rpartition(":")[2].partition("/")[0]
        self._target, self._limit, self._word, self._action = int(port), limit, word, action
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.bytes = 0
        own = self._listener.getsockname()[1]
        self.address = server.address.replace(f":{port}/", f":{own}/")

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error):
        self._listener.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                for one, other, back in ((near, far, False), (far, near, True)):
                    hand = threading.Thread(target=self._hand, args=(one, other, back), daemon=True)
                    hand.start()

    def _hand(self, source, target, back):
        with suppress(OSError):
            while data := source.recv(65536):
                self.bytes += len(data) if back else 0
                if self._is_time(data, back) and self._action() == "cut":
                    break
                target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _is_time(self, data, back):
        said = not back and self._word is not None and self._word in data
        if not said and self.bytes <= self._limit:
            return False
        self._word, self._limit = None, float("inf")
        return True
