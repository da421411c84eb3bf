"""What does the command line cost beside the libraries that it stands on?

Each command runs in a fresh interpreter, in turns. The bare app has the same
commands and options as ``outperform`` and nothing behind them.

    python bench/bench_cli.py [--write]
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import alternate, seconds
from recording import Row, report, wants_writing

from outperform.cli.app import COMMANDS, composed
from outperform.cli.main import main as outperform

ROUNDS = 9
LIBRARIES = "import numpy, scipy.special, narwhals, duckdb, typer, rich"
COMPARE = ["--truth", "label", "--a", "svm_l1", "--b", "svm_l2", "--metric", "f1_macro"]

BARE = """
import typer

app = typer.Typer(name="bare", help="The same commands, and nothing behind them.",
                  no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.callback()
def bare(version: bool = False) -> None:
    pass

"""


def bare_app() -> str:
    """Return the source of an app with the parameters of every command, as plain options."""
    lines = [BARE]
    for name, command in COMMANDS.items():
        names = inspect.signature(composed(command)).parameters
        given = [f"{one}: str = ''" for one in names]
        lines.append(f"@app.command({name!r})\ndef {name}({', '.join(given)}) -> None:")
        lines.append(f"    {(command.__doc__ or '').splitlines()[0]!r}\n")
    return "\n".join([*lines, "app()"])


def main(write: bool) -> None:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        predictions, bare = Path(folder, "preds.csv"), Path(folder, "bare.py")
        outperform(["example", "news20", "-o", str(predictions)])
        bare.write_text(bare_app(), encoding="utf-8")

        def run(*arguments: str) -> None:
            command = [sys.executable, *arguments]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)

        timings = alternate(
            {
                "help": lambda: run("-m", "outperform", "--help"),
                "bare": lambda: run(str(bare), "--help"),
                "compare": lambda: run("-m", "outperform", "compare", str(predictions), *COMPARE),
                "libraries": lambda: run("-c", LIBRARIES),
            },
            rounds=ROUNDS,
        )
    for name, timing in timings.items():
        print(f"{name:10} {timing}")
    rows = [
        Row(
            what,
            seconds(timings[ours].median),
            against,
            seconds(timings[theirs].median),
            f"{timings[ours].median / timings[theirs].median:.2f}",
            aim,
        )
        for what, ours, against, theirs, aim in (
            (
                "`outperform --help`",
                "help",
                "a bare typer app with its options",
                "bare",
                "at most 1.3",
            ),
            (
                "`outperform compare --metric f1_macro`, 7,532 items, 20 classes",
                "compare",
                f"`{LIBRARIES}`",
                "libraries",
                "at most 3",
            ),
        )
    ]
    report("cli", rows, write=write)


if __name__ == "__main__":
    main(wants_writing(__doc__))
