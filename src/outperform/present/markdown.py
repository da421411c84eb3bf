"""A whole answer in Markdown: the verdict, the numbers, the doubts, the signature."""

from __future__ import annotations

from outperform.present import facts as read
from outperform.present.escape import for_markdown, for_text
from outperform.present.facts import Facts
from outperform.present.needed import more_documents
from outperform.present.runs import run_sentences
from outperform.present.sentences import estimate_headline, headline, rope_curve_sentence
from outperform.present.summary import comparison_table, estimate_table


def full_markdown(facts: Facts) -> str:
    """Return a comparison or an estimate as a passage of Markdown.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> facts = {"name": "bert", "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.05,
    ...          "hdi": hdi, "n": 90, "exact": True}
    >>> print(full_markdown(facts).splitlines()[0])
    **bert: f1 0.2000 (95% HDI 0.1000 to 0.3000), observed 0.2000.**
    """
    both = "names" in facts
    verdict = headline(facts) if both else estimate_headline(facts)
    table = comparison_table(facts) if both else estimate_table(facts)
    parts = [f"**{for_markdown(verdict)}**", table.to_markdown().rstrip()]
    if facts.get("rope_curve"):
        curve = rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)
        parts.append(f"For other widths of the ROPE: {for_markdown(curve)}.")
    if facts.get("needed") is not None:
        parts.append(for_markdown(more_documents(facts["needed"], facts)))
    if both and "runs" in facts:
        parts.append(for_markdown(run_sentences(facts)))
    findings = read.findings(facts)
    if findings:
        parts.append(
            "\n".join(
                f"- {level}: {for_markdown(message)} ({for_markdown(name)})"
                for level, message, name in findings
            )
        )
    if facts.get("signature"):
        # As code, in which nothing but a backtick means anything.
        parts.append(f"`{for_text(facts['signature']).replace('`', chr(39))}`")
    return "\n\n".join(parts)
