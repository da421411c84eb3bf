"""Write ``src/outperform/display/explained.toml`` from the reference of findings.

``outperform explain`` shows these texts to users without the documentation.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "docs" / "reference" / "findings.md"
TARGET = ROOT / "src" / "outperform" / "display" / "explained.toml"
ROW = re.compile(r"^\| `(\w+)` \| [^|]* \| [^|]* \| (.*) \| (.*) \|$", re.MULTILINE)
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def plain(text: str) -> str:
    """Return a cell of the table as a plain sentence; empty if the cell is."""
    text = LINK.sub(r"\1", text).replace("`", "").replace("\\|", "|").strip()
    if text in ("", "–"):
        return ""
    text = re.sub(r"\*(\w+)\*", r"\1", text)
    text = re.sub("^nothing, or ", "you can ignore this, or ", text)
    text = re.sub("^nothing, if ", "there is nothing to do if ", text)
    text = re.sub("^nothing$", "there is nothing to do", text)
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def written() -> str:
    """Return the whole file."""
    lines = ["# Meaning of each finding, and what to do; written by scripts/make_explained.py."]
    for name, meaning, action in ROW.findall(SOURCE.read_text(encoding="utf-8")):
        sentences = " ".join(filter(None, (plain(meaning), plain(action))))
        lines.append(f"{name} = {json.dumps(sentences, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")
