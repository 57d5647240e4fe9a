"""Intervals hold the truth as often as they say: a short version of `scripts/coverage`."""

import runpy
from pathlib import Path
from typing import Any

import pytest

COVERAGE: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "coverage"))
RUNS, SIZE = 400, 50
LEAST = 0.90  # 93 % less what 400 runs can tell: two standard errors of 1.3 %


@pytest.mark.parametrize("changes", [{}, {"variant": "mien-nam", "match": 4}], ids=["deals", "matches"])
def test_intervals_of_small_runs_hold_the_truth(changes: dict[str, Any]) -> None:
    plan = COVERAGE["make_plan"](RUNS * SIZE, **changes)
    hits = COVERAGE["cover"](plan, SIZE, 2)
    least = COVERAGE["worst"](hits, RUNS)
    assert len(least) >= 24
    assert {metric: shares for metric, shares in least.items() if shares[1] < LEAST} == {}
    assert least["chops", "double-straight-4"][0] < 0.6  # a point where nothing was seen holds it seldom
