"""Documents of today beside the stored ones: paired on the id, loudly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from outperform.errors import DataError
from outperform.findings import Finding
from outperform.ingest.baseline import Baseline
from outperform.ingest.files.joining import OnMissing
from outperform.ingest.rows import Rows
from outperform.outcomes import Outcomes

_EXAMPLES = 5


def pair_rows(
    rows: Rows,
    baseline: Baseline,
    *,
    names: tuple[str, str],
    on_missing: OnMissing = "refuse",
    new_truth: bool = False,
) -> Outcomes:
    """Count the documents that a run shares with a stored baseline.

    Parameters
    ----------
    rows
        The run.
    baseline
        What it is compared with.
    names
        What to call the model of the run and that of the baseline.
    on_missing
        What to do with ids that only one of the two has: ``"refuse"``, or ``"drop"`` with a
        finding.
    new_truth
        Whether a true label that has changed since is taken from the run, with a finding;
        otherwise it is refused.

    Examples
    --------
    >>> import numpy as np
    >>> run = Rows(ids=np.array(["a", "b"]), truth=np.array([1, 0]), predictions=np.array([1, 1]))
    >>> old = Baseline(ids=np.array(["b", "a"]), truth=np.array([0, 1]),
    ...                predictions=np.array([0, 1]))
    >>> pair_rows(run, old, names=("new", "old")).confusion("old").tolist()
    [[1, 0], [0, 1]]
    """
    place = {one: k for k, one in enumerate(baseline.ids.tolist())}
    here = [k for k, one in enumerate(rows.ids.tolist()) if one in place]
    there = [place[rows.ids[k]] for k in here]
    findings = _missing(rows, baseline, here, on_missing)
    changed = [
        k for k, m in zip(here, there, strict=True) if str(rows.truth[k]) != str(baseline.truth[m])
    ]
    findings += _changed([rows.ids[k] for k in changed], len(here), new_truth)
    predictions = {names[0]: rows.predictions[here], names[1]: baseline.predictions[there]}
    seen = Outcomes.from_labels(rows.truth[here], predictions)
    return replace(seen, findings=seen.findings + findings)


def _missing(
    rows: Rows, baseline: Baseline, here: Sequence[int], on_missing: OnMissing
) -> tuple[Finding, ...]:
    shared = {rows.ids[k] for k in here}
    new = [one for one in rows.ids.tolist() if one not in shared]
    gone = [one for one in baseline.ids.tolist() if one not in shared]
    if not new and not gone:
        return ()
    if not shared:
        raise DataError(
            "the run and the baseline share no document: "
            f"{_examples(new)} here, {_examples(gone)} in the baseline; check the column of ids"
        )
    parts = []
    if gone:
        parts.append(f"{len(gone)} of the baseline are missing here ({_examples(gone)})")
    if new:
        parts.append(f"{len(new)} here are not in the baseline ({_examples(new)})")
    if on_missing == "refuse":
        raise DataError(
            f"the documents differ from the baseline's: {' and '.join(parts)}; store the baseline "
            "again, or compare the common ones with on_missing='drop'"
        )
    message = f"Only the {len(shared)} common documents are compared: {' and '.join(parts)}."
    return (Finding("unmatched_ids_dropped", "warning", message),)


def _changed(ids: Sequence[str], n: int, new_truth: bool) -> tuple[Finding, ...]:
    if not ids:
        return ()
    what = f"the true label of {len(ids)} of {n} documents is not the baseline's ({_examples(ids)})"
    if not new_truth:
        raise DataError(
            f"{what}; if the labels were corrected, take the new ones for both with new_truth=True"
        )
    return (
        Finding("truth_changed", "warning", f"{what[0].upper()}{what[1:]}; the new one counts."),
    )


def _examples(ids: Sequence[str]) -> str:
    more = ", …" if len(ids) > _EXAMPLES else ""
    return ", ".join(map(repr, ids[:_EXAMPLES])) + more if ids else "none"
