"""The HTML page: templates, one style sheet and one script, and a policy that allows no more."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from outperform._optional import require
from outperform._version import __version__
from outperform.present.formats import json_value
from outperform.report.document import Document


def render(document: Document) -> str:
    """Return a document as one HTML page that loads nothing."""
    jinja2 = require("jinja2", extra="report", purpose="write_report()")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(_text),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _text("page.css"), _text("page.js")
    trusted = environment.filters["safe"]
    page: str = environment.get_template("page.html.jinja").render(
        document=document,
        version=__version__,
        policy=_policy(style, script),
        style=trusted(style),
        script=trusted(script),
        data=trusted(_json(document.data)),
        live=trusted(_json(document.live)),
        trusted=trusted,
    )
    return page


def _text(name: str) -> str:
    """Return a file that comes with the package; line ends as a browser will see them."""
    text = files("outperform.report").joinpath("templates", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """Allow this style sheet and this script by their hashes, and nothing else."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _json(value: Any) -> str:
    """Return JSON that no label can end: ASCII only, and no sign that HTML knows."""
    text = json.dumps(_plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return json_value(value)
