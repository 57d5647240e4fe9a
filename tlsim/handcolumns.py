"""Hand columns: what one may ask of a dealt hand, each with its meaning, and how it is counted rank by rank.

A hand is told to this module as numbers of cards, one rank after another: `n` cards of the rank, `red` of them red,
`spades`, `hearts`, and `kinds` of them different (with two decks equal cards are one kind). A *state* is a small number that one rank after another updates; a column is an expression in states
after the last rank. The 2s come first, then 3 to A: what 2s decide by themselves is then known at once, and runs stand
in order (a run that may end in 2s looks back at them at the ace).
"""

import dataclasses
from collections.abc import Callable, Iterable
from functools import reduce
from math import comb, prod
from operator import or_

import numpy as np
import polars as pl

from tlsim.errors import InputError, nearest
from tlsim.rules import INSTANT_WINS, LINES, Rules, chop_line

RANK_NAMES = "threes fours fives sixes sevens eights nines tens jacks queens kings aces".split()
FIELDS = ("n", "red", "spades", "hearts", "kinds")  # what a step may know of a rank besides the states
N, RED, SPADES, HEARTS, KINDS = (pl.col(field) for field in FIELDS)

Step = Callable[[int], pl.Expr]  # rank (0 the 3s) -> the state after that rank, from the states before and the fields


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

    @property
    def order(self) -> list[int]:
        """Return the ranks in the order of the count: the 2s, then 3 to A."""
        return [self.ranks - 1, *range(self.ranks - 1)]

    def branches(self, fields: Iterable[str]) -> tuple[list[int], pl.DataFrame]:
        """Return the ways to draw from one rank, as far as `fields` tell them apart.

        Suits that no field separates form a group. The list has the number of cards of each group; the table a row a
        way, with `group0`, `group1`, … the cards drawn of each, `ways` the number of ways to draw them, and the fields.
        """
        members = {"n": range(self.suits), "red": range(self.suits // 2, self.suits)}
        members |= {"spades": range(1), "hearts": range(self.suits - 1, self.suits)}
        asked = [field for field in members if field in fields or field == "n"]
        groups: dict[tuple[int, ...], int] = {}  # what tells a group from the others -> its number of cards
        for suit in range(self.suits):
            key = (*(int(suit in members[field]) for field in asked), suit if "kinds" in fields else 0)
            groups[key] = groups.get(key, 0) + self.decks
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
    return Column(name, meaning, False, pl.col(name) if value is None else value)


def _claim(name: str, meaning: str, value: pl.Expr | None = None) -> Column:
    return Column(name, meaning, True, pl.col(name) if value is None else value)


def _any(claims: list[pl.Expr]) -> pl.Expr:
    return reduce(or_, claims, pl.lit(False))


# ------------------------------------------------------------------------------------------------ the columns


def columns(rules: Rules, cards: int, deck: Deck = Deck()) -> dict[str, Column]:  # noqa: B008  # it cannot change
    """Return the columns of a hand of `cards` cards by name, in the order of their documentation.

    Runs, chops and instant wins are those of the rule set; there is a `chop_` column for each line of its chop table.
    """
    top_straight = "_top" if rules.straight_twos else ""
    top_double = "_top" if rules.double_straight_twos else ""
    straight, double, quads = pl.col(f"best1{top_straight}"), pl.col(f"best2{top_double}"), pl.col("best4")
    found = [
        *(_number(name, f"cards of the rank: {name}") for name in [*RANK_NAMES[: deck.ranks - 1], "twos"]),
        _number("ranks", "different ranks held"),
        _number("pairs", "ranks held at least twice"),
        _number("triples", "ranks held at least three times"),
        _number("quads", "ranks held at least four times, 2s included"),
        _number("pair_units", "pairs that the hand splits into: each rank counts cards / 2, rounded down"),
        _number("longest_straight", "cards in the longest straight, 0 without one", straight * (straight >= rules.straight_min)),
        _number(
            "longest_double_straight",
            "pairs in the longest double straight, however long one may be played; 0 without one",
            double * (double >= 3),
        ),
        _number("longest_quad_run", "quads of consecutive ranks without 2s, at most; 0 for fewer than two", quads * (quads >= 2)),
        _number("red", "red cards"),
        _number("red_twos", "red 2s"),
        _claim("holds_3s", "holds a 3 of spades"),
        _claim("holds_2h", "holds a 2 of hearts"),
        *_instant_columns(rules, cards),
        *_chop_columns(rules, double, quads),
        _number("legal_leads", "plays that may be led, obligations apart: all kinds, all choices of suits"),
    ]
    return {column.name: column for column in found}


def find(names: Iterable[str], rules: Rules, cards: int, deck: Deck) -> dict[str, Column]:
    """Return the asked columns by name, each once; raise `InputError` for one that there is not."""
    known = columns(rules, cards, deck)
    for name in names:
        if name not in known:
            raise InputError(f"unknown column {name!r}; {nearest(name, list(known))}")
    return {name: known[name] for name in names}


def _instant_columns(rules: Rules, cards: int) -> list[Column]:
    """Return a column for each instant win of section 6, whatever the rule set lists, and two for what it lists."""
    enough = pl.col("pair_units" if rules.six_pairs_quads_twice else "pairs") >= 6
    shapes = {
        "dragon": ("every rank from 3 to A", pl.col("no_gap")),
        "five_pair_straight": ("a double straight of 5 or more without 2s", pl.col("best2") >= 5),
        "four_twos": ("at least four 2s", pl.col("twos") >= 4),
        "six_pairs": ("six pairs, quads counted as the rules say", enough),
        "one_colour": ("only red or only black cards", ~(pl.col("any_red") & pl.col("any_black"))),
        "four_threes": ("at least four 3s", pl.col("threes") >= 4),
        "threes_double_straight": ("a double straight of 3 or more that starts with 3s", pl.col("low_pairs")),
    }
    assert [name.replace("_", "-") for name in shapes] == list(INSTANT_WINS)

    def wins(kinds: tuple[str, ...]) -> pl.Expr:
        counted = (k for k in kinds if cards == 13 or rules.instant_wins_any_size or k == "four-twos")
        return _any([shapes[kind.replace("-", "_")][1] for kind in counted])

    return [
        *(_claim(name, f"instant win: {meaning}; whether listed or not", value) for name, (meaning, value) in shapes.items()),
        _claim("instant_win", "wins at once on any hand", wins(rules.instant_wins)),
        _claim("opening_instant_win", "wins at once on an opening hand", wins(rules.instant_wins + rules.opening_instant_wins)),
    ]


def _chop_columns(rules: Rules, double: pl.Expr, quads: pl.Expr) -> list[Column]:
    """Return a column for each line of the chop table: whether a combination that it governs can be played."""
    quad = _any([pl.col("low_quad")] + [pl.col("twos") >= 4] * rules.quad_twos)
    claims: dict[str, list[pl.Expr]] = {}
    for chop in LINES:
        line, length = chop_line(rules, chop), int(chop.rpartition("-")[2]) if chop != "quad" else 1
        if line is not None and (not chop.startswith("double") or length <= rules.double_straight_max):
            value = quad if chop == "quad" else (quads if chop.startswith("quad") else double) >= length
            claims.setdefault(line, []).append(value)
    # the first is the shortest, and a longer one holds it
    lines = {line: values[0] for line, values in claims.items()}
    return [
        *(_claim(f"chop_{k.replace('-', '_')}", f"holds a chop of the line {k}", value) for k, value in lines.items()),
        _claim("chop", "holds a chop of any line", _any(list(lines.values()))),
    ]


# ------------------------------------------------------------------------------------------------ the states


def states(rules: Rules, cards: int, deck: Deck) -> dict[str, Step]:
    """Return how each state goes on, rank by rank in the order of the deck."""
    first, twos = deck.order[0], deck.ranks - 1

    def fold(name: str, term: pl.Expr, merge: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> Step:
        return lambda rank: term if rank == first else merge(pl.col(name), term)

    def at(name: str, where: int, term: pl.Expr) -> Step:
        return lambda rank: term if rank == where else pl.col(name)

    def all_of(name: str, ranks: range, claim: pl.Expr) -> Step:
        def step(rank: int) -> pl.Expr:
            if rank not in ranks:
                return pl.col(name)
            return claim if rank == ranks[0] else pl.col(name) & claim

        return step

    def some_of(name: str, claim: pl.Expr) -> Step:  # below the 2s
        return lambda rank: pl.lit(False) if rank == twos else pl.col(name) | claim

    terms = {"ranks": N >= 1, "pairs": N >= 2, "triples": N >= 3, "quads": N >= 4, "pair_units": N // 2, "red": RED}
    return {
        **{name: at(name, rank, N) for rank, name in enumerate(RANK_NAMES[:twos])},
        "twos": at("twos", twos, N),
        **{name: fold(name, term.cast(pl.Int16), pl.Expr.add) for name, term in terms.items()},
        "red_twos": at("red_twos", twos, RED),
        "holds_3s": at("holds_3s", 0, SPADES > 0),
        "holds_2h": at("holds_2h", twos, HEARTS > 0),
        "any_red": fold("any_red", RED > 0, or_),
        "any_black": fold("any_black", N > RED, or_),
        "no_gap": all_of("no_gap", range(twos), N >= 1),
        "low_pairs": all_of("low_pairs", range(3), N >= 2),
        "low_quad": some_of("low_quad", N >= 4),
        **_runs(1, deck),
        **_runs(2, deck),
        **_runs(4, deck),
        **_leads(rules, cards, deck),
    }


def _runs(copies: int, deck: Deck) -> dict[str, Step]:
    """Return the states of runs of ranks held `copies` times: the one that ends here, the longest without 2s and with."""
    run, best, with_twos, top = (pl.col(f"{name}{copies}") for name in ("run", "best", "best", "top"))
    held, twos = N >= copies, deck.ranks - 1

    def ends_here(rank: int) -> pl.Expr:
        if rank == twos:
            return pl.lit(0, pl.Int16)
        return held.cast(pl.Int16) if rank == 0 else (run + 1) * held

    def longest(rank: int) -> pl.Expr:
        return ends_here(rank) if rank in (twos, 0) else pl.max_horizontal(best, ends_here(rank))

    def longest_top(rank: int) -> pl.Expr:
        if rank in (twos, 0):
            return ends_here(rank)
        reach = ends_here(rank) + top if rank == twos - 1 else ends_here(rank)
        return pl.max_horizontal(pl.col(f"best{copies}_top"), reach)

    return {
        f"run{copies}": ends_here,
        f"best{copies}": longest,
        f"best{copies}_top": longest_top,
        f"top{copies}": lambda rank: held if rank == twos else top,
    }


def _leads(rules: Rules, cards: int, deck: Deck) -> dict[str, Step]:
    """Return the states of the number of legal leads. Plays of equal cards are one play.

    `line_j` is the number of ways to take a card of each of the last j ranks, `straights` that of the straights that
    end here, `double_j` that of the double straights of j pairs (any j >= 1) that end here.
    """
    twos, shortest = deck.ranks - 1, rules.straight_min
    longest = min(rules.double_straight_max, cards // 2)
    one = N if deck.decks == 1 else KINDS
    twice = N - one  # cards held in both copies
    two = one * (one - 1) // 2 + twice
    three = one * (one - 1) * (one - 2) // 6 + twice * (one - 1)
    four = one * (one - 1) * (one - 2) * (one - 3) // 24 + twice * (one - 1) * (one - 2) // 2 + twice * (twice - 1) // 2

    def chain(name: str, j: int, each: pl.Expr) -> Step:
        def step(rank: int) -> pl.Expr:
            if rank == twos or rank < j - 1:
                return pl.lit(0, pl.Int32)
            return (each if j == 1 else each * pl.col(f"{name}{j - 1}")).cast(pl.Int32)

        return step

    lines = {f"line{j}": chain("line", j, one) for j in range(1, shortest)}
    doubles = {f"double{j}": chain("double", j, two) for j in range(1, longest + 1)}

    def straights(rank: int) -> pl.Expr:
        if rank == twos or rank < shortest - 1:
            return pl.lit(0, pl.Int32)
        return one * (pl.col("straights") + pl.col(f"line{shortest - 1}"))

    def leads(rank: int) -> pl.Expr:
        of_rank = (one + two + three + (four if rank < twos or rules.quad_twos else 0)).cast(pl.Int32)
        if rank == twos:
            return of_rank
        total = pl.col("legal_leads") + of_rank + straights(rank)
        total = sum((doubles[f"double{j}"](rank) for j in range(3, longest + 1)), total)
        if rank == twos - 1 and rules.straight_twos:
            total += pl.col("top_one") * (straights(rank) + lines[f"line{shortest - 1}"](rank))
        if rank == twos - 1 and rules.double_straight_twos:
            total = sum((pl.col("top_two") * doubles[f"double{j}"](rank) for j in range(2, longest)), total)
        return total

    top = {"top_one": lambda rank: one if rank == twos else pl.col("top_one")}
    top |= {"top_two": lambda rank: two if rank == twos else pl.col("top_two")}
    return {**lines, **doubles, **top, "straights": straights, "legal_leads": leads}


Update = dict[str, pl.Expr]  # state -> its value after a rank




def plan(values: Iterable[pl.Expr], rules: Rules, cards: int, deck: Deck) -> list[tuple[set[str], Update]]:
    """Return the steps of a count, one a rank: the fields it reads, and how states go on.

    Only the states that `values` or a later step need are there, so what is decided is dropped.
    """
    known = states(rules, cards, deck)
    needed = {root for value in values for root in value.meta.root_names()}
    steps: list[tuple[set[str], Update]] = []
    for rank in reversed(deck.order):
        updates = {state: known[state](rank) for state in sorted(needed)}
        read = {root for update in updates.values() for root in update.meta.root_names()}
        steps.append((read & set(FIELDS), updates))
        needed = read - set(FIELDS)
    assert not needed, "a state starts before the first rank"
    return steps[::-1]

