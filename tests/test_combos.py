import random
from functools import cache
from typing import Any

import numpy as np
import pytest

from tlsim.engine import features
from tlsim.engine.compile import kernel
from tlsim.engine.view import MAX_PLAYS
from tlsim.errors import InputError
from tlsim.play.legal import describe, describe_hand, moves
from tlsim.rules.cards import names, parse_hand
from tlsim.rules.ruleset import pack
from tlsim.rules.variantfiles import builtin, builtin_names


@kernel
def _most_leads(rules: Any, size: int, best: Any) -> int:
    """Go through all count patterns of `size` cards, return how many; leave a hand with most leads in `best`."""
    n = np.zeros(13, np.int64)
    left, rank, patterns, most = size, 0, 0, 0
    while rank >= 0:
        if rank < 13 and n[rank] <= 4 and left >= 0:
            rank += 1
            continue
        if rank == 13 and left == 0:
            hand = 0
            for r in range(13):
                hand |= ((1 << n[r]) - 1) << (4 * r)
            patterns += 1
            leads = features.count_leads(rules[0], hand)
            if leads > most:
                most = leads
                best[0] = hand
        if rank < 13:
            left += n[rank]
            n[rank] = 0
        rank -= 1
        if rank >= 0:
            n[rank] += 1
            left -= 1
    return patterns


@pytest.mark.parametrize("variant", builtin_names())
def test_no_hand_overflows_the_buffer_of_plays(variant: str) -> None:
    rules = builtin(variant)
    for size, patterns in [(13, 3_598_180), (17, 20_646_145)]:
        best = np.zeros(1, np.int64)
        assert _most_leads(pack(rules, 3), size, best) == patterns
        hand = int(best[0])
        found = moves(rules, hand)  # the hand that fills the buffer most
        assert len(set(found)) == len(found) == describe_hand(rules, hand)["legal_leads"]
        assert 480 < len(found) <= (2_793 if size == 17 else 486) < MAX_PLAYS


@pytest.mark.parametrize(
    ("hand", "plays"),
    [
        ("3S 4S 5S 6S 7S 8S 9S 10S JS QS KS AS 2S", 2),  # a dragon and a 2
        ("3S 4C 5D 6H 7S", 1),
        ("3S 3C 4S 4C 5S 5C", 1),
        ("3S 3C 4S 4C 5S 5C 6S 7S", 2),  # 33 and 44 with 5, then 567: not; 345 and 34567
        ("3S 3C 3D 3H 5S", 2),
        ("2S 2C 2D 2H", 2),
        ("3S 5S 7S", 3),
    ],
)
def test_fewest_plays(hand: str, plays: int) -> None:
    assert describe_hand(builtin("southern"), parse_hand(hand))["fewest_plays"] == plays


def test_fewest_plays_against_brute_force() -> None:
    """Compare with trying every lead, on random hands of 6 cards."""

    @cache
    def brute(rules: Any, hand: int) -> int:
        return min((1 + brute(rules, hand ^ play) for play in moves(rules, hand)), default=0)

    rng = random.Random(4)
    for name in builtin_names():
        rules = builtin(name)
        for _ in range(6):
            low = rng.randint(0, 6)
            hand = sum(1 << card for card in rng.sample(range(4 * low, 4 * low + 28), 6))
            assert describe_hand(rules, hand)["fewest_plays"] == brute(rules, hand), names(hand)


def test_describe_hand() -> None:
    found = describe_hand(builtin("viet-cong"), parse_hand("3S 3C 3D 3H 4S 4C 4D 4H 7S 7C 7D 2H 2S"))
    assert found["combinations"] == {"single": 13, "pair": 16, "triple": 9, "quad": 2, "quad-run-2": 1}
    assert [(name, n) for name, n, _ in found["chops"]] == [("quad", 2), ("quad-run-2", 1)]
    assert found["legal_leads"] == 40
    assert (found["instant_win"], found["opening_instant_win"]) == (None, None)
    opening = describe_hand(builtin("southern"), parse_hand("3S 3C 3D 3H 4S 5C 6D 7H 9S 10C JD KH 2S"))
    assert (opening["instant_win"], opening["opening_instant_win"]) == (None, "four-threes")


def test_moves() -> None:
    southern, classic = builtin("southern"), builtin("classic")
    hand = parse_hand("3S 3C 4D 5H 9S 9C 9D 9H 2S")
    assert [names(play) for play in moves(southern, hand, parse_hand("2C"))] == [["9S", "9C", "9D", "9H"]]
    assert all(play & 1 for play in moves(southern, hand, opening=True))
    assert moves(classic, hand, opening=True) == [1]
    listed = moves(southern, hand)
    assert [describe(southern, play) for play in listed] == sorted(
        (describe(southern, play) for play in listed),
        key=lambda found: ["single", "pair", "triple", "quad", "straight"].index(found[0] if found else ""),
    )
    with pytest.raises(InputError, match="4S 6S is no combination in southern"):
        moves(southern, hand, parse_hand("4S 6S"))
    with pytest.raises(InputError, match="9S is both in the hand and on the pile"):
        moves(southern, hand, parse_hand("9S"))
