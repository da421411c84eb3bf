"""Labels are text: whatever they say, the page has the same elements as with harmless ones."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

import outperform as op
from outperform.display.numbers import for_text
from outperform.report import api
from outperform.report.api import render
from tests.report.reading import XHTML, Page

PAYLOADS = sorted(
    [
        "<script>alert(1)</script>",
        "</script><script>alert(1)</script>",
        "</script>",
        "</SCRIPT >",
        "<!--<script>",
        "--><script>alert(1)</script>",
        "<!--",
        "]]><script>alert(1)</script>",
        "<![CDATA[<img src=x onerror=alert(1)>]]>",
        '"><img src=x onerror=alert(1)>',
        "'><img src=x onerror=alert(1)>",
        "<img src=x onerror=alert(1)>",
        "<img/src=x/onerror=alert(1)//",
        "<svg onload=alert(1)>",
        "<svg><script>alert(1)</script></svg>",
        "</svg><img src=x onerror=alert(1)>",
        "</text></g></svg><h1>x</h1>",
        "<svg/onload=alert`1`>",
        "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        "</td></tr></table><h1>x</h1>",
        "</th><td onclick=alert(1)>",
        "</title><script>alert(1)</script>",
        "</h1><h1>two",
        "</style><script>alert(1)</script>",
        "</textarea><script>alert(1)</script>",
        "</pre><iframe src=//evil.example></iframe>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<object data=javascript:alert(1)>",
        "<embed src=javascript:alert(1)>",
        "<a href=javascript:alert(1)>x</a>",
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "<base href=//evil.example/>",
        "<meta http-equiv=refresh content='0;url=//evil.example'>",
        "<link rel=stylesheet href=//evil.example/x.css>",
        "<form action=//evil.example><input name=x autofocus onfocus=alert(1)>",
        "<body onload=alert(1)>",
        "<details open ontoggle=alert(1)>",
        "<video><source onerror=alert(1)>",
        "<template><script>alert(1)</script></template>",
        '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
        "<xmp><img title='</xmp><img src=x onerror=alert(1)>'>",
        "<plaintext>",
        '" onmouseover="alert(1)',
        "' onmouseover='alert(1)",
        "` onmouseover=alert(1) `",
        'x" style="background:url(//evil.example)',
        "}body{background:url(//evil.example)}",
        "{{7*7}}",
        "{% include '/etc/passwd' %}",
        "{{ ''.__class__.__mro__ }}",
        "${7*7}",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&#60;script&#62;",
        "\\u003cscript\\u003e",
        "x\u2028alert(1)",
        "x\u2029alert(1)",
        "\u202e<script>",
        "a\x00b\x1b[31m<script>",
        "x\r\n<script>alert(1)</script>",
        "＜script＞alert(1)＜/script＞",
        "x;alert(1)//",
        '\\"];alert(1);//',
    ]
)
# Labels look the same wherever the slider stands.
pytestmark = pytest.mark.usefixtures("few_positions")

HARMLESS = [f"label {place:02d}" for place in range(len(PAYLOADS))]
EACH = 16  # labels on one page


def skeleton(page):
    """Return every element with the names of its attributes, in order."""
    return [(each.tag, tuple(sorted(each.attrib))) for each in page.tree.iter()]


def handlers(page):
    return [name for each in page.tree.iter() for name in each.attrib if name.startswith("on")]


def by_classes(names):
    rng = np.random.default_rng(3)
    truth = np.arange(25 * len(names)) % len(names)
    a, b = (
        np.where(rng.random(truth.size) < right, truth, rng.integers(len(names), size=truth.size))
        for right in (0.8, 0.7)
    )
    truth, a, b = ([names[code] for code in codes] for codes in (truth, a, b))
    found = op.compare(truth, a, b, metric="f1_macro", rope=0.05, n_draws=200, random_state=1)
    return replace(found, findings=())  # labels that look alike or missing have some


def by_models(names):
    table = {"a": [[30, 5], [6, 29]], "b": [[26, 9], [8, 27]]}
    for place in range(0, len(names), 2):
        a, b = names[place : place + 2]
        seen = op.Outcomes.from_confusion({a: table["a"], b: table["b"]})
        metric = op.metrics.from_function(_accuracy, vectorized=True, name=names[place])
        yield op.compare(seen, a, b, metric=metric, rope=0.05, n_draws=200, random_state=1)


def _accuracy(confusion):
    return np.trace(confusion) / confusion.sum(axis=(0, 1))


def same_and_shown(folder, make, harmless, hostile):
    """Return the hostile page, after a check that it is built like the harmless one."""
    plain = Page(op.write_report(make(harmless), folder / "plain.html", overwrite=True))
    page = Page(op.write_report(make(hostile), folder / "page.html", overwrite=True))
    assert page.errors == []
    assert skeleton(page) == skeleton(plain)
    assert handlers(page) == []
    return page


def test_there_are_enough_of_them():
    assert len(set(PAYLOADS)) >= 60


@pytest.mark.parametrize("first", range(0, len(PAYLOADS), EACH))
def test_a_class_is_text(tmp_path, first):
    hostile, harmless = (names[first : first + EACH] for names in (PAYLOADS, HARMLESS))
    page = same_and_shown(tmp_path, by_classes, harmless, hostile)
    words = page.words()
    for label in hostile:
        assert for_text(label, limit=32) in words


@pytest.mark.parametrize("first", range(0, len(PAYLOADS), EACH))
def test_a_model_and_a_metric_are_text(tmp_path, first):
    hostile, harmless = (names[first : first + EACH] for names in (PAYLOADS, HARMLESS))
    page = same_and_shown(tmp_path, by_models, harmless, hostile)
    words = page.words()
    for label in hostile:
        assert for_text(label) in words
    names = [name for one in page.json("data")["results"] for name in one["names"]]
    assert names == hostile


def test_a_title_is_text():
    made = document(title="harmless")
    plain = read(render(made))
    for payload in PAYLOADS:
        page = read(render(replace(made, title=for_text(payload))))
        assert skeleton(page) == skeleton(plain)
        assert handlers(page) == []
        assert next(page.tree.iter(f"{XHTML}title")).text == for_text(payload)
        assert next(page.tree.iter(f"{XHTML}h1")).text == for_text(payload)


def document(title=None, **origin):
    now = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    made = api.Made(**{"sources": ("preds.csv",), "command": "outperform", "date": now} | origin)
    return api.make_contents(
        [by_classes(HARMLESS[:3])], by=None, headings=["harmless"], title=title, made=made
    )


def test_a_source_and_a_command_are_text():
    plain = read(render(document()))
    made = document()
    for payload in PAYLOADS:
        origin = replace(made.made, sources=(payload,), command=payload)
        page = read(render(replace(made, made=origin)))
        assert page.errors == []
        assert skeleton(page) == skeleton(plain)
        assert handlers(page) == []
        assert page.words().count(for_text(payload)) >= 2


def read(text):
    page = Page.__new__(Page)
    page.parse(text)
    return page


def test_the_data_hold_no_sign_that_html_knows(tmp_path):
    page = Page(op.write_report(by_classes(PAYLOADS[:EACH]), tmp_path / "page.html"))
    blocks = re.findall(r'<script type="application/json" id="\w+">(.*?)</script>', page.text)
    assert len(blocks) == 2
    for block in blocks:
        assert block.isascii()
        assert not set(block) & set("<>&\n")


def test_the_policy_names_the_only_style_and_the_only_script(tmp_path):
    page = Page(op.write_report(by_classes(HARMLESS[:3]), tmp_path / "page.html"))
    policy = page.one("http-equiv", "Content-Security-Policy").get("content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not [each for each in page.tree.iter() if "style" in each.attrib]
