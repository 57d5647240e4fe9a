"""The slow twin against the public rule cases, cases worked by hand, and itself in even slower words."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import naive
import pytest
from naive import Cards, PaidChop
from naive_table import CLASSIC, DEM_LA, MIEN_NAM, NOTHING, ODD, SOUTHERN, VIET_CONG, cards, deal
from tables import random_table

from tlsim.rules.ruleset import Rules
from tlsim.rules.variantfiles import parse_variant

VECTORS = Path(__file__).parent / "data/rules.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]


TIES = ("forbidden", "later", "kickers")


def test_public_cases() -> None:
    assert len(CASES) > 400
    for case in CASES:
        rules = parse_variant(case["variant"])
        if case["check"] == "classify":
            kind = naive.classify(rules, cards(case["cards"]))
            assert (["invalid"] if kind is None else list(kind)) == case["expect"], case
        else:
            play, on = cards(case["play"]), cards(case["on"])
            legal = naive.beats(rules, play, on) if on else naive.may_lead(rules, play, None)
            assert legal == case["expect"], case
            assert (play in naive.legal_plays(rules, play, on or None)) == case["expect"], case


@pytest.mark.parametrize("rules", [CLASSIC, SOUTHERN, VIET_CONG, ODD], ids=["classic", "southern", "viet-cong", "odd"])
def test_combinations_are_all_subsets_that_classify(rules: Rules) -> None:
    rng = random.Random(1)
    one = [*deal(rng, 2, 13), *deal(rng, 1, 12, first=32)]
    two = [*deal(rng, 1, 12, 2), *deal(rng, 2, 12, 2, first=40), *deal(rng, 1, 12, 2, first=28)]
    for hand in one + two:
        subsets = {some for size in range(14) for some in itertools.combinations(hand, size)}
        found = naive.combinations_in(rules, hand)
        assert sorted(found) == sorted(some for some in subsets if naive.classify(rules, some))


KINDS_OF_TWO_DECKS: list[tuple[Rules, str, tuple[str, int] | None]] = [
    (SOUTHERN, "3S 3S", ("pair", 1)),
    (SOUTHERN, "3S 3S 3C", ("triple", 1)),
    (SOUTHERN, "3S 3S 3H 3H", ("quad", 1)),
    (SOUTHERN, "3S 3S 3C 3C 3D", None),
    (SOUTHERN, "3S 3S 3C 3C 3D 3D 3H 3H", None),
    (SOUTHERN, "2S 2S 2H 2H", None),
    (CLASSIC, "2S 2S 2H 2H", ("quad", 1)),
    (SOUTHERN, "3S 3S 4C 4C 5D 5D", ("double-straight", 3)),
    (SOUTHERN, "3S 3S 4C 5D", None),
    (SOUTHERN, "3S 3S 3C 4S 4S 4C 5S 5S 5C", None),
    (VIET_CONG, "3S 3S 3C 3C 4D 4D 4H 4H", ("quad-run", 2)),
    (VIET_CONG, "3S 3S 3C 3C 4D 4D 4H 4H 5S 5S 5C 5H", ("quad-run", 3)),
    (VIET_CONG, "AS AS AC AC 2S 2S 2C 2C", None),
    (CLASSIC, "3S 3S 3C 3C 4D 4D 4H 4H", None),
    (VIET_CONG, "3S 3S 3C 3C 3D 4D 4D 4H 4H 4S", None),
]


def test_classify_two_decks() -> None:
    for rules, held, kind in KINDS_OF_TWO_DECKS:
        assert naive.classify(rules, cards(held)) == kind, held


def test_plays_with_the_same_cards_are_one_play() -> None:
    found = naive.legal_plays(SOUTHERN, cards("3S 3S 3C 3C 3D 3D 3H 3H"), None)
    # Pairs: 6 of two suits, 4 of one. Triples: 4 of three suits, 4 * 3 of two. Quads: 1, 4 * 3 of three, 6 of two.
    assert Counter(map(len, found)) == {1: 4, 2: 10, 3: 16, 4: 19}
    assert naive.legal_plays(SOUTHERN, cards("3S 3S 4C 4C 5D 5D"), cards("3H 4S 5C")) == {cards("3S 4C 5D")}


CHOP_LINES: list[tuple[Rules, tuple[str, int], str | None]] = [
    (SOUTHERN, ("double-straight", 4), "double-straight-4"),
    (CLASSIC, ("double-straight", 9), "double-straight-5"),
    (VIET_CONG, ("double-straight", 4), "double-straight-3"),
    (VIET_CONG, ("double-straight", 6), "double-straight-5"),
    (VIET_CONG, ("quad-run", 2), "quad-run-2"),
    (CLASSIC, ("quad-run", 2), None),
    (CLASSIC, ("straight", 5), None),
    (replace(CLASSIC, chops=()), ("quad", 1), None),
    (replace(CLASSIC, chops=(("double-straight-4", ("two",)),)), ("double-straight", 3), None),
]


def test_chop_line() -> None:
    for rules, kind, line in CHOP_LINES:
        assert naive.chop_line(rules, *kind) == line, kind


BEATS: list[tuple[Rules, str, str, bool]] = [
    (VIET_CONG, "3S 3C 3D 3H 4S 4C 4D 4H", "2S 2C", True),
    (VIET_CONG, "3S 3C 3D 3H 4S 4C 4D 4H", "2S", False),
    (VIET_CONG, "3S 3C 3D 3H 4S 4C 4D 4H 5S 5C 5D 5H", "2S 2C 2D", True),
    (VIET_CONG, "3S 3C 4S 4C 5S 5C 6S 6C", "2S", True),
    (VIET_CONG, "2S 2C 2D 2H", "AS AC AD AH", True),
    (SOUTHERN, "2S 2C 2D 2H", "AS AC AD AH", False),
    (SOUTHERN, "4S 4C 4D 4H", "3S 3C 5S 5C 6S 6C", False),
    (SOUTHERN, "3S 3C 4S 4C 5S 5C 6S 6C", "AS AC AD AH", True),
    (SOUTHERN, "AS AC AD AH", "3S 3C 4S 4C 5S 5C", True),
    (SOUTHERN, "AS AC AD AH", "3S 3C 4S 4C 5S 5C 6S 6C", False),
    (CLASSIC, "3S 3C 3D 3H", "KS AS 2S", False),
]


def test_beats() -> None:
    for rules, play, on, expected in BEATS:
        assert naive.beats(rules, cards(play), cards(on)) == expected, (play, on)


TIED = [  # play, on, and whether it beats that: with `later` whenever it is tied, with `kickers`
    ("9H", "9H", True, False),
    ("2H", "2H", True, False),
    ("9C 9H", "9S 9H", True, True),
    ("9S 9H", "9C 9H", True, False),
    ("9H 9H", "9H 9H", True, False),
    ("9H 9H", "9D 9H", True, True),
    ("2D 2H", "2C 2H", True, True),
    ("9S 9D 9H", "9C 9C 9H", True, True),
    ("9C 9C 9H", "9S 9D 9H", True, False),
    ("9C 9C 9H", "9S 9C 9H", True, True),
    ("9S 9D 9D 9H", "9C 9C 9D 9H", True, True),
    ("9S 9S 9D 9H", "9S 9C 9D 9H", True, False),
    ("9S 9C 9D 9H", "9S 9C 9D 9H", True, False),
    ("9S 9S 9H 9H", "9C 9D 9D 9H", True, True),
    ("3S 4D 5H", "3H 4C 5H", True, True),
    ("3H 4C 5H", "3S 4D 5H", True, False),
    ("3H 4C 5H", "3D 4C 5H", True, True),
    ("3H 4C 5H", "3H 4C 5H", True, False),
    ("3H 4C 5D", "3S 4S 5H", False, False),
    ("3S 4S 5H", "3H 4C 5D", None, None),
    ("3S 4S 5S 6H", "4S 5S 6H", False, False),
    ("3S 3S 4S 4S 5C 5H", "3H 3H 4H 4H 5S 5H", True, True),
    ("3H 3H 4H 4H 5S 5H", "3S 3S 4S 4S 5C 5H", True, False),
    ("3S 3S 4S 4S 5C 5H", "3S 3S 4S 4S 5C 5H", True, False),
    ("3S 3S 4S 4S 5C 5H", "3S 3C 4S 4S 5C 5H", True, False),
    ("5S 5S 5C 5C 6C 6C 6D 6H", "5D 5D 5H 5H 6S 6S 6D 6H", True, True),
    ("5D 5D 5H 5H 6S 6S 6D 6H", "5S 5S 5C 5C 6C 6C 6D 6H", True, False),
]


def test_ties() -> None:
    for play, on, later, kickers in TIED:
        higher = later is None  # its top card is
        for ties, expected in zip(TIES, (higher, higher or later, higher or kickers), strict=True):
            rules, where = replace(VIET_CONG, straight_twos=True, ties=ties), (ties, play, on)
            assert naive.beats(rules, cards(play), cards(on)) == expected, where
            assert (cards(play) in naive.legal_plays(rules, cards(f"{play} KS KC"), cards(on))) == expected, where
            assert not naive.is_chop(rules, cards(play), cards(on)), where


@pytest.mark.parametrize("ties", TIES)
def test_ties_leave_chops_as_they_are(ties: str) -> None:
    rules = replace(SOUTHERN, ties=ties)
    assert naive.beats(rules, cards("3S 3S 3C 3C"), cards("2H 2H"))
    assert naive.is_chop(rules, cards("3S 3S 4S 4S 5S 5S 6S 6S"), cards("AH AH AH AD"))
    assert not naive.beats(rules, cards("3S 3S 3C 3C"), cards("2H 2H 2H"))
    assert not naive.beats(rules, cards("3S 3S 4S 4S 5S 5S"), cards("2H 2H"))


@pytest.mark.parametrize("rules", [CLASSIC, SOUTHERN, VIET_CONG, ODD], ids=["classic", "southern", "viet-cong", "odd"])
@pytest.mark.parametrize("ties", TIES)
def test_legal_plays_are_the_combinations_that_may_be_played(rules: Rules, ties: str) -> None:
    rules, rng = replace(rules, ties=ties, finish_on_two=True), random.Random(5)
    for first in (0, 24, 36, 40) * 4:
        hand, other = deal(rng, 2, 12, 2, first)
        plays = naive.combinations_in(rules, hand)
        required = rng.choice([None, hand[0]])
        assert naive.legal_plays(rules, hand, None, required) == {
            play for play in plays if naive.may_lead(rules, play, required)
        }
        for on in rng.sample(naive.combinations_in(rules, other), 8):
            beating = {play for play in plays if naive.beats(rules, play, on)}
            assert naive.legal_plays(rules, hand, on) == beating
            unlocked = {play for play in beating if naive.line_of(rules, play) in rules.unlocked_chops}
            assert naive.legal_plays(rules, hand, on, again=True) == unlocked


def test_a_play_is_legal_when_it_is_among_the_legal_plays() -> None:
    rng = random.Random(6)
    for k in range(300):
        decks, size = 1 + k % 2, rng.choice([1, 2, 3, 4, 5, 7, 10, 13])
        rules, _ = random_table(rng, decks)
        hand, other = deal(rng, 2, size, decks, rng.choice([0, 52 - 2 * size // decks]))  # all cards or high ones
        plays, others = naive.combinations_in(rules, hand), naive.combinations_in(rules, other)
        twos = [play for play in others if min(play) >= 48]
        doubled = naive.combinations_in(rules, tuple(sorted(hand[:5] * 2)))
        some = [tuple(sorted(rng.sample(hand, rng.randint(0, size)))) for _ in range(30)]
        tried = {*plays, *others[:200], *doubled, *some}  # all that is legal, and more that is not
        for on in (None, *rng.choices(others, k=6), *twos[:3]):
            required, again = rng.choice([None, hand[0]]), on is not None and rng.random() < 0.4
            legal, where = naive.legal_plays(rules, hand, on, required, again), (rules, hand, on, required, again)
            assert {play for play in tried if naive.is_legal(*where, play)} == legal, where
            assert on is None or naive.can_answer(rules, hand, on, again) == bool(legal), where


def test_no_quad_run_is_led() -> None:
    hand = cards("3S 3C 3D 3H 4S 4C 4D 4H")
    assert hand not in naive.legal_plays(VIET_CONG, hand, None)
    assert hand in naive.legal_plays(VIET_CONG, hand, cards("2S 2C"))
    twice = cards("3S 3S 3C 3C 4S 4S 4H 4H")
    assert {len(play) for play in naive.legal_plays(VIET_CONG, twice, None, 0)} == {1, 2, 3, 4}
    assert naive.legal_plays(VIET_CONG, twice, cards("2H 2H")) == {twice}
    assert naive.legal_plays(VIET_CONG, twice, hand) == set()  # the lower copy of its top card: 4H on 4H
    assert naive.legal_plays(replace(VIET_CONG, ties="later"), twice, hand) == {twice}


def test_first_lead() -> None:
    hand = cards("3S 3H 4C 5C")
    legal = {
        first: naive.legal_plays(replace(SOUTHERN, first_lead=first), hand, None, 0) for first in ("alone", "free")
    }
    assert legal["alone"] == {cards("3S")}
    assert legal["free"] == naive.legal_plays(SOUTHERN, hand, None)
    assert naive.legal_plays(SOUTHERN, hand, None, 0) == {cards("3S"), cards("3S 3H"), cards("3S 4C 5C")}


def test_first_lead_with_one_copy_or_both() -> None:
    hand = cards("3S 3S 4C 5D")
    assert naive.legal_plays(SOUTHERN, hand, None, 0) == {cards("3S"), cards("3S 3S"), cards("3S 4C 5D")}
    assert naive.legal_plays(CLASSIC, hand, None, 0) == {cards("3S")}


def test_first_leader() -> None:
    hands = [cards("4S 5S"), cards("3C 9S"), cards("4C 5C"), cards("3C 9C"), cards("3D KS")]
    assert [naive.first_leader(hands, dealer) for dealer in range(5)] == [(1, 1), (3, 1), (3, 1), (1, 1), (1, 1)]
    assert naive.first_leader([cards("3S 3S"), cards("4S 4S")], 0) == (0, 0)  # the dealer, if nobody else


def test_finish_on_two_and_must_play() -> None:
    rules = replace(SOUTHERN, finish_on_two=False, must_play=True)
    assert naive.legal_plays(rules, cards("2S"), None) == {cards("2S")}
    assert naive.legal_plays(rules, cards("2S 2C"), None) == {cards("2S"), cards("2C")}
    assert naive.legal_plays(rules, cards("2S"), cards("AS")) == set()
    assert naive.may_pass(rules, cards("2S"), cards("AS"))
    assert not naive.may_pass(rules, cards("2S 3S"), cards("AS"))
    assert not naive.may_pass(rules, cards("4S 4C 4D 4H 5S"), cards("2H"))
    assert naive.may_pass(rules, cards("4S 4C 4D 4H 5S"), cards("2H"), again=True)
    assert not naive.may_pass(SOUTHERN, cards("3S"), None)
    assert naive.may_pass(SOUTHERN, cards("3H"), cards("3S"))
    assert naive.legal_plays(rules, cards("2H 2H"), None) == {cards("2H")}
    assert naive.legal_plays(rules, cards("2H 2H"), cards("2H")) == set()
    assert naive.legal_plays(replace(rules, ties="later"), cards("2H 2H"), cards("2H")) == {cards("2H")}
    assert not naive.may_pass(replace(rules, ties="later"), cards("2H 2H"), cards("2H"))
    assert naive.may_pass(replace(rules, ties="kickers"), cards("2H 2H"), cards("2H"))


LEFTOVERS: list[tuple[Rules, str, int]] = [
    (SOUTHERN, "", 0),
    (SOUTHERN, "3S AH", 0),
    (SOUTHERN, "2S 2D", 3),
    (SOUTHERN, "2S 2C 2D 2H", 6),
    (CLASSIC, "2S 2C 2D 2H", 6),
    (SOUTHERN, "9S 9C 9D 9H", 4),
    (SOUTHERN, "3S 3C 4S 4D 5S 5C", 3),
    (SOUTHERN, "3S 3C 4S 4D 5S 5C 6S 6C", 5),
    (SOUTHERN, "3S 3C 4S 4D 5S 5C 6S 6C 7S 7C", 5),
    (SOUTHERN, "3S 3C 4S 4D 5S 5C 6S 6C 7S 7C 8S 8C", 6),
    (SOUTHERN, "3S 3C 4S 4D 5S 5C 6S 6C 7S 7C 8S 8C 9S 9C", 8),
    (replace(SOUTHERN, double_straight_max=3), "3S 3C 4S 4D 5S 5C 6S 6C", 3),
    (SOUTHERN, "3S 3C 4S 4D 5S 5C 5D 5H", 4),
    (SOUTHERN, "3S 3C 4S 4D 5S 5C 6S 6C 6D 6H", 7),
    (SOUTHERN, "3S 3C 3D 3H 4S 4C 4D 4H 5S 5C 5D 5H", 12),
    (SOUTHERN, "KS KC AS AC 2S 2C", 2),
    (CLASSIC, "KS KC AS AC 2S 2C", 3),
    (CLASSIC, "KS KC AS AC 2D 2H", 4),
    (CLASSIC, "KS KC AS AC 2S 2C 2D", 5),
    # Two decks.
    (SOUTHERN, "2S 2S 2C 2C 2D 2D 2H 2H", 12),
    (CLASSIC, "2S 2S 2C 2C 2D 2D 2H 2H", 12),
    (SOUTHERN, "2H 2H", 4),
    (SOUTHERN, "9S 9S 9C 9C", 4),
    (SOUTHERN, "9S 9S 9C 9C 9D 9D 9H", 4),
    (SOUTHERN, "9S 9S 9C 9C 9D 9D 9H 9H", 8),
    (SOUTHERN, "3S 3S 4S 4S 5S 5S", 3),
    (SOUTHERN, "9S 9S 9C 9C 9D 9D 10S 10S JS JS", 4 + 3),
    (SOUTHERN, "3S 3S 3C 3C 4S 4S 4C 4C 5S 5S 5C 5C", 4 + 4 + 4),
    (SOUTHERN, "3S 3S 3C 3C 3D 3D 4S 4S 4C 4C 4D 4D 5S 5S 5C 5C 5D 5D", 4 + 4 + 4 + 3),
    (SOUTHERN, "3S 3S 3C 4S 4S 4C 5S 5S 5C 6S 6S 6C", 5),
    (SOUTHERN, "3S 3S 4S 4S 5S 5S 5C 5C 6S 6S 7S 7S", 3 + 3),
    (CLASSIC, "KS KS AS AS 2S 2S", 3),
    (CLASSIC, "KS KS AS AS 2S 2S 2D", 3 + 2),
    (CLASSIC, "KS KS KC KC AS AS AC AC 2S 2S 2C 2D", 4 + 4 + 5),
]


def test_leftover() -> None:
    for rules, held, half_units in LEFTOVERS:
        assert naive.leftover(rules, cards(held)) == half_units, (rules.name, held)


@pytest.mark.parametrize("rules", [SOUTHERN, CLASSIC, ODD], ids=["southern", "classic", "odd"])
def test_leftover_is_the_dearest_of_all_splits(rules: Rules) -> None:
    def dearest(held: Cards, priced: Sequence[tuple[Cards, int]]) -> int:
        fits = [(some, price) for some, price in priced if not Counter(some) - Counter(held)]
        rest = (price + dearest(naive.without(held, some), fits[i:]) for i, (some, price) in enumerate(fits))
        return max([sum(1 if card < 50 else 2 for card in held if card >= 48), *rest])

    rng = random.Random(2)
    for k in range(40):
        held = deal(rng, 1, 11, 1 + k % 2, first=rng.choice([28, 32, 36]))[0]
        kinds = {some: naive.classify(rules, some) for some in naive.combinations_in(rules, held)}
        names = {some: naive.exact_name(*kind) for some, kind in kinds.items() if kind}
        priced = [(some, naive.PENALTIES[name]) for some, name in names.items() if name in naive.PENALTIES]
        assert naive.leftover(rules, held) == dearest(held, priced)


def test_payoffs_by_place() -> None:
    nothing, held = NOTHING, cards("4S 6S 8S 10S QS AS")
    four, three = [nothing, nothing, nothing, held], [nothing, nothing, held]
    assert naive.payoffs(MIEN_NAM, [2, 0, 1, 3], four, {0, 1, 2, 3}, []) == [2, -2, 4, -4]
    assert naive.payoffs(MIEN_NAM, [1, 0, 2], three, {0, 1, 2}, []) == [0, 2, -2]
    assert naive.payoffs(SOUTHERN, [2, 0, 1, 3], four, {0, 1, 2, 3}, []) == [2, 2, 2, -6]
    twos = [nothing, nothing, nothing, cards("2S 2H 3S")]
    assert naive.payoffs(SOUTHERN, [2, 0, 1, 3], twos, {0, 1, 2, 3}, []) == [2, 2, 5, -9]
    five, eight = [NOTHING] * 4 + [held], [NOTHING] * 7 + [held]
    assert naive.payoffs(MIEN_NAM, [2, 0, 1, 3, 4], five, {0, 1, 2, 3, 4}, []) == [2, 0, 4, -2, -4]
    assert naive.payoffs(MIEN_NAM, [6, 5, 4, 3, 2, 1, 0, 7], eight, set(range(8)), []) == [-6, -4, -2, 2, 4, 6, 8, -8]
    assert naive.payoffs(SOUTHERN, [6, 5, 4, 3, 2, 1, 0, 7], eight, set(range(8)), []) == [2] * 7 + [-14]
    assert naive.instant_payoffs(DEM_LA, 4, 5, 20) == [-80, -80, -80, -80, 320]
    assert naive.instant_payoffs(SOUTHERN, 1, 4, 13) == [-2, 6, -2, -2]
    assert naive.instant_payoffs(MIEN_NAM, 1, 3, 13) == [-4, 8, -4]
    assert naive.instant_payoffs(DEM_LA, 0, 2, 13) == [52, -52]


def test_cong() -> None:
    nothing, held = NOTHING, cards("3S 5C 7S")
    assert naive.payoffs(MIEN_NAM, [2, 0, 1, 3], [nothing, nothing, nothing, held], {0, 1, 2}, []) == [2, -2, 8, -8]
    assert naive.payoffs(DEM_LA, [1, 0, 2], [cards("3H 4H"), nothing, held], {0, 1}, []) == [-4, 16, -12]


def test_chop_penalties() -> None:
    hands = [NOTHING, NOTHING, cards("3S")]
    chain = [PaidChop(1, 0, 2, False), PaidChop(2, 1, 3, False)]
    assert naive.payoffs(MIEN_NAM, [0, 1, 2], hands, {0, 1, 2}, [[], chain]) == [2, -5, 3]
    assert naive.payoffs(MIEN_NAM, [0, 1, 2], hands, {0, 1, 2}, [[*chain, PaidChop(0, 2, 4, True)]]) == [2, 0, -2]
    assert naive.payoffs(MIEN_NAM, [0, 1, 2], hands, {0, 1, 2}, [chain[:1], [PaidChop(0, 1, 1, False)]]) == [1, 1, -2]
    assert naive.is_paid(MIEN_NAM, cards("5S 5C 5D 5H"), cards("4S 4C 4D 4H"))
    assert not naive.is_paid(MIEN_NAM, cards("2H"), cards("2S"))
    assert naive.is_paid(replace(MIEN_NAM, ties="later"), cards("5S 5S 5H 5H"), cards("5S 5S 5H 5H"))


def test_places_first_out() -> None:
    assert naive.places(DEM_LA, [2], [5, 3, 0, 3]) == [4, 2, 1, 2]
    assert naive.order(DEM_LA, [2], [5, 3, 0, 3]) == [2, 3, 1, 0]
    assert naive.places(DEM_LA, [0], [0, 7, 7, 7]) == [1, 2, 2, 2]
    assert naive.order(DEM_LA, [1], [7, 0, 7, 7]) == [1, 2, 3, 0]
    by_order = replace(DEM_LA, payoff="places", cong=False)
    hands = [cards("3S 3C"), NOTHING, cards("4S 4C"), cards("5S 5C")]
    assert naive.payoffs(by_order, naive.order(by_order, [1], [2, 0, 2, 2]), hands, {0, 1, 2, 3}, []) == [-4, 4, 2, -2]
    assert naive.places(SOUTHERN, [2, 0, 3], [0, 6, 0, 0]) == [2, 4, 1, 3]


def test_instant_wins() -> None:
    dragon = cards("3S 4S 5S 6S 7S 8S 9D 10S JS QS KS AS AC")
    pairs = cards("3S 3C 5S 5C 7S 7C 9S 9C JS JC KS KC AD")
    quads = cards("3S 3C 3D 3H 5S 5C 7S 7C 9S 9C JS JC AD")
    threes = cards("3S 3C 4D 4H 5D 5C 7S 8S 9S 10C QS KS AS")
    assert naive.instant_win(SOUTHERN, dragon, False) == "dragon"
    assert naive.instant_win(SOUTHERN, cards("3S 3C 4S 4C 5S 5C 6S 6C 7D 7C 9S 9C JS"), True) == "five-pair-straight"
    assert naive.instant_win(SOUTHERN, pairs, True) == "six-pairs"
    assert naive.instant_win(SOUTHERN, quads, True) == "six-pairs"
    once = replace(SOUTHERN, six_pairs_quads_twice=False)
    assert naive.instant_win(once, quads, True) == "four-threes"
    assert naive.instant_win(once, quads, False) is None
    assert naive.instant_win(SOUTHERN, threes, True) == "threes-double-straight"
    assert naive.instant_win(SOUTHERN, cards("3S 4S 6S 7C 8S 9S 10C QS KS AS AC 2S 2C"), True) == "one-colour"
    assert naive.instant_win(SOUTHERN, cards("2S 2C 2D 2H 3S"), True) == "four-twos"
    assert naive.instant_win(SOUTHERN, dragon[1:], True) is None
    assert naive.instant_win(CLASSIC, dragon, True) is None
    hands = [quads, threes, cards("3H 4S"), dragon]
    assert naive.instant_winner(once, hands, 0, True) == (3, "dragon")
    assert naive.instant_winner(SOUTHERN, [pairs, quads], 1, True) == (1, "six-pairs")


def test_instant_wins_two_decks() -> None:
    once = replace(SOUTHERN, six_pairs_quads_twice=False)
    eight = cards("3S 3S 3C 3C 3D 3D 3H 3H 5S 5S 7C 7H 9H")  # 4 + 1 + 1 pairs
    assert naive.instant_win(SOUTHERN, eight, False) == "six-pairs"
    assert naive.instant_win(once, eight, False) is None
    assert naive.instant_win(once, eight, True) == "four-threes"
    assert naive.instant_win(SOUTHERN, cards("3S 3S 3C 3C 3D 5S 5S 5C 5C 5H 7C 7H 7D"), False) is None  # 2 + 2 + 1
    assert naive.instant_win(SOUTHERN, cards("3S 3S 3C 3C 3D 5S 5S 5C 5C 5H 7C 9H 9D"), False) is None  # 2 + 2 + 0 + 1
    assert naive.instant_win(SOUTHERN, cards("3S 3S 3C 3C 3D 5S 5S 5C 5C 5H 9C 9H 9D"), False) is None  # 2 + 2 + 1
    assert naive.instant_win(SOUTHERN, cards("2S 2S 2C 2C 2D 2D 4H 5S 5S 6S 6S 7S 8S"), False) == "four-twos"
    assert naive.instant_win(once, cards("2S 2S 2C 2C 3D 3D 4H 5S 5S 6S 6S 7S 8S"), True) == "four-twos"
    assert naive.instant_win(SOUTHERN, cards("2S 2S 2C 3C 3D 5S 7H 9S JC KS AD AD 10C"), False) is None
    ten = cards("3S 3S 4C 4C 5D 5D 6H 6H 7S 7S 9C JD KH")
    assert naive.instant_win(SOUTHERN, ten, True) == "five-pair-straight"
    assert naive.instant_win(SOUTHERN, cards("3H 3H 4H 4D 6H 6D 7H 7D JH JD KH KD 2H"), False) == "six-pairs"
    assert naive.instant_win(once, cards("3H 3H 3H 3D 4D 6D 7H 9D JH JD KH KD 2H"), False) == "one-colour"


def test_instant_wins_by_size_and_trading() -> None:
    twenty = cards("3S 4S 5S 6S 7S 8S 9D 10S JS QS KS AS AC 2S 2S 2C 2D 4C 6C 8C")
    assert naive.instant_win(SOUTHERN, twenty, False) == "four-twos"  # no dragon: that is for 13 cards
    assert naive.instant_win(replace(SOUTHERN, instant_wins_any_size=True), twenty, False) == "dragon"
    assert naive.instant_win(VIET_CONG, twenty, False) == "four-twos"
    assert naive.instant_win(replace(VIET_CONG, trading=True), twenty, True) is None
    only_opening = replace(VIET_CONG, instant_wins=(), opening_instant_wins=("four-twos",))
    assert naive.instant_win(only_opening, twenty, True) == "four-twos"
    assert naive.instant_win(replace(only_opening, trading=True), twenty, True) is None
    assert naive.instant_win(replace(SOUTHERN, trading=True, instant_wins_any_size=True), twenty, True) == "dragon"
    hands = [cards("4S 5S"), twenty, cards("5S 6S"), twenty]
    winners = [naive.instant_winner(VIET_CONG, hands, leader, True) for leader in range(4)]
    assert winners == [(1, "four-twos"), (1, "four-twos"), (3, "four-twos"), (3, "four-twos")]
