"""Count the exact odds of one hand: the joint distribution of hand columns, rank by rank.

A state is a tuple of small numbers (`chances.steps`). At each rank every state goes on with every number of cards of
the rank, and equal tuples are added up. A weight is a number of hands, as subsets of the cards; with two decks equal
cards count as two. C(104, 20) = 4.6e20 fits Int128 (1.7e38) with room.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import comb

import polars as pl

from tlsim.chances.columns import MIN_DOUBLE_STRAIGHT, ONE_DECK, Deck, find
from tlsim.chances.steps import Update, plan
from tlsim.errors import InputError, OutOfReach
from tlsim.rules.ruleset import Rules

WEIGHT = "weight"
MAX_NUMBERS = 6_000_000  # of all states at once: some 5 s and 450 MB; what needs more is left to sampling
_SLICE = 400_000  # rows that are made at once


def joint(
    names: Iterable[str], rules: Rules, cards: int, deck: Deck = ONE_DECK, max_numbers: int = MAX_NUMBERS
) -> pl.DataFrame:
    """Return a row for each tuple of values of the asked columns, sorted, and the number of hands that have it.

    The columns are the asked ones (Boolean or integer) and `weight` (Int128); weights add up to C(deck.size, cards).

    Raises
    ------
    InputError
        For an unknown column, or none.
    OutOfReach
        For a count whose states are more than so many numbers.

    Examples
    --------
    >>> joint(["twos"], Rules(), 13).rows()[-1]  # all four 2s, and 9 of the other 48 cards
    (4, 1677106640)
    """
    asked = find(names, rules, cards, deck)
    if not asked:
        raise InputError("a distribution is of at least one column, got none")
    values = [column.value.alias(name) for name, column in asked.items()]
    hands = pl.DataFrame({"cards": [0], WEIGHT: [1]}, {"cards": pl.Int16, WEIGHT: pl.Int128})
    left = deck.size
    for fields, updates in plan(values, rules, cards, deck):
        left -= deck.copies
        branches = deck.branches(fields)[1].group_by(fields | {"n"}).agg(pl.col("ways").sum())
        keys, max_states = ["cards", *updates], max_numbers // (2 + len(updates))
        after = hands.clear()
        for some_hands in hands.iter_slices(max(1, _SLICE // len(branches))):
            drawn = _go_on(some_hands, branches, updates, cards, left)
            after = _add_up(pl.concat([after, drawn]), keys) if len(after) else drawn
            if len(after) > max_states:
                what = f"{', '.join(asked)} of {cards} cards from {deck.size}"
                raise OutOfReach(f"{what}: the exact count would need more than {max_states:,} states")
        hands = after
    return _add_up(hands.select(*values, WEIGHT), list(asked)).sort(list(asked))


def _add_up(hands: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return one row for each tuple of keys, with the sum of its weights."""
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


def holding(hands: pl.DataFrame, given: pl.Expr | None) -> pl.DataFrame:
    """Return the rows of `joint` that hold a condition; raise `InputError` when there are none."""
    if given is None:
        return hands
    kept = hands.filter(given)
    if kept.is_empty():
        raise InputError("no hand of this size holds the condition that is given")
    return kept


def probability(
    event: pl.Expr, rules: Rules, cards: int, deck: Deck = ONE_DECK, given: pl.Expr | None = None
) -> Fraction:
    """Return the probability that a hand holds `event`, an expression over hand columns, among hands that hold `given`.

    Raises
    ------
    InputError
        For an unknown column, and when no hand holds `given`.
    OutOfReach
        As `joint` does.

    Examples
    --------
    >>> probability(pl.col("four_twos"), Rules(), 13)
    Fraction(11, 4165)
    >>> probability(pl.col("holds_3s"), Rules(), 13, given=pl.col("threes") == 1)
    Fraction(1, 4)
    """
    names = event.meta.root_names()
    if given is not None:
        names += given.meta.root_names()
    hands = holding(joint(dict.fromkeys(names), rules, cards, deck), given)
    return Fraction(int(hands.filter(event)[WEIGHT].sum()), int(hands[WEIGHT].sum()))


# ------------------------------------------------------------------------------------------------ legal leads


def mean_leads(rules: Rules, cards: int, deck: Deck = ONE_DECK) -> dict[str, Fraction]:
    """Return how many combinations of each kind a hand holds in the mean, runs by length: `pair`, `straight-5`, ….

    Counted are those that may be led, obligations apart; they add up to the mean of `legal_leads`. For any hand size
    and one or two decks. The mean of a sum is the sum of the means: add up over all plays the probability that the hand
    holds the play. Of two equal cards a play takes either or both, and what takes the same cards is one play.

    >>> mean_leads(Rules(), 13)["pair"]  # 13 * 6 pairs, each held with probability 13 * 12 / (52 * 51)
    Fraction(78, 17)
    """
    below = deck.ranks - 1  # ranks without the 2s
    means = {name: _mean_plays(n, 1, deck.ranks, cards, deck) for n, name in enumerate(("single", "pair", "triple"), 1)}
    means["quad"] = _mean_plays(4, 1, below + rules.quad_twos, cards, deck)
    straight_ranks, double_ranks = below + rules.straight_twos, below + rules.double_straight_twos
    for length in range(rules.straight_min, straight_ranks + 1):
        means[f"straight-{length}"] = _mean_plays(1, length, straight_ranks, cards, deck)
    for length in range(MIN_DOUBLE_STRAIGHT, min(rules.double_straight_max, double_ranks) + 1):
        means[f"double-straight-{length}"] = _mean_plays(2, length, double_ranks, cards, deck)
    return {name: mean for name, mean in means.items() if mean}


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
    holdings = (ways * _hands_with(each * length - 2 * twice, twice, cards, deck) for twice, ways in choices.items())
    return Fraction((ranks - length + 1) * sum(holdings), comb(deck.size, cards))


def _hands_with(once: int, twice: int, cards: int, deck: Deck) -> int:
    """Return the number of hands with a copy of `once` given kinds of cards and both copies of `twice` others.

    By inclusion and exclusion over the kinds of which a hand has no copy.
    """
    n_twice = deck.decks * twice
    if n_twice > cards:
        return 0
    free, to_draw = deck.size - n_twice, cards - n_twice
    return sum((-1) ** i * comb(once, i) * comb(free - deck.decks * i, to_draw) for i in range(once + 1))
