"""Payoffs worked out by hand, through the kernels (docs/rules.md, section 10)."""

import pytest
from table_play import payoffs, play, written

from tlsim.rules.variantfiles import parse_variant

QUIET = "instant_wins=none,opening_instant_wins=none"  # the hands here are small, and may be of one colour
SOUTHERN, MIEN_NAM, DEM_LA = (parse_variant(f"{name},{QUIET}") for name in ("southern", "mien-nam", "dem-la"))
CLASSIC = parse_variant("classic")
D3, QUAD, D4 = "3S 3C 4S 4C 5S 5C", "8S 8C 8D 8H", "9S 9D 10S 10C JS JC QS QC"


# ------------------------------------------------------------------------------------------------ places


@pytest.mark.parametrize(
    ("variant", "paid"),
    [
        ("southern", [[1, -1], [1, 1, -2], [1, 1, 1, -3]]),  # the loser pays every other player 1
        ("classic", [[1, -1], [1, 1, -2], [1, 1, 1, -3]]),
        ("viet-cong", [[1, -1], [1, 1, -2], [1, 1, 1, -3]]),
        ("mien-nam", [[1, -1], [1, 0, -1], [2, 1, -1, -2]]),  # by place; three players: the second pays nothing
    ],
)
def test_places(variant: str, paid: list[list[float]]) -> None:
    """The last seat leads a 3S; seats 0, 1, 2 beat it in turn with their only card; a 4D is left to the last."""
    rules = parse_variant(f"{variant},{QUIET}")
    for amounts in paid:
        n = len(amounts)
        singles = ["5S", "6S", "7S"][: n - 1]
        assert payoffs(rules, [*singles, "3S 4D"], ", ".join(["3S", *singles]), leader=n - 1) == amounts


# ------------------------------------------------------------------------------------------------ leftovers

LEFTOVERS = [
    ("6S", 0),
    ("2S", 0.5),
    ("2C", 0.5),
    ("2D", 1),
    ("2H", 1),
    ("2S 2C 2D", 0.5 + 0.5 + 1),
    ("2S 2C 2D 2H", 0.5 + 0.5 + 1 + 1),  # no quad where it may not be played
    (D3, 1.5),
    (QUAD, 2),
    (D4, 2.5),
    (f"{D3} {QUAD} 2H", 1.5 + 2 + 1),
    ("3S 3C 4S 4C 4D 4H 5S 5C", 2),  # the quad (2) or the double straight (1½), not both
    ("3S 3C 4S 4C 4D 4H 5S 5C 6S 6C", 2.5),  # a double straight of 4 (2½) over the quad (2)
    ("3S 3C 4S 4C 4D 4H 5S 5C 6S 6C 7S 7C", 2 + 1.5),  # the quad and 5 5 6 6 7 7, over 2½
    ("3S 3C 3D 3H 4S 4C 4D 4H 5S 5C 5D 5H", 3 * 2),  # three quads (6), over two double straights (3)
    ("3S 3C 4S 4C 5S 5C 6S 6C 7S 7C", 2.5),  # five pairs: no longer one than 4 may be played
    ("3S 3C 4S 4C 5S 5C 6S 6C 7S 7C 8S 8C", 1.5 + 1.5),  # six: two of 3 (3), over one of 4 (2½)
    ("3S 3C 4S 4C 5S 5C 6S 6C 7S 7C 8S 8C 9S", 1.5 + 1.5),
    ("3S 3C 4S 4C 5S 5C 6S 6C 7S 7C 8S 8C 9S 9C", 1.5 + 2.5),  # seven: one of 3 and one of 4
    ("KS KC AS AC 2S 2C", 0.5 + 0.5),  # a double straight with 2s may not be played
]


def test_leftovers() -> None:
    """Seat 0 goes out with its only card; seat 1 pays its stake of 1 and what it is left with."""
    for left, amount in LEFTOVERS:
        assert payoffs(SOUTHERN, ["KD", left], "KD") == [1 + amount, -1 - amount], left
        # mien-nam: by place 1, twice for having played no card, and the same leftovers; dem-la and classic: none.
        assert payoffs(MIEN_NAM, ["KD", left], "KD") == [1 + 1 + amount, -1 - 1 - amount], left
        n = len(left.split())
        assert payoffs(DEM_LA, ["KD", left], "KD") == [2 * n, -2 * n], left
        assert payoffs(CLASSIC, ["KD", left], "KD") == [1, -1], left


@pytest.mark.parametrize(
    ("left", "amount"),
    [
        ("KS KC AS AC 2S 2C", 1.5),  # the double straight, over two black 2s (1)
        ("KS KC AS AC 2D 2H", 2),  # two red 2s, over the double straight (1½)
        ("KS KC AS AC 2S 2H", 1.5),  # equal: ½ + 1
        ("KS KC AS AC 2S 2C 2H", 1.5 + 1),  # the double straight with the black ones, and a red 2; over all 2s (2)
        ("QS QC KS KC AS AC 2S 2C", 2.5),  # a double straight of 4; over one of 3 and two black 2s (1½ + 1), as much
        ("QS QC KS KC AS AC 2D 2H", 1.5 + 2),  # one of 3 and two red 2s, over one of 4
        ("2S 2C 2D 2H", 3),  # a quad (2), but as single 2s they cost 3
    ],
)
def test_leftovers_where_2s_may_be_played_in_runs_and_quads(left: str, amount: float) -> None:
    rules = parse_variant(f"southern,{QUIET},double_straight_twos=yes,quad_twos=yes")
    assert payoffs(rules, ["KD", left], "KD") == [1 + amount, -1 - amount]


