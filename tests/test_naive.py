"""The slow twin against the public rule cases, cases worked by hand, and itself in even slower words."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import naive
import pytest
from naive import Cards, PaidChop, Position

from tlsim.rules import Rules
from tlsim.variantfiles import parse_variant

VECTORS = Path(__file__).parent / "data/rules.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]
CLASSIC, SOUTHERN, VIET_CONG = (parse_variant(name) for name in ("classic", "southern", "viet-cong"))
MIEN_NAM = replace(
    SOUTHERN,
    payoff="places",
    cong=True,
    chop_penalties=True,
    unlocked_chops=("double-straight-4",),
    instant_wins=("dragon", "five-pair-straight", "four-twos", "six-pairs"),
    opening_instant_wins=("four-threes",),
)
DEM_LA = replace(MIEN_NAM, ends="first-out", payoff="cards", leftover_penalties=False, chop_penalties=False)
ODD = replace(
    VIET_CONG,
    straight_twos=True,
    finish_on_two=False,
    must_play=True,
    pass_locks=False,
    unlocked_chops=("double-straight-3", "quad"),
    cards=17,
    leftover_penalties=True,
    chop_penalties=True,
    instant_wins=(),
)


def cards(text: str | Sequence[str]) -> Cards:
    """Return the cards of `3S 10D` or of a list of such names."""
    names = text.split() if isinstance(text, str) else text
    ranks = ["3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2"]
    return frozenset(4 * ranks.index(name[:-1]) + "SCDH".index(name[-1]) for name in names)


def deal(rng: random.Random, players: int, size: int) -> list[Cards]:
    deck = rng.sample(range(52), players * size)
    return [frozenset(deck[seat * size : (seat + 1) * size]) for seat in range(players)]


def uniform(rng: random.Random) -> naive.Choose:
    def choose(_seat: int, position: Position) -> Cards:
        plays = sorted(sorted(play) for play in position.legal)
        return frozenset(rng.choice(plays + [[]] * position.may_pass))

    return choose


class Script:
    """Plays `seat: cards` as written, then the lowest legal card for everybody; keeps all positions."""

    def __init__(self, *plays: str) -> None:
        self.plays = [cards(play) for play in plays]
        self.positions: list[Position] = []

    def __call__(self, _seat: int, position: Position) -> Cards:
        self.positions.append(position)
        if self.plays:
            return self.plays.pop(0)
        return min(position.legal, key=lambda play: (len(play), max(play)), default=frozenset())


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_public_case(case: dict[str, Any]) -> None:
    rules = parse_variant(case["variant"])
    if case["check"] == "classify":
        kind = naive.classify(rules, cards(case["cards"]))
        assert (["invalid"] if kind is None else list(kind)) == case["expect"]
    else:
        play, on = cards(case["play"]), cards(case["on"])
        legal = naive.beats(rules, play, on) if on else naive.may_lead(rules, play, None)
        assert legal == case["expect"]
        assert (play in naive.legal_plays(rules, play, on or None)) == case["expect"]


@pytest.mark.parametrize("rules", [CLASSIC, SOUTHERN, VIET_CONG, ODD], ids=["classic", "southern", "viet-cong", "odd"])
def test_combinations_are_all_subsets_that_classify(rules: Rules) -> None:
    rng = random.Random(1)
    for hand in [*deal(rng, 4, 13)[:2], frozenset(rng.sample(range(20), 12)), frozenset(rng.sample(range(32, 52), 12))]:
        subsets = (frozenset(some) for size in range(14) for some in itertools.combinations(hand, size))
        found = naive.combinations_in(rules, hand)
        assert sorted(map(sorted, found)) == sorted(sorted(some) for some in subsets if naive.classify(rules, some))


@pytest.mark.parametrize(
    ("rules", "kind", "line"),
    [
        (SOUTHERN, ("double-straight", 4), "double-straight-4"),
        (CLASSIC, ("double-straight", 9), "double-straight-5"),
        (VIET_CONG, ("double-straight", 4), "double-straight-3"),
        (VIET_CONG, ("double-straight", 6), "double-straight-5"),
        (VIET_CONG, ("quad-run", 2), "quad-run-2"),
        (CLASSIC, ("quad-run", 2), None),
        (CLASSIC, ("straight", 5), None),
        (replace(CLASSIC, chops=()), ("quad", 1), None),
        (replace(CLASSIC, chops=(("double-straight-4", ("two",)),)), ("double-straight", 3), None),
    ],
)
def test_chop_line(rules: Rules, kind: tuple[str, int], line: str | None) -> None:
    assert naive.chop_line(rules, *kind) == line


@pytest.mark.parametrize(
    ("rules", "play", "on", "expected"),
    [
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
    ],
)
def test_beats(rules: Rules, play: str, on: str, expected: bool) -> None:
    assert naive.beats(rules, cards(play), cards(on)) == expected


def test_no_quad_run_is_led() -> None:
    hand = cards("3S 3C 3D 3H 4S 4C 4D 4H")
    assert hand not in naive.legal_plays(VIET_CONG, hand, None)
    assert hand in naive.legal_plays(VIET_CONG, hand, cards("2S 2C"))


def test_first_lead() -> None:
    hand = cards("3S 3H 4C 5C")
    legal = {
        first: naive.legal_plays(replace(SOUTHERN, first_lead=first), hand, None, 0) for first in ("alone", "free")
    }
    assert legal["alone"] == {cards("3S")}
    assert legal["free"] == naive.legal_plays(SOUTHERN, hand, None)
    assert naive.legal_plays(SOUTHERN, hand, None, 0) == {cards("3S"), cards("3S 3H"), cards("3S 4C 5C")}


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


@pytest.mark.parametrize(
    ("rules", "held", "half_units"),
    [
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
    ],
)
def test_leftover(rules: Rules, held: str, half_units: int) -> None:
    assert naive.leftover(rules, cards(held)) == half_units


@pytest.mark.parametrize("rules", [SOUTHERN, CLASSIC, ODD], ids=["southern", "classic", "odd"])
def test_leftover_is_the_dearest_of_all_splits(rules: Rules) -> None:
    def dearest(held: Cards, priced: Sequence[tuple[Cards, int]]) -> int:
        fits = [(some, price) for some, price in priced if some <= held]
        rest = (price + dearest(held - some, fits[i + 1 :]) for i, (some, price) in enumerate(fits))
        return max([sum(1 if card < 50 else 2 for card in held if card >= 48), *rest])

    rng = random.Random(2)
    for _ in range(40):
        held = frozenset(rng.sample(range(rng.choice([28, 32, 36]), 52), 11))
        kinds = {some: naive.classify(rules, some) for some in naive.combinations_in(rules, held)}
        names = {some: naive.exact_name(*kind) for some, kind in kinds.items() if kind}
        priced = [(some, naive.PENALTIES[name]) for some, name in names.items() if name in naive.PENALTIES]
        assert naive.leftover(rules, held) == dearest(held, priced)


def test_payoffs_by_place() -> None:
    nothing, held = frozenset[int](), cards("4S 6S 8S 10S QS AS")
    four, three = [nothing, nothing, nothing, held], [nothing, nothing, held]
    assert naive.payoffs(MIEN_NAM, [2, 0, 1, 3], four, {0, 1, 2, 3}, []) == [2, -2, 4, -4]
    assert naive.payoffs(MIEN_NAM, [1, 0, 2], three, {0, 1, 2}, []) == [0, 2, -2]
    assert naive.payoffs(SOUTHERN, [2, 0, 1, 3], four, {0, 1, 2, 3}, []) == [2, 2, 2, -6]
    twos = [nothing, nothing, nothing, cards("2S 2H 3S")]
    assert naive.payoffs(SOUTHERN, [2, 0, 1, 3], twos, {0, 1, 2, 3}, []) == [2, 2, 5, -9]
    assert naive.instant_payoffs(SOUTHERN, 1, 4, 13) == [-2, 6, -2, -2]
    assert naive.instant_payoffs(MIEN_NAM, 1, 3, 13) == [-4, 8, -4]
    assert naive.instant_payoffs(DEM_LA, 0, 2, 13) == [52, -52]


def test_cong() -> None:
    nothing, held = frozenset[int](), cards("3S 5C 7S")
    assert naive.payoffs(MIEN_NAM, [2, 0, 1, 3], [nothing, nothing, nothing, held], {0, 1, 2}, []) == [2, -2, 8, -8]
    assert naive.payoffs(DEM_LA, [1, 0, 2], [cards("3H 4H"), nothing, held], {0, 1}, []) == [-4, 16, -12]


def test_chop_penalties() -> None:
    hands = [frozenset[int](), frozenset[int](), cards("3S")]
    chain = [PaidChop(1, 0, 2, False), PaidChop(2, 1, 3, False)]
    assert naive.payoffs(MIEN_NAM, [0, 1, 2], hands, {0, 1, 2}, [[], chain]) == [2, -5, 3]
    assert naive.payoffs(MIEN_NAM, [0, 1, 2], hands, {0, 1, 2}, [[*chain, PaidChop(0, 2, 4, True)]]) == [2, 0, -2]
    assert naive.payoffs(MIEN_NAM, [0, 1, 2], hands, {0, 1, 2}, [chain[:1], [PaidChop(0, 1, 1, False)]]) == [1, 1, -2]
    assert naive.is_paid(MIEN_NAM, cards("5S 5C 5D 5H"), cards("4S 4C 4D 4H"))
    assert not naive.is_paid(MIEN_NAM, cards("2H"), cards("2S"))


def test_places_first_out() -> None:
    assert naive.places(DEM_LA, [2], [5, 3, 0, 3]) == [4, 2, 1, 2]
    assert naive.order(DEM_LA, [2], [5, 3, 0, 3]) == [2, 3, 1, 0]
    assert naive.places(DEM_LA, [0], [0, 7, 7, 7]) == [1, 2, 2, 2]
    assert naive.order(DEM_LA, [1], [7, 0, 7, 7]) == [1, 2, 3, 0]
    by_order = replace(DEM_LA, payoff="places", cong=False)
    hands = [cards("3S 3C"), frozenset[int](), cards("4S 4C"), cards("5S 5C")]
    assert naive.payoffs(by_order, naive.order(by_order, [1], [2, 0, 2, 2]), hands, {0, 1, 2, 3}, []) == [-4, 4, 2, -2]
    assert naive.places(SOUTHERN, [2, 0, 3], [0, 6, 0, 0]) == [2, 4, 1, 3]


CHAIN = ("2H", "3S 3C 4S 4C 5S 5C", "8S 8C 8D 8H", "9S 9D 10S 10C JS JC QS QC")


def test_a_chain_of_chops() -> None:
    hands = [cards(f"{held} {rest}") for held, rest in zip(CHAIN, ("7S 9C", "KS", "KC", "KD"), strict=True)]
    hand = naive.play_hand(MIEN_NAM, hands, 3, Script(*CHAIN), opening=False, leader=0)
    assert [seat for seat, _ in hand.plays] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 0, 1, 2]
    assert (hand.n_plays, hand.passes, hand.piles, hand.twos_left, hand.required) == (8, 6, 3, 0, None)
    assert hand.chops == Counter(["double-straight-3", "quad", "double-straight-4"])
    assert hand.places == [4, 2, 3, 1]
    assert hand.payoffs == [-4, 2, -2 - 9, 4 + 9]  # 2 for the 2H, 3, 4, paid by the quad's owner


def test_nobody_pays_for_the_last_play_of_a_player() -> None:
    hands = [cards(f"{held} {rest}") for held, rest in zip(CHAIN, ("7S 9C", "KS", "", "KD"), strict=True)]
    hand = naive.play_hand(MIEN_NAM, hands, 3, Script(*CHAIN), opening=False, leader=0)
    assert hand.places == [4, 3, 1, 2]
    assert hand.payoffs == [-4, -2, 4, 2]


def test_unlocked_chops() -> None:
    hands = [cards("2S 3S"), cards("9S 9D 10S 10C JS JC QS QC KS"), cards("2D 4S"), cards("5S 6C")]
    script = Script("2S", "", "2D", "", "", "9S 9D 10S 10C JS JC QS QC", "")
    hand = naive.play_hand(MIEN_NAM, hands, 0, script, opening=False, leader=0)
    assert [seat for seat, _ in hand.plays][:8] == [0, 1, 2, 3, 0, 1, 2, 1]  # 0 and 3 have passed and hold no chop
    asked = script.positions[5]
    assert (asked.again, asked.legal, asked.may_pass, asked.owner) == (True, {hands[1] - cards("KS")}, True, 2)
    assert (script.positions[4].again, script.positions[6].passed) == (False, frozenset({0, 3}))
    assert naive.legal_plays(MIEN_NAM, hands[1], cards("2D"), again=True) == {hands[1] - cards("KS")}
    assert naive.legal_plays(MIEN_NAM, hands[1], cards("AD"), again=True) == set()
    lower = cards("3S 3C 4S 4C 5S 5C 6S 6C")  # matching and beating counts
    assert naive.legal_plays(MIEN_NAM, hands[1], lower, again=True) == {hands[1] - cards("KS")}
    assert naive.legal_plays(SOUTHERN, hands[1], cards("2D"), again=True) == set()


def test_the_winner_of_a_pile_may_be_out() -> None:
    hands = [cards("8S"), cards("3S 4S"), cards("5S 6S"), cards("7S 7C 9S")]
    hand = naive.play_hand(SOUTHERN, hands, 0, Script("8S", "", "", "9S"), opening=False, leader=0)
    assert [seat for seat, _ in hand.plays][:7] == [0, 1, 2, 3, 3, 1, 2]  # 9S stands against all who have not passed


def test_pass_locks() -> None:
    hands = [cards("3S 10S"), cards("9S 9C"), cards("5S KS"), cards("6S AS")]
    for locks, asked in ((True, [0, 1, 2, 3, 0, 2]), (False, [0, 1, 2, 3, 0, 1])):
        rules = replace(SOUTHERN, pass_locks=locks)
        script = Script("3S", "", "5S", "6S", "")
        hand = naive.play_hand(rules, hands, 3, script)
        assert [seat for seat, _ in hand.plays][:6] == asked
        assert not any(position.again for position in script.positions)
        assert (hand.leader, hand.required) == (0, 0)


def test_an_illegal_choice_is_refused() -> None:
    hands = [cards("3S 4S"), cards("5S 6S")]
    for play in ("", "4S", "5S"):
        with pytest.raises(AssertionError):
            naive.play_hand(SOUTHERN, hands, 0, Script(play))


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
    assert naive.instant_win(SOUTHERN, dragon - {0}, True) is None
    assert naive.instant_win(CLASSIC, dragon, True) is None
    hands = [quads, threes, cards("3H 4S"), dragon]
    assert naive.instant_winner(once, hands, 0, True) == (3, "dragon")
    assert naive.instant_winner(SOUTHERN, [pairs, quads], 1, True) == (1, "six-pairs")
    hand = naive.play_hand(SOUTHERN, [threes, cards("3D 6D")], 0, Script())
    assert (hand.instant_win, hand.places, hand.payoffs) == ((0, "threes-double-straight"), [1, 2], [2, -2])


@pytest.mark.parametrize("rules", [CLASSIC, SOUTHERN, VIET_CONG, MIEN_NAM, DEM_LA, ODD])
def test_random_hands(rules: Rules) -> None:
    rng = random.Random(3)
    for players in range(3 if rules.cards == 17 else 2, 4 if rules.cards == 17 else 5):
        for _ in range(4):
            hands, leader = deal(rng, players, rules.cards), rng.choice([None, 0])
            hand = naive.play_hand(rules, hands, 0, uniform(rng), leader is None, leader)
            assert sum(hand.payoffs) == 0
            assert 1 in hand.places


@pytest.mark.parametrize("rules", [CLASSIC, SOUTHERN, VIET_CONG, MIEN_NAM, DEM_LA, ODD])
def test_lowest_has_one_choice(rules: Rules) -> None:
    rng = random.Random(4)

    def choose(_seat: int, position: Position) -> Cards:
        play = naive.lowest(rules, position)
        for other in position.legal - {play}:  # no tie that the definition leaves open
            assert not naive.matches(rules, other, play) or (max(other), sum(other)) != (max(play), sum(play))
        return play

    for _ in range(4):
        assert sum(naive.play_hand(rules, deal(rng, 3, rules.cards), 0, choose).payoffs) == 0


def position(hand: str, on: str = "", required: int | None = None, rules: Rules = SOUTHERN) -> Position:
    held, pile = cards(hand), cards(on) or None
    legal, passing = naive.legal_plays(rules, held, pile, required), naive.may_pass(rules, held, pile)
    return Position(0, held, pile, 1 if pile else None, required, False, legal, passing, (len(held), 5), frozenset())


@pytest.mark.parametrize(
    ("hand", "on", "play"),
    [
        ("3S 3C 3D 4S 4C 5S 5C 5D KS", "", "3S 3C 4S 4C 5S 5C"),
        ("3S 3C 3D 4S 5S KS", "", "3S 4S 5S"),
        ("3S 3C 3D 3H 4S 5S 6S KS", "", "3S 4S 5S 6S"),
        ("3H 4S 4C 4D 4H", "", "3H"),
        ("3H 4S 4C 4D 5H 6S", "4C 5C 6C", ""),
        ("3H 4S 5D 6S 6H", "3S 4C 5C", "3H 4S 5D"),
        ("3S 3C 4S 4C 5S 5C 9S 9C 9D 9H", "2H", "3S 3C 4S 4C 5S 5C"),
        ("3S 3C 4S 4C 5S 5C 2H", "2D", "2H"),
        ("3S 3C 4S 4C 5S 5C 6S 6C 9S 9C 9D 9H", "2S 2C", "9S 9C 9D 9H"),
    ],
)
def test_lowest(hand: str, on: str, play: str) -> None:
    assert naive.lowest(SOUTHERN, position(hand, on)) == cards(play)


def test_lowest_first_lead() -> None:
    assert naive.lowest(CLASSIC, position("3S 3C 4S 5S", "", 0, CLASSIC)) == cards("3S")
    assert naive.lowest(SOUTHERN, position("3S 3C 4S 5S", "", 0)) == cards("3S 4S 5S")
