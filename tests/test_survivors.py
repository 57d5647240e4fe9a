"""Facts that no other test noticed when the code was changed: one small case each, worked out by hand.

All of them go through the kernels. `test_uncompiled` runs this file once more without the compiler.
"""

import pytest
from scipy.special import stdtrit
from table_play import payoffs, play, stream_of, written

from tlsim import kit
from tlsim.chances.columns import Deck, columns
from tlsim.chances.query import condition, parse
from tlsim.errors import InputError
from tlsim.play.legal import instant_win_name
from tlsim.play.transcript import Hand
from tlsim.rules.cards import names, parse_hand
from tlsim.rules.variantfiles import parse_variant
from tlsim.stats import estimate

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
    """Seat 1 passes on two aces, which nothing of its hand beats, and is asked again on two 2s, which its chop beats."""
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
        with pytest.raises(InputError, match="seat 1: .*not a legal play"):
            play(rules, hands, f"9S, -, 2S, -, {barred}", 0)
    assert play(rules, hands, f"9S, -, 2S, -, {D4_HIGH}", 0).seat == 2


@DECKS
def test_who_is_asked_again_may_pass_though_it_must_play(decks: int) -> None:
    rules = parse_variant(f"mien-nam,{QUIET},decks={decks},must_play=yes")
    hands = ["AD AH 3S", f"{D4_LOW} 3C", "2C 2D 4S"]
    with pytest.raises(InputError, match=r"seat 1: a pass: it may not pass while it can play"):
        play(rules, ["2C 2D 3S", f"{D4_LOW} 3C"], "2C 2D, -", 0)
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
    """Six pairs count each rank's cards by twos: eight of a rank are four pairs, with `quads_twice` = no at most one."""
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
        z = estimate.normal_quantile(level)
        y = z * z
        fifth = z * (27 * y**5 + 339 * y**4 + 930 * y**3 - 1782 * y**2 - 765 * y + 17955) / 368640
        exact = float(stdtrit(v, (1 + level) / 2))
        assert estimate._t_quantile(level, v + 1) + fifth / v**5 == pytest.approx(exact, rel=error, abs=0), level


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
