"""No option is dead: for each rule a position, hand or table whose outcome it changes, through the kernels."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest
from table_play import payoffs, play, written

from tlsim.play import matches, runner
from tlsim.play.legal import describe, instant_win_name, may_follow, moves
from tlsim.play.plan import Plan
from tlsim.plugins.load import parse_policies
from tlsim.rules.cards import names, parse_hand
from tlsim.rules.ruleset import Rules, player_counts, rule_fields
from tlsim.rules.variantfiles import differences, parse_variant

QUIET = "instant_wins=none,opening_instant_wins=none"  # small hands may be of one colour


@dataclass(frozen=True)
class Case:
    """What `show` returns under `base` with each of some values of a rule; `key` where it is not the rule's name."""

    base: str
    show: Callable[[Rules], Any]
    outcomes: dict[str, Any]
    key: str = ""


def leads(hand: str, kind: str = "", opening: bool = False) -> Callable[[Rules], list[str]]:
    """Return what may be led from a hand, of one kind or all."""
    return lambda rules: of_kind(rules, moves(rules, parse_hand(hand), 0, opening), kind)


def answers(hand: str, on: str) -> Callable[[Rules], list[str]]:
    """Return what may be played from a hand on a play."""
    return lambda rules: of_kind(rules, moves(rules, parse_hand(hand), parse_hand(on)), "")


def of_kind(rules: Rules, plays: list[int], kind: str) -> list[str]:
    return [" ".join(names(one)) for one in plays if not kind or (describe(rules, one) or ("", 0))[0] == kind]


def turn(hands: list[str], turns: str, **more: Any) -> Callable[[Rules], Any]:
    """Return whose turn it is after some turns, how many plays that seat has, and whether it may pass."""

    def show(rules: Rules) -> Any:
        hand = play(rules, hands, turns, **more)
        plays, passing = hand.moves()
        return hand.seat, len(plays), passing

    return show


def paid(hands: list[str], turns: str) -> Callable[[Rules], list[float]]:
    return lambda rules: payoffs(rules, hands, turns)


def won(hand: str, opening: bool = True) -> Callable[[Rules], str | None]:
    """Return the instant win of a hand."""
    return lambda rules: instant_win_name(rules, parse_hand(hand), opening)


def plan_of(rules: Rules, players: int, match: int | None = None) -> Plan:
    return Plan(rules, players, tuple(parse_policies(["lowest"], players)), 5, 1, match)


def deals(rules: Rules) -> list[tuple[int, int, int]]:
    """Return each number of players, the cards of a hand, and how often a card is in some deals."""
    found = []
    for players in player_counts(rules):
        some = [written["hands"] for written in runner.hands(plan_of(rules, players), 0, 5)]
        copies = max(max(Counter(card for hand in hands for card in hand).values()) for hands in some)
        found.append((players, len(some[0][0]), copies))
    return found


def second_hand(rules: Rules) -> bool:
    """Return whether the second hand of a match must hold a card in its first lead."""
    _, second = matches.hands(plan_of(rules, 4, match=2), 0, 1)
    return second["required"] is not None


def traded(rules: Rules) -> tuple[str | None, bool]:
    """Return whether four 2s win at once, and whether hands differ from those dealt."""
    some = list(runner.hands(plan_of(rules, 4), 0, 5))
    return won(FOUR_TWOS)(rules), any(hand.get("dealt", hand["hands"]) != hand["hands"] for hand in some)


