"""A table of hostile situations: no gate exits with 0 or with 1 unless that is its answer.

Every row says which exit codes are right. ``worse`` are files on which the candidate is far worse
than the baseline, so 0 is wrong whatever else is; on ``better`` ones 1 is wrong; on ``open`` ones
nobody can tell.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tomllib
import warnings
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from pyarrow import feather

import outperform as op
from outperform.cli import app as commands
from outperform.cli.main import main

ROOT = Path(__file__).parents[2]
HEADER = ("id", "label", "old", "new", "w", "g")
KINDS = {"worse": ((0,), (1, 2, 3, 4, 5)), "better": ((1, 2, 3, 4, 5), (0,)), "open": ((0,), (1,))}
RIGHT = {"worse": 1, "better": 0, "open": 4}
MODELS = ["--candidate", "new", "--baseline", "old"]
ASKED = ["--metric", "accuracy", "--rope", "0.01", "--draws", "400"]
TABLE = ["--truth", "label", *MODELS, *ASKED]
REFUSED = {2, 3, 5}
UNUSUAL = {1, 2, 3, 4, 5}  # anything but a pass
ANSWERS = {"ham": "spam", "spam": "ham"}


class Row(NamedTuple):
    """A command line, the exit codes that are right, and the surroundings."""

    arguments: list[str]
    codes: set[int]
    environment: tuple[tuple[str, str], ...] = ()


def items(kind, n=120):
    """Return rows of id, truth, old, new, weight and group that follow from the row number."""
    wrong_old, wrong_new = KINDS[kind]
    rows = []
    for k in range(n):
        truth = ("ham", "spam")[k % 2]
        old = ANSWERS[truth] if k % 10 in wrong_old else truth
        new = ANSWERS[truth] if k % 10 in wrong_new else truth
        rows.append((f"d{k}", truth, old, new, 1, f"g{k // 2}"))
    return rows


def as_csv(rows, header=HEADER, separator=","):
    lines = [header, *rows]
    return "".join(separator.join(map(str, row)) + "\n" for row in lines).encode("utf-8")


def as_json_lines(rows, header=HEADER):
    lines = (json.dumps(dict(zip(header, row, strict=True))) for row in rows)
    return ("\n".join(lines) + "\n").encode("utf-8")


def as_arrow(rows, header=HEADER):
    return pa.table(dict(zip(header, map(list, zip(*rows, strict=True)), strict=True)))


def write_parquet(path, rows, header=HEADER):
    pq.write_table(as_arrow(rows, header), path)


def write_counts(path, rows):
    _, truth, old, new, _, _ = zip(*rows, strict=True)
    seen = op.Outcomes.from_labels(truth, {"new": new, "old": old})
    path.write_text(seen.to_json(), encoding="utf-8")


FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz")


def write_all(folder):
    for kind in KINDS:
        rows = items(kind)
        (folder / f"{kind}.csv").write_bytes(as_csv(rows))
        (folder / f"{kind}.tsv").write_bytes(as_csv(rows, separator="\t"))
        (folder / f"{kind}.jsonl").write_bytes(as_json_lines(rows))
        (folder / f"{kind}.csv.gz").write_bytes(gzip.compress(as_csv(rows), mtime=0))
        write_parquet(folder / f"{kind}.parquet", rows)
        feather.write_feather(as_arrow(rows), folder / f"{kind}.arrow", compression="uncompressed")
        write_counts(folder / f"{kind}.json", rows)
        for name, column in (("gold", 1), ("old", 2), ("new", 3)):
            data = as_csv([(row[0], row[column]) for row in rows], ("id", "label"))
            (folder / f"{kind}-{name}.csv").write_bytes(data)


def gate(kind, *more):
    """Ask about counted outcomes, which takes the least time."""
    asked = without_metric(ASKED) if "--metric" in more else ASKED
    return ["gate", f"{kind}.json", *MODELS, *asked, *more]


def table(file, *more):
    return ["gate", file, *(without_metric(TABLE) if "--metric" in more else TABLE), *more]


def without_metric(words):
    """Return words without the metric, which others replace: it must not be passed twice."""
    place = words.index("--metric")
    return [*words[:place], *words[place + 2 :]]


# The answer does not depend on how it is written


def formats():
    for style in ("text", "json", "markdown", "github"):
        for kind, code in RIGHT.items():
            yield f"{style} {kind}", Row(gate(kind, "--format", style), {code})
            allowed = {0} if kind == "open" else {code}
            more = ["--format", style, "--allow", "undecided"]
            yield f"{style} {kind} allowed", Row(gate(kind, *more), allowed)
            better = Row(gate(kind, "--format", style, "--require", "better"), {code})
            yield f"{style} {kind} better", better
        summary = Row(gate("worse", "-f", style), {1}, (("GITHUB_STEP_SUMMARY", "summary.md"),))
        yield f"{style} with a summary", summary
        yield (
            f"{style} to a file",
            Row(gate("worse", "-f", style, "-o", "answer"), {2} if style == "github" else {1}),
        )
        yield f"{style} junit", Row(gate("worse", "-f", style, "--junit", "junit.xml"), {1})


SURROUNDINGS = {
    "no colour": {"NO_COLOR": "1"},
    "colour": {"FORCE_COLOR": "1"},
    "C": {"LANG": "C", "LC_ALL": "C"},
    "Turkish": {"LC_ALL": "tr_TR.UTF-8"},
    "dumb": {"TERM": "dumb"},
    "no terminal": {"TERM": ""},
    "one column": {"COLUMNS": "1"},
    "no columns": {"COLUMNS": "0"},
    "columns in words": {"COLUMNS": "wide"},
    "no home": {"HOME": "/nonexistent"},
    "debugging": {"OUTPERFORM_DEBUG": "1"},
    "another clock": {"TZ": "Pacific/Kiritimati"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "a seed": {"PYTHONHASHSEED": "1"},
    "threads": {"OMP_NUM_THREADS": "x"},
    "an empty summary": {"GITHUB_STEP_SUMMARY": ""},
}


def surroundings():
    for name, changed in SURROUNDINGS.items():
        for kind, code in RIGHT.items():
            yield f"{name}: {kind}", Row(gate(kind), {code}, tuple(changed.items()))
    nowhere = (("GITHUB_STEP_SUMMARY", "/nonexistent/summary.md"),)
    yield "a summary nowhere", Row(gate("worse", "-f", "github"), {5}, nowhere)
    yield "a summary nowhere, better", Row(gate("better", "-f", "github"), {5}, nowhere)
    folder = (("GITHUB_STEP_SUMMARY", "."),)
    yield "a summary in a folder", Row(gate("better", "-f", "github"), {5}, folder)
    for shell in ("bash", "zsh", "fish", "powershell"):
        for step in ("complete", "source"):
            completing = {"_OUTPERFORM_COMPLETE": f"{step}_{shell}", "COMP_WORDS": "outperform "}
            changed = completing | {"COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "outperform "}
            yield f"{step} {shell}", Row(gate("worse"), UNUSUAL, tuple(changed.items()))


# Options

VALUES = {
    "--rope": ["", " ", "nan", "inf", "-inf", "-0.01", "0.02,0.01", "1,2,3", "x", "1e400", "5",
        "1", "-1,0", "-1,1", "0.01,", ",0.01", "0.01;0.02", "1%", "0,01", "0x1", "１", "nan,nan",
        "-inf,inf", "99", "1e308", "(0.01)", "--"],
    "--hdi-prob": ["", "0", "1", "-0.1", "95", "1.5", "nan", "inf", "most", "95%", "1e-400", "2",
        "0,95", "1e-9", "0.001", "0.01", "0.05", "0.49", "--"],
    "--draws": ["", "0", "-1", "1", "99", "many", "1.5", "nan", "inf", "-1e9", "0x10", "1,000",
        "--"],
    "--seed": ["", "-1", "1.5", "x", str(2**64), str(10**40), "nan", "--"],
    "--metric": ["", " ", "acuracy", "f1", "accuracy ", "recall", "precision",
        "accuracy,f1", "None", "0", "__import__", "roc_auc", "log_loss", "mean", "../accuracy",
        "accuracy\n", "f1_macro;", "*"],
    "--prior": ["-1", "nan", "inf", "-inf", "x", "1e400", "jefreys", "", "[1,2]", "strata", "pymc",
        "None", "flat", "Unit", "unit;", "--"],
    "--prevalence": ["", "nan", "x", "2", "-0.1", "a=0.5", "ham=x", "ham=0.5,ham=0.5", "0.1,0.2",
        "ham=-1,spam=2", "ham=0,spam=0", "inf", "ham=inf,spam=1", "=0.5", "ham=", "--"],
    "--pos-label": ["sapm", "", " ", "Ham", "0", "None", "ham,spam"],
    "--labels": ["spm", "", ",", "ham,,spam", "ham;spam", "Ham,Spam", "0,1"],
    "--guard": ["", ":", "::", "recall", "recall:", ":0.1", "recall::0.1", "recall:spa:0.1",
        "recall:spam:x", "recall:spam:nan", "recall:spam:-1", "recall:spam:2", "recall:spam:1",
        "recall:spam:0.5", "f1_macro:0.9", "f1_macro:50",
        "recal:spam:0.1", "accuracy:spam:0.1", "accuracy:0.01", "f1:0.1", "recall:spam",
        "recall:spam:0.1:0.1", "roc_auc:0.1", "recall:spam:0.01,-0.01", "f1_macro:spam:0.1"],
    "--require": ["", "superb", "BETTER", "worse", "not worse", "0", "pass", "--"],
    "--allow": ["", "fail", "worse", "all", "UNDECIDED", "undecided,fail", "1", "pass", "--"],
    "--format": ["", "latex", "html", "xml", "JSON", "txt", "0", "--"],
    "--cost": ["", "x", "ham:spam", "ham:spam=", "ham:spam=x", "ham=1", "ham:eggs=1", ":=1",
        "ham:spam=nan", "ham:spam=inf", "ham:spam=1"],
    "--truth": ["label", "", "x"],
    "--id": ["id", ""],
    "--weight": ["w", ""],
    "--groups": ["g", ""],
    "--where": ["", "x", "=", "=x", "label=ham"],
    "--table": ["t", ""],
    "--query": ["SELECT 1", "DROP TABLE x", ""],
    "--read-as": ["", "xlsx", "JSON", "exe"],
    "--on-missing": ["", "ignore", "DROP", "keep"],
    "--on-null": ["", "ignore", "zero"],
    "--na": ["ham", "x"],
    "--output": ["", ".", "none/answer", "/dev/null/x", "worse.csv/x"],
    "--junit": ["", ".", "none/junit.xml", "/dev/null/x"],
    "--report": ["", ".", "none/page.html", "/dev/null/x"],
    "--pool": ["", "none.csv"],
    "--human": ["", "none.csv"],
    "--drawn": ["", "random", "by_ratings", "none"],
    "--unit": ["EUR", ""],
    "--nonsense": ["", "x"],
    "--candidate": ["", "old", "nwe", "label", "0", "New", "new "],
    "--baseline": ["", "new", "odl", "label", "0", "Old", "old "],
}  # fmt: skip
# What is unusual and has an answer all the same, which on worse data is never a pass.
ODD = {
    "--rope": ["0", "0.0", "-0", "-0.0", "1e-300", "0.3,0.4", "-0.05,0.9", "-0.02,0.01", "1e-2",
        " 0.01", "0_1e-2", "-0.01,-0.01", "0,1", "±0.01"],
    "--hdi-prob": ["0.5", "0.999999", "0.99999999999"],
    "--draws": ["100", "101", "1e3", "1_000"],
    "--seed": ["0", "1", str(2**64 - 1), "007"],
    "--prior": ["0.5", "1e-9", "1e-300", "uniform", "jeffreys", "1e4", "1e9", "1e300", "0", "unit",
        "hierarchical", "learned", "bootstrap"],
    "--prevalence": ["ham=0.5", "ham=1,spam=1", "ham=1e-9,spam=1", "ham=1,spam=0", "0.5", "0",
        "1", "ham=1e300,spam=1", "ham=0.999999999"],
    "--metric": ["balanced_accuracy", "f1_macro", "f1_micro", "f1_weighted", "matthews_corrcoef",
        "jaccard_macro", "precision_macro", "recall_macro", "cohen_kappa"],
    "--labels": ["ham", "spam", "ham,spam", "spam,ham", "ham,ham"],
    "--guard": ["recall:spam:0.02", "recall:ham:0", "precision:spam:-0.9,0.1"],
    "--unpaired": [],
}  # fmt: skip
FLAGS = ("--unpaired", "--no-header", "--confusion", "--no-na", "--empty-is-label")


def options():
    for option, values in VALUES.items():
        yield f"{option} without a value", Row(gate("worse", option), {2})
        for value in values:
            codes = REFUSED if option not in ("--labels", "--where", "--id") else UNUSUAL
            arguments = gate("worse", option, value)
            if option == "--cost":
                arguments = [one for one in arguments if one not in ("--metric", "accuracy")]
                codes = REFUSED | {1, 4}
            if option in ("--truth", "--weight", "--groups", "--table", "--query"):
                codes = UNUSUAL
            if value == "--":  # ends the options, as everywhere
                codes = REFUSED
            yield f"{option} {value!r}", Row(arguments, codes)
    for option, values in ODD.items():
        for value in values:
            row = Row(gate("worse", option, value), UNUSUAL)
            yield f"odd {option} {value!r}", row
    for flag in FLAGS:
        yield flag, Row(gate("worse", flag), UNUSUAL)
        yield f"{flag} with a value", Row(gate("worse", f"{flag}=yes"), {2})
    for name, arguments in {
        "nothing": ["gate"],
        "no models": ["gate", "worse.json"],
        "no file": ["gate", *MODELS, *ASKED],
        "an empty file name": ["gate", "", *MODELS, *ASKED],
        "a short option": gate("worse", "-x"),
        "a shortened option": gate("worse", "--cand", "new"),
        "an option of another command": gate("worse", "--sizes", "100"),
        "two files": ["gate", "worse.json", "better.json", *MODELS, *ASKED],
        "four files": ["gate", *["worse.csv"] * 4, *TABLE],
        "a wrong command": ["gat", *gate("worse")[1:]],
        "a command in capitals": ["GATE", *gate("worse")[1:]],
        "options before the command": ["--rope", "0.01", *gate("worse")],
        "no such table": ["gate", "none.json", *MODELS, *ASKED],
        "draws beyond memory": gate("worse", "--draws", str(10**12)),
        "draws of a googol": gate("worse", "--draws", "1" + "0" * 100),
        "the same guard twice": gate("worse", *["--guard", "recall:spam:0.1"] * 2),
        "a name of a megabyte": gate("worse", "--metric", "f" * 1_000_000),
        "an address of nothing": ["gate", "bigquery://", *TABLE],
        "a web page": ["gate", "https://127.0.0.1:1/x.csv", *TABLE],
    }.items():
        yield name, Row(arguments, REFUSED)
    yield "the last of two ropes", Row(gate("worse", "--rope", "-0.8,0.01", "--rope", "0.01"), {1})
    # A wide ROPE is the user's; it passes what is not worse by more than that.
    yield "a wide rope", Row(gate("worse", "--rope", "-0.8,0.01"), {0})
    yield (
        "a guard that fails",
        Row(gate("worse", "--rope", "-0.8,0.01", "--guard", "recall:spam:0.01"), {1}),
    )
    for asked in ("--help", "-h", "--help-all"):
        yield f"gate {asked}", Row(["gate", asked], {0})


# Files

DAMAGES = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "a header": lambda data: data[:20],
    "half": lambda data: data[: len(data) // 2],
    "all but one byte": lambda data: data[:-1],
    "all but the beginning": lambda data: data[10:],
    "zeros": lambda data: bytes(len(data)),
    "zeros behind it": lambda data: data + bytes(100),
    "twice": lambda data: data + data,
    "a mark in front": lambda data: b"\xef\xbb\xbf" + data,
    "another mark in front": lambda data: b"\xff\xfe" + data,
    "not text": lambda data: data.replace(b"ham", b"h\xffm"),
    "a zero byte": lambda data: data.replace(b"ham", b"h\0m", 1),
    "returns": lambda data: data.replace(b"\n", b"\r"),
    "Windows": lambda data: data.replace(b"\n", b"\r\n"),
    "no ends of lines": lambda data: data.replace(b"\n", b""),
    "a quote": lambda data: data.replace(b"spam", b'"spam', 1),
    "backwards": lambda data: data[::-1],
}


def files():
    for kind in FORMATS:
        for name, code in RIGHT.items():
            yield f"{kind} {name}", Row(table(f"{name}.{kind}"), {code})
        for other in FORMATS:
            if other != kind:
                Path(f"worse-{kind}-as.{other}").write_bytes(Path(f"worse.{kind}").read_bytes())
                row = Row(table(f"worse-{kind}-as.{other}"), UNUSUAL)
                yield f"{kind} called {other}", row
    for kind in ("csv", "jsonl", "parquet", "arrow"):
        whole = Path(f"worse.{kind}").read_bytes()
        for name, damage in DAMAGES.items():
            path = f"{name.replace(' ', '-')}.{kind}"
            Path(path).write_bytes(damage(whole))
            yield f"{kind}: {name}", Row(table(path), UNUSUAL)
        for place in range(7, len(whole) * 8, len(whole) * 8 // 5):
            flipped = bytearray(whole)
            flipped[place // 8] ^= 1 << place % 8
            path = f"flip-{place}.{kind}"
            Path(path).write_bytes(bytes(flipped))
            yield f"{kind}: bit {place}", Row(table(path), UNUSUAL)
    whole = Path("better.csv").read_bytes()
    for name, damage in DAMAGES.items():
        path = f"better-{name.replace(' ', '-')}.csv"
        Path(path).write_bytes(damage(whole))
        yield f"better csv: {name}", Row(table(path), UNUSUAL - {1} | {0})
    for place in (".", "/dev/null", "/dev/zero", "loop", "worse.csv/", "~/worse.csv", "worse.csv\n",
                  "*.nothing", "//", "\N{SNOWMAN}.csv", "-"):  # fmt: skip
        yield f"place {place!r}", Row(table(place), REFUSED)
    for name in ("größe ☃.csv", "-worse.csv", "a b.csv", "a'b.csv", 'a"b.csv', "a;b.csv",
                 "$(x).csv", "worse.csv.csv", "日本.csv"):  # fmt: skip
        Path(name).write_bytes(Path("worse.csv").read_bytes())
        yield f"named {name!r}", Row(["gate", f"./{name}", *TABLE], {1})


EACH = {name: (["--id", "id"], ["--groups", "g"]) for name in ("one row", "ids twice", "no ids")}
EACH |= dict.fromkeys(
    ("a hole in new", "a hole in old", "a hole in the truth"), (["--on-null", "drop"],)
)


def contents():
    """Write columns that are not what they should be."""
    rows = items("worse")

    def changed(column, change, source=rows):
        at = HEADER.index(column)
        return [(*row[:at], change(k, row[at]), *row[at + 1 :]) for k, row in enumerate(source)]

    half = [row for row in rows if int(row[0][1:]) < 60]
    tables = {
        "no rows": [],
        "one row": rows[:1],
        "two rows": rows[:2],
        "one class": [(row[0], "ham", "ham", "ham", 1, "g") for row in rows],
        "all the same": changed("new", lambda k, _: "ham"),
        "a hole in new": changed("new", lambda k, value: "" if k == 7 else value),
        "a hole in old": changed("old", lambda k, value: "" if k == 7 else value),
        "a hole in the truth": changed("label", lambda k, value: "" if k == 7 else value),
        "nan in new": changed("new", lambda k, value: "nan" if k == 7 else value),
        "NaN everywhere": changed("new", lambda k, _: "NaN"),
        "infinite": changed("new", lambda k, _: "inf"),
        "a score": changed("new", lambda k, _: k / 1000),
        "an id for a label": changed("new", lambda k, _: f"d{k}"),
        "numbers for labels": changed("new", lambda k, _: k % 2),
        "one more class": changed("new", lambda k, value: "eggs" if k == 7 else value),
        "new in capitals": changed("new", lambda _, value: value.upper()),
        "new with spaces": changed("new", lambda _, value: f"{value} "),
        "a label of ten thousand": changed("new", lambda k, v: "x" * 10_000 if k == 7 else v),
        "controls": changed("new", lambda k, value: "\x9b31m" if k == 7 else value),
        "commands of a log": changed("new", lambda k, value: "::error::x" if k == 7 else value),
        "ids twice": [*rows, *rows],
        "ids repeated": changed("id", lambda k, _: "d0"),
        "no ids": changed("id", lambda k, _: ""),
    }
    for name, made in tables.items():
        path = f"content {name}.csv"
        Path(path).write_bytes(as_csv(made))
        for more in ([], *EACH.get(name, ())):
            yield f"{name} {' '.join(more)}", Row(table(path, *more), UNUSUAL)
    weights = {"negative": -1, "zero": 0, "nan": "nan", "infinite": "inf", "words": "x",
               "fractions": 0.5, "huge": 10**30, "a hole": "", "tiny": 1e-300}  # fmt: skip
    for name, weight in weights.items():
        path = f"weights {name}.csv"
        Path(path).write_bytes(as_csv(changed("w", lambda k, _, w=weight: w if k % 3 else 1)))
        yield f"weights {name}", Row(table(path, "--weight", "w"), UNUSUAL)
    Path("gold.csv").write_bytes(Path("worse-gold.csv").read_bytes())
    Path("few.csv").write_bytes(as_csv([(row[0], row[3]) for row in half], ("id", "label")))
    Path("others.csv").write_bytes(as_csv([(f"x{r[0]}", r[3]) for r in rows], ("id", "label")))
    Path("again.csv").write_bytes(as_csv([(row[0], row[3]) for row in rows * 2], ("id", "label")))
    joined = ["--id", "id", "--label", "label", "--baseline", "worse-old", *ASKED]
    for name, code in (("worse-new", {1}), ("few", {3}), ("others", {3}), ("again", {3})):
        sources = ["gold.csv", "worse-old.csv", f"{name}.csv"]
        asked = ["gate", *sources, *joined, "--candidate", name]
        yield f"joined {name}", Row(asked, code)
        dropped = {"worse-new": {1}, "few": UNUSUAL}.get(name, {3})
        yield f"joined {name}, dropping", Row([*asked, "--on-missing", "drop"], dropped)
    yield "joined without an id", Row(["gate", *sources, *joined[2:]], {2})
    for role in ("--candidate", "--baseline", "--truth"):
        for column in ("id", "w", "g", "label", "Label", "new", "old"):
            if (role, column) not in (
                ("--candidate", "new"), ("--baseline", "old"), ("--truth", "label"),
                ("--baseline", "id"), ("--baseline", "w"), ("--baseline", "g"),
                ("--truth", "id"), ("--truth", "w"), ("--truth", "g"),
            ):  # fmt: skip
                yield f"{role} {column}", Row(table("worse.csv", role, column), UNUSUAL)


SPELLINGS = {
    "capitals": str.upper,
    "a capital": str.capitalize,
    "a space behind": lambda label: f"{label} ",
    "a space in front": lambda label: f" {label}",
    "quotes": lambda label: f"'{label}'",
    "no-break space": lambda label: f"{label}\u00a0",
    "full width": lambda label: "".join(chr(ord(c) + 0xFEE0) for c in label),
    "zero width": lambda label: f"{label}\u200b",
    "numbers": lambda label: str(len(label)),
    "fractions": lambda label: f"{len(label)}.0",
    "other words": lambda label: f"class {label}",
    "one word": lambda label: "none",
    "yes and no": lambda label: {"ham": "no", "spam": "yes"}[label],
}


def spellings():
    """Write one column's labels differently; it then never has a label that is ever true."""
    rows = items("worse")
    for column in ("old", "label"):
        at = HEADER.index(column)
        for name, spelled in SPELLINGS.items():
            path = f"{column} in {name}"
            made = [(*row[:at], spelled(row[at]), *row[at + 1 :]) for row in rows]
            Path(f"{path}.csv").write_bytes(as_csv(made))
            write_counts(Path(f"{path}.json"), made)
            if column == "old":
                yield f"{path}, a file", Row(table(f"{path}.csv"), {3, 4})
                yield f"{path}, macro", Row(gate(path, "--metric", "f1_macro"), {3, 4})
            yield f"{path}, allowed", Row(gate(path, "--allow", "undecided"), {3, 4})
    for column in ("id", "w", "g"):
        for role in ("--baseline", "--truth"):
            for more in ([], ["--allow", "undecided"]):
                row = Row(table("worse.csv", role, column, *more), REFUSED | {4})
                yield f"{role} {column} {' '.join(more)}", row


