"""CoNLL files of all kinds, and those that are refused."""

from __future__ import annotations

import codecs

import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.corpora import corpus


@pytest.fixture
def read(tmp_path):
    """Return a reader of text that is put into a file first."""

    def read(text, *arguments, **options):
        path = tmp_path / "file.conll"
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return op.read_conll(path, *arguments, **options)

    return read


TWO = {"token": [["Ada", "Lovelace"], ["London"]], "tag": [["B-PER", "I-PER"], ["B-LOC"]]}


@pytest.mark.parametrize(
    "text",
    [
        "Ada\tB-PER\nLovelace\tI-PER\n\nLondon\tB-LOC\n",
        "Ada\tB-PER\nLovelace\tI-PER\n\nLondon\tB-LOC",
        "\n\nAda\tB-PER\nLovelace\tI-PER\n\n\n\nLondon\tB-LOC\n\n\n",
        "Ada\tB-PER\r\nLovelace\tI-PER\r\n\r\nLondon\tB-LOC\r\n",
        "Ada\tB-PER\rLovelace\tI-PER\r\rLondon\tB-LOC\r",
        "Ada\tB-PER\nLovelace\tI-PER\n\t\nLondon\tB-LOC\n",
        "Ada\tB-PER\nLovelace\tI-PER\n \t \nLondon\tB-LOC\n",
        "Ada B-PER\nLovelace   I-PER\n  \nLondon B-LOC \n",
        "Ada  B-PER\t\nLovelace \t I-PER\n\nLondon B-LOC\n",
        "\ufeffAda\tB-PER\nLovelace\tI-PER\n\nLondon\tB-LOC\n",
        "Ada\tB-PER\nLovelace\tI-PER\n\ufeff\nLondon\tB-LOC\n\ufeff",
        "-DOCSTART- -X- O O\n\nAda NNP I-NP B-PER\nLovelace NNP I-NP I-PER\n\nLondon N I-NP B-LOC",
        "-DOCSTART-\tO\n\nAda\tB-PER\nLovelace\tI-PER\n-DOCSTART-\tO\nLondon\tB-LOC\n",
        "# one\nAda\tB-PER\nLovelace\tI-PER\n\n# two = three four\nLondon\tB-LOC\n",
        "#begin document (a)\nAda\tB-PER\nLovelace\tI-PER\n\nLondon\tB-LOC\n#end document\n",
        "Ada\t_\tB-PER\n# between rows\nLovelace\t_\tI-PER\n#\n\nLondon\t\tB-LOC\n",
    ],
)
def test_two_sentences(read, text):
    assert read(text) == TWO


@pytest.mark.parametrize("separator", [",", "|", " ", "||", "\t"])
def test_any_separator(read, separator):
    text = "Ada B-PER\nLovelace I-PER\n\nLondon B-LOC\n".replace(" ", separator)
    assert read(text, separator=separator) == TWO
    assert read(text.replace("\n\n", f"\n{separator}\n"), separator=separator) == TWO


def test_any_columns(read):
    found = read("a b c\nd e f\n\ng h i\n", {"last": 2, "first": 0, "again": -3})
    assert found == {
        "last": [["c", "f"], ["i"]],
        "first": [["a", "d"], ["g"]],
        "again": [["a", "d"], ["g"]],
    }


def test_tokens_that_look_like_comments_are_tokens(read):
    assert read("#\tO\n#tag\tO\nAda\tB-PER\n# 1\tO\n")["token"] == [["#", "#tag", "Ada", "# 1"]]
    assert read("#\tO\n#tag\tO\n")["token"] == [["#", "#tag"]]
    assert read("Ada B-PER\n# O\n#tag O\n")["token"] == [["Ada", "#", "#tag"]]


def test_rare_blanks_and_line_separators_are_part_of_tokens(read):
    tokens = ["\u00a0", "\u3000", "a\u2028b", "a\x85b", "a\u00a0b"]
    for separator in ("\t", " "):
        text = "".join(f"{token}{separator}O\n" for token in tokens)
        assert read(text)["token"] == [tokens]


def test_another_encoding(read):
    text = "Zoë\tB-PER\n"
    assert read(text.encode("latin-1"), encoding="latin-1")["token"] == [["Zoë"]]
    assert read(text.encode("utf-16"), encoding="utf-16")["token"] == [["Zoë"]]
    assert read(codecs.BOM_UTF8 + text.encode(), encoding="utf-8-sig")["token"] == [["Zoë"]]


UNIVERSAL = """# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tahora\tahora\tADV\t_\t_\t_\t_\t1:advmod\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_

#text = sí
1\tsí\tsí\tINTJ\t_\t_\t0\troot\t_\t_
"""


