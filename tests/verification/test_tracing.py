"""Every number of the README and of the documentation has a source; one changed is found."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import pytest

from tests.loops import each
from verification import tracing
from verification.programme import PARTS

CLAIMS = tracing.claims()
PAGES = tracing.pages()


@each("claim", CLAIMS, ids=lambda claim: f"{claim.file}-{claim.text[:30]}")
def test_every_number_of_a_claim_is_in_its_source(claim):
    assert claim.faults() == []
    assert claim.part is None or claim.part in PARTS
    assert claim.part is None or claim.seed
    assert claim.tolerance


def test_the_pages_are_the_readme_and_all_of_the_documentation():
    docs = tracing.ROOT / "docs"
    written = {page for page in docs.rglob("*.md") if not page.parent.name.startswith("_")}
    assert {"README.md", *(str(page.relative_to(tracing.ROOT)) for page in written)} == set(PAGES)


def test_blocks_without_prompts_are_those_that_are_run():
    tests = (tracing.ROOT / "tests" / "test_readme.py").read_text(encoding="utf-8")
    assert all(f'"{page}"' in tests for page in tracing.RUN)


@each("page", PAGES)
def test_every_number_of_a_page_is_traced(page):
    assert tracing.faults(page) == []
    assert all(tracing.definitions()[page].values())


@pytest.mark.parametrize("page", ["README.md", "docs/explanation/trust.md"])
def test_every_row_of_proof_is_a_claim(page):
    text = (tracing.ROOT / page).read_text(encoding="utf-8")
    table = r"^\|[^|\n]+\| measured \|.+\n\|[-|]+\n((?:\|.+\n)+)"
    rows = [
        row
        for found in re.findall(table, text, re.MULTILINE)
        for row in re.findall(r"^\| [^|]+ \| ([^|]+) \|", found, re.MULTILINE)
    ]
    assert len(rows) > 2
    assert set(rows) <= {claim.text for claim in CLAIMS if claim.file == page}


@pytest.fixture
def copy(tmp_path):
    """Return a copy of the pages, with the tables that they include."""
    for page in PAGES:
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tracing.ROOT / page, tmp_path / page)
    tables = "docs/explanation/_generated"
    shutil.copytree(tracing.ROOT / tables, tmp_path / tables)
    golden = "tests/cli/golden"
    shutil.copytree(tracing.ROOT / golden, tmp_path / golden)
    return tmp_path


@pytest.mark.parametrize(
    ("page", "old", "new", "fault"),
    [
        ("README.md", "in 15.5 s", "in 11.5 s", "11.5"),
        ("README.md", "74 of 75", "73 of 75", "73"),
        ("README.md", "which takes hours", "which takes 7 hours", "7"),
        ("README.md", "a billion rows", "3 billion rows", "3"),
        ("docs/explanation/trust.md", "81.0 ± 3.9%", "91.0 ± 3.9%", "91.0"),
        ("docs/explanation/verification.md", "they do not: 7.3%", "they do not: 8.3%", "8.3"),
        ("docs/explanation/verification.md", "coverage of 65% is", "coverage of 66% is", "66"),
        ("docs/how-to/choose-a-rope.md", "from 0.0125, and", "from 0.0126, and", "0.0126"),
        ("docs/how-to/choose-a-rope.md", "('>', 0.0125)", "('>', 0.0126)", "0.0125"),
        ("docs/tutorial/release-engineer.md", "above −0.005, so", "above −0.006, so", "0.006"),
        ("docs/how-to/release-gate.md", "up to 16 times", "up to 17 times", "17"),
        ("docs/explanation/idea.md", "among 1,500 others", "among 1,501 others", "1,501"),
    ],
)
def test_a_number_changed_by_hand_is_found(copy, page, old, new, fault):
    assert tracing.faults(page, copy) == []
    text = (copy / page).read_text(encoding="utf-8")
    assert old in text
    (copy / page).write_text(text.replace(old, new), encoding="utf-8")
    assert any(f": {fault} is not traced" in one for one in tracing.faults(page, copy))


def test_a_number_changed_in_its_source_is_found(copy):
    claim = next(one for one in CLAIMS if "2.77" in one.numbers)
    assert claim.faults(copy) == []
    source = copy / claim.sources[0]
    source.write_text(source.read_text("utf-8").replace("2.77", "1.77"), encoding="utf-8")
    assert "does not have 2.77" in claim.faults(copy)[0]
    assert "has no source" in replace(claim, numbers=claim.numbers[:-1]).faults()[0]
    assert "does not say" in replace(claim, text="nothing").faults()[0]


def test_a_table_written_by_hand_is_not_excused_by_one_that_is_included(copy):
    page = "docs/explanation/verification.md"
    text = (copy / page).read_text(encoding="utf-8")
    row = "| by hand | 958 |\n| by hand | 5 |\n"
    (copy / page).write_text(text.replace("## Speed\n", f"## Speed\n\n{row}\n"), encoding="utf-8")
    assert [one.split()[-4] for one in tracing.faults(page, copy)] == ["5", "958"]


@pytest.mark.parametrize(
    ("block", "traced"),
    [
        ("```python\n>>> 4710 + 1\n4711\n\n```", True),
        ("```python\nprint(4711)\n```", False),
        ("```console\n$ outperform --version\n4711\n```", False),
    ],
)
def test_only_examples_that_are_run_trace_a_number(copy, block, traced):
    page = "docs/how-to/p-values.md"
    with (copy / page).open("a", encoding="utf-8") as file:
        file.write(f"\n## More\n\n{block}\n\nThat is 4,711.\n\n## Elsewhere\n\nNot 815.\n")
    faults = "\n".join(tracing.faults(page, copy))
    assert ("4,711 is not traced" in faults) != traced
    assert "815 is not traced" in faults


def test_a_sum_is_done_again():
    claim = next(one for one in CLAIMS if "100 * 0.85" in one.computed.values())
    text = claim.text.replace("85", "84")
    wrong = replace(claim, text=text, computed={"84": "100 * 0.85"})
    assert any("does not have 84" in fault for fault in wrong.faults())
    other = replace(claim, text=text, computed={"84": "100 * 0.84"})
    assert any("does not have 84" in fault for fault in other.faults())
    with pytest.raises(ValueError, match="numbers"):
        replace(claim, computed={"85": "abs(100)"}).faults()


def test_a_claim_on_its_own_page_rests_on_what_is_run():
    claim = next(one for one in CLAIMS if one.sources == [one.file] and one.numbers)
    assert claim.faults() == []
    prose = replace(
        claim, file="README.md", text="958 ms", sources=["README.md"], numbers=["958"], computed={}
    )
    assert any("does not have 958" in fault for fault in prose.faults())


def test_a_count_is_taken_again():
    claim = next(one for one in CLAIMS if one.counted)
    number, expression = next(iter(claim.counted.items()))
    other = str(int(number) + 1)
    wrong = replace(claim, text=claim.text.replace(number, other), counted={other: expression})
    assert any(f"does not have {other}" in fault for fault in wrong.faults())


def test_numbers_are_read_as_they_stand():
    text = "13,020 tests of F1, 0, 1, 5 and 0.96 s at p = 4.5e-13; ACL-2019, v1.2 and 10⁵"
    assert tracing.numbers_of(text) == {"13,020", "0", "1", "5", "0.96", "4.5e-13", "10"}
