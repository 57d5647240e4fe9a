"""How good one hand is, and how rare what it holds, among all hands of its size."""

import numpy as np
import polars as pl

from tlsim.chances.answers import Ask, Setting, answer, exact_keys
from tlsim.chances.columns import Deck, columns
from tlsim.chances.exact_hands import probability
from tlsim.chances.questions import holds
from tlsim.chances.sample import Question, hand_columns
from tlsim.rules.cards import split
from tlsim.rules.ruleset import Rules

SAMPLE, SEED = 100_000, 0  # hands that percentiles are sampled from, always the same
_AT_LEAST = ("twos", "quads", "triples", "pairs", "longest_straight", "longest_double_straight", "longest_quad_run")
_NO_NEWS = 0.5  # what every other hand holds


def percentiles(rules: Rules, hand: int, threads: int, level: float) -> pl.DataFrame:
    """Return the shares of all hands of its size that are worse than a hand, and those that are as good.

    By `fewest_plays`, fewer being better, and by `strength`, the ranks of its cards added up; exact beside sampled.
    """
    plays, strength = pl.col("fewest_plays"), pl.col("strength")
    own = _own(rules, hand).select("fewest_plays", "strength").row(0)
    compared = [
        (f"fewest plays: {own[0]}", {"worse": plays > own[0], "as good": plays == own[0]}),
        (f"strength: {own[1]}", {"worse": strength < own[1], "as good": strength == own[1]}),
    ]
    setting = Setting(rules, 1, _deck(rules, hand), hand.bit_count(), SAMPLE, SEED, threads, level)
    asks = [
        Ask("percentiles", {"by": by, "hands": hands}, Question(event), holds, setting)
        for by, events in compared
        for hands, event in events.items()
    ]
    return answer(asks)[0]["percentiles"].drop("one_in")


def rarity(rules: Rules, hand: int) -> pl.DataFrame:
    """Return the exact odds to hold what a hand holds, of what not every other hand does; rarest first."""
    own, deck = _own(rules, hand).row(0, named=True), _deck(rules, hand)
    known = columns(rules, hand.bit_count(), deck)
    events = {name: pl.col(name) for name, column in known.items() if column.boolean and own[name]}
    events |= {f"{name} >= {own[name]}": pl.col(name) >= own[name] for name in _AT_LEAST if own[name]}
    odds = {name: probability(event, rules, hand.bit_count(), deck) for name, event in events.items()}
    rare = sorted((chance, name) for name, chance in odds.items() if chance < _NO_NEWS)
    if not rare:
        return pl.DataFrame(schema={"holds": pl.String})
    return pl.DataFrame([{"holds": name} | exact_keys(chance) for chance, name in rare])


def _own(rules: Rules, hand: int) -> pl.DataFrame:
    """Return all columns of one hand."""
    masks, deck = np.array(split(hand), np.int64).reshape(2, 1), _deck(rules, hand)
    return hand_columns(columns(rules, hand.bit_count(), deck), rules, hand.bit_count(), deck.decks, masks)


def _deck(rules: Rules, hand: int) -> Deck:
    """Return what a hand is dealt from: two decks when it holds a card twice, or the rules say so."""
    return Deck(2 if split(hand)[1] or rules.decks == 2 else 1)
