"""Exact odds: against known values, all count patterns of 13 of 52, and complete enumerations of small decks."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, groupby
from math import comb, prod
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from odds_by_sight import Card, cards_of, look

from tlsim.chances.columns import ONE_DECK, Deck, columns
from tlsim.chances.exact_hands import joint, mean_leads, probability
from tlsim.chances.exact_tables import holders, lowest_card, lowest_card_holder, number_of_deals, shared, undealt
from tlsim.engine.bulk import fill
from tlsim.errors import InputError, OutOfReach
from tlsim.rules.ruleset import Rules
from tlsim.rules.variantfiles import parse_variant

TWO_DECKS = Deck(2)
HANDS = comb(52, 13)
SOUTHERN, CLASSIC, VIET_CONG = (parse_variant(name) for name in ("southern", "classic", "viet-cong"))
VARIANTS = [
    "southern",
    "classic",
    "viet-cong",
    "southern,instant_wins_any_size=yes,six_pairs_quads_twice=no,straight_min=4",
    "southern,instant_wins_any_size=yes,straight_twos=yes,double_straight_max=13,quad_twos=yes",
]
col = pl.col

# ---------------------------------------------------------------------------------------------- known values

KNOWN = {
    "four 2s": (col("four_twos"), Fraction(11, 4165)),
    "any quad": (col("quads") >= 1, Fraction(1357355571, 39688347475)),
    "dragon": (col("dragon"), Fraction(369098752, HANDS)),
    "13 different ranks": (col("ranks") == 13, Fraction(4**13, HANDS)),
    "six pairs, quads twice": (col("six_pairs"), Fraction(2856863152, HANDS)),
    "six pairs, different ranks": (col("pairs") >= 6, Fraction(2561974272, HANDS)),
    "double straight of 5 without 2s": (col("five_pair_straight"), Fraction(411780096, HANDS)),
    "no three of a kind": (col("triples") == 0, Fraction(323603221504, HANDS)),
    "one colour": (col("one_colour"), Fraction(2 * comb(26, 13), HANDS)),
    "the 3S": (col("holds_3s"), Fraction(1, 4)),
}


@pytest.mark.parametrize("event", KNOWN)
def test_known_values(event: str) -> None:
    expression, value = KNOWN[event]
    assert probability(expression, SOUTHERN, 13) == value


def test_four_twos_of_two_decks() -> None:
    assert float(probability(col("twos") >= 4, VIET_CONG, 13, TWO_DECKS)) == pytest.approx(0.00805392796, abs=5e-12)


def test_a_condition() -> None:
    assert probability(col("twos") == 4, SOUTHERN, 13, given=col("twos") >= 3) == Fraction(
        comb(48, 9), 4 * comb(48, 10) + comb(48, 9)
    )
    with pytest.raises(InputError, match="no hand of this size"):
        probability(col("twos") == 4, SOUTHERN, 13, given=col("twos") == 5)


@pytest.mark.parametrize(("cards", "deck"), [(13, ONE_DECK), (17, ONE_DECK), (20, TWO_DECKS)])
def test_weights_add_up(cards: int, deck: Deck) -> None:
    table = joint(["twos", "longest_straight", "chop"], CLASSIC, cards, deck)
    assert table["weight"].sum() == comb(deck.size, cards)
    assert table.schema["weight"] == pl.Int128
    assert table.schema["chop"] == pl.Boolean


def test_what_there_is_not() -> None:
    with pytest.raises(InputError, match="unknown column 'two'; did you mean twos"):
        joint(["two"], SOUTHERN, 13)
    with pytest.raises(InputError, match="at least one"):
        joint([], SOUTHERN, 13)
    with pytest.raises(OutOfReach, match="20 cards from 104"):
        joint(["legal_leads"], SOUTHERN, 20, TWO_DECKS)
    with pytest.raises(OutOfReach, match="4 players"):
        shared(col("quads") >= 1, SOUTHERN, 4, 13, max_numbers=1000)
    with pytest.raises(InputError, match="5 hands of 13 cards are 65 cards, but the deck has 52"):
        shared(col("quads") >= 1, SOUTHERN, 5, 13)


# ---------------------------------------------------------------------------------------------- all count patterns


@lru_cache(1)
def patterns() -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Return all ways to split 13 cards over 13 ranks, a row each, and the number of hands of each."""
    rows, drawn = np.zeros((1, 0), np.int8), np.zeros(1, np.int8)
    for rank in range(13):
        n = [np.flatnonzero((drawn + n <= 13) & (drawn + n + 4 * (12 - rank) >= 13)) for n in range(5)]
        rows = np.concatenate([np.column_stack([rows[at], np.full(len(at), i, np.int8)]) for i, at in enumerate(n)])
        drawn = rows.sum(axis=1, dtype=np.int8)
    ways = np.ones(len(rows), np.int64)
    for counts in rows.T:
        ways *= np.array([1, 4, 6, 4, 1])[counts]
    return rows, ways


