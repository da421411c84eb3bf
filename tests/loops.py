"""Many small cases in one test, which names every case that fails."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def each(
    names: str | Sequence[str],
    cases: Iterable[Any] | Callable[[], Iterable[Any]],
    *,
    ids: Any = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each case, as ``pytest.mark.parametrize`` would, but as one test.

    Every case is run, whatever became of those before it; a group of errors says which failed.
    Cases that take long to make are given as a function, which the test calls.
    Each has a ``monkeypatch`` and a ``tmp_path`` of its own; other fixtures are shared.
    """
    words = [word.strip() for word in names.split(",")] if isinstance(names, str) else [*names]
    listed = cases if inspect.isroutine(cases) or isinstance(cases, functools.partial) else [*cases]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in words]

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            labelled = [*_labelled(words, listed if isinstance(listed, list) else listed(), ids)]
            failures: list[Exception] = []
            skipped = 0
            for index, (label, given) in enumerate(labelled):
                with ExitStack() as stack:
                    try:
                        test(**given, **_own(fixtures, index, stack))
                    except pytest.skip.Exception:
                        skipped += 1
                    except ExceptionGroup as group:
                        failures += [_noted(error, label) for error in group.exceptions]
                    except (Exception, pytest.fail.Exception) as error:
                        failures.append(_noted(error, label))
            if failures:
                raise ExceptionGroup(f"{len(failures)} failures in {len(labelled)} cases", failures)
            if skipped == len(labelled):
                pytest.skip("no case was run")

        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate


def _own(fixtures: dict[str, Any], index: int, stack: ExitStack) -> dict[str, Any]:
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / str(index)
        own["tmp_path"].mkdir()
    if "monkeypatch" in own:
        own["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
    return own


def _noted(error: BaseException, label: str) -> Exception:
    if not isinstance(error, Exception):  # pytest.fail
        error = AssertionError(str(error))
    error.add_note(f"case: {label}")
    return error


def _labelled(
    words: list[str], cases: Iterable[Any], ids: Any
) -> Iterator[tuple[str, dict[str, Any]]]:
    if ids is not None and not callable(ids):
        ids = [*ids]
    for index, case in enumerate(cases):
        if isinstance(case, ParameterSet):
            assert not case.marks, "a case of a loop has no marks"
            values, label = case.values, case.id
        else:
            values, label = (case,) if len(words) == 1 else case, None
        if callable(ids):
            label = ", ".join(str(ids(value)) for value in values)
        elif ids is not None:
            label = ids[index]
        given = dict(zip(words, values, strict=True))
        yield label or ", ".join(f"{word}={value!r:.80}" for word, value in given.items()), given
