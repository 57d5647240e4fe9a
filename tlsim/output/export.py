"""Tables for other programs and documents: CSV, Markdown, HTML."""

import html as html_text
import re
from collections.abc import Mapping, Sequence

import polars as pl

from tlsim.errors import printable
from tlsim.output.cells import ESTIMATE, columns_of, title

Tables = Mapping[str, pl.DataFrame]
Origin = Mapping[str, str]
"""What a table carries of the run that it is of: its seed, and the command line that makes it again."""
_FORMULA = re.compile(r"[=+\-@](?![\d.]+$)")  # how a cell starts that a spreadsheet would run
_RULES = {True: "--:", False: "---"}  # of Markdown, by whether the column is of numbers
_SIDES = {True: "right", False: "left"}


def csv(tables: Tables, origin: Origin | None = None) -> str:
    """Return tables as one CSV table; several ones have their name in a first column and all columns of all.

    Every row has the origin. A cell that a spreadsheet would take for a formula starts with an apostrophe.
    """
    filled = {name: _only_values(table) for name, table in tables.items() if not table.is_empty()}
    if not filled:
        return ""
    if len(tables) > 1:
        filled = {name: table.select(pl.lit(name).alias("table"), pl.all()) for name, table in filled.items()}
    joined = pl.concat(list(filled.values()), how="diagonal_relaxed")  # a column may be numbers here and text there
    joined = joined.with_columns(pl.lit(value).alias(name) for name, value in (origin or {}).items())
    return joined.select(sorted(joined.columns, key=lambda name: name in ESTIMATE)).write_csv()


def _only_values(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose lists are text, and whose texts no program runs: neither a spreadsheet nor a terminal."""
    lists = [name for name, dtype in table.schema.items() if isinstance(dtype, pl.List)]
    table = table.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists)
    texts = [name for name, dtype in table.schema.items() if dtype == pl.String]
    table = table.with_columns(pl.Series(name, list(map(_no_formula, table[name])), pl.String) for name in texts)
    return table.rename({name: _no_formula(name) or "" for name in table.columns})


def _no_formula(text: str | None) -> str | None:
    """Return text that starts no formula, without control characters."""
    if text is None:
        return None
    return printable(f"'{text}" if _FORMULA.match(text) else text)


def markdown(tables: Tables, origin: Origin | None = None) -> str:
    """Return tables in Markdown, each under its title, and the command line that makes them in the end."""
    parts = [f"**{title(name, table)}**\n\n{_markdown(table)}" for name, table in tables.items()]
    if origin:
        parts.append(f"Made by `{printable(origin['command'])}`")
    return "\n\n".join(parts)


def _markdown(table: pl.DataFrame) -> str:
    """Return a table in Markdown, numbers to the right."""
    if table.is_empty():
        return "none"
    columns = columns_of(table, symbols=False)
    lines = [
        _pipes([column.head for column in columns]),
        _pipes([_RULES[column.is_number] for column in columns]),
        *(_pipes(cells) for cells in zip(*(column.cells for column in columns), strict=True)),
    ]
    return "\n".join(lines)


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.strip().replace("|", "\\|") for cell in cells) + " |"


def html(head: str, tables: Tables) -> str:
    """Return tables in HTML under a heading, for notebooks."""
    lines = [f"<p>{html_text.escape(head)}</p>"]
    for name, table in tables.items():
        columns = columns_of(table, symbols=True)
        sides = [_SIDES[column.is_number] for column in columns]
        lines.append(f"<table><caption>{html_text.escape(title(name, table))}</caption>")
        lines.append(_html_row("th", [column.head for column in columns], sides))
        lines += [_html_row("td", cells, sides) for cells in zip(*(column.cells for column in columns), strict=True)]
        lines.append("</table>")
    return "\n".join(lines)


def _html_row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    """Return a row, each cell aligned to its side."""
    aligned = (
        f'<{tag} style="text-align:{side}">{html_text.escape(cell.strip())}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(aligned)}</tr>"
