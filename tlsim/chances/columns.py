"""Define the hand columns: what one may ask of a dealt hand, each with its meaning.

A column is an expression in *states*, small numbers that are known of a hand: `tlsim.chances.steps` counts them rank by
rank, `tlsim.engine.bulk` fills them in for dealt hands. A hand is read as numbers of cards, one rank after another.
These are the *fields* of a rank: `n` cards of it, `red` of them red, `spades`, `hearts`, and `kinds` of them different
(with two decks equal cards are one kind).
"""

import dataclasses
from collections.abc import Iterable
from functools import cache, reduce
from math import comb, prod
from operator import or_

import numpy as np
import polars as pl

from tlsim.errors import InputError, nearest
from tlsim.rules.ruleset import INSTANT_WINS, LINES, Rules, chop_line

RANK_NAMES = "threes fours fives sixes sevens eights nines tens jacks queens kings aces".split()
FIELDS = ("n", "red", "spades", "hearts", "kinds")  # what may be read of a rank
MIN_DOUBLE_STRAIGHT = 3  # pairs
_MIN_QUAD_RUN = 2  # quads
_SIX_PAIRS, _FIVE_PAIRS = 6, 5
_MOST_CARDS = 20  # of a hand (section 4.1)
_MOST_STRENGTH = 12 * _MOST_CARDS
_MOST_LEADS = 2**31 - 1  # they are counted in 32 bits
_FULL_HAND = 13  # cards of the hands that instant wins are for, where the rules say no more


@dataclasses.dataclass(frozen=True)
class Deck:
    """The cards: `decks` copies of `ranks` times `suits` cards, the lower half of the suits black.

    Every real deck has 13 ranks and 4 suits; smaller ones are there to be enumerated. The last rank are the 2s.
    """

    decks: int = 1
    ranks: int = 13
    suits: int = 4

    @property
    def copies(self) -> int:
        """Return the number of cards of each rank."""
        return self.decks * self.suits

    @property
    def size(self) -> int:
        """Return the number of cards."""
        return self.copies * self.ranks

    def branches(self, fields: Iterable[str]) -> tuple[list[int], pl.DataFrame]:
        """Return the ways to draw from one rank, as far as they differ in `fields`.

        Suits that no field separates form a group. The list has the number of cards of each group; the table a row a
        way, with `group0`, `group1`, … the cards drawn of each, `ways` the number of ways to draw them, and the fields.

        >>> sizes, ways = Deck().branches({"red"})  # two groups: the black cards of the rank, and the red ones
        >>> sizes, len(ways)
        ([2, 2], 9)
        """
        return _branches(self, frozenset(fields))


ONE_DECK = Deck()


