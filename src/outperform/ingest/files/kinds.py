"""The table of readers: a new kind of file is one new module and one line here."""

from __future__ import annotations

from outperform.ingest.files import arrow_file, csv_file, json_lines, parquet
from outperform.ingest.files.scan import Reader

READERS: dict[str, Reader] = {
    "csv": Reader(csv_file.scan, csv_file.rescue),
    "tsv": Reader(csv_file.scan, csv_file.rescue),
    "jsonl": Reader(json_lines.scan, json_lines.rescue),
    "parquet": Reader(parquet.scan, parquet.rescue, parquet.scan_all),
    "arrow": Reader(arrow_file.scan, arrow_file.rescue),
}