def baselines():
    """Keep what the old model said as a file and damage that; the candidate is far worse."""
    for kind in ("csv", "parquet"):
        for name, column in (("old", 2), ("new", 3)):
            rows = [(row[0], row[1], row[column]) for row in items("worse")]
            if kind == "csv":
                Path(f"k-{name}.csv").write_bytes(as_csv(rows, ("id", "label", "said")))
            else:
                write_parquet(Path(f"k-{name}.parquet"), rows, ("id", "label", "said"))
        whole = Path(f"k-old.{kind}").read_bytes()
        named = ["--id", "id", "--truth", "label", "--label", "said", "--candidate", "k-new"]
        asked = ["gate", f"k-new.{kind}", *named, *ASKED]
        yield f"a kept {kind}", Row([*asked, f"k-old.{kind}", "--baseline", "k-old"], {1})
        for name, damage in DAMAGES.items():
            path = f"b-{name.replace(' ', '-')}"
            Path(f"{path}.{kind}").write_bytes(damage(whole))
            row = Row([*asked, f"{path}.{kind}", "--baseline", path], UNUSUAL)
            yield f"kept {kind}: {name}", row
        for place in range(3, len(whole) * 8, len(whole) * 8 // 12):
            flipped = bytearray(whole)
            flipped[place // 8] ^= 1 << place % 8
            path = f"b-{place}"
            Path(f"{path}.{kind}").write_bytes(bytes(flipped))
            row = Row([*asked, f"{path}.{kind}", "--baseline", path], UNUSUAL)
            yield f"kept {kind}: bit {place}", row
        for other in ("worse.json", "better.csv", "worse.parquet", "worse.arrow", "open.tsv"):
            row = Row([*asked, other, "--baseline", other.split(".")[0]], REFUSED)
            yield f"kept {kind} beside {other}", row


def counts():
    """Damage stored counts, which carry a checksum; the candidate is far worse than these."""
    for name in ("old", "new"):
        counted = ["count", "worse.csv", "--truth", "label", "--model", name]
        assert main([*counted, "-o", f"counts-{name}.json"]) == 0
    whole = Path("counts-old.json").read_bytes()
    facts = json.loads(whole)
    asked = ["gate", "counts-new.json", *MODELS, *ASKED]
    yield "stored counts", Row([*asked, "counts-old.json"], {1})
    damaged = {f"counts: {name}": damage(whole) for name, damage in DAMAGES.items()}
    for place in range(0, len(whole) * 8, len(whole) * 8 // 60):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        damaged[f"counts: bit {place}"] = bytes(flipped)
    for key in facts:
        damaged[f"counts: no {key}"] = json.dumps(facts | {key: None}).encode()
        damaged[f"counts: {key} of 10**400"] = json.dumps(facts | {key: 10**400}).encode()
    damaged["counts: deep"] = b"[" * 100_000
    damaged["counts: many digits"] = b'{"schema": ' + b"9" * 5000 + b"}"
    for number, (name, data) in enumerate(damaged.items()):
        Path(f"counts-{number}.json").write_bytes(data)
        # A byte that JSON does not mind, such as one more line at the end, leaves the answer.
        yield name, Row([*asked, f"counts-{number}.json"], {1, 2, 3})


def undecided():
    """Nothing but thin evidence is let through by ``--allow undecided``."""
    allow = ["--allow", "undecided"]
    yield "thin evidence", Row(gate("open", *allow), {0})
    Path("rare.csv").write_bytes(
        as_csv([(*row[:4], 1, "g") if k else ("d0", "ham", "ham", "rare", 1, "g")
                for k, row in enumerate(items("open"))])
    )  # fmt: skip
    for guard in ("recall:rare:0.05", "recall:rare:-0.9,0.01", "f1:rare:-0.9,0.01"):
        row = Row(table("rare.csv", "--guard", guard, *allow), UNUSUAL - {1})
        yield f"no data for {guard}", row if guard[0] == "r" else Row(row.arguments, {0, 4})
    yield (
        "a prior that outweighs the data",
        Row(gate("worse", "--prior", "1e9", *allow), {4}),
    )
    yield (
        "a prior that outweighs better data",
        Row(
            gate("better", "--prior", "1e9", "--rope", "0.001", *allow),
            {0, 4},
        ),
    )
    for kind in ("worse", "better"):
        yield f"{kind} with an allowance", Row(gate(kind, *allow), {RIGHT[kind]})


# Scores: one huge error of the baseline, and a quantile that no item lies beyond


def scored():
    asked = [*MODELS, "--rope", "0.01", "--draws", "400", "--require", "better"]
    near = [((7 * k) % 11 - 5) / 10 for k in range(60)]
    rows = [(f"d{k}", k % 5, k % 5 + near[k], k % 5 + near[-k]) for k in range(60)]
    header = ("id", "target", "old", "new")
    even = [("d0", 0, 30.0, near[-1]), *rows[1:]]
    for name, given in (("even.csv", rows), ("huge.csv", even), ("few.csv", _apart(rows[:15]))):
        Path(name).write_bytes(as_csv(given, header))
    of_errors = ["--truth", "target", "--metric", "rmse"]
    yield "as good", Row(["gate", "even.csv", *of_errors, *asked], {1, 4})
    yield "one huge error of the baseline", Row(["gate", "huge.csv", *of_errors, *asked], {4})
    yield (
        "the 95th percentile of 15 items",
        Row(["gate", "few.csv", "--metric", "p95", *asked], {4}),
    )


def _apart(rows):
    return [(*row[:2], row[2], row[3] + 9) for row in rows]


# Missing values: of undecided models, most of the baseline's right predictions are lost, which
# would pass if a lost prediction counted as a wrong one


def without(value, column="old", task=False):
    """Return undecided rows with a value instead of most of a column."""
    at = HEADER.index(column)
    rows = [
        (*row[:at], value, *row[at + 1 :]) if k % 10 in range(2, 8) else row
        for k, row in enumerate(items("open"))
    ]
    return [(*row[:5], f"t{k % 4 // 2}") for k, row in enumerate(rows)] if task else rows


def write_formats(stem, rows):
    typed = [tuple(None if value is None else str(value) for value in row) for row in rows]
    texts = [tuple("" if value is None else value for value in row) for row in rows]
    Path(f"{stem}.csv").write_bytes(as_csv(texts))
    Path(f"{stem}-quoted.csv").write_bytes(as_csv([(*r[:2], f'"{r[2]}"', *r[3:]) for r in texts]))
    Path(f"{stem}.tsv").write_bytes(as_csv(texts, separator="\t"))
    Path(f"{stem}.csv.gz").write_bytes(gzip.compress(as_csv(texts), mtime=0))
    Path(f"{stem}.jsonl").write_bytes(as_json_lines(typed))
    write_parquet(f"{stem}.parquet", typed)
    Path(f"{stem}-folder").mkdir(exist_ok=True)
    half = len(texts) // 2
    for name, part in (("a", texts[:half]), ("b", texts[half:])):
        Path(f"{stem}-folder/{name}.csv").write_bytes(as_csv(part))
    ends = (".csv", "-quoted.csv", ".tsv", ".csv.gz", ".jsonl", ".parquet", "-folder")
    return [f"{stem}{end}" for end in ends]


def missing():
    allow = ["--allow", "undecided"]
    for file in write_formats("lost", without(None)):
        yield f"lost in {file}", Row(table(file), {3})
        yield f"lost in {file}, better", Row(table(file, "--require", "better", *allow), {3})
        yield f"lost in {file}, dropped", Row(table(file, "--on-null", "drop"), {4})
        # A label by declaration, it is still a class that is never true.
        declared = {3} if file.endswith(("jsonl", "parquet")) else {4}
        yield f"lost in {file}, a label", Row(table(file, "--empty-is-label"), declared)
    for text in ("NA", " "):
        files = write_formats(f"text-{text.strip() or 'blank'}", without(text))
        for file in files[::2] if text == "NA" else files[:1]:
            yield f"{text!r} in {file}", Row(table(file), {4})
            yield f"{text!r} in {file}, allowed", Row(table(file, *allow), {4})
            yield f"{text!r} in {file}, declared missing", Row(table(file, "--na", text), {3})
            dropped = Row(table(file, "--na", text, "--on-null", "drop"), {4})
            yield f"{text!r} in {file}, dropped", dropped
            yield f"{text!r} in {file}, declared a label", Row(table(file, "--no-na"), {4})
            twice = Row(table(file, "--no-na", "--never-true", text), {0})
            yield f"{text!r} in {file}, declared a label that is never true", twice
    for file in ("empty.jsonl", "empty.parquet"):
        write_formats("empty", without(""))
        yield f"the empty text in {file}", Row(table(file, *allow), {4})
        yield f"the empty text in {file}, a label", Row(table(file, "--empty-is-label"), {4})
    for column, option in (("w", "--weight"), ("g", "--groups"), ("id", "--id")):
        path = f"lost-{column}.csv"
        Path(path).write_bytes(as_csv(without("", column)))
        yield f"lost {column}", Row(table(path, option, column), {3})
        code = {3} if column == "id" else {4}
        yield f"lost {column}, dropped", Row(table(path, option, column, "--on-null", "drop"), code)
    for value, code in (("", {3}), ("NA", {4})):
        name = value or "nothing"
        path = f"tasks-{name}.csv"
        Path(path).write_bytes(as_csv(without(value, task=True)))
        yield f"tasks with {name}", Row(table(path, "--by", "g", *allow), code)
        rows = without(value)
        for owner, at in (("gold", 1), ("before", 2), ("after", 3)):
            data = as_csv([(row[0], row[at]) for row in rows], ("id", "label"))
            Path(f"{owner}-{name}.csv").write_bytes(data)
        files = [f"{owner}-{name}.csv" for owner in ("gold", "before", "after")]
        models = ["--candidate", f"after-{name}", "--baseline", f"before-{name}"]
        asked = ["--truth", f"gold-{name}", "--id", "id", "--label", "label", *models, *ASKED]
        yield f"joined with {name}", Row(["gate", *files, *asked], code)
        yield (
            f"joined with {name}, dropped",
            Row(["gate", *files, *asked, "--on-null", "drop"], {4}),
        )
        counted = op.read(path, truth="label", models=["new", "old"], on_null="drop")
        Path(f"counted-{name}.json").write_text(counted.to_json(), encoding="utf-8")
        row = Row(["gate", f"counted-{name}.json", *MODELS, *ASKED, *allow], {4} if value else {0})
        yield f"counted with {name}", row
    right = []
    for k, row in enumerate(items("open")):
        lost = k % 10 in range(2, 8)
        right += [(row[0], "old", "" if lost else int(row[1] == row[2]))]
        right += [(row[0], "new", int(row[1] == row[3]))]
    Path("long.csv").write_bytes(as_csv(right, ("id", "model", "score")))
    long = ["--read-as", "long", "--id", "id", "--model-column", "model", "--score", "score"]
    yield "long with nothing", Row(["gate", "long.csv", *long, *MODELS, *ASKED], {3})
    dropped = Row(["gate", "long.csv", *long, *MODELS, *ASKED, "--on-null", "drop"], {4})
    yield "long with nothing, dropped", dropped


# The baseline's labels are partly spelled otherwise, or it gives answers that are never true

RESPELLED = {
    "in capitals": lambda k, value: value.upper() if value == "spam" else value,
    "with a blank": lambda k, value: f"{value} " if value == "spam" else value,
    "half in capitals": lambda k, value: value.upper() if k % 4 < 2 else value,
    "a third in capitals": lambda k, value: value.upper() if k % 3 == 0 else value,
    "with a full stop": lambda k, value: f"{value}." if value == "spam" else value,
    "in wide letters": lambda k, value: value.replace("s", "\uff53"),
    "with what is not seen": lambda k, value: value.replace("s", "s\u200b"),
    "by another name": lambda k, value: "junk" if value == "spam" else value,
    "refusing": lambda k, value: "refusal" if k % 2 and k % 3 else value,
}
ANSWERED = {"spam": "yes", "ham": "no"}


def respelled():
    rows, allow = items("worse"), ["--allow", "undecided"]
    for name, change in RESPELLED.items():
        path = f"old {name}.csv"
        made = [(*row[:2], change(k, row[2]), *row[3:]) for k, row in enumerate(rows)]
        Path(path).write_bytes(as_csv(made))
        yield f"old {name}", Row(table(path, *allow), {4})
        data = as_csv([(row[0], row[2]) for row in made], ("id", "label"))
        Path(f"own {name}.csv").write_bytes(data)
        joined = ["gate", "worse-gold.csv", "worse-new.csv", f"own {name}.csv", "--id", "id"]
        models = ["--candidate", "worse-new", "--baseline", f"own {name}"]
        asked = ["--label", "label", "--truth", "worse-gold", *models, *ASKED]
        yield f"joined, old {name}", Row([*joined, *asked, *allow], {4})
        _, truth, old, new, _, _ = zip(*made, strict=True)
        seen = op.Outcomes.from_labels(truth, {"new": new, "old": old})
        Path(f"old {name}.json").write_text(seen.to_json(), encoding="utf-8")
        yield f"stored, old {name}", Row(["gate", f"old {name}.json", *MODELS, *ASKED], {4})
    for word in ("y", "YES", "true", "1", "on", "positive"):
        made = [(row[0], *(ANSWERED[one] for one in row[1:4]), *row[4:]) for row in rows]
        made = [(*row[:2], word if row[2] == "yes" else row[2], *row[3:]) for row in made]
        Path(f"old says {word}.csv").write_bytes(as_csv(made))
        yield f"old says {word}", Row(table(f"old says {word}.csv", *allow), {4})
    refusing = "old refusing.csv"
    declared = ["--never-true", "refusal"]
    yield "another class is declared", Row(table(refusing, "--never-true", "eggs"), {4})
    yield "a true class is declared", Row(table(refusing, "--never-true", "ham"), {3})
    yield (
        "a class is declared of scores",
        Row([*table("worse.csv"), "--metric", "mean", *declared], {2}),
    )
    guarded = ["--rope", "-0.9,0.01", "--guard", "recall:spam:0.1"]
    yield "a guard on what old refuses", Row(table(refusing, *guarded, *allow), {4})
    by = ["--by", "g", *allow]
    made = [(*row[:5], k % 2) for k, row in enumerate(rows)]
    made = [
        (*row[:2], RESPELLED["half in capitals"](k, row[2]), *row[3:]) for k, row in enumerate(made)
    ]
    Path("old by task.csv").write_bytes(as_csv(made))
    yield "tasks", Row(table("old by task.csv", *by), UNUSUAL)
    seen = op.Outcomes.from_json(Path("old half in capitals.json").read_text(encoding="utf-8"))
    op.Monitor("looks", "new", "old").add(seen, key="first")
    watched = ["watch", "looks", "--a", "new", "--b", "old", *ASKED, "--once"]
    yield "a look", Row(watched, {4})


def replaced():
    """Write folders whose baseline becomes better under its name, or changes its version."""
    random = np.random.default_rng(0)

    def fill(folder, old, versions=("v1",) * 8):
        for day, (right, version) in enumerate(zip(old, versions, strict=True)):
            truth = random.integers(0, 2, size=400)
            models = {
                name: np.where(random.random(400) < p, truth, 1 - truth)
                for name, p in (("new", 0.85), ("old", right))
            }
            op.Monitor(folder, "new", "old").add(
                truth, models, key=f"day{day}", versions={"old": version}
            )

    fill("steady", [0.7] * 8)
    fill("replaced", [0.7] * 6 + [0.95] * 2)
    fill("restored", [0.7] * 5 + [0.95] + [0.7] * 2)
    fill("versions", [0.7] * 8, ["v1"] * 7 + ["v2"])
    asked = ["--a", "new", "--b", "old", "--metric", "accuracy", "--rope", "0.01", "--once"]
    yield "no model was replaced", Row(["watch", "steady", *asked], {0})
    for folder in ("replaced", "restored", "versions"):
        yield f"watch, {folder}", Row(["watch", folder, *asked], {4})
        for rule in ("width=0.05", "decision", "width=0.2"):  # these hold before the change
            name = f"watch, {folder}, {rule}"
            yield name, Row(["watch", folder, *asked, "--stop", rule], {4})


def unseen():
    """Write a test set in which nobody saw the positive class."""
    rows = [
        (f"d{k}", "ham", "spam" if k % 60 == 0 else "ham", "spam" if k % 60 == 5 else "ham", 1, "g")
        for k in range(1200)
    ]
    Path("unseen.csv").write_bytes(as_csv(rows))
    allow, rope = ["--allow", "undecided"], ["--rope", "0.05"]
    whole = ("balanced_accuracy", "f1_macro", "recall_macro", "matthews_corrcoef", "cohen_kappa")
    for metric in whole:
        for labels in ([], ["--labels", "ham,spam"]):
            asked = ["--metric", metric, *rope, *labels, *allow]
            yield f"nobody saw spam: {metric} {labels}", Row(table("unseen.csv", *asked), {4})
    for metric in ("f1", "precision", "recall", "jaccard", "informedness"):
        asked = ["--metric", metric, "--pos-label", "spam", *rope, *allow]
        yield f"nobody saw spam: {metric}", Row(table("unseen.csv", *asked), {4})
        guard = ["--guard", f"{metric}:spam:0.1", "--never-true", "spam", *allow]
        yield f"nobody saw spam: guard {metric}", Row(table("unseen.csv", *guard), {4})
    shares = ["--prevalence", "spam=0.02,ham=0.98", "--never-true", "spam", *allow]
    yield "nobody saw spam, which has a share", Row(table("unseen.csv", *shares), {4})


def inspect_log(model, share, change=None, n=60):
    """Return a log of inspect_ai as a header and samples, after a change to them."""
    right = [k % 10 < share for k in range(n)]
    samples = [
        {
            "id": f"q{k}",
            "epoch": 1,
            "input": f"What is {k}?",
            "target": f"{k}",
            "scores": {"match": {"value": "C" if one else "I"}},
        }
        for k, one in enumerate(right)
    ]
    metrics = {"accuracy": {"name": "accuracy", "value": sum(right) / n}}
    header = {
        "status": "success",
        "eval": {"task": "arc", "model": model},
        "results": {
            "total_samples": n,
            "completed_samples": n,
            "scores": [{"name": "match", "scorer": "match", "metrics": metrics}],
        },
    }
    if change is not None:
        change(header, samples)
    return header, samples


def of_every(key, value):
    def change(_, samples):
        for k, sample in enumerate(samples):
            sample[key] = value(k)

    return change


def of_results(key, value):
    return lambda header, _: header["results"].update({key: value})


LOG_FAULTS = {
    "other gold": of_every("target", lambda k: f"not {k}"),
    "other questions": of_every("input", lambda k: f"Why is {k}?"),
    "too many samples": of_results("total_samples", 1000),
    "too few completed": of_results("completed_samples", 3),
    "another accuracy": lambda header, _: header["results"]["scores"][0]["metrics"].update(
        accuracy={"name": "accuracy", "value": 0.1}
    ),
    "invalidated": lambda header, _: header.update(invalidated=True),
    "an error": lambda header, _: header.update(status="error"),
    "no status": lambda header, _: header.pop("status"),
    "half an epoch": of_every("epoch", lambda k: 1.5),
    "an endless epoch": of_every("epoch", lambda k: float("inf")),
    "an epoch of 10**400": of_every("epoch", lambda k: 10**400),
}


def logs():
    """Write logs in which the candidate is better, and then a fault into its log."""
    asked = ["--candidate", "new", "--baseline", "old", "--rope", "0.01", "--draws", "400"]

    def folder(name, ending, change=None, edit=lambda text: text):
        path = Path("logs", f"{name} {ending}")
        path.mkdir(parents=True, exist_ok=True)
        for model, share, own in (("old", 5, None), ("new", 9, change)):
            header, samples = inspect_log(model, share, own)
            text = json.dumps(samples)
            text = edit(text) if model == "new" else text
            stem = f"2026-01-01T00-00-00+00-00_arc_{model}"
            # The baseline is always one file of JSON.
            if ending == "json" or model == "old":
                whole = json.dumps(header)[:-1] + f', "samples": {text}}}'
                (path / f"{stem}.json").write_text(whole, encoding="utf-8")
                continue
            with zipfile.ZipFile(path / f"{stem}.eval", "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("header.json", json.dumps(header))
                archive.writestr("summaries.json", text)
        return ["gate", str(path), "--read-as", "inspect", *asked]

    def twice(text):
        return text.replace('"value": "I"', '"value": "I", "value": "C"')

    for ending in ("json", "eval"):
        yield f"logs, {ending}", Row(folder("whole", ending), {0})
        for name, change in LOG_FAULTS.items():
            yield f"logs, {ending}: {name}", Row(folder(name, ending, change), {3})
        row = Row(folder("keys twice", ending, edit=twice), {3})
        yield f"logs, {ending}: keys that occur twice", row
    for name, line in {
        "whole": {},
        "other gold": {"target": "x", "target_hash": "x"},
        "other questions": {"doc_hash": "x"},
        "other documents": {"doc_hash": None, "doc": {"q": "x"}},
    }.items():
        for model, share, own in (("old", 5, {}), ("new", 9, line)):
            path = Path("harness", name, model)
            path.mkdir(parents=True, exist_ok=True)
            lines = [
                {"doc_id": k, "doc": {"q": k}, "doc_hash": f"h{k}", "target": k, "target_hash": k}
                | {"filter": "none", "metrics": ["acc"], "acc": float(k % 10 < share)}
                | own
                for k in range(60)
            ]
            text = "".join(json.dumps(one) + "\n" for one in lines)
            (path / "samples_arc_2026-01-01T00-00-00.jsonl").write_text(text, encoding="utf-8")
        row = Row(["gate", str(path.parent), *asked], {3} if line else {0})
        yield f"logs of lm_eval: {name}", row


POLICIES = {
    "half": "arc = 0.5\ngsm = 0.5\nmm = 0.5",
    "nearly all": "arc = 0.9\ngsm = 0.9\nmm = 0.9",
    "half of one": "arc = 0.5",
    "one": "arc = 1\ngsm = 1.0\nmm = 1",
    "per cent": "arc = 2\ngsm = 2\nmm = 2",
    "fifty": "arc = 50",
    "nan": "arc = nan",
    "negative": "arc = -0.01",
    "true": "arc = true",
    "a task that is not there": "arcc = 0.01",
    "advisory all": "arc = 'advisory'\ngsm = 'advisory'\nmm = 'advisory'",
}


def policies():
    """Judge tasks by a file; the candidate is far worse on each of three."""
    lines = ["task,old,new"]
    for k in range(360):
        lines.append(f"{('arc', 'gsm', 'mm')[k % 3]},{int(k % 10 > 0)},{int(k % 10 > 4)}")
    Path("tasks.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = ["gate", "tasks.csv", "--correct", "old", "--correct", "new", "--by", "task", *MODELS]
    asked += ["--draws", "400"]
    yield "no policy", Row(asked, {1})
    for name, text in POLICIES.items():
        Path("policy.toml").write_text(f"[tasks]\n{text}\n", encoding="utf-8")
        yield f"policy: {name}", Row([*asked, "--policy", "policy.toml"], REFUSED)
    for rope in ("0.5", "0.9", "1", "50", "arc=0.5,gsm=0.5,mm=0.5"):
        yield f"tasks with --rope {rope}", Row([*asked, "--rope", rope], REFUSED)
    for prob in ("0.01", "0.3"):
        yield f"tasks with --hdi-prob {prob}", Row([*asked, "--hdi-prob", prob], REFUSED)


def levels():
    """Ask for an interval so narrow that it lies on one side of any edge."""
    for prob in ("1e-9", "0.01", "0.2", "0.49"):
        for kind in KINDS:
            yield f"{kind} at {prob}", Row(gate(kind, "--hdi-prob", prob), REFUSED)
    for kind in ("worse", "better"):
        yield f"{kind} at 0.5", Row(gate(kind, "--hdi-prob", "0.5"), {RIGHT[kind]})


# People who look where an answer is wrong, and what is declared of it


def write_judged(name, *, shares, judge, often, chance=None):
    """Write a judge's verdicts on 1,000 items, and people's on those that they looked at."""
    rng = np.random.default_rng(5)
    right = {model: rng.random(1_000) < share for model, share in shares.items()}
    said = {model: rng.random(1_000) < np.where(bits, *judge) for model, bits in right.items()}
    weights = np.where(right["old"], 1.0, often)
    chances = weights * 300 / weights.sum()
    looked = np.flatnonzero(rng.random(1_000) < chances)
    rows = [(f"q{k}", int(said["new"][k]), int(said["old"][k])) for k in range(1_000)]
    Path(f"{name}.csv").write_bytes(as_csv(rows, ("id", "new", "old")))
    people = [
        (
            f"q{k}",
            int(right["new"][k]),
            int(right["old"][k]),
            chances[k] if chance is None else chance,
        )
        for k in looked.tolist()
    ]
    Path(f"{name}-people.csv").write_bytes(as_csv(people, ("id", "new", "old", "p")))


def drawn():
    equal, worse = {"new": 0.8, "old": 0.8}, {"new": 0.5, "old": 0.9}
    write_judged("seen", shares=equal, judge=(0.9, 0.2), often=4.0)
    write_judged("unseen", shares=equal, judge=(0.5, 0.5), often=4.0)
    write_judged("fair", shares=worse, judge=(0.9, 0.2), often=1.0)
    for text in ("0", "1.5", "x", "nan"):
        write_judged(f"odd-{text}", shares=equal, judge=(0.9, 0.2), often=4.0, chance=text)

    def asked(name, *more):
        correct = ["--correct", "new", "--correct", "old", "--id", "id"]
        people = ["--human", f"{name}-people.csv"]
        return ["gate", f"{name}.csv", *correct, *people, *MODELS, *ASKED, *more]

    for require in ("not_worse", "better"):
        more = ["--require", require]
        for name in ("seen", "unseen"):
            yield f"complaints, {name}, {require}", Row(asked(name, *more), {4})
        random = Row(asked("seen", *more, "--drawn", "random"), {4})
        yield f"complaints, declared as random, {require}", random
        known = Row(asked("unseen", *more, "--drawn", "p"), {1, 4})
        yield f"complaints, with probabilities, {require}", known
        yield f"worse, undeclared, {require}", Row(asked("fair", *more), {4})
        for design in ("random", "by_ratings", "p"):
            row = Row(asked("fair", *more, "--drawn", design), {1})
            yield f"worse, {design}, {require}", row
    yield "a column that is not there", Row(asked("seen", "--drawn", "chances"), REFUSED)
    yield "a column of ids", Row(asked("seen", "--drawn", "id"), REFUSED)
    for text in ("0", "1.5", "x", "nan"):
        yield f"probability {text}", Row(asked(f"odd-{text}", "--drawn", "p"), REFUSED)


CATEGORIES = (
    drawn,
    policies,
    levels,
    formats,
    surroundings,
    options,
    files,
    contents,
    spellings,
    baselines,
    counts,
    undecided,
    scored,
    missing,
    respelled,
    replaced,
    unseen,
    logs,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("gates")
    write_all(made)
    os.symlink("loop", made / "loop")
    return made


@pytest.fixture
def parser(monkeypatch):
    """Build the parser once; typer would build it for every row."""
    monkeypatch.setattr(commands, "app", _parser())


def _parser(built=[]):  # noqa: B006
    if not built:
        built.append(typer.main.get_command(commands.app))
    return built[0]


@pytest.mark.parametrize("category", CATEGORIES, ids=lambda one: one.__name__)
def test_no_gate_exits_with_0_or_1_unless_that_is_its_answer(
    folder, monkeypatch, parser, capsys, category
):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("GITHUB_OUTPUT", raising=False)
    wrong = {}
    for name, row in category():
        with monkeypatch.context() as around:
            for variable, value in row.environment:
                around.setenv(variable, value)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                code = main(row.arguments)
        written = capsys.readouterr()
        if code not in row.codes or "Traceback" in written.err:
            wrong[name] = code, row.codes, written.err[-200:]
    assert wrong == {}


def test_the_table_is_long(folder, monkeypatch):
    monkeypatch.chdir(folder)
    named = [name for category in CATEGORIES for name, _ in category()]
    assert len(named) >= 650
    assert len(set(named)) == len(named)


# What a terminal would obey


HOSTILE = "\x9b31m\u202e\u200b##[error]"


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "--a", HOSTILE, "--b", "old", "--metric", "accuracy"],
        ["estimate", "--model", HOSTILE, "--metric", "accuracy"],
        ["scorecard", "--a", HOSTILE, "--b", "old", "--metrics", "accuracy"],
        ["slices", "--a", HOSTILE, "--b", "old", "--by", "w", "--metric", "accuracy"],
        ["rank", "--model", HOSTILE, "--model", "old", "--metric", "accuracy"],
        ["gate", "--candidate", HOSTILE, "--baseline", "old", "--metric", "accuracy"],
    ],
    ids=lambda command: command[0],
)
def test_json_holds_nothing_that_a_terminal_obeys(tmp_path, monkeypatch, parser, capsys, command):
    monkeypatch.chdir(tmp_path)
    header = ("id", "label", "old", HOSTILE, "w", "g")
    Path("hostile.csv").write_bytes(as_csv(items("open"), header))
    name, *asked = command
    main([name, "hostile.csv", "--truth", "label", *asked, "--draws", "200", "-f", "json"])
    written = capsys.readouterr().out
    assert written.replace("\n", "").isprintable()
    assert "##" not in written
    told = json.dumps(json.loads(written), ensure_ascii=False)
    assert HOSTILE in told  # it is the same JSON


# Nobody listens


class Broken:
    """A stream that cannot be written to."""

    encoding = "utf-8"

    def __init__(self, error):
        self.error = error

    def write(self, text):
        raise self.error

    def flush(self):
        raise self.error

    def isatty(self):
        return False

    def fileno(self):
        raise OSError("no file")


FULL = Broken(OSError(28, "No space left on device"))
CLOSED = Broken(ValueError("I/O operation on closed file"))
ENDINGS = {
    "better": (gate("better"), 0),
    "worse": (gate("worse"), 1),
    "open": (gate("open"), 4),
    "no file": (gate("none"), 2),
    "an unknown option": (gate("worse", "--nonsense"), 2),
    "an unknown metric": (gate("worse", "--metric", "x"), 2),
    "nothing to read": (table("empty.csv"), 3),
    "too many draws": (gate("worse", "--draws", str(10**12)), 5),
}


@pytest.mark.parametrize("stream", [None, FULL, CLOSED], ids=["none", "full", "closed"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_exit_code_is_the_same_where_stderr_takes_nothing(
    folder, monkeypatch, parser, capsys, stream, ending
):
    monkeypatch.chdir(folder)
    Path("empty.csv").write_bytes(b"")
    monkeypatch.setenv("OUTPERFORM_DEBUG", "1")
    monkeypatch.setattr(sys, "stderr", stream)
    arguments, code = ENDINGS[ending]
    assert main(arguments) == code


@pytest.mark.parametrize(
    ("stream", "code"),
    [(None, 5), (FULL, 5), (CLOSED, 5), (Broken(BrokenPipeError(32, "Broken pipe")), 141)],
    ids=["none", "full", "closed", "pipe"],
)
@pytest.mark.parametrize("kind", RIGHT)
def test_an_answer_that_nobody_can_read_is_none(folder, monkeypatch, parser, stream, code, kind):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(gate(kind)) == code


@pytest.mark.parametrize("kind", RIGHT)
def test_an_answer_in_a_file_needs_no_stdout(folder, monkeypatch, parser, kind):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdout", None)
    assert main(gate(kind, "-o", "unheard.txt")) == RIGHT[kind]
    assert Path("unheard.txt").read_text(encoding="utf-8").startswith("Gate ")


# Where Python itself is in trouble

BROKEN = {
    "numpy": 'raise ImportError("broken")',
    "typer": 'raise RuntimeError("broken")',
    "scipy": "import sys; sys.exit(0)",
    "duckdb": "raise SystemExit(1)",
}
PROCESSES = {
    "everything closed": ("better.json", "-o unheard.txt <&- >&- 2>&-", 0),
    "stderr full": ("none.json", "2>/dev/full", 2),
    "stdout full": ("better.json", ">/dev/full", 5),
    "little memory": ("better.json", "", 5),
    **{f"{name} broken": ("better.csv --truth label", "", 5) for name in BROKEN},
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_exits_with_1_for_nothing_but_a_failed_gate(folder, tmp_path, name):
    source, redirected, code = PROCESSES[name]
    paths = [os.environ.get("PYTHONPATH", "")]
    if name.endswith(" broken"):
        module = name.split()[0]
        (tmp_path / f"{module}.py").write_text(BROKEN[module] + "\n")
        paths.insert(0, str(tmp_path))
    limit = "ulimit -v 400000;" if name == "little memory" else ""
    asked = " ".join([*MODELS, *ASKED])
    line = f"{limit} exec {sys.executable} -m outperform gate {source} {asked} {redirected}"
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


# Modules in the working folder, or in the way of Python's own

PLANTED = ("typing", "typer", "numpy", "enum", "logging", "shlex", "difflib", "contextvars")


def process(folder, before, *, planted, path=False):
    """Run a gate on a worse model beside files that are called like modules."""
    for name in PLANTED:
        (folder / f"{name}.py").write_text(planted, encoding="utf-8")
    write_counts(folder / "worse.json", items("worse"))
    return subprocess.run(
        [sys.executable, *before, *gate("worse")],
        cwd=folder,
        env=os.environ | ({"PYTHONPATH": str(folder)} if path else {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


SCRIPT = "import sys; from outperform.__main__ import entry; sys.exit(entry())"
WAYS = {"module": ["-m", "outperform"], "safe module": ["-P", "-m", "outperform"]}


@pytest.mark.parametrize("planted", ["import os; os._exit(0)", "x = 1"])
@pytest.mark.parametrize("way", WAYS)
def test_a_process_imports_nothing_from_the_working_folder(tmp_path, way, planted):
    done = process(tmp_path, WAYS[way], planted=planted)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("Gate failed")


@pytest.mark.parametrize("planted", ["x = 1", "import sys; sys.exit(0)", "1 / 0"])
@pytest.mark.parametrize("way", [["-m", "outperform"], ["-c", SCRIPT]], ids=["module", "script"])
def test_what_cannot_be_imported_is_no_failed_gate(tmp_path, way, planted):
    done = process(tmp_path, way, planted=planted, path=True)
    assert done.returncode == 5, done.stderr
    assert done.stderr.startswith("outperform: ")
    assert "Traceback" not in done.stderr


def test_the_script_begins_where_imports_are_guarded():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    written = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    target = written["project"]["scripts"]["outperform"]
    assert target == "outperform.__main__:entry"
    assert f"outperform = {target}" in recipe


# A parser that does not do what it says


def version(context):
    typer.echo("outperform 0.1.0")
    raise typer.Exit


def leave():
    sys.exit(0)


def fail():
    sys.exit(1)


def silent(*arguments):
    return None


ENDS = {
    "takes every command for --version": version,
    "calls sys.exit(0)": lambda context: leave(),
    "calls sys.exit(1)": lambda context: fail(),
    "returns": silent,
}


@pytest.mark.parametrize("arguments", [gate("worse"), ["watch", ".", "--a", "new", "--b", "old"]])
@pytest.mark.parametrize("end", ENDS)
def test_a_gate_that_wrote_no_decision_does_not_pass(monkeypatch, capsys, end, arguments):
    broken = typer.Typer(context_settings={"ignore_unknown_options": True})

    @broken.callback()
    def outperform(context: typer.Context) -> None:
        ENDS[end](context)

    for name in ("gate", "watch"):
        broken.command(name)(everything)
    monkeypatch.setattr(commands, "app", broken)
    assert main(arguments) == 5
    assert "ended without a result" in capsys.readouterr().err


def everything(
    files: list[str], a: str = "", b: str = "", candidate: str = "", baseline: str = "",
    metric: str = "", rope: str = "", draws: int = 0,
) -> None:  # fmt: skip
    """Take what a gate and a watch take, and decide nothing."""


def test_a_command_that_decides_without_writing_does_not_pass(monkeypatch, folder, capsys):
    from outperform.cli.exit_codes import guarded

    for returned in (None, 0, 1):
        bare = typer.Typer()
        bare.callback()(lambda: None)
        bare.command("gate")(guarded(lambda returned=returned: returned, commands.spelled_option))
        monkeypatch.setattr(commands, "app", bare)
        assert main(["gate"]) == 5


def test_help_and_version_need_no_decision(capsys):
    assert main(["gate", "--help"]) == 0
    assert main(["watch", "-h"]) == 0
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.endswith(f"outperform {op.__version__}\n")
