"""Tables as text for a terminal, folded to its width."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import polars as pl

from tlsim.output.cells import MISSING, Column, cell, columns_of, title, to_symbols

WIDTH = 100  # columns that text fits
SEPARATOR = "\xa0· "  # between parts of a line, which it may end
_GAP = "  "
_CUT = "…"
_BOLD, _PLAIN = "\033[1m", "\033[0m"
# What keeps a space, and what marks one that folding may use and takes away again.
_HARD_SPACE = "\xa0"
_FOLD_HERE = "\0 "


def heading(command: str, plan: Mapping[str, Any], *, width: int = WIDTH, symbols: bool = False) -> str:
    """Return a command and its plan in one line, folded at `width`: `simulate · variant southern · players 4 · …`.

    Hashes of files are for machines, and left out.
    """
    values = {
        key: _plan_value(key, value)
        for key, value in plan.items()
        if not isinstance(value, Mapping) and value is not False and value not in (None, [], "")
    }
    if symbols:
        values = {key: to_symbols(value) for key, value in values.items()}
    parts = [f"{key} {value}" for key, value in values.items()]
    return "\n".join(fold_parts([command, *parts], SEPARATOR, width))


def _plan_value(key: str, value: Any) -> str:
    """Return a value of a plan; what is equal for all seats, once; a seed without separators, as it is given."""
    if key == "seed":
        return str(value)
    if isinstance(value, list) and len(value) > 1 and len(set(value)) == 1:
        return f"{cell(value[0])} × {len(value)}"
    return cell(value)


# ------------------------------------------------------------------------------------------------ tables


def show_tables(
    tables: Mapping[str, pl.DataFrame], *, width: int = WIDTH, colour: bool = False, symbols: bool = False
) -> str:
    """Return tables as text, each under its title; `symbols` shows suits as on a terminal, otherwise as in files."""
    parts = []
    for name, table in tables.items():
        head = "\n".join(fold(title(name, table), width))
        if colour:
            head = _BOLD + head + _PLAIN
        parts.append("\n".join([head, *_lines(table, width, symbols=symbols)]))
    return "\n\n".join(parts)


def _lines(table: pl.DataFrame, width: int, *, symbols: bool) -> list[str]:
    """Return the lines of a table under its title."""
    if table.is_empty():
        return ["  none"]
    columns = _without_what_does_not_fit(columns_of(table, symbols=symbols), width)
    widths = _fit(columns, width)
    rule = _GAP.join("─" * column_width for column_width in widths)
    lines = [*_row([column.head for column in columns], columns, widths), rule]
    for cells in zip(*(column.cells for column in columns), strict=True):
        lines += _row(cells, columns, widths)
    return lines


def _width_of(column: Column) -> int:
    return max(map(len, [column.head, *column.cells]))


def _without_what_does_not_fit(columns: list[Column], width: int) -> list[Column]:
    """Return the columns, those that are optional without the cells that do not fit beside the others when folded.

    An optional column without any cell left goes.
    """
    room = width - sum(_width_of(column) + len(_GAP) for column in columns if not column.is_optional)
    fitting = []
    for column in columns:
        cells = column.cells
        if column.is_optional:
            longest_words = [max(map(len, text.split())) + len(" /") for text in cells]
            cells = [text if n <= room else _CUT for text, n in zip(cells, longest_words, strict=True)]
        if not column.is_optional or any(text not in (_CUT, MISSING) for text in cells):
            fitting.append(Column(column.head, cells, column.is_number, column.is_optional))
    return fitting


def _fit(columns: Sequence[Column], width: int) -> list[int]:
    """Return column widths that fit `width`: optional columns of text give way first, then those where the fewest
    cells are folded for it.

    No column gets narrower than its longest word, and none of numbers is folded.
    """
    widths = [_width_of(column) for column in columns]
    least = [_least_width(column) for column in columns]
    texts = [[column.head, *column.cells] for column in columns]

    def cost(i: int) -> tuple[bool, int]:
        """Return what narrowing a column costs: whether it is needed, and how many of its cells are folded then."""
        return not columns[i].is_optional, sum(len(text) >= widths[i] for text in texts[i])

    while sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        wide = [i for i in range(len(widths)) if widths[i] > least[i]]
        if not wide:
            break
        widths[min(wide, key=cost)] -= 1
    return widths


def _least_width(column: Column) -> int:
    if column.is_number:
        return _width_of(column)
    return max(map(len, fold(" ".join([column.head, *column.cells]), 1)))


def _row(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    """Return the lines of one row: numbers to the right, text to the left and folded."""
    folded = [_fold_cell(text, width) for text, width in zip(cells, widths, strict=True)]
    lines = []
    for words in zip_longest(*folded, fillvalue=""):
        padded = [_pad(word, column, width) for word, column, width in zip(words, columns, widths, strict=True)]
        lines.append(_GAP.join(padded).rstrip())
    return lines


def _fold_cell(text: str, width: int) -> list[str]:
    """Return the lines of a cell; one that fits keeps its spaces."""
    return fold(text, width) if len(text) > width else [text]


def _pad(word: str, column: Column, width: int) -> str:
    return word.rjust(width) if column.is_number else word.ljust(width)


# ------------------------------------------------------------------------------------------------ folding


def fold_parts(parts: Iterable[str], separator: str, width: int = WIDTH) -> list[str]:
    """Return parts joined by a separator that ends in a space, folded between them, and in those that do not fit."""
    kept = []
    for words in parts:
        is_kept_whole = len(words) <= width
        kept.append(words.replace(" ", _HARD_SPACE) if is_kept_whole else words)
    return fold(separator.join(kept), width)


def fold(words: str, width: int = WIDTH) -> list[str]:
    """Return text folded at spaces (not at hard ones) and after the `+` of lists, which gives hard spaces back."""
    spaced = words.replace("+", "+" + _FOLD_HERE)
    lines = textwrap.wrap(spaced, width, break_on_hyphens=False, break_long_words=False) or [""]
    return [line.replace(_FOLD_HERE, "").replace("\0", "").replace(_HARD_SPACE, " ").rstrip(" ·") for line in lines]
