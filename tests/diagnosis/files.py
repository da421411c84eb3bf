"""Files of all kinds, written or collected for the tests of a diagnosis."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
from pyarrow import feather, parquet

import outperform as op
from tests.cli.test_every_option import rows as usual_rows
from tests.cli.test_every_option import write

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus" / "7e908e4"
LOGS = ROOT / "tests" / "io" / "evaluations"


def collected() -> dict[str, list[str]]:
    """Return files that other tests hold, by name: every third of those that differ little."""
    files: dict[str, list[str]] = {}
    for kind in ("outcomes", "monitors"):
        for path in sorted(CORPUS.glob(f"{kind}/*"))[::3]:
            files[f"{kind}/{path.name}"] = [str(path)]
    files |= {f"stores/{path.name}": [str(path)] for path in sorted(CORPUS.glob("stores/*"))}
    files["days"] = [str(CORPUS / "days" / "day-0.csv")]
    for tool in sorted(
        path for path in LOGS.iterdir() if path.is_dir() and path.name != "reported"
    ):
        for folder in sorted(path for path in tool.iterdir() if path.is_dir()):
            files[f"logs/{tool.name}/{folder.name}"] = [str(folder)]
    return files


def written(folder: Path) -> dict[str, list[str]]:
    """Write files of all other kinds, and return them by name."""
    table = list(usual_rows())
    names = ["bert", "gpt", "new"]
    seen = op.Outcomes.from_labels(
        [row["label"] for row in table], {m: [row[m] for row in table] for m in names}
    )
    right = [{**row, **{m: int(row[m] == row["label"]) for m in names}} for row in table]
    made: dict[str, list[str]] = {}

    def add(name: str, *paths: Path) -> None:
        made[name] = [str(path) for path in paths]

    def lines(name: str, text: str, **how: str) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, **{"encoding": "utf-8", **how})
        return path

    def csv(name: str, content: list[dict[str, object]]) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, content)
        return path

    labels = [{key: row[key] for key in ("id", "label", *names, "country")} for row in table]
    add("labels.csv", csv("labels.csv", labels))
    add("one model", csv("one.csv", [{k: row[k] for k in ("label", "bert")} for row in table]))
    add("everything", csv("every.csv", table))
    text = (folder / "labels.csv").read_text("utf-8")
    add("semicolons", lines("semicolons.csv", text.replace(",", ";")))
    add("tabs", lines("tabs.tsv", text.replace(",", "\t")))
    add("latin", lines("latin.csv", text.replace("spam", "späm"), encoding="latin-1"))
    add("utf-16", lines("wide.csv", text, encoding="utf-16"))
    packed = folder / "labels.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    add("packed", packed)
    add("blanks", csv("my predictions & more; 'v2'.csv", [
        {"id": row["id"], "true label": row["label"], "bert (base)": row["bert"],
         "gpt's $HOME": row["gpt"], "-old": row["old"]} for row in table]))  # fmt: skip
    add("json lines", lines("labels.jsonl", "".join(json.dumps(row) + "\n" for row in labels)))
    arrow = pa.Table.from_pylist(labels)
    parquet.write_table(arrow, folder / "labels.parquet")
    add("parquet", folder / "labels.parquet")
    feather.write_feather(arrow, folder / "labels.feather")
    add("feather", folder / "labels.feather")
    nulls = [{**row, "gpt": "" if k % 9 == 0 else row["gpt"]} for k, row in enumerate(labels)]
    add("missing values", csv("nulls.csv", nulls))
    add("unnamed truth", csv("unnamed.csv", [{"x": row["label"], **{m: row[m] for m in names}}
                                              for row in table]))  # fmt: skip
    add("integers", csv("integers.csv", [{k: len(str(v)) for k, v in row.items() if k != "id"}
                                          for row in labels]))  # fmt: skip
    add("authors", csv("authors.csv", [{k: row[k] for k in ("author", "label", *names)}
                                        for row in table]))  # fmt: skip
    add("counted rows", csv("counted.csv", [{"label": row["label"], "bert": row["bert"],
                                              "gpt": row["gpt"], "n": row["times"]}
                                             for row in table]))  # fmt: skip
    sets = [{"id": row["id"], "label": f"{row['label']}|odd" if k % 3 else row["label"],
             **{m: f"{row[m]}|odd" if k % 4 else row[m] for m in names}}
            for k, row in enumerate(table)]  # fmt: skip
    add("label sets", csv("sets.csv", sets))
    add("right or wrong", csv("right.csv", [{k: row[k] for k in ("id", *names)} for row in right]))
    add("pass or fail", csv("passed.csv", [{"id": row["id"], **{m: "pass" if row[m] else "fail"
                                             for m in names}} for row in right]))  # fmt: skip
    long = [{"question_id": row["id"], "model": m, "correct": row[m], "task": row["country"]}
            for row in right for m in names]  # fmt: skip
    add("long table", csv("long.csv", long))
    add("long grades", csv("grades-long.csv", [{**row, "correct": row["correct"] * 7.5 + k % 5}
                                                for k, row in enumerate(long)]))  # fmt: skip
    add("long, incomplete", csv("incomplete.csv", long[:-4]))
    draw = random.Random(0)
    yes = [k % 3 == 0 for k in range(90)]
    scores = [{"label": int(y), **{m: round(draw.betavariate(3 + 2 * y, 4 - 2 * y), 4)
                                   for m in names[:2]}} for y in yes]  # fmt: skip
    add("probabilities", csv("probabilities.csv", scores))
    add("probabilities of words", csv("words.csv", [{**row, "label": "spam" if row["label"]
                                                      else "ham"} for row in scores]))  # fmt: skip
    add("grades", csv("grades.csv", [{"item": k, **{m: round(draw.gauss(6, 1), 1) for m in names}}
                                      for k in range(90)]))  # fmt: skip
    targets = [{"target": round(draw.gauss(50, 9), 2)} for _ in range(90)]
    add("targets", csv("targets.csv", [{**row, **{m: round(row["target"] + draw.gauss(0, 3), 2)
                                                   for m in names[:2]}}
                                        for row in targets]))  # fmt: skip
    joined = [csv("joined/gold.csv", [{k: row[k] for k in ("id", "label")} for row in table])]
    joined += [csv(f"joined/{m}.csv", [{"id": row["id"], "label": row[m]} for row in table])
               for m in names]  # fmt: skip
    add("joined files", *joined)
    add("joined folder", folder / "joined")
    other = [csv("other/gold.csv", [{k: row[k] for k in ("id", "label")} for row in table])]
    other += [csv(f"other/{m}.csv", [{"id": row["id"], "prediction": row[m]} for row in table])
              for m in names[:2]]  # fmt: skip
    add("joined on other names", *other)
    add("joined, right or wrong", *(
        lines(f"judged/{m}.jsonl", "".join(json.dumps({"id": row["id"], "correct": row[m]}) + "\n"
                                           for row in right)) for m in names))  # fmt: skip
    matrices = []
    for name in names[:2]:
        matrix = seen.confusion(name)
        cells = [",".join([str(label), *map(str, map(int, row))])
                 for label, row in zip(seen.labels, matrix, strict=True)]  # fmt: skip
        text = "\n".join([",".join(["", *map(str, seen.labels)]), *cells, ""])
        matrices.append(lines(f"matrix-{name}.csv", text))
    add("confusion matrix", matrices[0])
    add("confusion matrices", *matrices)
    folds = [{"model": name, "tp": 80 - k, "fp": 10 + k, "fn": 20 + k}
             for name in ("crf", "lstm") for k in range(6)]  # fmt: skip
    add("folds", csv("folds.csv", folds))
    ledger = folder / "gates.jsonl"
    op.gate(seen, "new", "bert", metric="accuracy", rope=0.05, ledger=ledger, n_draws=200)
    add("ledger", ledger)
    add("counts", lines("counts.json", seen.to_json()))
    add("counts of two models", *(lines(f"of-{m}.json", seen.select([m]).to_json())
                                   for m in names[:2]))  # fmt: skip
    tags = ["Ada B-PER B-PER", "Lovelace I-PER O", "wrote O O", "", "London B-LOC B-LOC", "is O O"]
    add("conll with predictions", lines("both.conll", "\n".join([*tags, ""] * 20)))
    for name, column in (("gold", 1), ("bert", 2), ("gpt", 1)):
        kept = [" ".join([row.split()[0], row.split()[column]]) if row else "" for row in tags]
        lines(f"tags/{name}.conll", "\n".join([*kept, ""] * 20))
    add("conll files", *(folder / "tags" / f"{name}.conll" for name in ("gold", "bert", "gpt")))
    shutil.copytree(LOGS / "lm_eval" / "two", folder / "logs of lm eval")
    add("logs in a folder with blanks", folder / "logs of lm eval")
    big = "id,label,bert,gpt\n" + "".join(f"{k},{k % 3},{k % 3},{(k + k % 7) % 3}\n"
                                          for k in range(12_000))  # fmt: skip
    add("many rows", lines("many.csv", big))
    return made
