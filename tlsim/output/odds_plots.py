"""Tables of odds -> Figure: bars are exact odds, marks sampled ones with their intervals. Nothing is read or saved."""

import re
from collections.abc import Mapping
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#777777"  # told apart by the colour-blind too
_SERIES = (_BLUE, "#56b4e9", "#009e73", "#cc79a7")  # kinds of hands
_MOST_BARS = 60
_MOST_LABELS = 16


def odds(tables: Mapping[str, pl.DataFrame]) -> Figure:
    """Return a figure of tables of odds: events on a log axis, distributions as bars; of a rule set three of them."""
    chosen = [name for name in ("instant_wins", "chops", "legal_leads", "longest_straight") if name in tables]
    if "instant_wins" in chosen:
        chosen.remove("chops")
    elif "legal_leads" not in chosen:
        chosen = [name for name, table in tables.items() if "estimate" in table.columns]
    figure = Figure(figsize=(7, 3.2 * len(chosen)), layout="constrained")
    for axes, name in zip(figure.subplots(len(chosen), squeeze=False)[:, 0], chosen, strict=True):
        _draw(axes, name, tables[name])
    return figure


def _draw(axes: Axes, name: str, table: pl.DataFrame) -> None:
    rows = table.head(_MOST_BARS).to_dicts()
    keys = table.columns[: table.columns.index("exact")]
    varying = [key for key in keys if table[key].n_unique() > 1] or keys[:1]
    labels = [_label(row, varying, "event" in keys) for row in rows]
    if "event" in varying:
        _events(axes, rows, labels)
    else:
        _distributions(axes, rows, varying)
        axes.set_xlabel(varying[-1].replace("_", " "))
        axes.set_ylabel("% of deals" if {"players", "holders"} & set(keys) else "% of hands")
    shown = "" if len(table) <= _MOST_BARS else f", first {_MOST_BARS} rows"
    among = next((f": {row['event']}" for row in rows if "event" in row and "event" not in varying), "")
    axes.set_title(f"{name.replace('_', ' ')}{among}{shown}", loc="left", fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")


def _label(row: Mapping[str, Any], keys: list[str], has_events: bool) -> str:
    words = [str(row[key]).replace("_", " ") for key in keys]
    return f"{words[0]}, {_counted(row, keys[1:])}" if has_events and len(words) > 1 else " ".join(words)


def _counted(row: Mapping[str, Any], keys: list[str]) -> str:
    """Return numbers of things in words: `2 decks, 13 cards`."""
    return ", ".join(f"{row[key]} {key.removesuffix('s') if row[key] == 1 else key}" for key in keys)


def _percent(rows: list[dict[str, Any]], key: str) -> list[float]:
    return [float("nan") if row[key] is None else 100 * row[key] for row in rows]


def _errors(rows: list[dict[str, Any]]) -> list[list[float]]:
    seen, low, high = (_percent(rows, key) for key in ("estimate", "low", "high"))
    return [[a - b for a, b in zip(seen, low, strict=True)], [b - a for a, b in zip(seen, high, strict=True)]]


def _events(axes: Axes, rows: list[dict[str, Any]], labels: list[str]) -> None:
    """Draw a bar an event, on a log axis; what was never seen has no mark."""
    seen = [row for row in rows if row["estimate"] > 0]
    places = [place for place, row in enumerate(rows) if row["estimate"] > 0]
    exact = _percent(rows, "exact")
    axes.barh(range(len(rows)), exact, color=_BLUE, alpha=0.7, label="exact")
    axes.errorbar(
        _percent(seen, "estimate"),
        places,
        xerr=_errors(seen),
        fmt="o",
        color=_ORANGE,
        capsize=2,
        markersize=3,
        label="sampled",
    )
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), labels, fontsize="small")
    axes.invert_yaxis()
    axes.set_xlabel("%, log axis")
    for place, row in enumerate(rows):
        if row["one_in"]:
            axes.annotate(
                f"1 in {row['one_in']:,.{0 if row['one_in'] >= 100 else 2}f}",
                (100 * max(row["exact"], row["high"]), place),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize="x-small",
                color=_GREY,
            )
    axes.margins(x=0.25)


def _distributions(axes: Axes, rows: list[dict[str, Any]], keys: list[str]) -> None:
    """Draw a bar a value, side by side for the kinds of hands that all keys but the last tell."""
    *kinds, value = keys
    series: dict[str, dict[Any, dict[str, Any]]] = {}
    for row in rows:
        series.setdefault(_counted(row, kinds), {})[row[value]] = row
    values = list(dict.fromkeys(row[value] for row in rows))
    if all(str(one)[0].isdigit() for one in values):  # numbers, or ranges of them: `20–29`, `200+`
        values.sort(key=lambda one: int(re.match(r"\d+", str(one))[0]))  # type: ignore[index]
    width = 0.8 / len(series)
    for number, (kind, by_value) in enumerate(series.items()):
        found = list(by_value.values())
        places = [values.index(one) + (number - (len(series) - 1) / 2) * width for one in by_value]
        label = f"exact, {kind}" if kind else "exact"
        colour = _SERIES[number % len(_SERIES)]
        axes.bar(places, _percent(found, "exact"), width, color=colour, alpha=0.7, label=label)
        axes.errorbar(
            places,
            _percent(found, "estimate"),
            yerr=_errors(found),
            fmt="o",
            color=_ORANGE,
            capsize=2,
            markersize=3,
            label="sampled" if number == len(series) - 1 else None,
        )
    step = -(-len(values) // _MOST_LABELS)
    labels = [str(one).replace("_", " ") for one in values]
    axes.set_xticks(range(0, len(values), step), labels[::step], fontsize="small")