def masks(n: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return a hand of each row, as masks of shape (2, hands)."""
    held = np.zeros((2, len(n)), np.int64)
    for rank, counts in enumerate(n.T.astype(np.int64)):
        held[0] |= ((1 << counts) - 1) << (4 * rank)
    return held


def longest(held: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the longest run of true columns in each row."""
    run, best = np.zeros((2, len(held)), np.int8)
    for column in held.T:
        run = (run + 1) * column
        best = np.maximum(best, run)
    return best


def leads(rules: Rules, n: NDArray[np.int8]) -> NDArray[np.int32]:
    """Return the number of legal leads of each row."""
    choose = np.array([[comb(i, j) for i in range(5)] for j in range(5)], np.int32)
    total = np.zeros(len(n), np.int32)
    for each in (1, 2, 3, 4):
        total += choose[each][n if each < 4 or rules.quad_twos else n[:, :12]].sum(axis=1, dtype=np.int32)
    for each, shortest, most, twos in (
        (1, rules.straight_min, 13, rules.straight_twos),
        (2, 3, rules.double_straight_max, rules.double_straight_twos),
    ):
        for start in range(13):
            product = np.ones(len(n), np.int32)
            for last in range(start, min(start + most, 12 + twos)):
                product *= choose[each][n[:, last]]
                if last - start + 1 >= shortest:
                    total += product
    return total


def hands_by(value: NDArray[Any], ways: NDArray[np.int64]) -> dict[int, int]:
    """Return the number of hands by value; floats are exact, since all numbers are below 2^53."""
    sums = np.bincount(value.astype(np.int64), ways)
    return {int(i): int(sums[i]) for i in np.flatnonzero(sums)}


@pytest.mark.parametrize("variant", ["southern", "classic"])
def test_all_patterns(variant: str, request: pytest.FixtureRequest) -> None:
    if variant != "southern" and not request.config.getoption("--all-patterns"):
        pytest.skip("4 s more for the other variants: scripts/deep runs it (--all-patterns)")
    rules = parse_variant(variant)
    n, ways = patterns()
    assert len(n) == 3598180
    assert ways.sum() == HANDS
    straight = longest(n[:, : 12 + rules.straight_twos] >= 1)
    double = longest(n[:, : 12 + rules.double_straight_twos] >= 2)
    low_double = longest(n[:, :12] >= 2)
    pair_units = (n // 2).sum(axis=1)
    four_twos, dragon = n[:, 12] == 4, (n[:, :12] > 0).all(axis=1)
    found = {
        "twos": n[:, 12],
        "sevens": n[:, 4],
        "ranks": (n >= 1).sum(axis=1),
        "pairs": (n >= 2).sum(axis=1),
        "triples": (n >= 3).sum(axis=1),
        "quads": (n >= 4).sum(axis=1),
        "pair_units": pair_units,
        "longest_straight": straight * (straight >= 3),
        "longest_double_straight": double * (double >= 3),
        "longest_quad_run": (runs := longest(n[:, :12] == 4)) * (runs >= 2),
        "dragon": dragon,
        "five_pair_straight": low_double >= 5,
        "four_twos": four_twos,
        "six_pairs": pair_units >= 6,
        "four_threes": n[:, 0] == 4,
        "threes_double_straight": (n[:, :3] >= 2).all(axis=1),
        "chop_quad": (n[:, : 12 + rules.quad_twos] == 4).any(axis=1),
        "legal_leads": leads(rules, n),
        "fewest_plays": fill(["fewest_plays"], rules, masks(n))[0],
    }
    by_rules = {"longest_straight", "longest_double_straight", "chop_quad", "legal_leads", "fewest_plays"}
    for name in found if variant == "southern" else by_rules:
        value = found[name]
        assert hands_by(value, ways) == {int(v): w for v, w in joint([name], rules, 13).rows()}, name
    names = ["twos", "pair_units", "longest_straight", "quads"]
    together = joint(names, rules, 13)
    keys = together.select(((col("twos") * 10 + col("pair_units")) * 20 + col("longest_straight")) * 10 + col("quads"))
    expected = ((n[:, 12].astype(np.int64) * 10 + pair_units) * 20 + found["longest_straight"]) * 10 + found["quads"]
    assert hands_by(expected, ways) == dict(zip(keys.to_series(), together["weight"], strict=True))


@pytest.mark.parametrize("variant", ["southern", "classic", "viet-cong"])
@pytest.mark.parametrize(("cards", "deck"), [(13, ONE_DECK), (17, ONE_DECK), (13, TWO_DECKS)])
def test_mean_leads(variant: str, cards: int, deck: Deck) -> None:
    rules = parse_variant(variant)
    total = sum(value * weight for value, weight in joint(["legal_leads"], rules, cards, deck).rows())
    means = mean_leads(rules, cards, deck)
    assert sum(means.values()) == Fraction(total, comb(deck.size, cards))
    assert means["pair"] == deck.ranks * (
        comb(4, 2) * held(2, cards, deck)
        + (4 * Fraction(cards * (cards - 1), deck.size * (deck.size - 1)) if deck.decks > 1 else 0)
    )


def held(kinds: int, cards: int, deck: Deck) -> Fraction:
    """Return the probability that a hand holds a copy of each of so many given kinds of cards."""
    hands = sum((-1) ** i * comb(kinds, i) * comb(deck.size - deck.decks * i, cards) for i in range(kinds + 1))
    return Fraction(hands, comb(deck.size, cards))


# ---------------------------------------------------------------------------------------------- small decks

SMALL = [
    (Deck(1, 5, 2), 3),
    (Deck(1, 6, 2), 7),
    (Deck(1, 7, 2), 12),  # six pairs, a double straight of 5
    (Deck(1, 4, 4), 4),
    (Deck(1, 5, 4), 17),  # quad runs, and all cards but three
    (Deck(2, 4, 2), 6),
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("deck", "cards"), SMALL, ids=str)
def test_every_column_of_small_decks(deck: Deck, cards: int, variant: str, request: pytest.FixtureRequest) -> None:
    place = SMALL.index((deck, cards)) + VARIANTS.index(variant)
    if place % 3 and not request.config.getoption("--all-patterns"):
        pytest.skip("a third of the decks and variants is enough by default: scripts/deep runs all (--all-patterns)")
    rules = parse_variant(variant)
    names = [name for name in columns(rules, cards, deck) if name != "legal_leads" or cards <= 7]
    all_hands = Counter(combinations(cards_of(deck), cards))
    expected: Counter[tuple[int, ...]] = Counter()
    for hand, times in all_hands.items():
        seen = look(hand, rules, deck)
        assert set(names) <= seen.keys()
        expected[tuple(int(seen[name]) for name in names)] += times
    found = joint(names, rules, cards, deck)
    assert {tuple(map(int, row[:-1])): row[-1] for row in found.rows()} == expected
    for name in names:  # and each alone
        alone = joint([name], rules, cards, deck)
        assert sorted(alone.rows()) == sorted(found.group_by(name).agg(col("weight").sum()).rows()), name


TABLES = [
    (Deck(1, 5, 2), 3, 3),
    (Deck(1, 4, 3), 3, 3),
    (Deck(2, 4, 2), 4, 2),
    (Deck(1, 6, 2), 6, 2),
    (Deck(2, 2, 2), 2, 4),
]
EVENTS = [
    col("pairs") >= 1,
    col("pairs") == 1,
    col("longest_straight") >= 3,
    col("one_colour"),
    col("one_colour") | (col("pairs") >= 2),
    col("holds_3s"),
    col("holds_2h") & (col("red_cards") >= 2),
    col("twos") + col("threes") >= 2,
    col("instant_win"),
    col("opening_instant_win"),
    col("legal_leads") >= 5,
    col("fewest_plays") <= 2,
    col("ranks") >= 1,
    col("ranks") > 9,
]


@pytest.mark.parametrize(("deck", "cards", "players"), TABLES, ids=str)
def test_tables_of_small_decks(deck: Deck, cards: int, players: int) -> None:
    rules = parse_variant("southern,instant_wins_any_size=yes,straight_twos=yes")
    everything = cards_of(deck)
    chosen = list(combinations(range(deck.size), cards))
    masks = np.array([sum(1 << card for card in hand) for hand in chosen])
    seen = pl.DataFrame([look(tuple(everything[card] for card in hand), rules, deck) for hand in chosen])
    names = columns(rules, cards, deck)
    for event in EVENTS:
        if not set(event.meta.root_names()) <= names.keys():
            continue
        holds = seen.with_columns(col(name).cast(bool) for name in names if names[name].boolean).select(event)
        exact: list[int] = []
        used = masks[:1] * 0
        count = np.ones(1, np.int64)
        mine = masks[holds.to_series().to_numpy()]
        for _ in range(players):  # all deals of one more hand that holds the event
            rows, hands = np.nonzero((used[:, None] & mine[None, :]) == 0)
            used, place = np.unique(used[rows] | mine[hands], return_inverse=True)
            count = np.bincount(place.reshape(-1), count[rows], len(used)).astype(np.int64)
            exact.append(int(count.sum()))
        shares = shared(event, rules, players, cards, deck)
        assert shares[1:] == [Fraction(n, number_of_deals(k, cards, deck)) for k, n in enumerate(exact, 1)], str(event)


def test_holders_of_a_small_deck_deal_by_deal() -> None:
    deck, rules = Deck(1, 5, 2), SOUTHERN
    found: Counter[int] = Counter()
    all_cards = cards_of(deck)
    for first in combinations(range(10), 3):
        for second in combinations(sorted({*range(10)} - {*first}), 3):
            for third in combinations(sorted({*range(10)} - {*first, *second}), 3):
                found[sum(look_pairs([all_cards[c] for c in hand]) for hand in (first, second, third))] += 1
    odds = holders(shared(col("pairs") >= 1, rules, 3, 3, deck), 3)
    assert odds == [Fraction(found[j], found.total()) for j in range(4)]
    assert sum(odds) == 1


def look_pairs(hand: list[Card]) -> bool:
    return any(len(list(group)) >= 2 for _, group in groupby(rank for rank, _ in hand))


# ---------------------------------------------------------------------------------------------- real tables


def test_four_twos_at_the_table() -> None:
    shares = shared(col("four_twos"), SOUTHERN, 4, 13)
    assert shares == [1, Fraction(11, 4165), 0, 0, 0]  # two players cannot both have them
    assert holders(shares, 4)[1] == 4 * Fraction(11, 4165)


@pytest.mark.parametrize(
    ("variant", "cards", "deck"), [("southern", 13, ONE_DECK), ("classic", 17, ONE_DECK), ("viet-cong", 20, TWO_DECKS)]
)
def test_one_player_of_the_table_is_one_hand(variant: str, cards: int, deck: Deck) -> None:
    rules = parse_variant(variant)
    for event in (col("quads") >= 2, col("longest_double_straight") >= 3, col("instant_win"), col("red_cards") >= 12):
        assert shared(event, rules, 1, cards, deck)[1] == probability(event, rules, cards, deck)


def test_one_colour_at_the_table() -> None:
    shares = shared(col("one_colour"), SOUTHERN, 4, 13)
    halves = comb(26, 13)  # ways to split a colour in two hands; three hands of one colour do not fit
    assert shares[2] == Fraction(2 * halves + 2 * halves**2, number_of_deals(2, 13))
    assert shares[4] == Fraction(6 * halves**2, number_of_deals(4, 13))


def test_southern_table() -> None:
    """The number in the README: some player of four wins at once on a hand that is not an opening one."""
    odds = holders(shared(col("instant_win"), SOUTHERN, 4, 13), 4)
    assert float(1 - odds[0]) == pytest.approx(0.0324191689778052, rel=1e-14)
    assert sum(odds) == 1


# ---------------------------------------------------------------------------------------------- the lowest card


def test_known_lowest_cards() -> None:
    assert [undealt(players, 13, TWO_DECKS) for players in (5, 6, 7)] == [
        Fraction(57, 412),
        Fraction(25, 412),
        Fraction(3, 206),
    ]
    assert lowest_card(3, 13)[:4] == [Fraction(3, 4), Fraction(13, 68), Fraction(39, 850), Fraction(429, 41650)]
    assert lowest_card(4, 13) == [1] + [0] * 51
    assert lowest_card_holder(4, 13) == [Fraction(1, 4)] * 4


@pytest.mark.parametrize(
    ("deck", "cards", "players"), [(Deck(1, 3, 2), 1, 3), (Deck(2, 2, 2), 2, 3), (Deck(2, 2, 2), 1, 2)], ids=str
)
def test_lowest_cards_of_small_decks(deck: Deck, cards: int, players: int) -> None:
    lowest, holder = Counter[int](), Counter[int]()
    for dealt in all_deals(frozenset(range(deck.size)), cards, players):
        kinds = [{card // deck.decks for card in hand} for hand in dealt]
        card = min(map(min, kinds))
        lowest[card] += 1
        holder[next(seat for seat in range(players) if card in kinds[seat])] += 1
    total = prod([lowest.total()])
    assert lowest_card(players, cards, deck) == [Fraction(lowest[i], total) for i in range(deck.ranks * deck.suits)]
    assert lowest_card_holder(players, cards, deck) == [Fraction(holder[i], total) for i in range(players)]


def all_deals(cards: frozenset[int], size: int, players: int) -> Iterator[list[tuple[int, ...]]]:
    if players == 0:
        yield []
        return
    for hand in combinations(sorted(cards), size):
        for others in all_deals(cards - set(hand), size, players - 1):
            yield [hand, *others]
