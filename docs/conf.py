"""How the documentation is built; nothing is fetched while it is.

``DOCS_URL`` is where it will be served, such as ``https://example.org/outperform/stable/``; social
cards, the menu of versions and the 404 page need to know.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.pycode import ModuleAnalyzer

from outperform import __version__, _typing

sys.path.insert(0, str(Path(__file__).parent))
from coverage_map import write_map
from llms import llms_text
from samples import write_samples

project = "outperform"
author = "the outperform developers"
copyright = "the outperform developers"
release = version = __version__

extensions = [
    "myst_parser",
    "notfound.extension",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
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
html_baseurl = os.environ.get("DOCS_URL", "")
base_path = urlparse(html_baseurl).path or "/"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "outperform",
    },
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 5,
    "navbar_end": ["version-switcher", "theme-switcher"],
    "switcher": {"json_url": f"{base_path}_static/versions.json", "version_match": release},
    "check_switcher": False,
    "show_prev_next": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
# These pages are not part of a section, so a menu of the section would be empty.
html_sidebars = {"which-function": [], "gallery": [], "coming-from": [], "glossary": [], "404": []}
html_search_scorer = str(Path(__file__).with_name("_static") / "search-scorer.js")
notfound_urls_prefix = base_path

# Browsers set MathML themselves, so no script has to come from elsewhere.
html_math_renderer = "mathml"

# Prompts and outputs stay behind when an example is copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

ogp_site_url = html_baseurl
ogp_image = "_static/hero-light.png"
ogp_image_alt = "The answer in a terminal, beside the posterior of the difference"
ogp_social_cards = {"enable": False}


def setup(app: Any) -> None:
    """Mend signatures, give parameters their types, write reports, the map and ``llms.txt``."""
    app.connect("autodoc-process-signature", _plain_aliases)
    # Before numpydoc, which reads the docstring.
    app.connect("autodoc-process-docstring", _add_types, priority=100)
    app.connect("doctree-read", _strip_blocks)
    app.connect("build-finished", _write_samples)
    app.add_html_math_renderer("mathml", (_set_inline, None), (_set_block, None))


def _strip_blocks(app: Any, doctree: nodes.document) -> None:
    """Drop the empty line that doctest needs before the end of a block."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip()
            block[:] = [nodes.Text(block.rawsource)]


def _mathml(node: nodes.Element, as_block: bool = False) -> str:
    # docutils takes the digits of \tfrac12 for one number.
    tex = re.sub(r"(frac)(\d)(\d)", r"\1{\2}{\3}", node.astext())
    return tex2mathml(tex, as_block=as_block)


def _set_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_mathml(node))
    raise nodes.SkipNode


def _set_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _plain_aliases(*event: Any) -> tuple[str | None, str | None]:
    signature, returns = (
        text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in event[-2:]
    )
    return signature, returns


def _add_types(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Write type and default beside each parameter; they stand in the signature only."""
    if "Parameters" not in lines:
        return
    try:
        parameters = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return
    place = lines.index("Parameters") + 2
    while place < len(lines) and not lines[place].startswith("---"):
        names = [word.strip(" *") for word in lines[place].split(",")]
        if lines[place][:1].strip() and all(word in parameters for word in names):
            lines[place] += f" : {_describe(parameters[names[0]])}"
        place += 1


def _describe(parameter: inspect.Parameter) -> str:
    kind = parameter.annotation
    text = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
    default = parameter.default
    if default is not inspect.Parameter.empty:
        text += ", optional" if default is None else f", default {default!r}"
    return text


def _write_samples(app: Any, failure: Exception | None) -> None:
    if failure is None and app.builder.name == "html":
        write_samples(Path(app.outdir) / "samples")
        write_map(Path(app.outdir) / "coverage-map.html")
        text = llms_text(Path(app.srcdir))
        Path(app.outdir, "llms.txt").write_text(text, encoding="utf-8")
