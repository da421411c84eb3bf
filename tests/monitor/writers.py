"""Real processes that add batches to a folder and are killed while they do.

``python writers.py FOLDER bytes NUMBER… [directly]``: for each number, a writer that is killed by
the system when it has written so many bytes of a file, in a folder of that name.

``python writers.py FOLDER calls STEP``: a writer that is killed before its first call of the
system, another STEP calls later, and so on until one lives, each in a folder of that number.

``python writers.py FOLDER WRITERS BATCHES KILLS SEED``: each writer adds its share of the
batches; at random moments one of them is killed and starts its share again from the beginning,
and so does one that is done while there are kills to come. Meanwhile a reader follows.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import outperform as op
from outperform.monitor import batches
from outperform.monitor.batches import History

MODELS = ("new", "old")


def batch(number):
    """Return the outcomes of one batch, which follow from its number."""
    generator = np.random.default_rng(number)
    truth, new, old = generator.integers(0, 3, size=(3, 5 + number % 7))
    return op.Outcomes.from_labels(truth, {"new": new, "old": old}, labels=[0, 1, 2])


def write(folder, share):
    monitor = op.Monitor(folder, *MODELS)
    for number in share:
        monitor.add(batch(number), key=f"batch-{number}")


def start(folder, share):
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        write(folder, share)
        code = 0
    finally:
        os._exit(code)


def run(folder, n_writers, n_batches, n_kills, seed):
    """Let them write and be killed until all batches are there."""
    chance, killed = random.Random(seed), 0
    shares = [range(first, n_batches, n_writers) for first in range(n_writers)]
    alive = {start(folder, share): share for share in shares}
    reader, before = History(folder, MODELS), []
    while alive:
        time.sleep(chance.uniform(0, 0.03))
        if killed < n_kills:
            os.kill(chance.choice(sorted(alive)), signal.SIGKILL)
            killed += 1
        for pid in list(alive):
            done, status = os.waitpid(pid, os.WNOHANG)
            if not done:
                continue
            share = alive.pop(pid)
            if os.WIFSIGNALED(status) or killed < n_kills:
                alive[start(folder, share)] = share
            elif os.WEXITSTATUS(status):
                raise SystemExit("a writer failed")
        reader.refresh()
        keys = [one.key for one in reader.batches]
        assert keys[: len(before)] == before, "what was read before has changed"
        before = keys
    again = History(folder, MODELS)
    again.refresh()
    assert [one.key for one in again.batches] == before
    assert again.total == reader.total
    print(killed)


def write_directly(path, data):
    """Write to the name itself: the mistake that a writer cut off must bring to light."""
    with open(path, "xb") as stream:
        stream.write(data)
    return True


def killed_after(folder, n_bytes):
    """Add a batch that is cut off; return the signal that the writer died of."""
    import resource  # where there is a fork, there is this

    pid = os.fork()
    if not pid:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        try:
            write(folder, [0])
        finally:
            os._exit(0)
    return os.WTERMSIG(os.waitpid(pid, 0)[1])


CALLS = ("mkdir", "open", "fsync", "link", "unlink", "close")


def killed_before(folder, number):
    """Add two batches, and one of them again; return whether a call of this number was made."""
    pid = os.fork()
    if not pid:
        made = iter(range(1, number))
        for name in CALLS:
            setattr(os, name, counted(getattr(os, name), made))
        try:
            write(folder, [0, 1, 0])
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def counted(call, made):
    def counting(*arguments, **options):
        if next(made, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **options)

    return counting


if __name__ == "__main__":
    where, *numbers = sys.argv[1:]
    if numbers[0] == "calls":
        calls = range(1, 1_000, int(numbers[1]))
        print(next(k for k in calls if not killed_before(Path(where, str(k), "x"), k)))
    elif numbers[0] == "bytes":
        if numbers[-1] == "directly":
            batches.create_atomically = write_directly
            numbers.pop()
        print(*(killed_after(Path(where, size), int(size)) for size in numbers[1:]))
    else:
        Path(where).mkdir(exist_ok=True)
        run(Path(where), *map(int, numbers))
