"""Facts that no other test noticed when the code was changed, and small ones that notice it at once (`scripts/mutate`).

All of them are worked out by hand and go through the kernels. `test_uncompiled` runs this file without the compiler.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import stdtrit
from table_play import payoffs, play, stream_of, written

from tlsim import kit
from tlsim.chances.columns import Deck, columns
from tlsim.chances.sql import condition, parse
from tlsim.engine import tally
from tlsim.errors import InputError
from tlsim.play import matches
from tlsim.play.legal import describe, instant_win_name, may_follow
from tlsim.play.plan import Plan
from tlsim.play.runner import Runner
from tlsim.play.transcript import Hand, replay
from tlsim.plugins.load import parse_policies
from tlsim.rules.cards import names, parse_hand
from tlsim.rules.variantfiles import parse_variant
from tlsim.stats import intervals

QUIET = "instant_wins=none,opening_instant_wins=none"  # small hands may be of one colour
QUAD_3, QUAD_4 = "3S 3C 3D 3H", "4S 4C 4D 4H"
D4_LOW, D4_HIGH = "5S 5C 6S 6C 7S 7C 8S 8C", "JS JC QS QC KS KC AS AC"
DECKS = pytest.mark.parametrize("decks", [1, 2])


def legal(hand: Hand) -> tuple[list[str], bool]:
    """Return what the seat to act may play, in file notation, and whether it may pass."""
    plays, passing = hand.moves()
    return sorted(" ".join(names(one)) for one in plays), passing


def random_choices(hand: Hand, n: int) -> list[str]:
    """Return what `random` plays in each of n equal parts of all words: each of n choices comes once."""
    rules, view = hand._packed[0], hand._table[0]["sight"]
    words = [-((-k << 64) // n) for k in range(n)]
    return sorted(" ".join(names(int(kit.random_play(rules, view, stream_of(word))))) or "-" for word in words)


# ------------------------------------------------------------------------------------------ `random` may pass


@DECKS
def test_random_passes_where_no_play_may_end_on_a_2(decks: int) -> None:
    rules = parse_variant(f"southern,{QUIET},decks={decks},finish_on_two=no")
    hand = play(rules, ["8S 3S", "9S 2S"], "8S", 0)
    assert random_choices(hand, 3) == ["-", "2S", "9S"]


@DECKS
def test_random_does_not_pass_where_it_must_play(decks: int) -> None:
    rules = parse_variant(f"southern,{QUIET},decks={decks},must_play=yes")
    assert random_choices(play(rules, ["8S 3S", "9S 2S"], "8S", 0), 2) == ["2S", "9S"]
    assert random_choices(play(rules, ["8S 3S", "4S 5S"], "8S", 0), 2) == ["-", "-"]


@DECKS
@pytest.mark.parametrize("must_play", ["no", "yes"])
def test_random_passes_or_chops_when_asked_again(must_play: str, decks: int) -> None:
    """Seat 1 passes on two aces, which it cannot beat, and is asked again on two 2s, which its chop beats."""
    rules = parse_variant(f"mien-nam,{QUIET},decks={decks},must_play={must_play}")
    hand = play(rules, ["AD AH 3S", f"{D4_LOW} 3C", "2C 2D 4S"], "AD AH, -, 2C 2D, -", 0)
    assert hand.seat == 1
    assert random_choices(hand, 2) == ["-", D4_LOW]


# ------------------------------------------------------------------------------------------ asked again


@DECKS
def test_who_is_asked_again_plays_an_unlocked_chop_or_passes(decks: int) -> None:
    rules = parse_variant(f"mien-nam,{QUIET},decks={decks}")
    hands = ["9S 3S", f"{D4_HIGH} {QUAD_4} 2H", "2S 3D"]
    hand = play(rules, hands, "9S, -, 2S, -", 0)
    assert hand.seat == 1
    assert legal(hand) == ([D4_HIGH], True)  # neither the 2H nor the quad, which beat a 2S too
    for barred in ("2H", QUAD_4):
        with pytest.raises(InputError, match=r"seat 1: .*not a legal play"):
            play(rules, hands, f"9S, -, 2S, -, {barred}", 0)
    assert play(rules, hands, f"9S, -, 2S, -, {D4_HIGH}", 0).seat == 2


@DECKS
def test_who_is_asked_again_may_pass_though_it_must_play(decks: int) -> None:
    rules = parse_variant(f"mien-nam,{QUIET},decks={decks},must_play=yes")
    hands = ["AD AH 3S", f"{D4_LOW} 3C", "2C 2D 4S"]
    with pytest.raises(InputError, match=r"seat 1: a pass: it may not pass while it can play"):
        play(rules, ["2C 2D 3S", f"{D4_LOW} 3C"], "2C 2D, -", 0)
    assert legal(play(rules, hands, "AD AH, -, 2C 2D, -", 0)) == ([D4_LOW], True)
    assert play(rules, hands, "AD AH, -, 2C 2D, -, -", 0).seat == 2


@DECKS
def test_who_holds_no_unlocked_chop_is_not_asked_again(decks: int) -> None:
    rules = parse_variant(f"mien-nam,{QUIET},decks={decks}")
    hand = play(rules, ["9S 3S", f"{QUAD_4} 2H", "2S 3D"], "9S, -, 2S, -", 0)
    assert (hand.seat, legal(hand)[1]) == (2, False)  # the pile is seat 2's, who leads


@DECKS
def test_an_unlocked_chop_may_match_what_it_beats(decks: int) -> None:
    """Seat 1 has passed, and answers four pairs with four pairs."""
    rules = parse_variant(f"mien-nam,{QUIET},decks={decks}")
    hands = [f"9S {D4_LOW} 3S", f"{D4_HIGH} 3C", "2S 3D"]
    hand = play(rules, hands, f"9S, -, 2S, {D4_LOW}", 0)
    assert hand.seat == 1
    assert legal(hand) == ([D4_HIGH], True)
    assert play(rules, hands, f"9S, -, 2S, {D4_LOW}, {D4_HIGH}", 0).seat == 2


@DECKS
def test_who_chops_after_a_pass_is_back_in_the_pile(decks: int) -> None:
    """Quads alone are unlocked. Seat 1 passes, chops with its quad, and may then answer four pairs with four pairs."""
    rules = parse_variant(f"mien-nam,{QUIET},decks={decks},unlocked_chops=quad")
    hands = ["9S 2S 4S", f"{QUAD_3} {D4_HIGH} 4C", f"{D4_LOW} 10S 4D"]
    hand = play(rules, hands, f"9S, -, 10S, 2S, {QUAD_3}, {D4_LOW}, -", 0)
    assert hand.seat == 1
    assert not hand._table[0]["sight"]["asked_again"]
    assert legal(hand) == ([D4_HIGH], True)
    hand = play(rules, hands, f"9S, -, 10S, 2S, {QUAD_3}, {D4_LOW}, -, {D4_HIGH}, -", 0)
    assert (hand.seat, legal(hand)) == (1, (["4C"], False))  # it has won the pile


# ------------------------------------------------------------------------------------------ instant wins


def test_equal_ranks_as_pairs() -> None:
    """Six pairs count the cards of a rank by twos; with `six_pairs_quads_twice` = no a rank is one pair at most."""
    rules = parse_variant("southern,decks=2")
    once = parse_variant("southern,decks=2,six_pairs_quads_twice=no")
    eight = "5S 5S 5C 5C 5D 5D 5H 5H"
    for cards, is_win, is_win_once in [
        (f"{eight} 7S 7H 9S 9H JS", True, False),  # 4 + 1 + 1
        (f"{eight} 7S 7H 9S JH KS", False, False),  # 4 + 1
        ("5S 5S 5C 5C 5D 5D 7S 7H 9S 9H JS JH AD", True, False),  # 3 + 1 + 1 + 1
        ("5S 5S 5C 5C 5D 5D 5H 7S 7H 9S 9H JS KH", False, False),  # 3 + 1 + 1, from seven of a rank
        ("5S 5S 5C 5C 7S 7H 9S 9H JS JH AD AH KS", True, False),  # 2 + 1 + 1 + 1 + 1
        ("3S 3H 5S 5H 7S 7H 9S 9H JS JH AD AH KS", True, True),
    ]:
        hand = parse_hand(cards)
        assert (instant_win_name(rules, hand, False) == "six-pairs") is is_win, cards
        assert (instant_win_name(once, hand, False) == "six-pairs") is is_win_once, cards


@DECKS
def test_the_first_of_equal_instant_wins_from_the_leader_on(decks: int) -> None:
    rules = parse_variant(f"southern,decks={decks},instant_wins=one-colour,opening_instant_wins=none")
    hands = ["3S 3H", "4S 5S", "6S 6H", "7S 8S"]  # seats 1 and 3 have one colour
    winners = [written(play(rules, hands, "", leader))["instant_win"] for leader in range(4)]
    assert winners == [{"player": seat, "kind": "one-colour"} for seat in (1, 1, 3, 3)]


# ------------------------------------------------------------------------------------------ two decks


def test_who_has_played_a_second_copy_has_played() -> None:
    """Cóng doubles what a player pays who has played no card: seat 1 holds a 5S, but it has played the other one."""
    rules = parse_variant(f"dem-la,{QUIET},decks=2")
    assert payoffs(rules, ["4S KS", "5S 5S"], "4S, 5S, KS") == [1, -1]
    assert payoffs(rules, ["4S KS", "5S 5S"], "4S, -, KS") == [4, -4]


# ------------------------------------------------------------------------------------------ numbers


def test_every_coefficient_of_students_t() -> None:
    """The expansion is off by its next term, the fifth, and by so little more that no coefficient may be off by 1.

    (The fifth term is in Hill 1970, "Algorithm 396". Off by 1 is, in 79, 1e-9 at level 0.999; in -945, 1e-13.)
    """
    v = 100
    for level, error in [(0.02, 3e-14), (0.5, 6e-14), (0.9, 1e-12), (0.99, 1e-11), (0.999, 1e-10)]:
        z = intervals.normal_quantile(level)
        y = z * z
        fifth = z * (27 * y**5 + 339 * y**4 + 930 * y**3 - 1782 * y**2 - 765 * y + 17955) / 368640
        exact = float(stdtrit(v, (1 + level) / 2))
        assert intervals.t_quantile(level, v + 1) + fifth / v**5 == pytest.approx(exact, rel=error, abs=0), level


def test_comparisons_mirrored() -> None:
    """`2 <= twos` is `twos >= 2`: the same condition on hands, so the same hands are dealt."""
    known = columns(parse_variant("southern"), 13)

    def numbers_of_twos(text: str) -> list[int]:
        needs = condition(parse(text, known, "where"), 13, Deck(1))
        assert needs is not None
        return [int(n) for n in needs.numbers[:, 12]]

    for text, mirrored, twos in [
        ("twos = 2", "2 = twos", [2]),
        ("twos < 2", "2 > twos", [0, 1]),
        ("twos <= 2", "2 >= twos", [0, 1, 2]),
        ("twos > 2", "2 < twos", [3, 4]),
        ("twos >= 2", "2 <= twos", [2, 3, 4]),
    ]:
        assert numbers_of_twos(text) == twos, text
        assert numbers_of_twos(mirrored) == twos, mirrored


# ------------------------------------------------------------------------------------------ as it was, in small


def test_ties_of_two_decks() -> None:
    """A second copy counts as a card of its own, from the top down."""
    for play_, on, later, kickers in [
        ("9H 9H", "9D 9H", True, True),
        ("9D 9H", "9H 9H", True, False),
        ("9C 9H", "9S 9H", True, True),
        ("9S 9S 9H", "9S 9C 9H", True, False),
        ("9H", "9H", True, False),
    ]:
        for ties, expected in [("forbidden", False), ("later", later), ("kickers", kickers)]:
            rules = parse_variant(f"southern,decks=2,ties={ties}")
            assert may_follow(rules, parse_hand(play_), parse_hand(on)) is expected, (ties, play_, on)


def test_of_two_holders_of_the_lowest_card_the_dealer_leads_last() -> None:
    rules = parse_variant(f"southern,{QUIET},decks=2")
    hands = ["4S 5S", "3C 9S", "4C 5C", "3C 9C"]
    assert [play(rules, hands, "", None, dealer).seat for dealer in range(4)] == [1, 3, 3, 1]


@DECKS
def test_leftovers_know_the_longest_double_straight(decks: int) -> None:
    for longest, amount in [(3, 1.5), (4, 2.5)]:
        rules = parse_variant(f"southern,{QUIET},decks={decks},double_straight_max={longest}")
        assert payoffs(rules, ["KD", D4_LOW], "KD") == [1 + amount, -1 - amount]


@DECKS
def test_a_2_may_be_the_last_card_of_a_leader(decks: int) -> None:
    rules = parse_variant(f"southern,{QUIET},decks={decks},finish_on_two=no")
    assert legal(play(rules, ["2S", "3S 4S"], "", 0)) == (["2S"], False)
    assert written(play(rules, ["2S", "3S 4S"], "2S", 0))["places"] == [1, 2]
    assert legal(play(rules, ["2S 2C", "3S 4S"], "", 0)) == (["2C", "2S"], False)
    with pytest.raises(InputError, match="2S 2C: this is not a legal play"):
        play(rules, ["2S 2C", "3S 4S"], "2S 2C", 0)
    with pytest.raises(InputError, match="2S: this is not a legal play"):
        play(rules, ["AS 3S", "2S"], "AS, 2S", 0)


@DECKS
def test_after_a_winner_who_is_out_the_next_seat_leads(decks: int) -> None:
    rules = parse_variant(f"southern,{QUIET},decks={decks}")
    assert play(rules, ["3S 4S", "9S", "5S 6S", "5C 6C"], "3S, 9S, -, -, -", 0).seat == 2


@DECKS
def test_a_free_first_lead(decks: int) -> None:
    hands = ["3S 4S", "5S 6S"]
    assert play(parse_variant(f"southern,{QUIET},decks={decks},first_lead=free"), hands, "4S").seat == 1
    for first_lead in ("included", "alone"):
        rules = parse_variant(f"southern,{QUIET},decks={decks},first_lead={first_lead}")
        with pytest.raises(InputError, match="seat 0: 4S: this is not a legal play"):
            play(rules, hands, "4S")


@DECKS
def test_the_shortest_straight(decks: int) -> None:
    for shortest in (3, 4, 5):
        rules = parse_variant(f"southern,{QUIET},decks={decks},straight_min={shortest}")
        assert describe(rules, parse_hand("5S 6C 7D 8H")) == (("straight", 4) if shortest <= 4 else None)
        assert describe(rules, parse_hand("5S 6C 7D")) == (("straight", 3) if shortest == 3 else None)


@DECKS
def test_after_a_pass_that_does_not_lock(decks: int) -> None:
    hands = ["3S 9S 4S", "8S 5S", "6S 7S"]
    for locks, seat in [("yes", 2), ("no", 1)]:
        rules = parse_variant(f"southern,{QUIET},decks={decks},pass_locks={locks}")
        assert play(rules, hands, "3S, -, 6S, -", 0).seat == seat


def test_a_quad_run_is_not_led() -> None:
    quad_run = f"{QUAD_3} {QUAD_4}"
    for decks in (1, 2):
        rules = parse_variant(f"viet-cong,{QUIET},decks={decks}")
        with pytest.raises(InputError, match="this is not a legal play"):
            play(rules, [f"{quad_run} KS", "5S 6S"], quad_run, 0)
        assert play(rules, [f"{quad_run} KS", "2S 2C 6S"], f"2S 2C, {quad_run}", 1).seat == 1


def test_hands_of_a_match() -> None:
    """The first out leads and the loser deals; after an instant win the winner's right-hand neighbour deals."""
    won = 0
    for variant, players in [("southern", 4), ("southern,cards=17,instant_wins_any_size=yes", 3)]:
        rules = parse_variant(variant)
        plan = Plan(rules, players, tuple(parse_policies(["lowest"], players)), 4, 1, match=4)
        all_hands = list(matches.hands(plan, 0, 4))
        assert [replay(rules, hand) for hand in all_hands] == all_hands
        for before, after in pairwise(all_hands):
            if before["match"] != after["match"]:
                continue
            first, loser = before["places"].index(1), before["places"].index(players)
            at_once = before["instant_win"] is not None
            won += at_once
            assert after["opening"] is at_once
            assert after["dealer"] == ((first - 1) % players if at_once else loser)
            assert (after["required"] is not None) is at_once
            assert at_once or after["leader"] == first
    assert won > 3


