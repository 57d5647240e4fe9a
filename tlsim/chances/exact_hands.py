"""Exact odds of one hand: the joint distribution of hand columns, by a count rank by rank.

The state is a tuple of small numbers (`chances.columns`); at each rank every state goes on with every number of cards
of the rank, and equal tuples are added up. A weight is a number of hands, subsets of the cards; with two decks equal
cards count as two. C(104, 20) = 4.6e20 fits Int128 (1.7e38) with room.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import comb

import polars as pl

from tlsim.chances.columns import ONE_DECK, Deck, Update, find, plan
from tlsim.errors import InputError, OutOfReach
from tlsim.rules.ruleset import Rules

WEIGHT = "weight"
MOST_NUMBERS = 6_000_000  # of all states at once: some 5 s and 450 MB; what needs more is left to sampling
_SLICE = 400_000  # rows that are made at once


def joint(
    names: Iterable[str], rules: Rules, cards: int, deck: Deck = ONE_DECK, numbers: int = MOST_NUMBERS
) -> pl.DataFrame:
    """Return a row for each tuple of values of the asked columns, sorted, and the number of hands that have it.

    The columns are the asked ones (Boolean or integer) and `weight` (Int128); weights add up to C(deck.size, cards).
    Raises `InputError` for an unknown column or none, `OutOfReach` for a count whose
    states are more than so many `numbers`.
    """
    asked = find(names, rules, cards, deck)
    if not asked:
        raise InputError("no column: a distribution is that of at least one")
    values = [column.value.alias(name) for name, column in asked.items()]
    hands = pl.DataFrame({"cards": [0], WEIGHT: [1]}, {"cards": pl.Int16, WEIGHT: pl.Int128})
    left = deck.size
    for fields, updates in plan(values, rules, cards, deck):
        left -= deck.copies
        branches = deck.branches(fields)[1].group_by(fields | {"n"}).agg(pl.col("ways").sum())
        keys, most = ["cards", *updates], numbers // (2 + len(updates))
        after = hands.clear()
        for part in hands.iter_slices(max(1, _SLICE // len(branches))):
            drawn = _go_on(part, branches, updates, cards, left)
            after = _add_up(pl.concat([after, drawn]), keys) if len(after) else drawn
            if len(after) > most:
                what = f"{', '.join(asked)} of {cards} cards from {deck.size}"
                raise OutOfReach(f"{what}: the exact count would need more than {most:,} states")
        hands = after
    return _add_up(hands.select(*values, WEIGHT), list(asked)).sort(list(asked))


def _add_up(hands: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    return hands.group_by(keys).agg(pl.col(WEIGHT).sum())


def _go_on(hands: pl.DataFrame, branches: pl.DataFrame, updates: Update, cards: int, left: int) -> pl.DataFrame:
    """Return the states after one more rank, with `left` cards of the deck in the ranks after it."""
    drawn = pl.col("cards") + pl.col("n")
    return _add_up(
        hands.join(branches, how="cross")
        .filter(drawn.is_between(cards - left, cards))
        .select(drawn.alias("cards"), pl.col(WEIGHT) * pl.col("ways"), **updates),
        ["cards", *updates],
    )


def probability(
    event: pl.Expr, rules: Rules, cards: int, deck: Deck = ONE_DECK, given: pl.Expr | None = None
) -> Fraction:
    """Return the probability that a hand holds `event`, an expression over hand columns, among hands that hold `given`.

    Raises `InputError` for an unknown column, and when no hand holds `given`; `OutOfReach` as `joint` does.
    """
    given = pl.lit(True) if given is None else given
    names = dict.fromkeys(event.meta.root_names() + given.meta.root_names())
    hands = joint(names, rules, cards, deck).filter(given)
    if hands.is_empty():
        raise InputError("no hand is as given")
    return Fraction(int(hands.filter(event)[WEIGHT].sum()), int(hands[WEIGHT].sum()))


# ------------------------------------------------------------------------------------------------ legal leads


def mean_leads(rules: Rules, cards: int, deck: Deck = ONE_DECK) -> dict[str, Fraction]:
    """Return how many combinations of each kind a hand holds in the mean, runs by length: `pair`, `straight-5`, ….

    Those that may be led, obligations apart; they add up to the mean of `legal_leads`. For any hand size and one or two
    decks: the mean of a sum is the sum over all plays of the probability that the hand holds it. Of two equal cards a
    play takes either or both, and what takes the same cards is one play.
    """
    below = deck.ranks - 1
    found = {name: _mean_plays(n, 1, deck.ranks, cards, deck) for n, name in enumerate(("single", "pair", "triple"), 1)}
    found["quad"] = _mean_plays(4, 1, below + rules.quad_twos, cards, deck)
    straights, doubles = below + rules.straight_twos, below + rules.double_straight_twos
    for length in range(rules.straight_min, straights + 1):
        found[f"straight-{length}"] = _mean_plays(1, length, straights, cards, deck)
    for length in range(3, min(rules.double_straight_max, doubles) + 1):
        found[f"double-straight-{length}"] = _mean_plays(2, length, doubles, cards, deck)
    return {name: mean for name, mean in found.items() if mean}


def _mean_plays(each: int, length: int, ranks: int, cards: int, deck: Deck) -> Fraction:
    """Return the mean number of runs of `length` ranks out of `ranks`, `each` cards a rank, that a hand holds."""
    choices = {0: 1}  # kinds of cards taken twice -> ways to choose the cards
    for _ in range(length):
        longer: dict[int, int] = {}
        for twice, ways in choices.items():
            for more in range(each // 2 + 1 if deck.decks > 1 else 1):
                of_rank = comb(deck.suits, more) * comb(deck.suits - more, each - 2 * more)
                longer[twice + more] = longer.get(twice + more, 0) + ways * of_rank
        choices = longer
    held = (ways * _hands_with(each * length - 2 * twice, twice, cards, deck) for twice, ways in choices.items())
    return Fraction((ranks - length + 1) * sum(held), comb(deck.size, cards))


def _hands_with(once: int, twice: int, cards: int, deck: Deck) -> int:
    """Return the number of hands with a copy of `once` given kinds of cards and both copies of `twice` others."""
    if deck.decks * twice > cards:
        return 0
    free, rest = deck.size - deck.decks * twice, cards - deck.decks * twice
    return sum((-1) ** i * comb(once, i) * comb(free - deck.decks * i, rest) for i in range(once + 1))
