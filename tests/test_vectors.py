"""Rule cases from the test suites of other Tiến lên projects (facts; each names its source)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tlsim.play.legal import describe, may_follow
from tlsim.rules.cards import mask, parse_card
from tlsim.rules.variantfiles import builtin

CASES = [json.loads(line) for line in (Path(__file__).parent / "data" / "rules.jsonl").read_text().splitlines()]


def _mask(cards: list[str]) -> int:
    return mask(map(parse_card, cards))


@pytest.mark.parametrize("case", [case for case in CASES if case["check"] == "classify"])
def test_classify(case: dict[str, Any]) -> None:
    found = describe(builtin(case["variant"]), _mask(case["cards"]))
    assert (list(found) if found else ["invalid"]) == case["expect"]


@pytest.mark.parametrize("case", [case for case in CASES if case["check"] == "beats"])
def test_beats(case: dict[str, Any]) -> None:
    assert may_follow(builtin(case["variant"]), _mask(case["play"]), _mask(case["on"])) is case["expect"]
