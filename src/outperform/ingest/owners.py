"""Columns that are called like the id of something that documents belong to."""

from __future__ import annotations

import re

_IDS = {"id", "uid", "uuid", "guid"}
_OWNERS = {
    *("account", "article", "author", "case", "chat", "cluster", "conversation", "customer"),
    *("dialog", "dialogue", "doc", "document", "group", "household", "item", "participant"),
    *("passage", "patient", "person", "prompt", "query", "question", "respondent", "session"),
    *("speaker", "student", "subject", "template", "thread", "user", "writer"),
}
_CATEGORIES = {
    *("category", "class", "country", "dataset", "fold", "label", "lang", "language", "model"),
    *("run", "seed", "split", "task", "type"),
}


def names_an_owner(name: str) -> bool:
    """Return whether a column is called like the id of something that documents belong to.

    Examples
    --------
    >>> [one for one in ("user_id", "docId", "authors", "Author", "valid", "class_id", "id")
    ...  if names_an_owner(one)]
    ['user_id', 'docId', 'Author', 'id']
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = re.findall(r"[a-z0-9]+", apart.lower())
    if not words:
        return False
    *before, last = words
    if last in _IDS:
        return not before or before[-1] not in _CATEGORIES
    return last in _OWNERS or (last.endswith("id") and last[:-2] in _OWNERS)
