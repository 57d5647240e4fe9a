"""Tables as text: for a terminal, CSV, Markdown, HTML. Nothing here depends on which command is shown.

A table whose rows hold an estimate (`ESTIMATE`) is shown as its keys and the estimate with its interval.
"""

import html as html_text
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tlsim.rules.cards import RANKS, SUITS, SYMBOLS

ESTIMATE = ("estimate", "se", "low", "high", "level", "n", "method")
# Metrics that are shares whatever their method, also where all units are equal.
SHARES = (
    "first_out leader_first_out instant_win first_out_again again longest ahead above_0 first_leader_ahead"
    " first_winner_ahead"
).split()
WIDTH = 100  # columns that text fits
SEPARATOR = "\xa0· "  # between parts of a line, which it may end
_GAP = "  "
_CARDS = re.compile(rf"(?:{'|'.join(RANKS)})[{SUITS}](?: (?:{'|'.join(RANKS)})[{SUITS}])*")
_TO_SYMBOLS = str.maketrans(SUITS, SYMBOLS)
_BOLD, _PLAIN = "\033[1m", "\033[0m"


@dataclass(frozen=True, slots=True)
class _Column:
    head: str
    cells: list[str]
    is_number: bool
    is_optional: bool = False  # left out where there is no room


# ------------------------------------------------------------------------------------------------ cells


def to_symbols(cards: str) -> str:
    """Return text with cards in file notation as a terminal shows them (`3S 10D` as `3♠ 10♦`); other text as it is."""
    return cards.translate(_TO_SYMBOLS) if _CARDS.fullmatch(cards) else cards


def number(value: float, decimals: int | None = None) -> str:
    """Return a number for reading: thousands apart, with so many places; without, with six digits where it has them."""
    if not math.isfinite(value):
        return "–"
    if decimals is None:
        return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"
    return f"{value:,.{decimals}f}"