def test_a_tally_adds_up_its_rows() -> None:
    """Sums, and by deal the squares of sums, of what the rows of all seatings say."""
    rules = parse_variant("southern,instant_wins=one-colour+four-twos+six-pairs")
    plan = Plan(rules, 4, tuple(parse_policies(["lowest", "random", "random", "lowest"], 4)), 12, 30)
    block = Runner(plan).play(0, 12, keep=True)
    assert block.rows is not None
    units: list[list[int]] = []
    for rows in block.rows.reshape(12, -1):
        x = np.zeros(tally.SEATS_AT, int)
        for row in rows:
            place, paid = row["places"][:4].astype(int), row["payoffs"][:4].astype(int)
            lead, others = int(row["leader"]), [seat for seat in range(4) if seat != row["leader"]]
            x[tally.HANDS] += 1
            if row["instant"] < 0:
                chops = int(row["chops"].sum())
                counts = [row["plays"], row["plays"] + row["passes"], row["passes"], row["piles"], chops]
                x[tally.PLAYED_OUT] += 1
                x[tally.LENGTHS_AT : tally.LEADER_AT] += [*map(int, counts), int(row["twos_left"])]
            x[tally.LEADER_AT : tally.OTHERS_AT] += [place[lead] == 1, place[lead], paid[lead]]
            x[tally.OTHERS_AT :] += [place[lead] != 1, place[others].sum(), paid[others].sum()]
        units.append(x.tolist())
    expected = np.array(units)
    assert block.tally[0, : tally.SEATS_AT].tolist() == expected.sum(0).tolist()
    assert block.tally[1, : tally.SEATS_AT].tolist() == (expected**2).sum(0).tolist()
