"""The labels that attack a page."""

from __future__ import annotations

from tests.loops import each

PAYLOADS = {
    "script": "<script>alert(1)</script>",
    "onerror": '<img src=x onerror="alert(1)">',
    "cell": "</td></tr></table><b>out</b>",
    "attribute": '" onmouseover="alert(1)" x="',
    "svg": "<svg/onload=alert(1)>",
    "comment": "<!-- hidden",
    "style": "</style><style>*{display:none}",
    "pipe": "a|b|c",
    "escaped_pipe": "a\\|b",
    "backtick": "`code` ``more``",
    "mention": "@octocat and team@example.org",
    "issue": "owner/repo#12",
    "link": "[click](https://example.org)",
    "bare_link": "see https://example.org or www.example.org",
    "image": "![x](https://example.org/x.png)",
    "emphasis": "*bold* _it_ ~~gone~~ $x$",
    "heading": "# title",
    "list": "- item",
    "ansi": "\x1b[31mred\x1b[0m",
    "osc": "\x1b]8;;https://example.org\x07link\x1b]8;;\x07",
    "newline": "one\ntwo\r\nthree",
    "workflow": "::set-output name=x::y",
    "workflow_later": "good ::error::bad",
    "azure": "##[error]bad ##vso[task.complete]",
    "line_separator": "a\u2028b\u2029c",
    "bidi": "abc\u202egpj.exe\u202c",
    "zero_width": "pay\u200bpal\ufeff\u2060",
    "surrogate": "bad\udc80byte",
    "nul": "a\x00b",
    "formula": "=HYPERLINK(1)",
    "latex": r"\input{/etc/passwd} 50% & $x_1^2$ #1 ~{}",
    "template": "{{ 7*7 }} ${x} {% x %}",
    "mathjax": r"\(\href{javascript:alert(1)}{x}\)",
    "blank": "   ",
    "empty": "",
    "long": "x" * 10_000,
    "emoji": "👍🏽 ❤️ 迷惑メール é e\u0301",
}

every_payload = each("payload", PAYLOADS.values(), ids=[*PAYLOADS])


def attack(facts, payload):
    """Return the same facts with the payload wherever people may put text."""
    return {
        **facts,
        "names": [payload, payload],
        "metric": payload or "f1",
        "metric_label": payload,
        "pos_label": payload,
        "prior": payload,
        "a": {**facts["a"], "name": payload},
        "b": {**facts["b"], "name": payload},
        "findings": [{"name": payload, "level": "serious", "message": payload}],
        "signature": payload,
    }