def _cell(value: Any) -> str:
    """Return a value that is no estimate."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return str(value)


def _decimals(half_width: float) -> int:
    """Return the places that show an error with two digits, at most 8."""
    if not half_width > 0 or not math.isfinite(half_width):
        return 4
    return min(8, max(0, 1 - math.floor(math.log10(half_width))))


def is_share(row: Mapping[str, Any]) -> bool:
    """Return whether the estimate of a row is a share, to be read in percent."""
    return row["method"] in ("wilson", "share") or row.get("metric") in SHARES


def with_interval(row: Mapping[str, Any]) -> str:
    """Return the estimate of a row with its interval: `35.12 % ± 0.09`, or `0.012 % (0.004 … 0.021)` where lopsided.

    The interval has two significant digits. It counts as lopsided from a tenth of its wider half.
    """
    scale, unit = (100.0, " %") if is_share(row) else (1.0, "")
    value, low, high = (math.nan if row[key] is None else scale * row[key] for key in ("estimate", "low", "high"))
    if row["method"] == "quantile":
        return f"{number(value)} ({number(low)} … {number(high)})"
    below, above = value - low, high - value
    if not math.isfinite(below + above):
        return number(value, _decimals(math.nan)) + (unit if math.isfinite(value) else "")
    if below == above == 0:
        return f"{number(value)}{unit} (all equal)"
    wide = max(below, above)
    if abs(below - above) < 0.1 * wide:
        return f"{number(value, _decimals(wide))}{unit} ± {number(wide, _decimals(wide))}"
    decimals = _decimals(min(below, above) or wide)
    return f"{number(value, decimals)}{unit} ({number(low, decimals)} … {number(high, decimals)})"


# ------------------------------------------------------------------------------------------------ columns


def _columns(table: pl.DataFrame, symbols: bool) -> list[_Column]:
    """Return the columns of a table as text."""
    if is_estimates(table):
        return _estimate_columns(table)
    columns = []
    for name in table.columns:
        in_percent = name == "exact" and "one_in" in table.columns
        cells = [f"{number(100 * value)} %" if in_percent else _cell(value) for value in table[name]]
        cells = [to_symbols(cell) for cell in cells] if symbols else cells
        columns.append(_Column(_words(name), cells, table[name].dtype.is_numeric()))
    return columns


def _estimate_columns(table: pl.DataFrame) -> list[_Column]:
    """Return the keys, the estimates with their intervals, and the number of units where it varies.

    Estimates of several metrics of the same thing stand side by side.
    """
    after = table.columns[table.columns.index(ESTIMATE[-1]) + 1 :]  # what is said of the estimate
    keys = [name for name in table.columns if name not in (*ESTIMATE, *after, "fraction")]
    groups = {"estimate": list(table.iter_rows(named=True))}
    if "metric" in keys and len(keys) > 1:
        keys.remove("metric")
        groups = {}
        for row in table.iter_rows(named=True):
            groups.setdefault(row["metric"], []).append(row)
    first = next(iter(groups.values()))
    columns = []
    for key in keys:
        cells = [_exact(row) if key == "exact" else _cell(row[key]) for row in first]
        cells = [_words(cell) if cell.isidentifier() else cell for cell in cells]
        columns.append(_Column(_words(key), cells, table[key].dtype.is_numeric()))
    for name, rows in groups.items():
        columns.append(_Column(_words(name), _align_points([with_interval(row) for row in rows]), False))
    if table["n"].n_unique() > 1:
        columns.append(_Column("n", [_cell(row["n"]) for row in first], True))
    columns += [_Column(name, [_note(name, row[name]) for row in first], True) for name in after]
    if "fraction" in table.columns:
        columns.append(_Column("fraction", [_fraction(row["fraction"]) for row in first], False, is_optional=True))
    return columns


def _exact(row: Mapping[str, Any]) -> str:
    """Return the exact value beside an estimate: a share in percent."""
    if row["exact"] is None:
        return "–"
    return f"{number(100 * row['exact'])} %" if is_share(row) else number(row["exact"])


def _note(name: str, value: float | None) -> str:
    """Return what is said of an estimate: how many standard errors it is off, or what share of deals counted."""
    if value is None:
        return "–"
    return f"{value:+.2f}" if name == "z" else f"{number(100 * value)} %" if name == "acceptance" else _cell(value)


def _fraction(text: str | None) -> str:
    """Return a fraction that can be folded at its bar."""
    return (text or "–").replace("/", " / ")


def _words(name: str) -> str:
    return name.replace("_", " ")


def is_estimates(table: pl.DataFrame) -> bool:
    """Return whether the rows of a table hold an estimate."""
    return set(ESTIMATE) <= set(table.columns)


def _align_points(cells: list[str]) -> list[str]:
    """Return numbers padded on the left so that their decimal points stand under one another."""
    whole = [len(re.match(r"[-−\d,]*", cell).group()) for cell in cells]  # type: ignore[union-attr]
    return [" " * (max(whole) - n) + cell for n, cell in zip(whole, cells, strict=True)]


def title(name: str, table: pl.DataFrame) -> str:
    """Return the title of a table: its name, with level and number of units when all rows share them."""
    words = _words(name)
    if not is_estimates(table) or table.is_empty():
        return words
    notes = [f"{number(100 * level)} % intervals" for level in table["level"].unique().to_list()]
    counts = table["n"].unique().to_list()
    notes += [f"n = {number(counts[0])}"] if len(counts) == 1 else []
    return f"{words} ({', '.join(notes)})"


# ------------------------------------------------------------------------------------------------ text


def heading(command: str, plan: Mapping[str, Any], *, width: int = WIDTH, symbols: bool = False) -> str:
    """Return a command and its plan in one line, folded at `width`: `simulate · variant southern · players 4 · …`.

    Hashes of files are for machines, and left out.
    """
    told = {key: value for key, value in plan.items() if not isinstance(value, Mapping)}
    shown = {
        key: str(value) if key == "seed" else _plan_value(value)
        for key, value in told.items()
        if value not in (None, [], "", False)
    }
    parts = [f"{key} {to_symbols(value) if symbols else value}" for key, value in shown.items()]
    return "\n".join(fold_parts([command, *parts], SEPARATOR, width))


def _plan_value(value: Any) -> str:
    if isinstance(value, list) and len(value) > 1 and len(set(value)) == 1:
        return f"{value[0]} × {len(value)}"
    return _cell(value)


def text(tables: Mapping[str, pl.DataFrame], *, width: int = WIDTH, colour: bool = False, symbols: bool = False) -> str:
    """Return tables as text, each under its title; `symbols` shows suits as on a terminal, otherwise as in files."""
    parts = []
    for name, table in tables.items():
        head = "\n".join(fold(title(name, table), width))
        parts.append("\n".join([_BOLD + head + _PLAIN if colour else head, *_lines(table, width, symbols)]))
    return "\n\n".join(parts)


def _lines(table: pl.DataFrame, width: int, symbols: bool) -> list[str]:
    if table.is_empty():
        return ["  none"]
    columns = _make_room(_columns(table, symbols), width)
    widths = _fit([_width_of(column) for column in columns], columns, width)
    rule = _GAP.join("─" * w for w in widths)
    lines = [*_row([column.head for column in columns], columns, widths), rule]
    for cells in zip(*(column.cells for column in columns), strict=True):
        lines += _row(cells, columns, widths)
    return lines


def _width_of(column: _Column) -> int:
    return max(map(len, [column.head, *column.cells]))


def _make_room(columns: list[_Column], width: int) -> list[_Column]:
    """Return the columns without cells of optional ones that do not fit beside the others, folded at their spaces."""
    room = width - sum(_width_of(column) + len(_GAP) for column in columns if not column.is_optional)
    found = []
    for column in columns:
        cells = column.cells
        if column.is_optional:
            cells = [cell if max(map(len, cell.split())) + len(" /") <= room else "…" for cell in cells]
        if not column.is_optional or any(cell not in "…–" for cell in cells):
            found.append(_Column(column.head, cells, column.is_number, column.is_optional))
    return found


def _fit(widths: list[int], columns: Sequence[_Column], width: int) -> list[int]:
    """Return column widths that fit `width`: optional columns of text give way first, then those where the fewest
    cells are folded for it.

    No column gets narrower than its longest word.
    """
    cells = [[column.head, *column.cells] for column in columns]
    least = [
        width if column.is_number else max(map(len, fold(" ".join(words), 1)))
        for width, column, words in zip(widths, columns, cells, strict=True)
    ]
    while sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        texts = [i for i, w in enumerate(widths) if w > least[i]]
        if not texts:
            break
        folded = {i: (not columns[i].is_optional, sum(len(cell) >= widths[i] for cell in cells[i])) for i in texts}
        widths[min(texts, key=folded.__getitem__)] -= 1
    return widths


def _row(cells: Sequence[str], columns: Sequence[_Column], widths: Sequence[int]) -> list[str]:
    """Return the lines of one row: numbers to the right, text to the left and folded."""
    folded = [fold(cell, width) if len(cell) > width else [cell] for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for i in range(max(map(len, folded))):
        words = [cell[i] if i < len(cell) else "" for cell in folded]
        padded = [
            word.rjust(width) if column.is_number else word.ljust(width)
            for word, column, width in zip(words, columns, widths, strict=True)
        ]
        lines.append(_GAP.join(padded).rstrip())
    return lines


def fold_parts(parts: Iterable[str], separator: str, width: int = WIDTH) -> list[str]:
    """Return parts joined by a separator that ends in a space, folded between them, and in those that do not fit."""
    return fold(separator.join(part if len(part) > width else part.replace(" ", "\xa0") for part in parts), width)


def fold(words: str, width: int = WIDTH) -> list[str]:
    """Return text folded at spaces (not at hard ones) and after the `+` of lists, which gives hard spaces back."""
    spaced = words.replace("+", "+\0 ")
    lines = textwrap.wrap(spaced, width, break_on_hyphens=False, break_long_words=False) or [""]
    return [line.replace("\0 ", "").replace("\0", "").replace("\xa0", " ").rstrip(" ·") for line in lines]


# ------------------------------------------------------------------------------------------------ files


def csv(tables: Mapping[str, pl.DataFrame]) -> str:
    """Return tables as one CSV table; several ones have their name in a first column and all columns of all."""
    flat = [_flat(table) for table in tables.values() if not table.is_empty()]
    if len(tables) > 1:
        filled = [name for name, table in tables.items() if not table.is_empty()]
        flat = [table.select(pl.lit(name).alias("table"), pl.all()) for name, table in zip(filled, flat, strict=True)]
    if not flat:
        return ""
    joined = pl.concat(flat, how="diagonal_relaxed")  # a column may hold numbers in one table and text in another
    return joined.select(sorted(joined.columns, key=lambda name: name in ESTIMATE)).write_csv()


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose lists are text, as CSV needs it."""
    lists = [name for name, dtype in table.schema.items() if isinstance(dtype, pl.List)]
    return table.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists)


