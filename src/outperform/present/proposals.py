"""A proposal of documents to label, in words and as a table."""

from __future__ import annotations

from outperform.present import numbers
from outperform.present.columns import count_column, text_column
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.present.table import Table

_NAME = 30
_MOST_ROWS = 12


def proposal_headline(facts: Facts) -> str:
    """Return what is proposed in one sentence.

    Examples
    --------
    >>> proposal_headline({"n_proposed": 400, "n_pool": 10_000, "n_apart": 970,
    ...                    "n_proposed_apart": 320})
    '400 of 10,000 documents: 320 of the 970 on which the models disagree, 80 of the others.'
    """
    proposed, apart = facts["n_proposed"], facts["n_proposed_apart"]
    if not facts["n_apart"]:
        return (
            f"{numbers.count(proposed)} of {numbers.count(facts['n_pool'])} documents; the models "
            "never disagree, so that no label tells them apart."
        )
    return (
        f"{numbers.count(proposed)} of {numbers.count(facts['n_pool'])} documents: "
        f"{numbers.count(apart)} of the {numbers.count(facts['n_apart'])} on which the models "
        f"disagree, {numbers.count(proposed - apart)} of the others."
    )


def proposal_table(facts: Facts) -> Table:
    """Return one row a stratum, those with most to label first.

    Examples
    --------
    >>> strata = [{"a": 0, "b": 0, "n_pool": 900, "n_proposed": 20},
    ...           {"a": 0, "b": 1, "n_pool": 100, "n_proposed": 80}]
    >>> told = {"names": ["old", "new"], "metric": "f1", "strata": strata, "n_pool": 1_000,
    ...         "n_proposed": 100, "n_apart": 100, "n_proposed_apart": 80}
    >>> print(proposal_table(told).to_text())
    Documents to label for f1
    <BLANKLINE>
    old says  new says  in the pool  to label
    --------  --------  -----------  --------
    0         1                 100        80
    0         0                 900        20
    """
    a, b = (for_text(name, limit=_NAME) for name in facts["names"])
    columns = (
        text_column("a", f"{a} says"),
        text_column("b", f"{b} says"),
        count_column("n_pool", "in the pool"),
        count_column("n_proposed", "to label"),
    )
    rows = tuple(
        {**one, "a": for_text(one["a"], limit=_NAME), "b": for_text(one["b"], limit=_NAME)}
        for one in _ordered(facts)
    )
    return Table(columns, rows, title=f"Documents to label for {facts['metric']}")


def proposal_text(facts: Facts) -> str:
    """Return the sentence and the strata with most to label.

    Examples
    --------
    >>> told = {"names": ["old", "new"], "metric": "f1", "strata": [], "n_pool": 1_000,
    ...         "n_proposed": 100, "n_apart": 100, "n_proposed_apart": 80}
    >>> print(proposal_text(told).splitlines()[0])
    100 of 1,000 documents: 80 of the 100 on which the models disagree, 20 of the others.
    """
    whole = proposal_table(facts)
    left = whole.rows[_MOST_ROWS:]
    notes: tuple[str, ...] = ()
    if left:
        rest = sum(one["n_proposed"] for one in _ordered(facts)[_MOST_ROWS:])
        notes = (f"and {len(left):,} more pairs of predictions with {rest:,} to label",)
    shown = Table(whole.columns, whole.rows[:_MOST_ROWS], title=whole.title, notes=notes)
    return f"{proposal_headline(facts)}\n\n{shown.to_text()}"


def _ordered(facts: Facts) -> list[Facts]:
    """Return the strata, those with most to label first."""
    return sorted(facts["strata"], key=lambda one: -one["n_proposed"])
