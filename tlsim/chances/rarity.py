"""Tell how good one hand is, and how rare what it holds, among all hands of its size."""

import numpy as np
import polars as pl

from tlsim.chances.answers import Ask, Setting, answer, exact_keys
from tlsim.chances.columns import Deck, columns
from tlsim.chances.exact_hands import probability
from tlsim.chances.questions import holds
from tlsim.chances.sample import Question, hand_columns
from tlsim.rules.cards import Mask, split
from tlsim.rules.ruleset import Rules

SAMPLE, SEED = 100_000, 0  # hands that percentiles are sampled from, always the same
_RARER_THAN = 0.5  # what every other hand holds is no news
_AT_LEAST = ("twos", "quads", "triples", "pairs", "longest_straight", "longest_double_straight", "longest_quad_run")


def percentiles(rules: Rules, hand: Mask, threads: int, level: float) -> pl.DataFrame:
    """Return the shares of all hands of its size that are worse than a hand, and those that are as good.

    By `fewest_plays`, where fewer are better, and by `strength`, the ranks of its cards added up. Exact shares stand
    beside sampled ones.
    """
    plays, strength = pl.col("fewest_plays"), pl.col("strength")
    own_plays, own_strength = _columns_of(rules, hand).select("fewest_plays", "strength").row(0)
    events = {
        (f"fewest plays: {own_plays}", "worse"): plays > own_plays,
        (f"fewest plays: {own_plays}", "as good"): plays == own_plays,
        (f"strength: {own_strength}", "worse"): strength < own_strength,
        (f"strength: {own_strength}", "as good"): strength == own_strength,
    }
    setting = Setting(rules, 1, _deck(rules, hand), hand.bit_count(), SAMPLE, SEED, threads, level)
    asks = [
        Ask("percentiles", {"by": by, "hands": hands}, Question(event), holds, setting)
        for (by, hands), event in events.items()
    ]
    return answer(asks)[0]["percentiles"].drop("one_in")


def rarity(rules: Rules, hand: Mask) -> pl.DataFrame:
    """Return the exact odds to hold what a hand holds, of what fewer than every other hand does; rarest first."""
    own, deck, cards = _columns_of(rules, hand).row(0, named=True), _deck(rules, hand), hand.bit_count()
    all_columns = columns(rules, cards, deck)
    events = {name: pl.col(name) for name, column in all_columns.items() if column.boolean and own[name]}
    events |= {f"{name} >= {own[name]}": pl.col(name) >= own[name] for name in _AT_LEAST if own[name]}
    chances = {name: probability(event, rules, cards, deck) for name, event in events.items()}
    rare = sorted((chance, name) for name, chance in chances.items() if chance < _RARER_THAN)
    if not rare:
        return pl.DataFrame(schema={"holds": pl.String})
    return pl.DataFrame([{"holds": name} | exact_keys(chance) for chance, name in rare])


def _columns_of(rules: Rules, hand: Mask) -> pl.DataFrame:
    """Return all columns of one hand, as one row."""
    masks, deck = np.array(split(hand), np.int64).reshape(2, 1), _deck(rules, hand)
    return hand_columns(columns(rules, hand.bit_count(), deck), rules, hand.bit_count(), deck.decks, masks)


def _deck(rules: Rules, hand: Mask) -> Deck:
    """Return what a hand is dealt from: two decks when it holds a card twice, or the rules say so."""
    _, twice = split(hand)
    return Deck(2 if twice or rules.decks == 2 else 1)