@cache
def _branches(deck: Deck, fields: frozenset[str]) -> tuple[list[int], pl.DataFrame]:
    """Return `Deck.branches`."""
    members = {"n": range(deck.suits), "red": range(deck.suits // 2, deck.suits)}
    members |= {"spades": range(1), "hearts": range(deck.suits - 1, deck.suits)}
    asked = [field for field in members if field in fields or field == "n"]
    groups: dict[tuple[int, ...], int] = {}  # the fields that a card of the group counts in -> its number of cards
    for suit in range(deck.suits):
        key = (*(int(suit in members[field]) for field in asked), suit * ("kinds" in fields))
        groups[key] = groups.get(key, 0) + deck.decks
    sizes = list(groups.values())
    drawn = np.indices([size + 1 for size in sizes]).reshape(len(sizes), -1).T
    table = {f"group{g}": drawn[:, g] for g in range(len(sizes))}
    table["ways"] = np.array([prod(map(comb, sizes, row)) for row in drawn.tolist()])
    table |= {field: drawn @ np.array([key[i] for key in groups]) for i, field in enumerate(asked)}
    if "kinds" in fields:
        table["kinds"] = (drawn > 0).sum(axis=1)
    return sizes, pl.DataFrame(table).with_columns(pl.col([field for field in FIELDS if field in table]).cast(pl.Int16))


@dataclasses.dataclass(frozen=True)
class Column:
    """A column: its name, its meaning in words, whether it is yes or no (else a whole number), and its value."""

    name: str
    meaning: str
    boolean: bool
    value: pl.Expr  # in states after the last rank
    most: int = 1  # no hand has more

    @property
    def value_type(self) -> type[pl.DataType]:
        """Return the Polars type of its values."""
        return pl.Boolean if self.boolean else pl.Int64


def _number(name: str, meaning: str, value: pl.Expr | None = None, most: int = _MOST_CARDS) -> Column:
    """Return a column of 64 bits, by default the state of its name.

    What a question makes of it, as 1000 * legal_leads, must not overflow.
    """
    return Column(name, meaning, boolean=False, value=_or_state(name, value).cast(pl.Int64), most=most)


def _claim(name: str, meaning: str, value: pl.Expr | None = None) -> Column:
    """Return a column that is yes or no, by default the state of its name."""
    return Column(name, meaning, boolean=True, value=_or_state(name, value))


def _or_state(name: str, value: pl.Expr | None) -> pl.Expr:
    """Return a value, or the state of a name without one."""
    return pl.col(name) if value is None else value


def _any(claims: list[pl.Expr]) -> pl.Expr:
    """Return whether any of some claims holds; of none it does not."""
    return reduce(or_, claims, pl.lit(False))


# ------------------------------------------------------------------------------------------------ the columns


def columns(rules: Rules, cards: int, deck: Deck = ONE_DECK) -> dict[str, Column]:
    """Return the columns of a hand of `cards` cards by name, in the order of their documentation.

    Runs, chops and instant wins are those of the rule set; there is a `chop_` column for each line of its chop table.

    >>> columns(Rules(), 13)["twos"].meaning
    'cards of the rank: twos'
    """
    all_columns = [
        *(_number(name, f"cards of the rank: {name}") for name in [*RANK_NAMES[: deck.ranks - 1], "twos"]),
        _number("ranks", "different ranks held"),
        _number("pairs", "ranks held at least twice"),
        _number("triples", "ranks held at least three times"),
        _number("quads", "ranks held at least four times, 2s included"),
        _number("pair_units", "pairs that the hand splits into: each rank counts cards / 2, rounded down"),
        *_run_columns(rules),
        _number("strength", "the ranks of its cards added up: 0 for a 3, 1 for a 4, … 12 for a 2", most=_MOST_STRENGTH),
        _number("red_cards", "red cards"),
        _number("red_twos", "red 2s"),
        _claim("holds_3s", "holds a 3 of spades"),
        _claim("holds_2h", "holds a 2 of hearts"),
        *_instant_columns(rules, cards),
        *_chop_columns(rules),
        _number(
            "legal_leads", "plays that may be led, obligations apart: all kinds, all choices of suits", most=_MOST_LEADS
        ),
        _number("fewest_plays", "fewest plays that shed the hand when nobody answers"),
    ]
    return {column.name: column for column in all_columns}


def _run_columns(rules: Rules) -> list[Column]:
    """Return the columns of the longest runs, 0 for those too short to be played."""
    straight, double, quads = (pl.col(f"longest_{name}") for name in ("straight", "double", "quad"))
    return [
        _number(
            "longest_straight",
            "cards in the longest straight, 0 without one",
            straight * (straight >= rules.straight_min),
        ),
        _number(
            "longest_double_straight",
            "pairs in the longest double straight, however long one may be played; 0 without one",
            double * (double >= MIN_DOUBLE_STRAIGHT),
        ),
        _number(
            "longest_quad_run",
            "quads of consecutive ranks without 2s, at most; 0 for fewer than two",
            quads * (quads >= _MIN_QUAD_RUN),
        ),
    ]


def find(names: Iterable[str], rules: Rules, cards: int, deck: Deck) -> dict[str, Column]:
    """Return the asked columns by name, each once; raise `InputError` for one that there is not."""
    all_columns = columns(rules, cards, deck)
    for name in names:
        if name not in all_columns:
            raise InputError(f"unknown column {name!r}; {nearest(name, list(all_columns))}")
    return {name: all_columns[name] for name in names}


def _instant_columns(rules: Rules, cards: int) -> list[Column]:
    """Return a column for each instant win of section 6, whatever the rule set lists, and two for what it lists."""
    pairs = pl.col("pair_units" if rules.six_pairs_quads_twice else "pairs")
    shapes = {
        "dragon": ("every rank from 3 to A", pl.col("no_gap")),
        "five_pair_straight": (
            "a double straight of 5 or more without 2s",
            pl.col("longest_low_double") >= _FIVE_PAIRS,
        ),
        "four_twos": ("at least four 2s", pl.col("twos") >= 4),
        "six_pairs": ("six pairs, quads counted as the rules say", pairs >= _SIX_PAIRS),
        "one_colour": ("only red or only black cards", ~(pl.col("any_red") & pl.col("any_black"))),
        "four_threes": ("at least four 3s", pl.col("threes") >= 4),
        "threes_double_straight": ("a double straight of 3 or more that starts with 3s", pl.col("low_pairs")),
    }
    assert [name.replace("_", "-") for name in shapes] == list(INSTANT_WINS)
    any_kind = cards == _FULL_HAND or rules.instant_wins_any_size

    def counts(kind: str) -> bool:
        if kind == "four-twos":
            return not rules.trading  # section 6
        return any_kind

    def wins(kinds: tuple[str, ...]) -> pl.Expr:
        return _any([shapes[kind.replace("-", "_")][1] for kind in kinds if counts(kind)])

    return [
        *(
            _claim(name, f"instant win: {meaning}; whether listed or not", value)
            for name, (meaning, value) in shapes.items()
        ),
        _claim("instant_win", "wins at once on any hand", wins(rules.instant_wins)),
        _claim(
            "opening_instant_win",
            "wins at once on an opening hand",
            wins(rules.instant_wins + rules.opening_instant_wins),
        ),
    ]


def _chop_columns(rules: Rules) -> list[Column]:
    """Return a column for each line of the chop table: whether a combination that it governs can be played."""
    quad = _any([pl.col("low_quad")] + [pl.col("twos") >= 4] * rules.quad_twos)

    def can_play(chop: str) -> pl.Expr:
        if chop == "quad":
            return quad
        if chop.startswith("quad-run"):
            return pl.col("longest_quad") >= _length_of(chop)
        return pl.col("longest_double") >= _length_of(chop)

    lines: dict[str, pl.Expr] = {}
    for chop in LINES:
        line = chop_line(rules, chop)
        is_too_long = chop.startswith("double") and _length_of(chop) > rules.double_straight_max
        if line is not None and not is_too_long:
            lines.setdefault(line, can_play(chop))  # the first is the shortest, and a longer one holds it
    return [
        *(_claim(f"chop_{k.replace('-', '_')}", f"holds a chop of the line {k}", value) for k, value in lines.items()),
        _claim("chop", "holds a chop of any line", _any(list(lines.values()))),
    ]


def _length_of(chop: str) -> int:
    """Return the ranks of a chop with a length in its name, as `double-straight-3`."""
    return int(chop.rpartition("-")[2])
