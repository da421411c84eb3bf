"""Write what findings mean, ``src/outperform/display/explained.toml``, from the reference of them.

``outperform explain`` says it to those who have no documentation at hand.
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
    """Return a cell of the table as plain text: a sentence, if there is any."""
    text = LINK.sub(r"\1", text).replace("`", "").replace("\\|", "|").strip()
    if text in ("", "–", "nothing"):
        return ""
    text = re.sub("^nothing,? ", "there is nothing to do ", text)
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def written() -> str:
    """Return the whole file."""
    lines = ["# What each finding means, and what to do; scripts/make_explained.py writes it."]
    for name, meaning, action in ROW.findall(SOURCE.read_text(encoding="utf-8")):
        sentences = " ".join(filter(None, (plain(meaning), plain(action))))
        lines.append(f"{name} = {json.dumps(sentences, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")