def test_everybody_who_still_holds_cards_pays_for_them() -> None:
    rules = parse_variant(f"southern,{QUIET},ends=first-out")
    # Seat 0 is out. 2 holds most cards: it pays 1 and 1. To first place: 1 a black 2 (½), 2 three pairs (1½).
    assert payoffs(rules, ["KD", "2S", D3], "KD") == [1 + 0.5 + 1.5, 1 - 0.5, -2 - 1.5]


# ------------------------------------------------------------------------------------------------ chops


def test_a_chain_of_three_chops() -> None:
    hands = ["2H 7S 9C", f"{D3} KS", f"{QUAD} KC", f"{D4} KD"]
    turns = f"2H, {D3}, {QUAD}, {D4}, -, -, -"  # seat 3 wins the pile
    rest = "KD, -, -, -, 7S, KS, KC"  # 3 is out, and 0 leads; 1 and 2 go out; 0 is left with a 9C
    # By place: 3 first +2, 1 second +1, 2 third -1, 0 last -2. Chops: the 2H 1, three pairs 1½, the quad 2: 4½, paid by
    # the owner of the quad, the last play that was chopped, to the owner of the four pairs. Seats 0 and 1 pay nothing.
    assert payoffs(MIEN_NAM, hands, f"{turns}, {rest}") == [-2, 1, -1 - 4.5, 2 + 4.5]
    # southern pays no chops: the loser pays 1 to each; dem-la neither, and ends when seat 3 is out: 2, 1 and 1 cards.
    assert payoffs(SOUTHERN, hands, f"{turns}, {rest}") == [-3, 1, 1, 1]
    assert payoffs(DEM_LA, hands, f"{turns}, KD") == [-2, -1, -1, 4]


def test_nobody_pays_for_a_chop_of_a_last_play() -> None:
    hands = ["2H 7S 9C", f"{D3} KS", QUAD, f"{D4} KD"]  # the quad is all that seat 2 has
    turns = f"2H, {D3}, {QUAD}, {D4}, -, -, KD, -, -, 7S, KS"
    # By place: 2 first, 3 second, 1 third, 0 last with a 9C.
    assert payoffs(MIEN_NAM, hands, turns) == [-2, -1, 2, 1]


@pytest.mark.parametrize(
    ("led", "chop", "amount"),
    [
        ("2S", D3, 0.5),
        ("2H", D3, 1),
        ("2C", QUAD, 0.5),
        ("2S 2C", QUAD, 0.5 + 0.5),
        ("2S 2H", QUAD, 0.5 + 1),
        ("2D 2H", D4, 1 + 1),
        (D3, QUAD, 1.5),
        (D3, D4, 1.5),
        (QUAD, D4, 2),
        ("4S 4D 5D 5H 6S 6C", "9S 9D 10S 10C JS JC", 1.5),  # a chop on one of its own kind is paid too
        ("7S 7C 7D 7H", QUAD, 2),
        ("2S", "2H", 0),  # a 2 on a 2 is no chop
        ("9C", "9D", 0),
    ],
)
def test_one_chop(led: str, chop: str, amount: float) -> None:
    """Seat 0 leads and is chopped by the last cards of seat 1: the hand ends, and the pile is settled."""
    # By place 1; seat 0 is left with a 3H.
    assert payoffs(MIEN_NAM, [f"{led} 3H", chop], f"{led}, {chop}") == [-1 - amount, 1 + amount]


def test_only_the_2_on_top_is_paid() -> None:
    # 2S, then the 2H on it, then the quad on that: the 2H is worth 1; seat 1 pays it. The 2S is not paid.
    hands = ["2S 6S 7S", "2H 6C", f"{QUAD} KD"]
    # 2 goes on with its KD and is first; 0 leads: 6S, 6C. 1 is second, 0 last with a 7S. By place +1 0 -1.
    turns = f"2S, 2H, {QUAD}, -, -, KD, -, -, 6S, 6C"
    assert payoffs(MIEN_NAM, hands, turns) == [-1, -1, 1 + 1]


def test_each_pile_is_settled_by_itself() -> None:
    hands = ["2H 2D 3H 4H", f"{QUAD} {D4} 3S 3C"]
    # Pile 1: 2H chopped (1). Seat 1 leads its 3S, seat 0 wins with the 2D, chopped by the four pairs (1); then 3C out.
    turns = f"2H, {QUAD}, -, 3S, 2D, {D4}, -, 3C"
    assert payoffs(MIEN_NAM, hands, turns) == [-1 - 1 - 1, 1 + 1 + 1]


