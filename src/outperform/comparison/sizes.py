"""How many documents or groups there are, in words, and how few are too few to be believed."""

from __future__ import annotations

from collections.abc import Iterator

from outperform.findings import Finding

FEW_DOCUMENTS = 10
FEW_GROUPS = 30


def unit_findings(n_even: float, *, weighted: bool) -> Iterator[Finding]:
    """Yield a doubt where what is weighed is worth few units of equal size.

    Parameters
    ----------
    n_even
        How many of equal size the groups, or the weighted documents, are worth.
    weighted
        Whether it is importance weights that make documents uneven, not groups.
    """
    if n_even >= FEW_GROUPS:
        return
    rest = f"with fewer than {FEW_GROUPS} the intervals cover less often than they say."
    if weighted:
        yield Finding(
            "few_effective_documents",
            "warning",
            f"The importance weights leave an effective sample size of {n_even:.1f} documents; "
            f"{rest}",
        )
    else:
        yield Finding(
            "few_groups",
            "warning",
            f"The groups are worth {n_even:.0f} of equal size with anything in them; {rest}",
        )


def many(number: int, nouns: str) -> str:
    """Return a number and what it counts; one of them in the singular."""
    one = " or ".join(noun.removesuffix("s") for noun in nouns.split(" or "))
    return f"{number} {one if number == 1 else nouns}"


def often(times: int) -> str:
    """Say how often every document was counted, where that was more than once."""
    return "" if times == 1 else f" (every document counted {times} times)"
