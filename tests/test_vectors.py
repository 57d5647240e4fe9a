"""Rule cases from the test suites of other Tiến lên projects (facts; each names its source)."""

import json
from pathlib import Path
from typing import Any

from tlsim.play.legal import describe, may_follow
from tlsim.rules.cards import mask, parse_card
from tlsim.rules.variantfiles import builtin

CASES = [json.loads(line) for line in (Path(__file__).parent / "data" / "rules.jsonl").read_text().splitlines()]


def _mask(cards: list[str]) -> int:
    return mask(map(parse_card, cards))


def _cases(check: str) -> list[dict[str, Any]]:
    cases = [case for case in CASES if case["check"] == check]
    assert len(cases) > 150
    return cases


def test_classify() -> None:
    for case in _cases("classify"):
        found = describe(builtin(case["variant"]), _mask(case["cards"]))
        assert (list(found) if found else ["invalid"]) == case["expect"], case


def test_beats() -> None:
    for case in _cases("beats"):
        assert may_follow(builtin(case["variant"]), _mask(case["play"]), _mask(case["on"])) is case["expect"], case
