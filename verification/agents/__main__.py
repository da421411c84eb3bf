"""Set up the tasks for coding agents: ``python -m verification.agents FOLDER [TASK ...]``.

Every task gets an empty folder with ``TASK.md``, the words of the user, and the data. The right
answers are not in it: ``python -m verification.agents --answers`` prints them for whoever judges.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from verification.agents.tasks import TASKS


def main() -> None:
    """Set up tasks, or print the answers."""
    parser = argparse.ArgumentParser(description="Set up tasks for coding agents.")
    parser.add_argument("folder", nargs="?", type=Path, help="folder for the tasks")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="names of tasks; all by default")
    parser.add_argument("--answers", action="store_true", help="print the right answers")
    asked = parser.parse_args()
    if unknown := set(asked.tasks) - {task.name for task in TASKS}:
        parser.error(f"unknown tasks {', '.join(sorted(unknown))}")
    if asked.answers:
        for task in TASKS:
            print(f"{task.name}\n  right: {task.right}\n  wrong: {task.wrong}")
        return
    if asked.folder is None:
        parser.error("name the folder, or pass --answers")
    for task in TASKS:
        if not asked.tasks or task.name in asked.tasks:
            print(task.set_up(asked.folder))


if __name__ == "__main__":
    main()
