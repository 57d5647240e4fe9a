"""Define the hand columns: what one may ask of a dealt hand, each with its meaning, and its count rank by rank.

The count reads a hand as numbers of cards, one rank after another. These are the *fields* of a rank: `n` cards of it,
`red` of them red, `spades`, `hearts`, and `kinds` of them different (with two decks equal cards are one kind). A
*state* is a small number that each rank updates. A column is an expression in the states after the last rank.
"""

import dataclasses
from collections.abc import Callable, Iterable
from functools import cache, reduce
from math import comb, prod
from operator import add, and_, or_
from typing import TypeAlias

import numpy as np
import polars as pl

from tlsim.chances.fewest_plays import RankUse, RunLengths, readings
from tlsim.errors import InputError, nearest
from tlsim.rules.cards import Rank
from tlsim.rules.ruleset import INSTANT_WINS, LINES, Rules, chop_line

RANK_NAMES = "threes fours fives sixes sevens eights nines tens jacks queens kings aces".split()
FIELDS = ("n", "red", "spades", "hearts", "kinds")  # what a step may read of a rank besides the states
N, RED, SPADES, HEARTS, KINDS = (pl.col(field) for field in FIELDS)
_MIN_DOUBLE_STRAIGHT = 3  # pairs
_MIN_QUAD_RUN = 2  # quads
_SIX_PAIRS, _FIVE_PAIRS = 6, 5
_FULL_HAND = 13  # cards of the hands that instant wins are for, where the rules say no more

Step: TypeAlias = Callable[[Rank], pl.Expr]
"""From a rank to the state after it, an expression in the states before and the fields."""
Update: TypeAlias = dict[str, pl.Expr]
"""Each state, with its value after a rank."""


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
        key = (*(int(suit in members[field]) for field in asked), suit if "kinds" in fields else 0)
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


def _number(name: str, meaning: str, value: pl.Expr | None = None) -> Column:
    """Return a column of 64 bits, by default the state of its name.

    What a question makes of it, as 1000 * legal_leads, must not overflow.
    """
    state = pl.col(name) if value is None else value
    return Column(name, meaning, boolean=False, value=state.cast(pl.Int64))


def _claim(name: str, meaning: str, value: pl.Expr | None = None) -> Column:
    """Return a column that is yes or no, by default the state of its name."""
    return Column(name, meaning, boolean=True, value=pl.col(name) if value is None else value)


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
    straight, double, quads = (pl.col(f"longest_{name}") for name in ("straight", "double", "quad"))
    all_columns = [
        *(_number(name, f"cards of the rank: {name}") for name in [*RANK_NAMES[: deck.ranks - 1], "twos"]),
        _number("ranks", "different ranks held"),
        _number("pairs", "ranks held at least twice"),
        _number("triples", "ranks held at least three times"),
        _number("quads", "ranks held at least four times, 2s included"),
        _number("pair_units", "pairs that the hand splits into: each rank counts cards / 2, rounded down"),
        _number(
            "longest_straight",
            "cards in the longest straight, 0 without one",
            straight * (straight >= rules.straight_min),
        ),
        _number(
            "longest_double_straight",
            "pairs in the longest double straight, however long one may be played; 0 without one",
            double * (double >= _MIN_DOUBLE_STRAIGHT),
        ),
        _number(
            "longest_quad_run",
            "quads of consecutive ranks without 2s, at most; 0 for fewer than two",
            quads * (quads >= _MIN_QUAD_RUN),
        ),
        _number("strength", "the ranks of its cards added up: 0 for a 3, 1 for a 4, … 12 for a 2"),
        _number("red_cards", "red cards"),
        _number("red_twos", "red 2s"),
        _claim("holds_3s", "holds a 3 of spades"),
        _claim("holds_2h", "holds a 2 of hearts"),
        *_instant_columns(rules, cards),
        *_chop_columns(rules, double, quads),
        _number("legal_leads", "plays that may be led, obligations apart: all kinds, all choices of suits"),
        _number("fewest_plays", "fewest plays that shed the hand when nobody answers"),
    ]
    return {column.name: column for column in all_columns}


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


