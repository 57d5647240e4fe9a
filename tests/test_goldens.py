"""One readable file of hands for each built-in variant: played again from its own plays, and from its seed.

To write them anew after a stated change of the random stream: `python tests/test_goldens.py`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tlsim.output.hand_text import show_hand
from tlsim.play.plan import Plan
from tlsim.play.runner import hands
from tlsim.play.transcript import replay
from tlsim.plugins.load import parse_policies
from tlsim.rules.variantfiles import builtin, builtin_names

FOLDER = Path(__file__).parent / "goldens"
# Deals of seed 1 with `random` in every seat: two kinds of chops in a hand, a 2 left with the loser, an instant win;
# paid chops, one by a seat that had passed; shared places.
DEALS = {
    "classic": [300, 1223],
    "viet-cong": [300, 1223, 67],
    "southern": [140, 3878, 10],
    "mien-nam": [140, 300, 808, 16],
    "dem-la": [3, 850, 18],
}


def play(variant: str) -> list[dict[str, Any]]:
    plan = Plan(builtin(variant), 4, tuple(parse_policies(["random"], 4)), 10_000, 1)
    return [written for deal in DEALS[variant] for written in hands(plan, deal, deal + 1)]


def text(written: list[dict[str, Any]]) -> str:
    return "\n\n".join(show_hand(hand) for hand in written) + "\n"


def test_no_golden_is_missing() -> None:
    assert set(DEALS) == set(builtin_names())
    assert {path.name for path in FOLDER.iterdir()} == {f"{v}.{end}" for v in DEALS for end in ("jsonl", "txt")}


@pytest.mark.parametrize("variant", DEALS)
def test_golden(variant: str) -> None:
    written = [json.loads(line) for line in (FOLDER / f"{variant}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [replay(builtin(variant), hand) for hand in written] == written
    assert play(variant) == written
    assert text(written) == (FOLDER / f"{variant}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for variant in DEALS:
        lines = [json.dumps(hand) + "\n" for hand in play(variant)]
        (FOLDER / f"{variant}.jsonl").write_text("".join(lines), encoding="utf-8")
        (FOLDER / f"{variant}.txt").write_text(text(play(variant)), encoding="utf-8")
