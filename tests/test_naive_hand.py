"""The slow twin's whole hands, matches and plain players, in cases worked by hand."""

import random
from collections import Counter
from dataclasses import replace

import naive
import naive_hand
import pytest
from naive import Cards
from naive_hand import Position, Start
from naive_table import CLASSIC, DEM_LA, MIEN_NAM, ODD, SOUTHERN, VIET_CONG, Script, cards, deal, uniform

from tlsim.rules.ruleset import Rules

CHAIN = ("2H", "3S 3C 4S 4C 5S 5C", "8S 8C 8D 8H", "9S 9D 10S 10C JS JC QS QC")


def test_a_chain_of_chops() -> None:
    hands = [cards(f"{held} {rest}") for held, rest in zip(CHAIN, ("7S 9C", "KS", "KC", "KD"), strict=True)]
    hand = naive_hand.play_hand(MIEN_NAM, hands, 3, Script(*CHAIN), opening=False, leader=0)
    assert [seat for seat, _ in hand.plays] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 0, 1, 2]
    assert (hand.n_plays, hand.passes, hand.piles, hand.twos_left, hand.required) == (8, 6, 3, 0, None)
    assert hand.chops == Counter(["double-straight-3", "quad", "double-straight-4"])
    assert hand.places == [4, 2, 3, 1]
    assert hand.payoffs == [-4, 2, -2 - 9, 4 + 9]  # 2 for the 2H, 3, 4, paid by the quad's owner


def test_nobody_pays_for_the_last_play_of_a_player() -> None:
    hands = [cards(f"{held} {rest}") for held, rest in zip(CHAIN, ("7S 9C", "KS", "", "KD"), strict=True)]
    hand = naive_hand.play_hand(MIEN_NAM, hands, 3, Script(*CHAIN), opening=False, leader=0)
    assert hand.places == [4, 3, 1, 2]
    assert hand.payoffs == [-4, -2, 4, 2]


def test_a_chain_of_chops_with_copies() -> None:
    rules = replace(MIEN_NAM, ties="later")
    links = ("2S 2S", "8S 8C 8D 8H", "8S 8C 8D 8H", "9S 9D 10S 10C JS JC QS QS")
    hands = [cards(f"{held} {rest}") for held, rest in zip(links, ("3S", "4S", "5S", "6S"), strict=True)]
    hand = naive_hand.play_hand(rules, hands, 3, Script(*links), opening=False, leader=0)
    # Seat 3 leads its 6S and is out; 0 leads its 3S and is out; 1 beats that with its 4S; 2 is left with a 5S.
    assert [seat for seat, _ in hand.plays] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 0, 1]
    assert (hand.ranking, hand.places) == ([3, 0, 1, 2], [2, 3, 4, 1])
    assert hand.chops == Counter({"quad": 1, "double-straight-4": 1})  # the copy of the quad matches it
    # Half units: +4 +2 -2 -4 by place. Two black 2s cost 1 + 1, the quad 4, its copy 4: seat 2 pays seat 3 those 10.
    assert hand.payoffs == [2, -2, -4 - 10, 4 + 10]
    for ties in ("forbidden", "kickers"):
        with pytest.raises(AssertionError):
            naive_hand.play_hand(replace(rules, ties=ties), hands, 3, Script(*links), opening=False, leader=0)


def test_unlocked_chops_and_ties() -> None:
    run = "9S 9D 10S 10C JS JC QS QH"
    for ties, legal in (("forbidden", set()), ("later", {cards(run)}), ("kickers", set())):
        rules = replace(MIEN_NAM, ties=ties)
        assert naive.legal_plays(rules, cards(f"{run} AS AC"), cards(run), again=True) == legal
    script = Script("KS", "KC", "", "2H", "", run, "", run, "")
    hands = [cards(f"KS {run} 3S"), cards(f"{run} KC 3C"), cards("4S 5S"), cards("2H 6S 7S")]
    hand = naive_hand.play_hand(replace(MIEN_NAM, ties="later"), hands, 0, script, opening=False, leader=0)
    # 2 passes on KC, 0 on the 2H; 1 chops that; 0 has passed and is asked again, for its copy of the double straight.
    assert [seat for seat, _ in hand.plays[:9]] == [0, 1, 2, 3, 0, 1, 3, 0, 1]
    assert (script.positions[7].again, script.positions[7].legal) == (True, {cards(run)})
    assert script.positions[8].passed == {2, 3}