def _chop_columns(rules: Rules, double: pl.Expr, quads: pl.Expr) -> list[Column]:
    """Return a column for each line of the chop table: whether a combination that it governs can be played."""
    quad = _any([pl.col("low_quad")] + [pl.col("twos") >= 4] * rules.quad_twos)

    def can_play(chop: str) -> pl.Expr:
        if chop == "quad":
            return quad
        return (quads if chop.startswith("quad") else double) >= _length_of(chop)

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


# ------------------------------------------------------------------------------------------------ the states


def order(rules: Rules, deck: Deck) -> list[Rank]:
    """Return the ranks in the order of the count.

    The 2s come first: what they decide by themselves is then known at once. Then 3 to A, so that the 3s of opening
    instant wins are known early, too; or, where runs may end in 2s, A to 3.
    """
    below = range(deck.ranks - 1)
    return [deck.ranks - 1, *(reversed(below) if rules.straight_twos or rules.double_straight_twos else below)]


def states(rules: Rules, cards: int, deck: Deck) -> dict[str, Step]:
    """Return for each state, by name, how a rank updates it; ranks come in the order of the count."""
    twos, ranks = deck.ranks - 1, order(rules, deck)

    def fold(name: str, term: pl.Expr, merge: Callable[[pl.Expr, pl.Expr], pl.Expr], over: list[Rank] = ranks) -> Step:
        """Return the step of a state that merges a term of each of some ranks."""

        def step(rank: Rank) -> pl.Expr:
            if rank not in over:
                return pl.col(name)
            return term if rank == over[0] else merge(pl.col(name), term)

        return step

    terms = {
        "ranks": N >= 1,
        "pairs": N >= 2,
        "triples": N >= 3,
        "quads": N >= 4,
        "pair_units": N // 2,
        "red_cards": RED,
    }
    lowest = [rank for rank in ranks if rank < 3]
    return {
        **{name: fold(name, N, or_, [rank]) for rank, name in enumerate(RANK_NAMES[:twos])},
        "twos": fold("twos", N, or_, [twos]),
        "strength": lambda rank: N * rank + (pl.col("strength") if rank != ranks[0] else 0),
        **{name: fold(name, term.cast(pl.Int16), pl.Expr.add) for name, term in terms.items()},
        "red_twos": fold("red_twos", RED, or_, [twos]),
        "holds_3s": fold("holds_3s", SPADES > 0, or_, [0]),
        "holds_2h": fold("holds_2h", HEARTS > 0, or_, [twos]),
        "any_red": fold("any_red", RED > 0, or_),
        "any_black": fold("any_black", N > RED, or_),
        "no_gap": fold("no_gap", N >= 1, and_, ranks[1:]),
        "low_pairs": fold("low_pairs", N >= 2, and_, lowest),
        "low_quad": fold("low_quad", N >= 4, or_, ranks[1:]),
        **_runs("straight", 1, rules.straight_twos, ranks),
        **_runs("double", 2, rules.double_straight_twos, ranks),
        **_runs("low_double", 2, False, ranks),
        **_runs("quad", 4, False, ranks),
        **_leads(rules, cards, deck),
        **_fewest(rules, cards, deck),
    }


def _runs(name: str, copies: int, with_twos: bool, ranks: list[Rank]) -> dict[str, Step]:
    """Return the states of runs of ranks held `copies` times: lengths of the one that ends here and of the longest."""
    run, longest, held = pl.col(f"{name}_run"), pl.col(f"longest_{name}"), pl.col("n") >= copies

    def ends_here(rank: Rank) -> pl.Expr:
        place, first = ranks.index(rank), 0 if with_twos else 1
        if place < first:
            return pl.lit(0, pl.Int16)
        return held.cast(pl.Int16) if place == first else (run + 1) * held

    def longest_here(rank: Rank) -> pl.Expr:
        return ends_here(rank) if rank == ranks[0] else pl.max_horizontal(longest, ends_here(rank))

    return {f"{name}_run": ends_here, f"longest_{name}": longest_here}


