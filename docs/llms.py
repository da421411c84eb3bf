"""``llms.txt`` at the root of the site: the pages and what each is about, for language models."""

from __future__ import annotations

from pathlib import Path

from outperform.agents.pages import first_sentence, title_of

HEAD = """# outperform

> Compare models from their predictions: is one really better, by how much, and how sure can you be?
> The posterior of the difference of any metric of two models, from predictions you already have, in
> Python and on the command line.

- `pip install "outperform[all]"`; `import outperform as op`. Python 3.11 or later.
- `op.compare(y_true, pred_a, pred_b, metric="f1_macro", rope=0.01)` returns the whole answer:
  `.decision`, `.mean`, `.hdi`, `.p_better`, `.findings`, `.report()`, `.to_dict()`. The difference
  is always A − B.
- `outperform gate preds.csv --truth label --baseline old --candidate new` exits with 0 passed,
  1 failed, 4 cannot tell yet; 2, 3 and 5 mean that there is no answer. `--format json` is for
  programs.
- The ROPE is the smallest difference that matters; choose it before you look. “Undecided” is an
  answer: do not turn it into a winner, and repeat the findings of a result with its numbers.
"""
SECTIONS = {
    "Tutorials": "tutorial",
    "How-to guides": "how-to",
    "Reference": "reference",
    "Explanation": "explanation",
    "More": ".",
}


def llms_text(docs: Path) -> str:
    """Return ``llms.txt`` for the pages of a folder."""
    parts = [HEAD]
    for title, folder in SECTIONS.items():
        pages = sorted(docs.joinpath(folder).glob("*.md"))
        lines = [_line(page, docs) for page in pages if page.name not in ("404.md", "index.md")]
        parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _line(page: Path, docs: Path) -> str:
    text = page.read_text(encoding="utf-8")
    link = page.relative_to(docs).with_suffix(".html").as_posix()
    about = first_sentence(text)
    return f"- [{title_of(text)}]({link})" + (f": {about}" if about else "")