def test_eight_seats() -> None:
    hands = [cards(f"{rank}S {rank}S") for rank in ("3", "4", "5", "6", "7", "8", "9", "10")]
    hand = naive_hand.play_hand(SOUTHERN, hands, 6, Script("3S 3S"))
    assert (hand.leader, hand.required) == (0, 0)
    assert [seat for seat, cards in hand.plays if cards] == list(range(7))
    assert (hand.ranking, hand.places) == ([0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8])
    assert hand.payoffs == [2] * 7 + [-14]


def test_unlocked_chops() -> None:
    hands = [cards("2S 3S"), cards("9S 9D 10S 10C JS JC QS QC KS"), cards("2D 4S"), cards("5S 6C")]
    bomb = naive.without(hands[1], cards("KS"))
    script = Script("2S", "", "2D", "", "", "9S 9D 10S 10C JS JC QS QC", "")
    hand = naive_hand.play_hand(MIEN_NAM, hands, 0, script, opening=False, leader=0)
    assert [seat for seat, _ in hand.plays][:8] == [0, 1, 2, 3, 0, 1, 2, 1]  # 0 and 3 have passed and hold no chop
    asked = script.positions[5]
    assert (asked.again, asked.legal, asked.may_pass, asked.owner) == (True, {bomb}, True, 2)
    assert (script.positions[4].again, script.positions[6].passed) == (False, frozenset({0, 3}))
    assert naive.legal_plays(MIEN_NAM, hands[1], cards("2D"), again=True) == {bomb}
    assert naive.legal_plays(MIEN_NAM, hands[1], cards("AD"), again=True) == set()
    lower = cards("3S 3C 4S 4C 5S 5C 6S 6C")  # matching and beating counts
    assert naive.legal_plays(MIEN_NAM, hands[1], lower, again=True) == {bomb}
    assert naive.legal_plays(SOUTHERN, hands[1], cards("2D"), again=True) == set()


def test_the_winner_of_a_pile_may_be_out() -> None:
    hands = [cards("8S"), cards("3S 4S"), cards("5S 6S"), cards("7S 7C 9S")]
    hand = naive_hand.play_hand(SOUTHERN, hands, 0, Script("8S", "", "", "9S"), opening=False, leader=0)
    assert [seat for seat, _ in hand.plays][:7] == [0, 1, 2, 3, 3, 1, 2]  # 9S stands against all who have not passed


def test_pass_locks() -> None:
    hands = [cards("3S 10S"), cards("9S 9C"), cards("5S KS"), cards("6S AS")]
    for locks, asked in ((True, [0, 1, 2, 3, 0, 2]), (False, [0, 1, 2, 3, 0, 1])):
        rules = replace(SOUTHERN, pass_locks=locks)
        script = Script("3S", "", "5S", "6S", "")
        hand = naive_hand.play_hand(rules, hands, 3, script)
        assert [seat for seat, _ in hand.plays][:6] == asked
        assert not any(position.again for position in script.positions)
        assert (hand.leader, hand.required) == (0, 0)


def test_an_illegal_choice_is_refused() -> None:
    hands = [cards("3S 4S"), cards("5S 6S")]
    for play in ("", "4S", "5S"):
        with pytest.raises(AssertionError):
            naive_hand.play_hand(SOUTHERN, hands, 0, Script(play))


def test_next_start() -> None:
    every = replace(SOUTHERN, first_lead_every_hand=True)
    assert naive_hand.first_start(2) == Start(2, True, None)
    assert naive_hand.next_start(SOUTHERN, [2, 0, 1, 3], won_at_once=False) == Start(3, False, 2)
    assert naive_hand.next_start(every, [2, 0, 1, 3], won_at_once=False) == Start(3, False, None)
    for rules in (SOUTHERN, every):
        assert naive_hand.next_start(rules, [2, 3, 0, 1], won_at_once=True) == Start(1, True, None)
        assert naive_hand.next_start(rules, [0, 1, 2, 3, 4], won_at_once=True) == Start(4, True, None)


def threes_and_twos(rules: Rules) -> Rules:
    """Return rules with an instant win of any hand and one of opening hands, for hands of any size."""
    return replace(
        rules, instant_wins=("four-twos",), opening_instant_wins=("four-threes",), instant_wins_any_size=True
    )


MATCH = [
    [cards(held) for held in hands]
    for hands in (
        ("3S AH", "4S 9S", "5S 6S"),  # 3S 4S 5S AH; 9S: 0, 1, 2
        ("7S 8S", "3S 3S 3D 3H", "9S JS"),  # 0 leads: 7S JS; 9S; 8S: 2, 0, 1
        ("4S 4C 5S 5C", "2S 2S 2D 2H", "6S 6C 7S 7C"),
        ("3S 5S", "4S 6S", "3S KS"),
    )
]