def _leads(rules: Rules, cards: int, deck: Deck) -> dict[str, Step]:
    """Return the states of the number of legal leads. Plays of equal cards are one play.

    `line_j` is the number of ways to take a card of each of the last j ranks, `straights` that of the straights that
    end here, `double_j` that of the double straights of j pairs (any j >= 1) that end here. Of k kinds and t cards held
    in both copies there are C(k, 2) + t pairs, C(k, 3) + t (k - 1) triples and
    C(k, 4) + t C(k - 1, 2) + C(t, 2) quads.
    """
    ranks, shortest = order(rules, deck), rules.straight_min
    longest = min(rules.double_straight_max, cards // 2)
    one = N if deck.decks == 1 else KINDS
    twice = N - one  # cards held in both copies
    two = one * (one - 1) // 2 + twice
    three = one * (one - 1) * (one - 2) // 6 + twice * (one - 1)
    four = one * (one - 1) * (one - 2) * (one - 3) // 24 + twice * (one - 1) * (one - 2) // 2 + twice * (twice - 1) // 2

    def chain(name: str, j: int, each: pl.Expr, with_twos: bool) -> Step:
        def step(rank: Rank) -> pl.Expr:
            if ranks.index(rank) < j - with_twos:  # no run can be so long yet
                return pl.lit(0, pl.Int32)
            ways = each if j == 1 else each * pl.col(f"{name}{j - 1}")
            return ways.cast(pl.Int32)

        return step

    lines = {f"line{j}": chain("line", j, one, rules.straight_twos) for j in range(1, shortest)}
    doubles = {f"double{j}": chain("double", j, two, rules.double_straight_twos) for j in range(1, longest + 1)}

    def straights(rank: Rank) -> pl.Expr:
        if ranks.index(rank) < shortest - rules.straight_twos:
            return pl.lit(0, pl.Int32)
        return one * (pl.col("straights") + pl.col(f"line{shortest - 1}"))

    def leads(rank: Rank) -> pl.Expr:
        quads = four if rank != ranks[0] or rules.quad_twos else 0
        here = (one + two + three + quads).cast(pl.Int32)
        if rank == ranks[0]:
            return here
        runs = [straights(rank), *(doubles[f"double{j}"](rank) for j in range(_MIN_DOUBLE_STRAIGHT, longest + 1))]
        return reduce(add, runs, pl.col("legal_leads") + here)

    return {**lines, **doubles, "straights": straights, "legal_leads": leads}


def plan(values: Iterable[pl.Expr], rules: Rules, cards: int, deck: Deck) -> list[tuple[set[str], Update]]:
    """Return the steps of a count, one a rank: the fields it reads, and how states go on.

    Only the states that `values` or a later step need are there, so what is decided is dropped.
    """
    steps_of = states(rules, cards, deck)
    assert not steps_of.keys() & set(FIELDS)
    needed = {root for value in values for root in value.meta.root_names()}
    steps: list[tuple[set[str], Update]] = []
    for rank in reversed(order(rules, deck)):
        updates = {state: steps_of[state](rank) for state in sorted(needed)}
        read = {root for update in updates.values() for root in update.meta.root_names()}
        steps.append((read & set(FIELDS), updates))
        needed = read - set(FIELDS)
    assert not needed, "a state starts before the first rank"
    return steps[::-1]


def _fewest(rules: Rules, cards: int, deck: Deck) -> dict[str, Step]:
    """Return the states of the fewest plays that shed a hand: that of `chances.fewest_plays`, and the plays so far."""
    ranks, below = order(rules, deck), RankUse(straights=True, doubles=True, most=4)
    twos = RankUse(rules.straight_twos, rules.double_straight_twos, 4 if rules.quad_twos else 3)
    uses = tuple(below if rank < deck.ranks - 1 else twos for rank in ranks)
    straights = RunLengths(rules.straight_min, deck.ranks)
    doubles = RunLengths(_MIN_DOUBLE_STRAIGHT, rules.double_straight_max)

    def look_up(what: str, rank: Rank) -> pl.Expr:
        reading = readings(uses, straights, doubles, deck.copies, cards)[ranks.index(rank)]
        before = pl.col("shedding").cast(pl.Int32) * (deck.copies + 1) if rank != ranks[0] else 0
        return pl.lit(pl.Series(getattr(reading, what).ravel())).gather(before + N)

    def plays(rank: Rank) -> pl.Expr:
        here = look_up("plays", rank)
        return here if rank == ranks[0] else pl.col("fewest_plays") + here

    return {"shedding": lambda rank: look_up("after", rank), "fewest_plays": plays}
