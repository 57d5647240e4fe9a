"""What a command returns: its tables, the plan they follow from, and where they were made."""

import importlib.util
import json
import math
import platform
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

import tlsim
from tlsim.errors import InputError
from tlsim.output import export, text
from tlsim.output.cells import cell
from tlsim.output.hand_text import show_hands
from tlsim.play import machine
from tlsim.rules.ruleset import Rules
from tlsim.rules.variantfiles import to_toml

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_MOST_OF_A_PLAN = 150  # characters, in the name of a result


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result of a command.

    `plan` and `tables` follow from the arguments alone: for a given seed they are the same bytes in `to_json`.

    Attributes
    ----------
    command
        The command, as `simulate`.
    plan
        What was asked.
    provenance
        Where, when and by what the result was made.
    tables
        Polars frames by name.
    extra
        The further keys of the JSON of some commands.
    rules
        The rules of its transcripts, or of the variant that it shows; not in the JSON.
    note
        A line for readers under the tables; not in the JSON.
    """

    command: str
    plan: dict[str, Any]
    provenance: dict[str, Any]
    tables: dict[str, pl.DataFrame]
    extra: dict[str, Any] = field(default_factory=dict)
    rules: Rules | None = None
    note: str = ""

    @property
    def unit(self) -> str:
        """Return what a simulation counts, and what its errors are by."""
        return "matches" if "match" in self.plan else "deals"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data: `command, plan, provenance, tables`, then the extra keys."""
        tables = {name: [_finite(row) for row in table.to_dicts()] for name, table in self.tables.items()}
        common = {"command": self.command, "plan": self.plan, "provenance": self.provenance, "tables": tables}
        return common | self.extra

    def to_json(self) -> str:
        """Return the result as JSON, a row a line; a number that is not finite is `null`."""
        return _json(self.to_dict(), 3)

    def to_toml(self) -> str:
        """Return the variant that the result shows as a commented TOML file of all its rules, which reads back alike.

        Raises `InputError` for any other result.
        """
        if self.command != "variants" or self.rules is None:
            raise InputError("only one variant can be written as TOML, as by: tlsim variants southern --format toml")
        return to_toml(self.rules)

    def to_pandas(self) -> "dict[str, pd.DataFrame]":
        """Return the tables as pandas frames, by name; needs pandas, not pyarrow."""
        import pandas as pd

        return {name: pd.DataFrame(table.to_dict(as_series=False)) for name, table in self.tables.items()}

    def plot(self) -> "Figure":
        """Return a figure of the result of `simulate` (win rates by seat) or `odds`, with intervals; needs Matplotlib.

        Raises `InputError` for the result of another command, and without Matplotlib.
        """
        if importlib.util.find_spec("matplotlib") is None:
            raise InputError("a figure needs Matplotlib: pip install 'tlsim[plot]'")
        if self.command == "simulate":
            from tlsim.output import plots

            figure = plots.win_rates(self.tables["seats"], self.unit)
        elif self.command == "odds":
            from tlsim.output import odds_plots

            figure = odds_plots.odds(self.tables)
        else:
            raise InputError(f"only results of simulate and odds can be plotted, got one of {self.command}")
        figure.supxlabel(text.heading(self.command, self.plan, width=text.WIDTH), fontsize="xx-small", color="#777777")
        return figure

    def to_text(self, *, width: int = text.WIDTH, colour: bool = False, symbols: bool = True) -> str:
        """Return the transcripts as text if there are any, else the tables under the plan; for a terminal."""
        if "hands" in self.extra:
            return "\n\n".join(show_hands(self.extra["hands"], self.rules, symbols=symbols, width=width))
        parts = []
        if self.plan:
            parts.append(text.heading(self.command, self.plan, width=width, symbols=symbols))
        parts.append(text.show_tables(self.tables, width=width, colour=colour, symbols=symbols))
        parts += [f"{key}: {cell(value)}" for key, value in self.extra.items() if isinstance(value, bool)]
        if self.note:
            parts.append(self.note)
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        """Return what the result is of, and what its tables are, in a line."""
        asked = text.heading(self.command, self.plan, width=10_000)
        asked = asked if len(asked) <= _MOST_OF_A_PLAN else f"{asked[:_MOST_OF_A_PLAN]}…"
        return f"<tlsim.Result: {asked}; tables {', '.join(self.tables)}>"

    def __str__(self) -> str:
        """Return the result as a terminal shows it."""
        return self.to_text()

    def _repr_html_(self) -> str:
        return export.html(text.heading(self.command, self.plan, symbols=True), self.tables)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run: `result` is that of the deals (or matches) so far, `command` the line that runs all."""

    def __init__(self, result: Result, unit: str, asked: int, command: str) -> None:
        super().__init__(f"interrupted after {result.plan[unit]:,} of {asked:,} {unit}")
        self.result = result
        self.command = command


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a table with `None` for what JSON has no number for."""
    not_numbers = (key for key, value in row.items() if isinstance(value, float) and not math.isfinite(value))
    return row | dict.fromkeys(not_numbers)


def _json(value: Any, depth: int, indent: str = "") -> str:
    """Return JSON: objects down to `depth`, and lists of what is no plain value, have a line an entry."""
    if isinstance(value, dict) and value and depth:
        entries = [f"{json.dumps(key)}: {_json(entry, depth - 1, indent + ' ')}" for key, entry in value.items()]
        opening, closing = "{}"
    elif isinstance(value, list) and value and depth and isinstance(value[0], dict | list):
        entries = [_json(entry, depth - 1, indent + " ") for entry in value]
        opening, closing = "[]"
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return f"{opening}\n{indent} " + f",\n{indent} ".join(entries) + f"\n{indent}{closing}"


def provenance(command: str, **more: Any) -> dict[str, Any]:
    """Return where a result was made: versions, machine, time and the command line that makes it again."""
    return {
        "tlsim": tlsim.__version__,
        "python": platform.python_version(),
        **{package: machine.version_of(package) for package in machine.NEEDED},
        "machine": f"{platform.system()} {platform.machine()}",
        "cpu": machine.cpu_name(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "command": command,
        **more,
    }
