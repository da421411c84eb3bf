"""The result of a test: frozen, plain numbers, one line."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys

import pytest

from outperform.nhst.folds import t_5x2
from outperform.nhst.items import TestResult, sign_test


def test_frozen_and_comparable():
    result = sign_test(7, 1)
    assert result == sign_test(7, 1)
    assert pickle.loads(pickle.dumps(result)) == result
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.p_value = 0.5


def test_fields():
    assert [field.name for field in dataclasses.fields(TestResult)] == [
        "name",
        "statistic",
        "p_value",
        "n",
        "degrees_of_freedom",
    ]


def test_one_line():
    assert str(sign_test(7, 1)) == "sign test: p = 0.07031 (statistic 7, n = 8)"
    assert "\n" not in repr(t_5x2([[3, 1], [2, 2], [1, 3], [2, 0], [4, 2]]))


def test_importing_the_room_does_not_import_scipy_stats():
    code = "import sys, outperform.nhst; print('scipy.stats' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
