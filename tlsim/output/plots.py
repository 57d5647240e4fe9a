"""Figures of tables of a simulation, with intervals. Nothing is read or saved."""

import polars as pl
from matplotlib.figure import Figure

from tlsim.output.cells import number

_BLUE, _GREY = "#0072b2", "#777777"  # told apart by the colour-blind too


def win_rates(seats: pl.DataFrame, unit: str) -> Figure:
    """Return the win rate of each seat, in percent with its interval, from the table `seats` of a simulation.

    `unit` is what its `n` counts.
    """
    rows = seats.filter(pl.col("metric") == "first_out")
    rate, low, high = (100 * rows[key].to_numpy() for key in ("estimate", "low", "high"))
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.errorbar(range(len(rows)), rate, yerr=(rate - low, high - rate), fmt="o", color=_BLUE, capsize=3, markersize=5)
    axes.axhline(100 / len(rows), color=_GREY, linewidth=1, linestyle="--")
    axes.annotate(
        "even",
        (1, 100 / len(rows)),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        color=_GREY,
    )
    axes.set_xticks(range(len(rows)), [f"seat {seat}" for seat in rows["seat"]])
    axes.margins(x=0.15)
    low_end, high_end = axes.get_ylim()
    axes.set_ylim(max(0, low_end), min(100, high_end))
    axes.set_ylabel("first out, % of hands")
    axes.set_title(f"Win rate by seat, {number(100 * rows['level'][0])} % intervals, {number(rows['n'][0])} {unit}")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
