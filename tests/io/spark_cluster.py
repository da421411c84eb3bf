"""A cluster of Spark on this machine: a master, and workers that can be killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.io.postgres_server import free_port

HOME = "127.0.0.1"
# Two workers of one core each, and memory that leaves room for others.
SETTINGS = {
    "spark.driver.host": HOME,
    "spark.driver.bindAddress": HOME,
    "spark.driver.memory": "1g",
    "spark.executor.cores": "1",
    "spark.executor.memory": "700m",
    "spark.cores.max": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.files.maxPartitionBytes": "2m",
    "spark.sql.adaptive.enabled": "false",
}


class Cluster:
    """A master and its workers, as processes."""

    def __init__(self, folder: Path):
        import pyspark

        self._folder = folder
        self._program = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
        self._port, self._page = free_port(), free_port()
        self.workers = []
        self.address = f"spark://{HOME}:{self._port}"
        deploy = "org.apache.spark.deploy"
        self._worker = f"{deploy}.worker.Worker"
        place = ("--host", HOME, "--port", str(self._port), "--webui-port", str(self._page))
        self._master = self._start(f"{deploy}.master.Master", *place)

    def _start(self, *command):
        environment = {**os.environ, "SPARK_LOCAL_IP": HOME, "SPARK_DAEMON_MEMORY": "256m"}
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                (self._program, *command), stdout=log, stderr=log, env=environment,
                cwd=self._folder,
            )  # fmt: skip

    def add_worker(self):
        """Start one worker more, and return once the master knows it."""
        folder = tempfile.mkdtemp(dir=self._folder)
        alive = self._alive()
        self.workers.append(
            self._start(
                self._worker, "--host", HOME, "--cores", "1", "--memory", "1g",
                "--webui-port", "0", "--work-dir", folder, self.address,
            )
        )  # fmt: skip
        self._wait(lambda: self._alive() > alive)

    def _alive(self):
        def ask():
            with urllib.request.urlopen(f"http://{HOME}:{self._page}/json/", timeout=5) as page:
                return json.load(page)["aliveworkers"]

        found = []
        self._wait(lambda: found.append(ask()) or True)
        return found[0]

    def _wait(self, condition):
        for _ in range(600):
            with suppress(OSError, ValueError):
                if condition():
                    return
            time.sleep(0.1)
        raise TimeoutError((self._folder / "log").read_text()[-2000:])

    def executors(self):
        """Return the processes that run tasks."""
        return [pid for worker in self.workers for pid in children(worker.pid)]

    def kill_worker(self):
        """Kill one worker and what it runs, with no chance to say goodbye."""
        worker = self.workers.pop()
        for pid in (worker.pid, *children(worker.pid)):
            kill(pid)
        worker.wait()

    def stop(self):
        """End every process of the cluster."""
        while self.workers:
            self.kill_worker()
        self._master.kill()
        self._master.wait()


def children(pid):
    """Return the processes that a process started."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    found = [
        int(child)
        for task in path.parent.parent.glob("*/children")
        for child in task.read_text().split()
    ]
    return [one for child in found for one in (child, *children(child))]


def kill(pid):
    """Kill a process with -9, unless it is gone already."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@contextmanager
def started() -> Iterator[Cluster]:
    """Start a master and two workers, or skip the test."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    if not Path("/proc/self/task").exists():
        pytest.skip("the processes of workers are found in /proc")
    with tempfile.TemporaryDirectory(prefix="op-spark-") as folder:
        cluster = Cluster(Path(folder))
        try:
            cluster.add_worker()
            cluster.add_worker()
            yield cluster
        finally:
            cluster.stop()


@contextmanager
def session(cluster: Cluster, **more: str) -> Iterator:
    """Open a session on the cluster; a process can have one session only."""
    from pyspark.sql import SparkSession

    if (other := SparkSession.getActiveSession()) is not None:
        other.stop()
    builder = SparkSession.builder.master(cluster.address)
    for name, value in {**SETTINGS, **more}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    try:
        yield found
    finally:
        found.stop()
