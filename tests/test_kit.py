"""The helpers that policies are written with (`tlsim.kit`), one fact each.

`test_uncompiled` runs this file once more without the compiler: they return the same there.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from table_play import play, stream_of

from tlsim import kit
from tlsim.engine import shapes
from tlsim.engine.rng import STREAM
from tlsim.play.transcript import Hand
from tlsim.rules.cards import FULL, join, mask, names, parse_card, parse_hand
from tlsim.rules.ruleset import pack
from tlsim.rules.variantfiles import parse_variant

QUIET = "instant_wins=none,opening_instant_wins=none"  # small hands may be of one colour
SOUTHERN, TWO_DECKS = parse_variant(f"southern,{QUIET}"), parse_variant(f"southern,{QUIET},decks=2")
ONE = pack(SOUTHERN, 4)[0]
D3, QUAD = "3S 3C 4S 4C 5S 5C", "8S 8C 8D 8H"


def code(cards: str) -> int:
    return int(kit.code(ONE, parse_hand(cards)))


def shown(cards: int) -> str:
    return " ".join(names(int(cards))) or "-"


def view_of(hand: Hand) -> Any:
    """Return what the seat to act sees, and the rules that go with it."""
    return hand._packed[0], hand._table[0]["sight"]


# ------------------------------------------------------------------------------------------ plays


def test_legal_plays() -> None:
    rules, view = view_of(play(SOUTHERN, ["8S 3S", "9S 2S 4D"], "8S", 0))
    n = kit.legal_plays(rules, view)
    assert [shown(cards) for cards in view["plays"][:n]] == ["9S", "2S"]
    rules, view = view_of(play(TWO_DECKS, ["8S 8S 3S", "9S 9S 9C 4D"], "8S 8S", 0))
    n = kit.legal_plays(rules, view)
    plays = [join(*both) for both in zip(view["plays"][:n], view["plays_second"][:n], strict=True)]
    assert sorted(map(shown, plays)) == ["9S 9C", "9S 9S"]


def test_may_pass() -> None:
    must = parse_variant(f"southern,{QUIET},must_play=yes")
    for rules, second, passing in [(SOUTHERN, "9S 4S", True), (must, "9S 4S", False), (must, "5S 4S", True)]:
        assert bool(kit.may_pass(*view_of(play(rules, ["8S 3S", second], "8S", 0)))) is passing
    assert not kit.may_pass(*view_of(play(SOUTHERN, ["8S 3S", "9S 4S"], "", 0)))  # who leads


def test_lowest_play_and_random_play() -> None:
    rules, view = view_of(play(SOUTHERN, ["8S 3S", "9S 2S 4D"], "8S", 0))
    assert shown(kit.lowest_play(rules, view)) == "9S"
    stream = np.zeros(1, STREAM).view(np.recarray)[0]
    stream["is_open"], stream["s0"], stream["s1"] = 1, 12345, 67890
    assert {shown(kit.random_play(rules, view, stream)) for _ in range(60)} == {"9S", "2S", "-"}


def test_lowest_answer() -> None:
    hand = parse_hand(f"9S 2S {QUAD}")
    for on, answer in [("8S", "8C"), ("10S", "2S"), ("2D", QUAD), ("2D 2H", QUAD), ("9C 9D", "-"), ("7S 7C", "8S 8C")]:
        assert shown(kit.lowest_answer(ONE, hand, code(on))) == answer, on


def test_longest_from_lowest() -> None:
    for hand, longest in [
        ("3S 4S 5S 6S 9S", "3S 4S 5S 6S"),
        (D3, D3),
        ("3S 3C 4S 5S", "3S 4S 5S"),
        ("3S 3C 3D 4S 6S", "3S 3C 3D"),
        ("3S 5S 6S 7S", "3S"),
    ]:
        assert shown(kit.longest_from_lowest(ONE, parse_hand(hand))) == longest


def test_code_and_what_it_holds() -> None:
    for cards, kind, length, top in [
        ("9D", shapes.SINGLE, 1, "9D"),
        ("9S 9D", shapes.PAIR, 1, "9D"),
        ("9S 9C 9D", shapes.TRIPLE, 1, "9D"),
        (QUAD, shapes.QUAD, 1, "8H"),
        ("3S 4S 5S 6D", shapes.STRAIGHT, 4, "6D"),
        (D3, shapes.DOUBLE_STRAIGHT, 3, "5C"),
    ]:
        assert (kit.kind(code(cards)), kit.length(code(cards))) == (kind, length), cards
        assert kit.top(code(cards)) == parse_card(top), cards
    assert code("3S 5S") == 0
    assert kit.kind(0) == 0


def test_code_with_second_copies() -> None:
    rules, card = pack(TWO_DECKS, 4)[0], parse_hand("9S")
    assert kit.kind(kit.code(rules, card, card)) == shapes.PAIR
    assert kit.kind(kit.code(rules, card)) == shapes.SINGLE
    assert kit.code(rules, card, parse_hand("9C")) == 0  # a second copy without the first


def test_beats_and_is_chop() -> None:
    for cards, on, beats, chops in [
        ("9D", "9C", True, False),
        ("9C", "9D", False, False),
        ("9C 9D", "8S", False, True),
        (D3, "2H", True, True),
        (QUAD, "2S 2C", True, True),
        (QUAD, "AS", False, True),
    ]:
        assert bool(kit.beats(ONE, code(cards), code(on))) is beats, (cards, on)
        assert bool(kit.is_chop(code(cards), code(on))) is chops, (cards, on)


# ------------------------------------------------------------------------------------------ hands


def test_numbers_of_cards() -> None:
    hand = parse_hand("4C 4H 9S 2D")
    assert (kit.n_cards(hand), kit.n_cards(0)) == (4, 0)
    assert (kit.lowest_card(hand), kit.lowest_card(0)) == (parse_card("4C"), 64)
    assert (kit.highest_card(hand), kit.highest_card(0)) == (parse_card("2D"), -1)
    assert [kit.count_of(hand, rank) for rank in range(13)] == [0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]


def test_longest_run() -> None:
    for hand, n in [("3S 3C 5S 7S", 1), ("3S 4S 6S 7S 8S", 3), ("QS KS AS 2S", 4), ("3S 3C 4D 4H", 2)]:
        assert kit.longest_run(parse_hand(hand)) == n, hand
    assert kit.longest_run(0) == 0
    assert kit.longest_run(FULL) == 13


def test_fewest_plays() -> None:
    for hand, n in [("3S 4S 5S", 1), ("3S 4S 6S", 3), (f"{D3} 9S", 2), ("3S 3C 4S 4C 5S 5C 6S 7S", 2)]:
        assert kit.fewest_plays(ONE, parse_hand(hand)) == n, hand


# ------------------------------------------------------------------------------------------ the table


def test_cards_left() -> None:
    """Seat 0 is to act: seat 1 has gone out, seat 2 holds two cards, seat 3 one."""
    hand = play(SOUTHERN, ["9S 4S", "8S", "10D 3D 5D", "JS KD"], "8S, 10D, JS", 1)
    rules, view = view_of(hand)
    assert hand.seat == 0
    assert [kit.cards_left(rules, view, step) for step in range(4)] == [2, 0, 2, 1]
    assert kit.fewest_left(rules, view) == 1
    rules, view = view_of(play(SOUTHERN, ["9S 4S", "8S 3S"], "", 0))
    assert kit.fewest_left(rules, view) == 2


def test_cards_seen() -> None:
    """Own cards and played ones are seen, whoever played them; the rest of the deck is not."""
    rules, view = view_of(play(SOUTHERN, ["9S 4S", "8S 6S", "10D 3D 5D"], "8S, 10D", 1))
    once, twice = kit.seen(rules, view)
    assert (shown(once), twice) == ("4S 8S 9S 10D", 0)
    assert kit.unseen(rules, view) == FULL ^ mask(map(parse_card, ["4S", "8S", "9S", "10D"]))
    assert kit.unseen_second(rules, view) == 0


def test_cards_seen_of_two_decks() -> None:
    """Seat 2 holds a 9S, of which seat 1 has played one; both copies of the 8S are played, by two seats."""
    rules, view = view_of(play(TWO_DECKS, ["8S 3S", "8S 9S 6S", "9S 4S 4S"], "8S, 9S", 0))
    assert view["seat"] == 2
    once, twice = kit.seen(rules, view)
    assert (shown(once), shown(twice)) == ("4S 8S 9S", "4S 9S")
    assert kit.unseen(rules, view) == FULL ^ parse_hand("4S 9S")
    assert kit.unseen_second(rules, view) == FULL ^ parse_hand("4S 8S 9S")
    ties = parse_variant(f"southern,{QUIET},decks=2,ties=later")
    rules, view = view_of(play(ties, ["8S 3S", "8S 6S", "5S 4S"], "8S, 8S", 0))
    assert shown(kit.seen(rules, view)[1]) == "8S"  # both copies, played by two seats


# ------------------------------------------------------------------------------------------ chance


@pytest.mark.parametrize("word", [0, 1, 2**63 - 1, 2**63, 3 << 62, 2**64 - 1])
def test_pick_and_chance(word: int) -> None:
    assert [kit.pick(stream_of(word), n) for n in (1, 2, 3, 10)] == [word * n >> 64 for n in (1, 2, 3, 10)]
    chance = float(kit.chance(stream_of(word)))
    assert Fraction(chance) == Fraction(word >> 11, 2**53)
    assert 0 <= chance < 1


def test_every_helper_has_a_test() -> None:
    """Each public function of the kit is called in this file."""
    text = Path(__file__).read_text(encoding="utf-8")
    public = [kernel.__name__ for kernel in kit.KERNELS if not kernel.__name__.startswith("_")]
    assert len(public) > 20
    assert not [name for name in public if f"kit.{name}(" not in text]
