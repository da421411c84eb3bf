"""The browser of the machine, and the pixels of what it shows."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def missing(what: str) -> None:
    """Skip, or fail on the Linux machines of continuous integration, which must have a browser."""
    if sys.platform == "linux" and os.environ.get("CI"):
        pytest.fail(f"{what}, and CI is set: pictures would go unseen", pytrace=False)
    pytest.skip(what)


@contextmanager
def started() -> Iterator[Any]:
    """Start the browser of the machine."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed (dependency group browser)")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing(f"none of {', '.join(NAMES)} is on the PATH")
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def photographed(page: Any) -> np.ndarray:
    """Return the whole page as pixels: height, width, three colours from 0 to 255."""
    from PIL import Image

    taken = Image.open(io.BytesIO(page.screenshot(full_page=True)))
    return np.asarray(taken.convert("RGB")).astype(int)


def rgb(colour: str) -> list[int]:
    """Return the parts of a colour such as #0072B2."""
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