DRAGON = "3S 4S 5S 6S 7S 8S 9S 10S JS QS KS AS 2H"
FOUR_TWOS = "2S 2C 2D 2H 3S 4C 6D 7H 9S 10C JD KH KS"
CASES = {
    "decks": Case(
        "classic,max_players=5",
        deals,
        {
            "auto": [(2, 13, 1), (3, 13, 1), (4, 13, 1), (5, 13, 2)],
            "1": [(2, 13, 1), (3, 13, 1), (4, 13, 1)],
            "2": [(2, 13, 2), (3, 13, 2), (4, 13, 2), (5, 13, 2)],
        },
    ),
    "cards": Case(
        "classic",
        deals,
        {
            "13": [(2, 13, 1), (3, 13, 1), (4, 13, 1), (5, 13, 2), (6, 13, 2), (7, 13, 2), (8, 13, 2)],
            "17": [(3, 17, 1)],
            "equal": [(5, 20, 2), (6, 17, 2), (7, 14, 2), (8, 13, 2)],
        },
    ),
    "min_players": Case("southern", player_counts, {"2": [2, 3, 4], "4": [4]}),
    "max_players": Case("southern", player_counts, {"2": [2], "5": [2, 3, 4, 5]}),
    "first_lead": Case(
        "southern",
        leads("3S 3C 4D", opening=True),
        {"alone": ["3S"], "included": ["3S", "3S 3C"], "free": ["3S", "3C", "4D", "3S 3C"]},
    ),
    "first_lead_every_hand": Case("southern", second_hand, {"no": False, "yes": True}),
    "ends": Case(
        f"southern,{QUIET}",
        lambda rules: play(rules, ["KS", "3S", "4C 5D"], "KS", 0).is_over,
        {"last": False, "first-out": True},
    ),
    "straight_min": Case(
        "southern",
        leads("3S 4C 5D 6H", "straight"),
        {"3": ["3S 4C 5D", "4C 5D 6H", "3S 4C 5D 6H"], "4": ["3S 4C 5D 6H"], "5": []},
    ),
    "straight_twos": Case("southern", leads("KS AC 2D", "straight"), {"no": [], "yes": ["KS AC 2D"]}),
    "double_straight_twos": Case(
        "southern", leads("KS KC AS AC 2S 2C", "double-straight"), {"no": [], "yes": ["KS KC AS AC 2S 2C"]}
    ),
    "double_straight_max": Case(
        "southern",
        leads("3S 3C 4S 4C 5S 5C 6S 6C", "double-straight"),
        {
            "3": ["3S 3C 4S 4C 5S 5C", "4S 4C 5S 5C 6S 6C"],
            "4": ["3S 3C 4S 4C 5S 5C", "4S 4C 5S 5C 6S 6C", "3S 3C 4S 4C 5S 5C 6S 6C"],
        },
    ),
    "quad_twos": Case("southern", leads("2S 2C 2D 2H", "quad"), {"no": [], "yes": ["2S 2C 2D 2H"]}),
    "chops": Case(
        "classic",
        answers("9S 9C 9D 9H", "2S 2C"),
        {"two": [], "two+two-twos": ["9S 9C 9D 9H"], "none": []},
        key="chops.quad",
    ),
    "unlocked_chops": Case(
        f"southern,{QUIET}",
        # Seat 1 passes on 2S; seat 2 plays 2D; 3 and 0 pass. Only an unlocked chop brings seat 1 back; else 2 leads.
        turn(["2S 3S", "9S 9D 10S 10C JS JC QS QC KS", "2D 4S", "5S 6C"], "2S, -, 2D, -, -", leader=0),
        {"none": (2, 1, False), "double-straight-4": (1, 1, True), "double-straight-3+quad": (1, 2, True)},
    ),
    "ties": Case(
        "classic",
        # On 5S 5C 5H: the same again, with 5D for 5C, and with lower cards. 3S 4S 5H on 3S 4C 5H is lower at the 4.
        lambda rules: [
            may_follow(rules, parse_hand(a), parse_hand(b))
            for a, b in [("5S 5C 5H", "5S 5C 5H"), ("5S 5D 5H", "5S 5C 5H"), ("3S 4S 5H", "3S 4C 5H")]
        ],
        {"forbidden": [False, False, False], "later": [True, True, True], "kickers": [False, True, False]},
    ),
    "trading": Case("viet-cong", traded, {"no": ("four-twos", False), "yes": (None, True)}),
    "pass_locks": Case(
        f"southern,{QUIET}",
        # 3S, a pass of seat 1, 5S, 6S, a pass of seat 0: seat 1 is out of the pile, or is asked again.
        turn(["3S 10S", "9S 9C", "5S KS", "6S AS"], "3S, -, 5S, 6S, -"),
        {"yes": (2, 1, True), "no": (1, 2, True)},
    ),
    "must_play": Case(f"southern,{QUIET}", turn(["3S 8D", "9S 9C"], "3S"), {"no": (1, 2, True), "yes": (1, 2, False)}),
    "finish_on_two": Case("southern", answers("2H", "2S"), {"yes": ["2H"], "no": []}),
    "instant_wins": Case(
        "southern",
        won("2S 2C 2D 2H 3S 4S 5S 6S 7S 8S 9S 10S JD"),
        {"none": None, "four-twos": "four-twos", "dragon+one-colour": None},
    ),
    "opening_instant_wins": Case(
        "southern",
        lambda rules: [won("3S 3C 3D 3H 5S 6C 7D 9H 10S JC QD KH 2S", opening)(rules) for opening in (True, False)],
        {"none": [None, None], "four-threes": ["four-threes", None], "threes-double-straight": [None, None]},
    ),
    "six_pairs_quads_twice": Case(
        "southern", won("3S 3C 3D 3H 4S 4C 5S 5C 7S 7C 8S 8D KS", False), {"yes": "six-pairs", "no": None}
    ),
    "instant_wins_any_size": Case("southern,cards=17", won(f"{DRAGON} 3C 4C 6C 7C"), {"no": None, "yes": "dragon"}),
    "payoff": Case(
        f"southern,{QUIET},ends=first-out",
        paid(["KS", "3S", "4C 5D"], "KS"),
        {"stake": [1, 1, -2], "places": [1, 0, -1], "cards": [3, -1, -2]},
    ),
    "leftover_penalties": Case(f"southern,{QUIET}", paid(["KS", "2D"], "KS"), {"no": [1, -1], "yes": [2, -2]}),
    "chop_penalties": Case(
        f"southern,{QUIET}", paid(["2H 3S", "9S 9C 9D 9H"], "2H, 9S 9C 9D 9H"), {"no": [-1, 1], "yes": [-2, 2]}
    ),
    "cong": Case(f"southern,{QUIET},payoff=places", paid(["KS", "3S"], "KS"), {"no": [1, -1], "yes": [2, -2]}),
}