def test_chops_and_leftovers_add_up() -> None:
    # Seat 0 leads a 2S (½), is chopped by the last cards of seat 1, and is left with a red 2 (1) and a quad (2).
    hands = [f"2S 2H {QUAD}", D3]
    assert payoffs(MIEN_NAM, hands, f"2S, {D3}") == [-1 - 0.5 - 1 - 2, 1 + 0.5 + 1 + 2]


# ------------------------------------------------------------------------------------------------ cóng


def test_cong() -> None:
    hands = ["KS", "3S 9S", "5S 10S", "4S 4C"]
    # Out with the KS, with the 9S and the 10S are 0, 1, 2; seat 3 has played nothing: its -2 counts twice.
    assert payoffs(MIEN_NAM, hands, "KS, -, -, -, 3S, 5S, -, 9S, 10S") == [2 + 2, 1, -1, -2 - 2]
    # The same, but seat 3 plays a 6S on the 5S: it has played, and -2 is all.
    hands[3] = "6S 4C"
    assert payoffs(MIEN_NAM, hands, "KS, -, -, -, 3S, 5S, 6S, 9S, 10S") == [2, 1, -1, -2]


def test_cong_doubles_no_zero() -> None:
    rules = parse_variant(f"mien-nam,{QUIET},ends=first-out")
    # By place +1 0 -1; neither 1 (one card) nor 2 (two cards) has played: twice 0 is 0.
    assert payoffs(rules, ["KS", "3S", "4S 4C"], "KS") == [1 + 1, 0, -1 - 1]
    # The penalty doubles the base alone: the red 2 (1) is paid once.
    assert payoffs(rules, ["KS", "3S", "4S 2H"], "KS") == [1 + 1 + 1, 0, -1 - 1 - 1]


# ------------------------------------------------------------------------------------------ first-out, instant wins


def test_cards_held() -> None:
    hands = ["3S KS", "4S 5S 6C", "5D 5H 6D", "2H"]
    # Seat 1 has played a card and holds 2; 2 and 3 have played none and hold 3 and 1: twice. The 2H costs nothing more.
    assert payoffs(DEM_LA, hands, "3S, 4S, -, -, KS") == [2 + 2 * 3 + 2 * 1, -2, -6, -2]
    assert written(play(DEM_LA, hands, "3S, 4S, -, -, KS", 0))["places"] == [1, 3, 4, 2]
    rules = parse_variant(f"dem-la,{QUIET},cong=no,leftover_penalties=yes")
    assert payoffs(rules, hands, "3S, 4S, -, -, KS") == [2 + 3 + 1 + 1, -2, -3, -1 - 1]


def test_equal_numbers_of_cards_share_a_place() -> None:
    hands = ["KS", "3S", "4S", "5S 6S"]
    rules = parse_variant(f"southern,{QUIET},ends=first-out,payoff=places")
    assert written(play(rules, hands, "KS", 0))["places"] == [1, 2, 2, 4]
    assert payoffs(rules, hands, "KS") == [2, 1, -1, -2]  # paid in turn order from the winner's left
    hands = ["3S 4S", "5S 6S", "KS", "7S 8S"]
    # Out of turn 2; 3, 0, 1 hold two cards each and share place 2. The loser who pays the stake is the furthest, 1.
    rules = parse_variant(f"southern,{QUIET},ends=first-out")
    assert payoffs(rules, hands, "KS", leader=2) == [1, -3, 1, 1]


DRAGON = "3S 4S 5S 6S 7S 8S 9S 10S JS QS KS AS 2H"
OTHERS = [  # all other cards, in no instant win
    "3C 3D 4C 4D 5H 7C 8C 9C 10C JC QC KC 2S",
    "3H 4H 5C 5D 6C 7D 8D 9D 10D JD QD KD 2C",
    "6D 6H 7H 8H 9H 10H JH QH KH AC AD AH 2D",
]


@pytest.mark.parametrize(("variant", "each"), [("southern", 1), ("mien-nam", 2), ("dem-la", 2 * 13)])
def test_an_instant_win(variant: str, each: float) -> None:
    """Everybody pays the winner, and nothing for leftovers or for having played no card."""
    hands = [OTHERS[0], OTHERS[1], DRAGON, OTHERS[2]]
    for leader in (None, 0):
        paid = payoffs(parse_variant(variant), hands, "", leader)
        assert paid == [-each, -each, 3 * each, -each]
    assert written(play(parse_variant(variant), hands))["places"] == [4, 4, 1, 4]


def test_an_instant_win_with_17_cards() -> None:
    four = "2S 2C 2D 2H 3S 3C 4S 4D 5S 5C 7S 7C 8S 8C 9S 10S JS"
    hands = [
        "3D 3H 4C 5D 6S 6C 6D 7D 8D 9C 10C JC QC KC KD AS AC",
        four,
        "4H 5H 6H 7H 8H 9D 9H 10D 10H JD JH QS QD QH KS KH AD",
    ]
    assert payoffs(parse_variant("dem-la,cards=17"), hands) == [-2 * 17, 4 * 17, -2 * 17]
