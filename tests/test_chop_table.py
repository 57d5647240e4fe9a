"""The chop table of docs/rules.md, section 3: every line in every cell, typed in for the kernels and the twin.

Rows are plays, columns what they are played on: `x` a chop, `=` the same kind and length (the higher top card beats),
`.` neither, `-` no combination in this variant. Tables are square where they can be: what is chopped is a play too.
"""

from itertools import pairwise

import naive
import pytest
from naive import Cards
from naive_table import cards

from tlsim.play.legal import describe, may_follow, moves
from tlsim.rules.cards import numbers, parse_hand
from tlsim.rules.ruleset import Rules
from tlsim.rules.variantfiles import parse_variant

# d3: a double straight of 3; r2: a quad run of 2; s2, d2: a straight, a double straight of 3 that ends in 2.
CLASSIC = """
          2  22  222  d3  quad  d4  d5  d6  d7  d8  r2  r3  2222  d2  s2  A  AA  AAA  s
    d3    x  .   .    =   .     .   .   .   .   .   -   -   .     =   .   .  .   .    .
    quad  x  .   .    .   =     .   .   .   .   .   -   -   =     .   .   .  .   .    .
    d4    x  x   .    .   .     =   .   .   .   .   -   -   .     .   .   .  .   .    .
    d5    x  x   x    .   .     .   =   .   .   .   -   -   .     .   .   .  .   .    .
    d6    x  x   x    .   .     .   .   =   .   .   -   -   .     .   .   .  .   .    .
    d7    x  x   x    .   .     .   .   .   =   .   -   -   .     .   .   .  .   .    .
    d8    x  x   x    .   .     .   .   .   .   =   -   -   .     .   .   .  .   .    .
    r2    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    r3    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    2222  x  .   .    .   =     .   .   .   .   .   -   -   =     .   .   .  .   .    .
    d2    x  .   .    =   .     .   .   .   .   .   -   -   .     =   .   .  .   .    .
    s2    .  .   .    .   .     .   .   .   .   .   -   -   .     .   =   .  .   .    =
    A     =  .   .    .   .     .   .   .   .   .   -   -   .     .   .   =  .   .    .
"""
VIET_CONG = """
          2  22  222  d3  quad  d4  d5  d6  d7  d8  r2  r3  2222  d2  s2  A  AA  AAA  s
    d3    x  .   .    =   .     .   .   .   .   .   .   .   .     =   -   .  .   .    .
    quad  x  .   .    .   =     .   .   .   .   .   .   .   =     .   -   .  .   .    .
    d4    x  .   .    .   .     =   .   .   .   .   .   .   .     .   -   .  .   .    .
    d5    x  x   .    .   .     .   =   .   .   .   .   .   .     .   -   .  .   .    .
    d6    x  x   .    .   .     .   .   =   .   .   .   .   .     .   -   .  .   .    .
    d7    x  x   x    .   .     .   .   .   =   .   .   .   .     .   -   .  .   .    .
    d8    x  x   x    .   .     .   .   .   .   =   .   .   .     .   -   .  .   .    .
    r2    .  x   .    .   .     .   .   .   .   .   =   .   .     .   -   .  .   .    .
    r3    .  .   x    .   .     .   .   .   .   .   .   =   .     .   -   .  .   .    .
    2222  x  .   .    .   =     .   .   .   .   .   .   .   =     .   -   .  .   .    .
    d2    x  .   .    =   .     .   .   .   .   .   .   .   .     =   -   .  .   .    .
    s2    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    A     =  .   .    .   .     .   .   .   .   .   .   .   .     .   -   =  .   .    .
"""
SOUTHERN = """
          2  22  222  d3  quad  d4  d5  d6  d7  d8  r2  r3  2222  d2  s2  A  AA  AAA  s
    d3    x  .   .    =   .     .   -   -   -   -   -   -   -     -   -   .  .   .    .
    quad  x  x   .    x   =     .   -   -   -   -   -   -   -     -   -   .  .   .    .
    d4    x  x   .    x   x     =   -   -   -   -   -   -   -     -   -   .  .   .    .
    d5    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    d6    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    d7    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    d8    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    r2    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    r3    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    2222  -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    d2    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    s2    -  -   -    -   -     -   -   -   -   -   -   -   -     -   -   -  -   -    -
    A     =  .   .    .   .     .   -   -   -   -   -   -   -     -   -   =  .   .    .
"""
# A length without a line takes the nearest shorter one; as a target a length means exactly that length. Four 2s, where
# they may be played, are a quad, and a double straight that ends in 2 is one of its length: no 2s, but targets as such.
LONGER = """
          2  22  222  d3  quad  d4  d5  d6  d7  d8  r2  r3  2222  d2  s2  A  AA  AAA  s
    d3    x  .   .    =   .     .   .   .   .   .   -   -   .     =   .   .  .   .    .
    quad  x  x   .    x   =     .   .   .   .   .   -   -   =     x   .   .  .   .    .
    d4    x  x   .    x   x     =   .   .   .   .   -   -   x     x   .   .  .   .    .
    d5    x  x   .    x   x     .   =   .   .   .   -   -   x     x   .   .  .   .    .
    d6    x  x   .    x   x     .   .   =   .   .   -   -   x     x   .   .  .   .    .
    d7    x  x   .    x   x     .   .   .   =   .   -   -   x     x   .   .  .   .    .
    d8    x  x   .    x   x     .   .   .   .   =   -   -   x     x   .   .  .   .    .
    2222  x  x   .    x   =     .   .   .   .   .   -   -   =     x   .   .  .   .    .
    d2    x  .   .    =   .     .   .   .   .   .   -   -   .     =   .   .  .   .    .
"""
TABLES = {
    "classic": CLASSIC,
    "viet-cong": VIET_CONG,
    "viet-cong,cards=17": VIET_CONG,
    "southern": SOUTHERN,
    "mien-nam": SOUTHERN,
    "dem-la": SOUTHERN,
    "southern,double_straight_max=13,quad_twos=yes,straight_twos=yes,double_straight_twos=yes": LONGER,
}