def test_every_rule_has_a_case() -> None:
    assert list(CASES) == [field.name for field in rule_fields()]


@pytest.mark.parametrize("name", CASES)
def test_an_option_changes_the_outcome(name: str) -> None:
    case = CASES[name]
    rules = {value: parse_variant(f"{case.base},{case.key or name}={value}") for value in case.outcomes}
    assert {value: case.show(one) for value, one in rules.items()} == case.outcomes
    for a, b in combinations(rules.values(), 2):
        assert [key for key, _, _ in differences(a, b)] == [case.key or name]
    assert len({repr(outcome) for outcome in case.outcomes.values()}) > 1


@pytest.mark.parametrize("name", CASES)
def test_every_value_is_told_apart(name: str) -> None:
    """Check that the outcomes of a yes-or-no rule, or of one with a list of values, are all different."""
    field = next(field for field in rule_fields() if field.name == name)
    if isinstance(field.default, bool) or (field.metadata["choices"] and not isinstance(field.default, tuple)):
        values = {"yes", "no"} if isinstance(field.default, bool) else set(map(str, field.metadata["choices"]))
        assert set(CASES[name].outcomes) == values
        assert len({repr(outcome) for outcome in CASES[name].outcomes.values()}) == len(values)


def test_unlocked_chops_may_be_played_or_not() -> None:
    rules = parse_variant(f"mien-nam,{QUIET}")
    hands = ["2S 3S", "9S 9D 10S 10C JS JC QS QC KS", "2D 4S", "5S 6C"]
    assert play(rules, hands, "2S, -, 2D, -, -, -", 0).seat == 2  # passes again: seat 2 has won the pile
    hand = play(rules, hands, "2S, -, 2D, -, -, 9S 9D 10S 10C JS JC QS QC", 0)
    assert (hand.seat, hand.moves()) == (2, ([], True))  # in the pile with full rights; the others pass, and it leads
    assert play(rules, hands, "2S, -, 2D, -, -, 9S 9D 10S 10C JS JC QS QC, -", 0).seat == 1


def test_three_players_share_a_deck() -> None:
    import tlsim

    for variant, size in (("southern", 13), ("southern,cards=17", 17)):
        hand = tlsim.replay(variant, seed=1, players=3).extra["hands"][0]
        assert [len(dealt) for dealt in hand["hands"]] == [size] * 3


def test_an_instant_win_of_an_opening_hand_alone() -> None:
    rules = parse_variant("mien-nam")
    hands = [
        "3S 3C 3D 3H 5S 6C 7D 9H 10S JC QD KH 2S",
        "4S 4C 4D 5C 5D 6S 6D 7S 8S 8C 9S 10C QS",
        "4H 5H 6H 7C 7H 8D 8H 9C 9D 10D JS QC KS",
        "10H JD JH QH KC KD AS AC AD AH 2C 2D 2H",
    ]
    assert written(play(rules, hands))["instant_win"] == {"player": 0, "kind": "four-threes"}
    assert not play(rules, hands, leader=0).is_over
