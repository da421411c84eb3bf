"""``read``: from files, frames and databases to outcomes, counted where the rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outperform._typing import Progress
from outperform.ingest.cells import OnNull
from outperform.ingest.doors import read_by_door
from outperform.ingest.files.joining import OnMissing
from outperform.ingest.isolating import read_isolated
from outperform.ingest.request import Request
from outperform.outcomes import Outcomes


def read(
    source: Any,
    *,
    truth: str | None = None,
    models: Sequence[str] | Mapping[str, str] | None = None,
    correct: str | Sequence[str] | Mapping[str, str] | None = None,
    id: str | None = None,
    label: str | None = None,
    score: str | None = None,
    by: str | Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
    count: str | None = None,
    weight: str | None = None,
    groups: str | None = None,
    table: str | None = None,
    query: str | None = None,
    on_missing: OnMissing = "refuse",
    on_null: OnNull = "refuse",
    skip_failed: bool = False,
    format: str | None = None,
    separator: str | None = None,
    quote: str | None = '"',
    header: bool = True,
    encoding: str = "utf-8",
    verify: bool = False,
    isolate: bool | float = False,
    progress: Progress | None = None,
) -> Outcomes:
    r"""Count predictions in files, frames or databases; the rows themselves are never loaded.

    The files are CSV, TSV or JSON Lines, perhaps packed as ``.gz`` or ``.zst``, Parquet or Arrow,
    or folders of these; frames are those of pandas, polars, pyarrow, DuckDB and whatever else
    narwhals knows, eager or lazy.
    Either one table has the truth and a column per model, or there is a file of gold labels and
    one for each model, which are joined on an id. Where only right or wrong is known of each
    model, ``correct`` names these columns and there is no truth. In CSV and TSV every value is
    text, so that ``01``, ``1``, ``NA`` and the empty text are four classes; everywhere else values
    keep their types.

    Parameters
    ----------
    source
        A path, a folder, a pattern such as ``"preds-*.parquet"``, ``"-"`` for standard input, an
        open file, or a list of these with the same columns. For a join, a mapping of names to files
        or a list of paths; gold is the one called ``gold``, ``truth``, ``ground_truth``,
        ``y_true``, ``labels`` or ``reference``, or named by ``truth``. Or a frame, or a database:
        the file of SQLite or DuckDB, or an address such as ``"postgresql://user@host/name"``. Or
        files of outcomes that ``outperform count`` or ``Outcomes.to_json`` wrote, which are added
        up; they need no ``truth``. Or logs of LLM evaluations, a file or folder for each model,
        with ``format``.
    truth
        The column of the true labels. For a join, the column that some files have them in, or the
        name of the file that is gold.
    models
        The columns of the predictions, or columns by name of the model; by default all others,
        which must then hold labels of the truth.
    correct
        Instead of ``truth`` and ``models``: the columns of one table that say right or wrong, one
        for each model, or columns by name of the model; for a join, the one column that says so
        in every file. Values are booleans, 1 and 0, or the texts ``true`` and ``false``.
    id
        The column that names the documents: needed for a join; in one table, no id may repeat.
    label
        The column of the labels in every file of a join. With ``truth`` as well, a file that
        has both columns is a model, and all that have the truth must agree on it.
    score
        In logs of evaluations, the score that says right or wrong, such as ``"acc"``; by default
        the only one that does. A key of a score that is a dictionary is ``"scorer.key"``.
    by
        The columns that divide the documents into slices; see ``Outcomes.slices``.
    where
        The rows to keep: a value, or a list of them, for each column.
    count
        The column that says how many items a row stands for; one each by default.
    weight
        The column that says how much an item matters, such as one over the probability with
        which it was sampled; as ``sample_weight`` of :func:`compare`.
    groups
        The column that names the group of each document, such as its author or its prompt, if
        groups rather than documents should get one weight each; of a join, a column of the gold
        file, or of the first file if none is gold. Where it is left out and a column that looks
        like one repeats, a finding says so.
    table
        The table of a database, perhaps with its schema.
    query
        A SELECT of a database, instead of a table.
    on_missing
        What to do with ids that not all files have: ``"refuse"``, or ``"drop"`` with a finding.
    on_null
        What to do with rows that have no label: ``"refuse"``, or ``"drop"`` with a finding.
    skip_failed
        Whether logs of evaluations that failed or were interrupted, and damaged ones, are left
        out, with a finding, instead of refused.
    format
        ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"parquet"`` or ``"arrow"``, if the name does not say
        it; ``"lm-eval"`` for samples logged by lm-evaluation-harness, ``"inspect"`` for logs and
        sample tables of inspect_ai.
    separator
        What stands between the columns of a CSV file; found out by default.
    quote
        What stands around values with separators in them; None if quotes are ordinary.
    header
        Whether the first row names the columns; if not they are ``"0"``, ``"1"``, …
    encoding
        How text files are encoded.
    verify
        Whether Parquet files are read by pyarrow, which compares each page with its checksum.
    isolate
        Whether files are read in another process with limits of memory and time, so that a
        damaged one can do no harm; or the seconds that it may take, 600 by default.
    progress
        Called with how much of a count of files is done, and with how much there is.

    Examples
    --------
    >>> import io
    >>> import outperform as op
    >>> file = io.StringIO("label,old,new\nspam,ham,spam\nham,ham,ham\nspam,spam,spam\n")
    >>> op.read(file, truth="label", models=["old", "new"])
    Outcomes(n=3, models=('old', 'new'), labels=('ham', 'spam'), paired=True, cells=3)
    >>> file = io.StringIO("question,bert,gpt\n1,true,false\n2,true,true\n3,false,true\n")
    >>> op.read(file, correct=["bert", "gpt"]).kind
    'correct'
    """
    request = Request(
        truth=truth,
        models=models,
        correct=correct,
        id=id,
        label=label,
        score=score,
        by=by,
        where=where,
        count=count,
        weight=weight,
        groups=groups,
        table=table,
        query=query,
        on_missing=on_missing,
        on_null=on_null,
        skip_failed=skip_failed,
        format=format,
        separator=separator,
        quote=quote,
        header=header,
        encoding=encoding,
        verify=verify,
        progress=progress,
    )
    if isolate is not False:
        return read_isolated(source, isolate, request.given("progress"))
    return read_by_door(source, request)
