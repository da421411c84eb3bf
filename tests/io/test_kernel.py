"""Files are read in a real Jupyter kernel."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own, because the client leaves sockets for the garbage collector.
RUN = """
import sys
import nbformat
from nbclient import NotebookClient

cell = nbformat.v4.new_code_cell(
    "import sys\\n"
    "sys.modules['ipywidgets'] = None\\n"  # as if it were not installed
    "import outperform as op\\n"
    f"print(op.read({sys.argv[1]!r}, truth='label').n)"
)
notebook = nbformat.v4.new_notebook(cells=[cell])
NotebookClient(notebook, kernel_name="python3").execute()
print("".join(output.get("text", "") for output in notebook.cells[0].outputs))
"""


def test_a_file_is_read_in_a_kernel_without_widgets(tmp_path):
    """DuckDB refuses to prepare a progress bar there, which ended every reading."""
    for name in ("duckdb", "ipykernel", "nbclient"):
        pytest.importorskip(name)
    path = tmp_path / "preds.csv"
    path.write_text("label,a,b\nx,x,y\ny,y,y\nx,y,x\n")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["3"]