def pairs(first: int, n: int, suits: str) -> str:
    ranks = ["3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"][first : first + n]
    return " ".join(rank + suit for rank in ranks for suit in suits)


# The plays of the rows, low, and those they are played on; they share no card but for 2s and aces.
PLAYS = {
    **{f"d{n}": pairs(0, n, "SC") for n in range(3, 9)},
    "quad": pairs(0, 1, "SCDH"),
    "r2": pairs(0, 2, "SCDH"),
    "r3": pairs(0, 3, "SCDH"),
    "2222": "2S 2C 2D 2H",
    "d2": "KS KC AS AC 2S 2C",
    "s2": "KS AS 2S",
    "A": "AS",
}
ON = {
    "2": ["2S", "2D", "2H"],
    "22": ["2S 2C", "2D 2H"],
    "222": ["2S 2C 2D", "2C 2D 2H"],
    **{f"d{n}": [pairs(3, n, "DH")] for n in range(3, 9)},
    "quad": [pairs(10, 1, "SCDH")],
    "r2": [pairs(9, 2, "SCDH")],
    "r3": [pairs(8, 3, "SCDH")],
    "2222": ["2S 2C 2D 2H"],
    "d2": ["KD KH AD AH 2D 2H"],
    "s2": ["KD AD 2D"],
    "A": ["AH"],
    "AA": ["AD AH"],
    "AAA": ["AC AD AH"],
    "s": ["JD QD KD"],
}


def cells(table: str) -> list[tuple[str, str, str]]:
    """Return `(play, on, mark)` of a table."""
    head, *rows = (line.split() for line in table.strip().splitlines())
    return [(row, column, mark) for row, *marks in rows for column, mark in zip(head, marks, strict=True)]


class Kernels:
    """What the compiled rules say of cards in file notation."""

    @staticmethod
    def is_combination(rules: Rules, play: str) -> bool:
        return describe(rules, parse_hand(play)) is not None

    @staticmethod
    def beats(rules: Rules, play: str, on: str) -> bool:
        return may_follow(rules, parse_hand(play), parse_hand(on))

    @staticmethod
    def legal(rules: Rules, hand: str, on: str) -> set[Cards]:
        found = moves(rules, parse_hand(hand), parse_hand(on) if on else 0)
        return {tuple(sorted(numbers(play))) for play in found}


