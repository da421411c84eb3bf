"""Real processes that update a folder of counts and are killed while they do.

``python updaters.py FOLDER SOURCE calls NUMBER [halves]``: prints how many calls of the system an
update makes, and lets NUMBER updates be killed, each before another one of these calls, in a folder
of that number. With ``halves``, parts are written to their names in two halves.

``python updaters.py FOLDER SOURCE moments NUMBER SEED``: an update of a folder is killed at random
moments so many times, and the next one goes on where it was; a copy of each state stays in a folder
of its number.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time

import duckdb  # noqa: F401 - loaded once, before the processes part

import outperform as op
from outperform import _files
from outperform.io.request import Request
from outperform.io.store import update

CALLS = ("mkdir", "open", "fsync", "link", "unlink", "close", "replace")
ASKED = Request(truth="label", models=["old", "new"])


def fork(folder, source, before=lambda: None):
    pid = os.fork()
    if not pid:
        try:
            before()
            update(folder, [source], ASKED, version=op.__version__)
        finally:
            os._exit(0)
    return pid


def killed_before(number):
    made = iter(range(1, number))
    for name in CALLS:
        setattr(os, name, counted(getattr(os, name), made))


def counted(call, made):
    def counting(*arguments, **options):
        if next(made, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **options)

    return counting


def lives(folder, source, number):
    pid = fork(folder, source, lambda: killed_before(number))
    return not os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def write_in_halves(path, data):
    """Write to the name itself: the mistake that an update killed must bring to light."""
    with open(path, "xb") as stream:
        stream.write(data[: len(data) // 2])
        stream.flush()
        os.fsync(stream.fileno())
        stream.write(data[len(data) // 2 :])
    return True


def kill_at_calls(folder, source, number):
    os.makedirs(folder)
    made = calls_of(folder, source)
    points = sorted({1 + (made - 1) * k // (number - 1) for k in range(number)})
    assert not any(lives(f"{folder}/{point}", source, point) for point in points)
    print(made, len(points))


def calls_of(folder, source):
    """Return how many calls of the system a whole update makes, in a process of its own."""
    path = f"{folder}/calls"
    pid = os.fork()
    if not pid:
        made = iter(range(10**6))
        for name in CALLS:
            setattr(os, name, counted(getattr(os, name), made))
        try:
            update(f"{folder}/all", [source], ASKED, version=op.__version__)
            number = next(made)
            with open(path, "w", encoding="ascii") as stream:
                stream.write(str(number))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    with open(path, encoding="ascii") as stream:
        return int(stream.read())


def kill_at_moments(folder, source, number, seed):
    chance = random.Random(seed)
    killed = 0
    while killed < number:
        place = f"{folder}/live"
        pid = fork(place, source)
        time.sleep(chance.uniform(0, 0.25))
        os.kill(pid, signal.SIGKILL)
        died = os.WIFSIGNALED(os.waitpid(pid, 0)[1])
        if not died:  # it was done, so the next begins anew
            shutil.rmtree(place)
            continue
        killed += 1
        if os.path.isdir(place):
            shutil.copytree(place, f"{folder}/{killed}")
    print(killed)


if __name__ == "__main__":
    where, data, kind, *numbers = sys.argv[1:]
    if numbers[-1] == "halves":
        _files.create_atomically = write_in_halves
        numbers.pop()
    {"calls": kill_at_calls, "moments": kill_at_moments}[kind](where, data, *map(int, numbers))
