"""Tables as columns of text: what every value looks like, wherever it is shown.

A table whose rows hold an estimate (`ESTIMATE`) is shown as its keys and the estimate with its interval. Nothing here
depends on which command is shown.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from tlsim.errors import printable
from tlsim.rules.cards import RANKS, SUITS, SYMBOLS
from tlsim.stats.estimate import COLUMNS, METHODS_OF_SHARES

Row = Mapping[str, Any]
ESTIMATE = COLUMNS

# Metrics that are shares whatever their method, also where the rules fix them.
SHARES = (
    "first_out leader_first_out instant_win first_out_again again longest ahead above_0 first_leader_ahead"
    " first_winner_ahead"
).split()
_PER_HAND = ("length", "chops")  # tables of counts
MISSING = "–"
_MOST_DECIMALS = 8
_LOPSIDED = 0.1  # of the wider half of an interval: from this difference of its halves on it is shown by its ends
_CARD = rf"(?:{'|'.join(RANKS)})[{SUITS}]"
_CARDS = re.compile(rf"{_CARD}(?: {_CARD})*")
_TO_SYMBOLS = str.maketrans(SUITS, SYMBOLS)


@dataclass(frozen=True, slots=True)
class Column:
    """A column as text."""

    head: str
    cells: list[str]
    is_number: bool
    is_optional: bool = False  # left out where there is no room


# ------------------------------------------------------------------------------------------------ values


def to_symbols(cards: str) -> str:
    """Return text with cards in file notation as a terminal shows them (`3S 10D` as `3♠ 10♦`); other text as it is."""
    if not _CARDS.fullmatch(cards):
        return cards
    return cards.translate(_TO_SYMBOLS)


def number(value: float, decimals: int | None = None) -> str:
    """Return a number for reading: thousands apart, with so many places; without, with six digits where it has them.

    >>> number(1234567), number(0.123456789), number(2.5, 2)
    ('1,234,567', '0.123457', '2.50')
    """
    if not math.isfinite(value):
        return MISSING
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    if value == round(value):
        return f"{value:,.0f}"
    return f"{value:,.6g}"


def cell(value: Any) -> str:
    """Return a value that is no estimate."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, list | tuple):
        return printable(" ".join(map(str, value)))
    return printable(str(value))


def in_words(name: str) -> str:
    """Return the name of a table, column or metric for reading."""
    return printable(name.replace("_", " "))


def or_nan(value: float | None) -> float:
    """Return a number, NaN for none."""
    return math.nan if value is None else value


def _percent(share: float) -> str:
    """Return a share in percent with six digits; with more where they would say 100 %, which is for what is certain.

    >>> _percent(0.25), _percent(0.9999999999), _percent(1)
    ('25 %', '99.99999999 %', '100 %')
    """
    percent = 100 * share
    digits = 6
    while share < 1 and float(f"{percent:.{digits}g}") >= 100 and digits < 17:
        digits += 1
    return f"{number(percent)} %" if digits == 6 else f"{percent:.{digits}g} %"


# ------------------------------------------------------------------------------------------------ estimates


def is_share(row: Row) -> bool:
    """Return whether the estimate of a row is a share, to be read in percent."""
    return row["method"] in METHODS_OF_SHARES or row.get("metric") in SHARES


def with_interval(row: Row) -> str:
    """Return the estimate of a row with its interval: `35.12 % ± 0.09`, or `0.012 % (0.004 to 0.021)` where lopsided.

    The interval has two significant digits. Nothing seen is shown with what it may be: `0 (0 to 0.0037)`.
    """
    scale, unit = 1.0, ""
    if is_share(row):
        scale, unit = 100.0, " %"
    value, low, high = (scale * or_nan(row[key]) for key in ("estimate", "low", "high"))
    if row["method"] == "quantile":
        return f"{number(value)} ({number(low)} to {number(high)})"
    below, above = value - low, high - value
    if not math.isfinite(value):
        return MISSING
    if row["method"] == "by rule":
        return f"{number(value)}{unit} (by rule)"
    if not math.isfinite(below + above):
        return f"{number(value, _decimals(math.nan))}{unit}"
    half_width = max(below, above)
    if abs(below - above) < _LOPSIDED * half_width:
        decimals = _decimals(half_width)
        return f"{number(value, decimals)}{unit} ± {number(half_width, decimals)}"
    decimals = _decimals(min(below, above) or half_width)
    value_text, low_text, high_text = (_rounded(x, scale, decimals) for x in (value, low, high))
    return f"{value_text}{unit} ({low_text} to {high_text})"


def _rounded(value: float, scale: float, decimals: int) -> str:
    """Return a number with so many places; nothing, and all of a share, without."""
    if value == 0 or value == scale > 1:
        return number(value)
    return number(value, decimals)


