"""How the documentation is built; nothing is fetched while it is."""

from __future__ import annotations

import re
from typing import Any

from sphinx.pycode import ModuleAnalyzer

from outperform import __version__, _typing

project = "outperform"
author = "the outperform developers"
copyright = "the outperform developers"
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build", "**/_generated"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "signature"
# Aliases stay as they are written; spelt out, an array takes a line.
autodoc_type_aliases = {
    name: name for name in vars(_typing) if re.fullmatch(r"\w+(Array|Like|Frame|Table|Tree)", name)
} | {name: name for name in ("Axes", "CorrelationLike", "PriorLike", "Source", "StopLike", "Where")}
# A signature names every keyword; its overloads are for type checkers.
ModuleAnalyzer.overloads = property(lambda self: {}, lambda self, found: None)
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = "outperform"  # the default, with version and "documentation", runs into the menu
html_theme_options = {"show_prev_next": False}


def setup(app: Any) -> None:
    """Write an alias inside a union as it is written outside of one."""
    app.connect("autodoc-process-signature", _plain_aliases)


def _plain_aliases(*event: Any) -> tuple[str | None, str | None]:
    signature, returns = (
        text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in event[-2:]
    )
    return signature, returns