def markdown(tables: Mapping[str, pl.DataFrame]) -> str:
    """Return tables in Markdown, each under its title."""
    parts = []
    for name, table in tables.items():
        columns = _columns(table, symbols=False)
        if table.is_empty():
            parts.append(f"**{title(name, table)}**\n\nnone")
            continue
        lines = [
            _pipes([column.head for column in columns]),
            _pipes(["--:" if column.is_number else "---" for column in columns]),
            *(_pipes(cells) for cells in zip(*(column.cells for column in columns), strict=True)),
        ]
        parts.append(f"**{title(name, table)}**\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.strip().replace("|", "\\|") for cell in cells) + " |"


def html(head: str, tables: Mapping[str, pl.DataFrame]) -> str:
    """Return tables in HTML under a heading, for notebooks."""
    parts = [f"<p>{html_text.escape(head)}</p>"]
    for name, table in tables.items():
        columns = _columns(table, symbols=True)
        aligned = ["right" if column.is_number else "left" for column in columns]
        parts.append(f"<table><caption>{html_text.escape(title(name, table))}</caption>")
        rows = [("th", [column.head for column in columns])]
        rows += [("td", list(cells)) for cells in zip(*(column.cells for column in columns), strict=True)]
        for tag, cells in rows:
            inner = (
                f'<{tag} style="text-align:{side}">{html_text.escape(cell.strip())}</{tag}>'
                for cell, side in zip(cells, aligned, strict=True)
            )
            parts.append(f"<tr>{''.join(inner)}</tr>")
        parts.append("</table>")
    return "\n".join(parts)