def _decimals(half_width: float) -> int:
    """Return the places that show a half interval with two digits; 4 when there is none."""
    if not half_width > 0 or not math.isfinite(half_width):
        return 4
    return min(_MOST_DECIMALS, max(0, 1 - math.floor(math.log10(half_width))))


def is_estimates(table: pl.DataFrame) -> bool:
    """Return whether the rows of a table hold an estimate."""
    return set(ESTIMATE) <= set(table.columns)


def title(name: str, table: pl.DataFrame) -> str:
    """Return the title of a table: its name, with level and number of units when all rows share them."""
    if not is_estimates(table) or table.is_empty():
        return in_words(name)
    is_per_hand = name in _PER_HAND and not is_share(table.row(0, named=True))
    notes = ["per hand"] if is_per_hand else []
    notes += [f"{number(100 * level)} % intervals" for level in table["level"].unique().to_list()]
    counts = table["n"].unique().to_list()
    if len(counts) == 1:
        notes.append(f"n = {number(counts[0])}")
    return f"{in_words(name)} ({', '.join(notes)})"


# ------------------------------------------------------------------------------------------------ columns


def columns_of(table: pl.DataFrame, *, symbols: bool) -> list[Column]:
    """Return the columns of a table as text, cards in `symbols` or as in files."""
    if is_estimates(table):
        return _estimate_columns(table)
    columns = []
    for name in table.columns:
        is_share_of_deals = name == "exact" and "one_in" in table.columns
        cells = list(map(_percent if is_share_of_deals else cell, table[name]))
        if symbols:
            cells = list(map(to_symbols, cells))
        columns.append(Column(in_words(name), cells, table[name].dtype.is_numeric()))
    return columns


def _estimate_columns(table: pl.DataFrame) -> list[Column]:
    """Return the keys, the estimates with their intervals, and the number of units where it varies.

    Estimates of several metrics of the same thing stand side by side.
    """
    notes = table.columns[table.columns.index(ESTIMATE[-1]) + 1 :]  # what is said of the estimate, as its z
    keys = [name for name in table.columns if name not in (*ESTIMATE, *notes, "fraction")]
    groups = {"estimate": list(table.iter_rows(named=True))}
    if "metric" in keys and len(keys) > 1:
        keys.remove("metric")
        groups = {}
        for row in table.iter_rows(named=True):
            groups.setdefault(row["metric"], []).append(row)
    first = next(iter(groups.values()))
    columns = [_key_column(name, table, first) for name in keys]
    for name, rows in groups.items():
        columns.append(Column(in_words(name), _align_points([with_interval(row) for row in rows]), is_number=False))
    if table["n"].n_unique() > 1:
        columns.append(Column("n", [cell(row["n"]) for row in first], is_number=True))
    columns += [Column(name, [_note(name, row[name]) for row in first], is_number=True) for name in notes]
    if "fraction" in table.columns:
        fractions = [_fraction(row["fraction"]) for row in first]
        columns.append(Column("fraction", fractions, is_number=False, is_optional=True))
    return columns


def _key_column(name: str, table: pl.DataFrame, rows: list[dict[str, Any]]) -> Column:
    """Return a column that says what the rows are about."""
    is_number = table[name].dtype.is_numeric()
    if name == "exact":
        return Column(name, [_exact(row) for row in rows], is_number)
    return Column(in_words(name), [_key(row[name]) for row in rows], is_number)


def _key(value: Any) -> str:
    """Return a value that says what a row is about: the name of a column in words, anything else as it is."""
    text = cell(value)
    return in_words(text) if text.isidentifier() else text


def _exact(row: Row) -> str:
    """Return the exact value beside an estimate: a share in percent."""
    if row["exact"] is None:
        return MISSING
    if is_share(row):
        return _percent(row["exact"])
    return number(row["exact"])


def _note(name: str, value: float | None) -> str:
    """Return what is said of an estimate: how many standard errors it is off, or what share of deals counted."""
    if value is None:
        return MISSING
    if name == "z":
        return f"{value:+.2f}"
    if name == "acceptance":
        return _percent(value)
    return cell(value)


def _fraction(text: str | None) -> str:
    """Return a fraction that can be folded at its bar."""
    return (text or MISSING).replace("/", " / ")


def _align_points(cells: list[str]) -> list[str]:
    """Return numbers padded on the left so that their decimal points stand under one another."""
    n_before = [len(re.match(r"[-−\d,]*", text).group()) for text in cells]  # type: ignore[union-attr]  # matches all
    return [" " * (max(n_before) - n) + text for n, text in zip(n_before, cells, strict=True)]