def test_a_match() -> None:
    hands = naive_hand.play_match(threes_and_twos(SOUTHERN), MATCH, 1, Script())
    assert [hand.dealer for hand in hands] == [1, 2, 1, 0]  # the losers 2 and 1, then the seat to the right of 1
    # The last: dealer 0 and copies of 3S at 2 and 0.
    assert [(hand.leader, hand.required) for hand in hands] == [(0, 0), (0, None), (2, None), (2, 0)]
    assert [hand.instant_win for hand in hands] == [None, None, (1, "four-twos"), None]
    assert [hand.ranking for hand in hands[:3]] == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    assert [hand.payoffs for hand in hands[:3]] == [[2, 2, -4], [2, -4 - 4, 2 + 4], [-2, 4, -2]]  # 1 keeps a quad


def test_a_match_with_a_first_lead_every_hand() -> None:
    rules = replace(threes_and_twos(CLASSIC), first_lead_every_hand=True)
    script = Script()
    hands = naive_hand.play_match(rules, MATCH, 1, script)
    assert hands[1].instant_win is None  # four 3s, but not on an opening hand: 3S 9S; JS; 7S; 8S
    assert [(hand.dealer, hand.leader, hand.required) for hand in hands[:3]] == [(1, 0, 0), (2, 1, 0), (1, 0, 4)]
    asked = [position for position in script.positions if position.on is None and position.required is not None]
    assert [position.legal for position in asked] == [{cards("3S")}] * 3
    free = replace(rules, first_lead="free")
    hands = naive_hand.play_match(free, MATCH, 1, Script())
    assert [(hand.leader, hand.required) for hand in hands[:3]] == [(0, None), (1, None), (0, None)]


def test_the_hand_after_an_instant_win_is_opening() -> None:
    hands = naive_hand.play_match(threes_and_twos(SOUTHERN), [MATCH[2], MATCH[1], MATCH[1]], 2, Script())
    assert [hand.instant_win for hand in hands] == [(1, "four-twos"), (1, "four-threes"), (1, "four-threes")]
    assert [hand.dealer for hand in hands] == [2, 0, 0]
    hands = naive_hand.play_match(threes_and_twos(SOUTHERN), [MATCH[0], MATCH[1]], 2, Script())
    assert [hand.instant_win for hand in hands] == [None, None]


def test_the_loser_of_a_hand_that_ends_when_one_is_out() -> None:
    rules = replace(DEM_LA, instant_wins=(), opening_instant_wins=())
    deals = [[cards(held) for held in ("4S 5S", "3S", "6S 7S", "8S")], MATCH[0] + [cards("8S 8C")]]
    hands = naive_hand.play_match(rules, deals, 0, Script("3S"))
    assert (hands[0].places, hands[0].ranking) == ([3, 1, 3, 2], [1, 3, 2, 0])
    assert (hands[1].dealer, hands[1].leader, hands[1].required) == (0, 1, None)
    assert hands[0].payoffs == [-4 * 2, 5 * 4, -4 * 2, -2 * 2]  # all pay twice, having played no card


@pytest.mark.parametrize("governed", [False, True])
def test_a_hand_is_given_a_leader_where_it_needs_one(governed: bool) -> None:
    rules = replace(SOUTHERN, first_lead_every_hand=governed)
    with pytest.raises(AssertionError):
        naive_hand.play_hand(rules, MATCH[0], 0, Script(), opening=False, leader=0 if governed else None)
    with pytest.raises(AssertionError):
        naive_hand.play_hand(rules, MATCH[0], 0, Script(), opening=True, leader=0)


@pytest.mark.parametrize("rules", [CLASSIC, SOUTHERN, VIET_CONG, MIEN_NAM, DEM_LA, ODD])
def test_random_hands(rules: Rules) -> None:
    rng = random.Random(3)
    for players in range(3 if rules.cards == 17 else 2, 4 if rules.cards == 17 else 5):
        for _ in range(4):
            hands, leader = deal(rng, players, int(rules.cards)), rng.choice([None, 0])
            hand = naive_hand.play_hand(rules, hands, 0, uniform(rng), leader is None, leader)
            assert sum(hand.payoffs) == 0
            assert 1 in hand.places