class Twin:
    """The same, by the slow twin."""

    @staticmethod
    def is_combination(rules: Rules, play: str) -> bool:
        return naive.classify(rules, cards(play)) is not None

    @staticmethod
    def beats(rules: Rules, play: str, on: str) -> bool:
        return naive.beats(rules, cards(play), cards(on))

    @staticmethod
    def legal(rules: Rules, hand: str, on: str) -> set[Cards]:
        return naive.legal_plays(rules, cards(hand), cards(on) if on else None)


ENGINES = [Kernels, Twin]
Engine = type[Kernels] | type[Twin]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("variant", TABLES)
def test_every_cell(variant: str, engine: Engine) -> None:
    rules = parse_variant(variant)
    marks = {(row, column): mark for row, column, mark in cells(TABLES[variant])}
    for (row, column), mark in marks.items():
        play = PLAYS[row]
        for on in ON[column]:
            where = (variant, row, play, column, on)
            if mark == "-":
                assert not (engine.is_combination(rules, play) and engine.is_combination(rules, on)), where
                assert not engine.beats(rules, play, on), where
                continue
            lower = max(cards(play)) < max(cards(on))
            higher = max(cards(play)) > max(cards(on))
            assert engine.beats(rules, play, on) is (mark == "x" or (mark == "=" and higher)), where
            back = marks.get((column, row), ".") == "x" or (mark == "=" and lower)
            assert engine.beats(rules, on, play) is back, where
            assert mark != "x" or not back, where  # what is chopped does not beat the chop
            if not set(cards(play)) & set(cards(on)):
                assert (cards(play) in engine.legal(rules, play, on)) is engine.beats(rules, play, on), where


def test_the_tables_have_every_line_and_target() -> None:
    for table in (CLASSIC, VIET_CONG, SOUTHERN):
        assert {row for row, _, _ in cells(table)} == set(PLAYS)
        assert {column for _, column, _ in cells(table)} == set(ON)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("variant", ["classic", "viet-cong", "southern"])
def test_a_chop_may_be_led_but_for_a_quad_run(variant: str, engine: Engine) -> None:
    rules = parse_variant(variant)
    for name in ("d3", "quad", "d4", "r2", "r3"):
        led = cards(PLAYS[name]) in engine.legal(rules, PLAYS[name], "")
        assert led is (name[0] != "r"), name
    assert not may_follow(rules, parse_hand(PLAYS["r2"]), 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_quad_run_answers(engine: Engine) -> None:
    rules = parse_variant("viet-cong,cards=17")
    for on, plays in (("2D 2H", {"r2"}), ("2C 2D 2H", {"r3"}), ("2H", set())):
        legal = engine.legal(rules, PLAYS["r3"], on)
        assert {name for name in ("r2", "r3") if cards(PLAYS[name]) in legal} == plays


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("variant", ["classic", "viet-cong", "southern", "mien-nam", "dem-la"])
def test_a_higher_2_is_an_ordinary_beat(variant: str, engine: Engine) -> None:
    rules = parse_variant(variant)
    for lower, higher in pairwise(["2S", "2C", "2D", "2H"]):
        assert engine.beats(rules, higher, lower)
        assert not engine.beats(rules, lower, higher)
        assert not naive.is_chop(rules, cards(higher), cards(lower))
    assert not engine.beats(rules, "2D 2H", "2S")  # another kind


@pytest.mark.parametrize("engine", ENGINES)
def test_a_line_may_chop_nothing(engine: Engine) -> None:
    rules = parse_variant("southern,double_straight_max=5,chops.double-straight-4=none")
    assert not engine.beats(rules, PLAYS["d4"], "2H")  # its own line, and no longer that of three pairs
    assert not engine.beats(rules, PLAYS["d5"], "2H")
    assert engine.beats(rules, PLAYS["d3"], "2H")