def test_the_words_of_conll_u(read):
    assert read(UNIVERSAL, {"token": 1, "tag": 3}) == {
        "token": [["vamos", "nos", "a", "el", "mar"], ["sí"]],
        "tag": [["VERB", "PRON", "ADP", "DET", "NOUN"], ["INTJ"]],
    }


def test_numbers_alone_do_not_make_conll_u(read):
    assert read("1-2\tO\n3.4\tO\n")["token"] == [["1-2", "3.4"]]
    ten = "\t_" * 9
    assert read(f"1-2{ten}\nword{ten}\n")["token"] == [["1-2", "word"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must have a row for each token; it has none"),
        ("\n \n\t\n", "it has none"),
        ("# only\n# comments\n", "it has none"),
        ("-DOCSTART- O\n\n", "it has none"),
        ("\ufeff", "it has none"),
        ("a\tO\nb\n", r"2 in line 1; got 1 in line 2: 'b'"),
        ("\n# c\na\tO\n\nb\tO\tO\n", r"2 in line 3; got 3 in line 5: 'b\\tO\\tO'"),
        ("a O\n# b c O\n", r"got 4 in line 2"),
        ("a\tO\n#tag\n", r"got 1 in line 2: '#tag'"),
        ("a O\nb c O\n", r"got 3 in line 2"),
        ("a\tO\nb\t\n", r"must have a value for 'tag'; line 2 does not"),
        ("a\tO\n\tO\n", r"must have a value for 'token'; line 2 does not"),
        ("Zoë\tO\n".encode("latin-1"), r"line 1 has the invalid byte 0xeb.*encoding=.latin-1."),
        ("a\tO\nZoë\tO\n".encode("cp1252"), "line 2 has the invalid byte"),
        ("a\tO\n".encode("utf-16"), "its first bytes indicate encoding='utf-16'"),
        ("a\tO\n".encode("utf-32"), "its first bytes indicate encoding='utf-32'"),
        ("a\tO\n".encode("utf-16-le"), "contains zero bytes.*encoding='utf-16'"),
    ],
)
def test_what_cannot_be_read_is_refused(read, text, words):
    with pytest.raises(DataError, match=words):
        read(text)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": {"token": 0, "tag": 2}}, "'tag' must be between -2 and 1; got 2; line 1 has"),
        ({"columns": {"token": -3}}, "got -3"),
        ({"columns": {}}, "must map names to column numbers"),
        ({"columns": ["token", "tag"]}, "must map names to column numbers"),
        ({"columns": {"tag": "1"}}, "must be a whole number; got '1' for 'tag'"),
        ({"columns": {"tag": True}}, "must be a whole number; got True for 'tag'"),
        ({"separator": ""}, "separator must be text"),
        ({"encoding": "utf8x"}, "unknown encoding 'utf8x'"),
    ],
)
def test_what_cannot_be_asked_is_refused(read, options, words):
    with pytest.raises(UsageError, match=words):
        read("a\tO\n", **options)


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        op.read_conll(tmp_path / "none.conll")


@pytest.mark.parametrize(
    ("name", "sentences", "tokens", "hashes"),
    [
        ("wnut17train.conll", 3394, 62730, 828),
        ("emerging.dev.conll", 1009, 15733, 22),
        ("emerging.test.annotated", 1287, 23394, 247),
    ],
)
def test_every_token_of_wnut(name, sentences, tokens, hashes):
    path = corpus("wnut17") / name
    found = op.read_conll(path)
    assert [len(tags) for tags in found["tag"]] == [len(words) for words in found["token"]]
    assert len(found["token"]) == sentences
    flat = [token for sentence in found["token"] for token in sentence]
    assert len(flat) == tokens
    assert sum(token.startswith("#") for token in flat) == hashes
    with path.open(encoding="utf-8", newline="\n") as lines:
        plain = [line.rstrip("\r\n").split("\t") for line in lines if line.strip("\ufeff \t\r\n")]
    assert flat == [token for token, _ in plain]


@pytest.mark.parametrize("part", ["dev", "test"])
def test_every_word_of_a_treebank(part):
    path = corpus("ud_zh_gsdsimp") / f"zh_gsdsimp-ud-{part}.conllu"
    found = op.read_conll(path, {"token": 1, "tag": 3})
    lines = path.read_text(encoding="utf-8").split("\n")
    texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    assert len(texts) == len(found["token"]) == 500
    joined = ["".join(words) for words in found["token"]]
    assert [text.replace(" ", "") for text in texts] == [text.replace(" ", "") for text in joined]
    assert {tag for tags in found["tag"] for tag in tags} >= {"NOUN", "VERB", "PUNCT"}
