"""Figures of tables of odds: bars are exact odds, marks sampled ones with their intervals. Nothing is read or saved."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tlsim.output.cells import Row, in_words, number, or_nan

_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#777777"  # told apart by the colour-blind too
_SERIES = (_BLUE, "#56b4e9", "#009e73", "#cc79a7")  # kinds of hands
_MARKS: dict[str, Any] = {"fmt": "o", "color": _ORANGE, "capsize": 2, "markersize": 3}
_MOST_BARS = 60
_MOST_LABELS = 16
_WIDTH, _HEIGHT, _HEIGHT_OF_BAR = 7, 3.2, 0.2  # inches


def odds(tables: Mapping[str, pl.DataFrame]) -> Figure:
    """Return a figure of tables of odds: events on a log axis, distributions as bars; of a rule set three of them."""
    chosen = [name for name in ("instant_wins", "chops", "legal_leads", "longest_straight") if name in tables]
    if "instant_wins" in chosen:
        chosen.remove("chops")
    elif "legal_leads" not in chosen:
        chosen = [name for name, table in tables.items() if "estimate" in table.columns]
    heights = [_height(tables[name]) for name in chosen]
    figure = Figure(figsize=(_WIDTH, sum(heights)), layout="constrained")
    rows = figure.subplots(len(chosen), squeeze=False, height_ratios=heights)[:, 0]
    for axes, name in zip(rows, chosen, strict=True):
        _draw(axes, name, tables[name])
    return figure


def _height(table: pl.DataFrame) -> float:
    """Return the height of a table's drawing: bars of events lie on one another, and each has its label."""
    n_bars = min(len(table), _MOST_BARS) if "event" in table.columns else 0
    return max(_HEIGHT, _HEIGHT_OF_BAR * n_bars)


def _draw(axes: Axes, name: str, table: pl.DataFrame) -> None:
    """Draw one table: events, or distributions."""
    rows = table.head(_MOST_BARS).to_dicts()
    keys = table.columns[: table.columns.index("exact")]
    varying = [key for key in keys if table[key].n_unique() > 1] or keys[:1]
    labels = [_label(row, varying, has_event="event" in keys) for row in rows]
    if "event" in varying:
        _events(axes, rows, labels)
    else:
        _distributions(axes, rows, varying)
        axes.set_xlabel(varying[-1].replace("_", " "))
        axes.set_ylabel("% of deals" if {"players", "holders"} & set(keys) else "% of hands")
    axes.set_title(_title(name, table, varying), loc="left", fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")


def _title(name: str, table: pl.DataFrame, varying: Sequence[str]) -> str:
    """Return the name of a table, with the event that all rows are about, and how many of them are drawn."""
    title = in_words(name)
    if "event" in table.columns and "event" not in varying:
        title += f": {table['event'][0]}"
    if len(table) > _MOST_BARS:
        title += f", first {_MOST_BARS} rows"
    return title


def _label(row: Row, keys: Sequence[str], *, has_event: bool) -> str:
    """Return what a bar is about."""
    words = [in_words(str(row[key])) for key in keys]
    if has_event and len(words) > 1:
        return f"{words[0]}, {_counted(row, keys[1:])}"
    return " ".join(words)


def _counted(row: Row, keys: Sequence[str]) -> str:
    """Return numbers of things in words: `2 decks, 13 cards`."""
    return ", ".join(f"1 {key.removesuffix('s')}" if row[key] == 1 else f"{row[key]} {key}" for key in keys)


def _percent(rows: Sequence[Row], key: str) -> list[float]:
    return [100 * or_nan(row[key]) for row in rows]


def _errors(rows: Sequence[Row]) -> list[list[float]]:
    """Return how far the intervals reach below and above the estimates."""
    estimates, lows, highs = (_percent(rows, key) for key in ("estimate", "low", "high"))
    below = [estimate - low for estimate, low in zip(estimates, lows, strict=True)]
    above = [high - estimate for estimate, high in zip(estimates, highs, strict=True)]
    return [below, above]


def _events(axes: Axes, rows: Sequence[Row], labels: Sequence[str]) -> None:
    """Draw a bar an event, on a log axis; what no sample held has no mark."""
    sampled = {place: row for place, row in enumerate(rows) if row["estimate"] > 0}
    estimates, errors = _percent(list(sampled.values()), "estimate"), _errors(list(sampled.values()))
    axes.barh(range(len(rows)), _percent(rows, "exact"), color=_BLUE, alpha=0.7, label="exact")
    axes.errorbar(estimates, list(sampled), xerr=errors, label="sampled", **_MARKS)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), labels, fontsize="small")
    axes.invert_yaxis()
    axes.set_xlabel("%, log axis")
    for place, row in enumerate(rows):
        if row["one_in"]:
            axes.annotate(
                f"1 in {number(row['one_in'], 0 if row['one_in'] >= 100 else 2)}",
                (100 * max(row["exact"], row["high"]), place),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize="x-small",
                color=_GREY,
            )
    axes.margins(x=0.25)
    axes.set_xlim(right=min(100, axes.get_xlim()[1]))  # no share is larger


def _distributions(axes: Axes, rows: Sequence[Row], keys: Sequence[str]) -> None:
    """Draw a bar a value, side by side for the kinds of hands that all keys but the last tell."""
    *kinds, value_key = keys
    series: dict[str, list[Row]] = {}
    for row in rows:
        series.setdefault(_counted(row, kinds), []).append(row)
    values = _in_order(rows, value_key)
    width = 0.8 / len(series)
    for i, (kind, of_kind) in enumerate(series.items()):
        shift = (i - (len(series) - 1) / 2) * width
        places = [values.index(row[value_key]) + shift for row in of_kind]
        label = ", ".join(word for word in ("exact", kind) if word)
        colour = _SERIES[i % len(_SERIES)]
        axes.bar(places, _percent(of_kind, "exact"), width, color=colour, alpha=0.7, label=label)
        label_once = "sampled" if i == len(series) - 1 else None
        axes.errorbar(places, _percent(of_kind, "estimate"), yerr=_errors(of_kind), label=label_once, **_MARKS)
    axes.set_ylim(0, min(100, axes.get_ylim()[1]))
    step = math.ceil(len(values) / _MOST_LABELS)
    labels = [in_words(str(value)) for value in values]
    axes.set_xticks(range(0, len(values), step), labels[::step], fontsize="small")


def _in_order(rows: Sequence[Row], key: str) -> list[Any]:
    """Return the values of a key, each once: numbers, or ranges of them as `20–29` and `200+`, from low to high."""
    values = list(dict.fromkeys(row[key] for row in rows))
    starts = {value: re.match(r"\d*", str(value)).group() for value in values}  # type: ignore[union-attr]  # matches all
    if not all(starts.values()):
        return values
    return sorted(values, key=lambda value: int(starts[value]))