@pytest.mark.parametrize("rules", [CLASSIC, SOUTHERN, VIET_CONG, MIEN_NAM, DEM_LA, ODD])
@pytest.mark.parametrize("ties", ["forbidden", "later", "kickers"])
def test_random_matches_from_two_decks(rules: Rules, ties: str) -> None:
    rng = random.Random(f"{rules} {ties}")
    for players, size in rng.sample(((5, 20), (6, 17), (7, 14), (8, 13)), 2):
        rules = replace(rules, ties=ties, first_lead_every_hand=rng.random() < 0.5)
        for hand in naive_hand.play_match(rules, [deal(rng, players, size, 2)], 0, uniform(rng)):
            assert sum(hand.payoffs) == 0
            assert sorted(hand.ranking) == list(range(players))
            assert [hand.places[seat] for seat in hand.ranking] == sorted(hand.places)


@pytest.mark.parametrize("rules", [CLASSIC, SOUTHERN, VIET_CONG, MIEN_NAM, DEM_LA, ODD])
def test_lowest_has_one_choice(rules: Rules) -> None:
    rng = random.Random(4)

    def choose(_seat: int, position: Position) -> Cards:
        play = naive_hand.lowest(rules, position)
        for other in position.legal - {play}:  # no tie that the definition leaves open
            assert not naive.matches(rules, other, play) or (max(other), sum(other)) != (max(play), sum(play))
        return play

    for _ in range(4):
        assert sum(naive_hand.play_hand(rules, deal(rng, 3, int(rules.cards)), 0, choose).payoffs) == 0


def position(hand: str, on: str = "", required: int | None = None, rules: Rules = SOUTHERN) -> Position:
    held, pile = cards(hand), cards(on) or None
    return Position(rules, 0, held, pile, 1 if pile else None, required, False, (len(held), 5), frozenset())


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
    assert naive_hand.lowest(SOUTHERN, position(hand, on)) == cards(play)


def test_lowest_first_lead() -> None:
    assert naive_hand.lowest(CLASSIC, position("3S 3C 4S 5S", "", 0, CLASSIC)) == cards("3S")
    assert naive_hand.lowest(SOUTHERN, position("3S 3C 4S 5S", "", 0)) == cards("3S 4S 5S")
    assert naive_hand.lowest(SOUTHERN, position("3S 3S 3C 3D", "", 0)) == cards("3S 3S 3C 3D")
    assert naive_hand.lowest(CLASSIC, position("3S 3S 4S 4S 5S 5S", "", 0, CLASSIC)) == cards("3S")


@pytest.mark.parametrize(
    ("ties", "hand", "on", "play"),
    [
        ("forbidden", "3S 3S 3C 3D 4S 4S 5C 5C KS", "", "3S 3S 4S 4S 5C 5C"),
        ("forbidden", "3S 3S 3C 3C 3D KS", "", "3S 3S 3C 3C"),
        ("forbidden", "9S 9S 9D KS", "9D", "KS"),
        ("later", "9S 9S 9D KS", "9D", "9D"),
        ("kickers", "9S 9S 9D KS", "9D", "KS"),
        ("forbidden", "9S 9C 9D KS KS", "9S 9D", "KS KS"),
        ("later", "9S 9C 9D KS KS", "9S 9D", "9S 9D"),
        ("kickers", "9S 9C 9D KS KS", "9S 9D", "9C 9D"),
        ("forbidden", "5S 5C 5C 5D 5H", "5S 5C 5H", ""),
        ("later", "5S 5C 5C 5D 5H", "5S 5C 5H", "5S 5C 5H"),
        ("kickers", "5S 5C 5C 5D 5H", "5S 5C 5H", "5S 5D 5H"),  # as low in all as 5C 5C 5H
        ("kickers", "3S 3C 4S 4C 5D 5D", "3S 4S 5D", "3S 4C 5D"),  # as low in all as 3C 4S 5D
    ],
)
def test_lowest_with_ties(ties: str, hand: str, on: str, play: str) -> None:
    rules = replace(SOUTHERN, ties=ties)
    assert naive_hand.lowest(rules, position(hand, on, None, rules)) == cards(play)


def test_random_chooses_from_every_play_once() -> None:
    leading, answering = position("3S 3S 4S"), position("3S 3S 4S 4S", "3S")
    assert naive_hand.choices(leading) == [cards("3S"), cards("3S 3S"), cards("4S")]
    assert naive_hand.choices(answering) == [cards("4S"), ()]
    must = replace(SOUTHERN, must_play=True)
    assert naive_hand.choices(position("3S 3S 4S 4S", "3S", None, must)) == [cards("4S")]
