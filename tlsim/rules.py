"""Rules of one variant: a frozen dataclass <-> TOML <-> the packed record that kernels read (RULES.md, 2 to 10).

A rule is one field of `Rules`: its default, its meaning, the section of RULES.md it follows and what is allowed. The
TOML reader, `name,key=value` changes, the rule book in words and the packed record are all derived from the fields.
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tlsim.cards import FULL, NO_TWOS, ONES
from tlsim.errors import InputError, nearest

# Chop lines from weakest to strongest (the rows of the table in section 3), and what a chop may be played on.
LINES = ("double-straight-3", "quad", *(f"double-straight-{n}" for n in range(4, 14)), "quad-run-2", "quad-run-3")
TARGETS = ("two", "two-twos", "three-twos", *LINES)
N_TARGETS = len(TARGETS)  # also the class of a play that is no target
INSTANT_WINS = (
    "dragon",
    "five-pair-straight",
    "four-twos",
    "six-pairs",
    "one-colour",
    "four-threes",
    "threes-double-straight",
)

Chops = tuple[tuple[str, tuple[str, ...]], ...]  # (line, its targets), in table order


def _rule(default: Any, meaning: str, section: str, *, low: int = 0, high: int = 0, choices: Any = None) -> Any:
    """Return a dataclass field that carries its meaning, its section of RULES.md and what it allows."""
    metadata = {"meaning": meaning, "section": section, "low": low, "high": high, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All rules of a variant. Equal fields play the same game, whatever the name."""

    name: str = dataclasses.field(default="", compare=False)
    summary: str = dataclasses.field(default="", compare=False)

    cards: int = _rule(13, "cards dealt to each player; 17 for three players", "4.1", choices={13: "", 17: ""})
    min_players: int = _rule(2, "fewest players", "4.1", low=2, high=4)
    max_players: int = _rule(4, "most players", "4.1", low=2, high=4)
    first_lead: str = _rule(
        "included",
        "what the first lead of an opening hand must hold",
        "4.3",
        choices={
            "alone": "exactly the lowest card dealt, as a single",
            "included": "any combination with the lowest card dealt",
            "free": "anything",
        },
    )
    ends: str = _rule(
        "last",
        "when the hand ends",
        "4.7",
        choices={"last": "when one player still holds cards", "first-out": "when one player is out"},
    )
    straight_min: int = _rule(3, "cards in the shortest straight", "2", low=3, high=13)
    straight_twos: bool = _rule(False, "a straight may end in a 2", "9")
    double_straight_twos: bool = _rule(False, "a double straight may end in a pair of 2s", "9")
    double_straight_max: int = _rule(13, "pairs in the longest double straight", "9", low=3, high=13)
    quad_twos: bool = _rule(False, "four 2s may be played, as a quad", "9")
    chops: Chops = _rule((), "the chop table: what each chop may be played on", "3", choices=TARGETS)
    unlocked_chops: tuple[str, ...] = _rule(
        (), "chops that a player who has passed may still play on the pile", "4.5", choices=LINES
    )
    pass_locks: bool = _rule(True, "a player who passes is out of the pile", "4.5")
    must_play: bool = _rule(False, "passing only when nothing can be played", "9")
    finish_on_two: bool = _rule(True, "the play that empties a hand may hold a 2", "9")
    instant_wins: tuple[str, ...] = _rule((), "hands that win at once, best first", "6", choices=INSTANT_WINS)
    opening_instant_wins: tuple[str, ...] = _rule(
        (), "hands that win at once on opening hands, after the others", "6", choices=INSTANT_WINS
    )
    six_pairs_quads_twice: bool = _rule(True, "a quad counts as two of the six pairs", "6")
    instant_wins_any_size: bool = _rule(False, "instant wins other than four 2s also without 13 cards", "6")
    payoff: str = _rule(
        "stake",
        "what is paid at the end",
        "10",
        choices={
            "stake": "the loser pays every other player 1; after an instant win everybody pays the winner 1",
            "places": "by place, +m … +1 (0) −1 … −m; after an instant win everybody pays the winner 2",
            "cards": "everybody pays the winner 1 a card held; after an instant win 2 a card dealt",
        },
    )
    leftover_penalties: bool = _rule(False, "2s and chops still held are paid to first place", "10")
    chop_penalties: bool = _rule(False, "chops played on 2s or on chops are paid", "10")
    cong: bool = _rule(False, "a player who has played no card pays twice (cóng)", "10")

    def __post_init__(self) -> None:
        """Refuse values out of range and combinations that make no sense, with the reason."""
        for field in rule_fields():
            _check_value(field, getattr(self, field.name))
        if self.min_players > self.max_players:
            raise InputError(f"min_players = {self.min_players} is more than max_players = {self.max_players}")
        if not player_counts(self):
            raise InputError(
                f"cards = {self.cards} is for three players, but min_players = {self.min_players} and"
                f" max_players = {self.max_players}"
            )
        if self.straight_min == 13 and not self.straight_twos:
            raise InputError("straight_min = 13: without straight_twos a straight has at most 12 cards")
        if self.payoff == "cards" and self.ends != "first-out":
            raise InputError(f"payoff = cards needs ends = first-out, but ends = {self.ends}")
        if self.cong and self.payoff == "stake":
            raise InputError("cong = yes goes with payoff = places or cards, not with stake")
        for line in self.unlocked_chops:
            if line not in dict(self.chops):
                raise InputError(f"unlocked_chops = {line}: the chop table has no such line")
        for kind in self.opening_instant_wins:
            if kind in self.instant_wins:
                raise InputError(f"opening_instant_wins = {kind}: it is in instant_wins already")


@cache
def rule_fields() -> tuple[dataclasses.Field[Any], ...]:
    """Return the fields of `Rules` that are rules (not its name and summary), in order."""
    return tuple(field for field in dataclasses.fields(Rules) if "meaning" in field.metadata)


def player_counts(rules: Rules) -> list[int]:
    """Return the numbers of players that the variant allows with its hand size (section 4.1)."""
    counts = range(rules.min_players, rules.max_players + 1)
    return [n for n in counts if n * rules.cards <= 52 and (rules.cards == 13 or n == 3)]


def default_players(rules: Rules) -> int:
    """Return the number of players when none is asked for: four where the variant allows it, else the most."""
    return player_counts(rules)[-1]


def check_players(rules: Rules, players: int | None) -> int:
    """Return `players`, or the default for `None`; raise `InputError` when the variant does not allow them."""
    counts = player_counts(rules)
    if players is None:
        return counts[-1]
    if players not in counts:
        allowed = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        raise InputError(
            f"{players} players: {rules.name} is for {allowed} with {rules.cards} cards each from one deck"
        )
    return players


# ------------------------------------------------------------------------------------------------ values and text


def format_value(value: Any) -> str:
    """Return a rule's value as it is written in `name,key=value`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "+".join(value) or "none"
    return str(value)


def _check_value(field: dataclasses.Field[Any], value: Any) -> None:
    """Raise `InputError` unless `value` has the field's type and is among what it allows."""
    key, choices, low, high = field.name, *(field.metadata[k] for k in ("choices", "low", "high"))
    if key == "chops":
        for line, targets in value:
            _check_names("chops", (line,), LINES)
            _check_names(f"chops.{line}", targets, choices)
            if line in targets:
                raise InputError(f"chops.{line} = {format_value(targets)}: a chop does not chop its own kind")
    elif isinstance(field.default, tuple):
        _check_names(key, value, choices)
    elif isinstance(field.default, bool):
        if not isinstance(value, bool):
            raise InputError(f"{key} = {value!r}: it is yes or no (true or false in TOML)")
    elif type(value) is not type(field.default):
        kind = "a whole number" if isinstance(field.default, int) else "one of " + ", ".join(choices)
        raise InputError(f"{key} = {value!r}: it is {kind}")
    elif choices and value not in choices:
        raise InputError(f"{key} = {value}: it is one of {', '.join(map(str, choices))}")
    elif not choices and not low <= value <= high:
        why = ": a straight has at least 3 cards" if key == "straight_min" and value < low else ""
        raise InputError(f"{key} = {value}: it is from {low} to {high}{why}")


def _check_names(key: str, value: Any, known: tuple[str, ...]) -> None:
    if not isinstance(value, tuple) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{key} = {value!r}: it is a list of names")
    for name in value:
        if name not in known:
            raise InputError(f"{key}: unknown name {name!r}; {nearest(name, known)}")
    if len(set(value)) < len(value):
        raise InputError(f"{key} = {format_value(value)}: a name stands twice")


def _parse_text(field: dataclasses.Field[Any], text: str) -> Any:
    """Return the value that `key=text` gives a field; ill-typed text is left for `_check_value` to refuse."""
    if isinstance(field.default, bool):
        return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)
    if isinstance(field.default, tuple):
        return _parse_names(text)
    if isinstance(field.default, int):
        try:
            return int(text)
        except ValueError:
            return text
    return text


def _parse_names(text: str) -> tuple[str, ...]:
    return () if text in ("none", "") else tuple(text.split("+"))


def _set_chops(chops: Chops, changes: Mapping[str, tuple[str, ...]]) -> Chops:
    """Return the chop table with some lines set, in table order; unknown lines go last, to be refused."""
    table = dict(chops) | dict(changes)
    order = [line for line in LINES if line in table] + [line for line in table if line not in LINES]
    return tuple((line, table[line]) for line in order)


# ------------------------------------------------------------------------------------------------ reading variants


@cache
def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in variants, in the order that listings show."""
    known = {Path(entry.name).stem for entry in resources.files("tlsim.variants").iterdir() if ".toml" in entry.name}
    order = ("classic", "viet-cong", "southern")
    return tuple(sorted(known, key=lambda name: (order.index(name) if name in order else len(order), name)))


@cache
def builtin(name: str) -> Rules:
    """Return a built-in variant by name; raise `InputError` with the nearest name for an unknown one."""
    if name not in builtin_names():
        raise InputError(f"unknown variant {name!r}; {nearest(name, builtin_names())}; or give a TOML file")
    text = resources.files("tlsim.variants").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return from_toml(text, name, where=f"{name}.toml")


def from_toml(text: str, name: str, where: str) -> Rules:
    """Return the rules that a TOML text describes: differences from the defaults, or from `base = "VARIANT"`.

    `where` names the text in errors (`InputError`: bad syntax with its line, unknown keys with the nearest known one,
    wrong types, values out of range, contradictions).
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        end = f"at line {text.count(chr(10)) + (not text.endswith(chr(10)))}, the end"
        raise InputError(f"{where}: not valid TOML: {str(error).replace('at end of document', end)}") from None
    with_base = table.pop("base", None)
    try:
        if with_base is not None and not isinstance(with_base, str):
            raise InputError(f"base = {with_base!r}: it is the name of a built-in variant")
        base = builtin(with_base) if with_base is not None else Rules()
        changes: dict[str, Any] = {"name": name, "summary": table.pop("summary", "")}
        if not isinstance(changes["summary"], str):
            raise InputError(f"summary = {changes['summary']!r}: it is one line of text")
        known = {field.name: field for field in rule_fields()}
        for key, value in table.items():
            if key not in known:
                raise InputError(f"unknown key {key!r}; {nearest(key, [*known, 'base', 'summary'])}")
            changes[key] = _from_toml_value(known[key], value, base)
        return dataclasses.replace(base, **changes)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _from_toml_value(field: dataclasses.Field[Any], value: Any, base: Rules) -> Any:
    if field.name == "chops":
        if value == []:
            return ()
        if not isinstance(value, dict):
            raise InputError(f'chops = {value!r}: it is a table: [chops], then a line such as quad = ["two"]')
        return _set_chops(base.chops, {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()})
    return tuple(value) if isinstance(value, list) else value


def parse_variant(spec: str) -> Rules:
    """Return the rules of `SPEC[,key=value…]`: a built-in name or a TOML file, then changes.

    `southern,pass_locks=no`, `house.toml,chops.quad=two+two-twos`, `southern,instant_wins=none`. The name of the result
    is the name (for a file its base name) with its changes. Raises `InputError`.
    """
    head, *changes = (part.strip() for part in spec.split(","))
    rules = _read_file(head) if head.endswith(".toml") or "/" in head else builtin(head)
    known = {field.name: field for field in rule_fields()}
    values: dict[str, Any] = {"name": ",".join([rules.name, *changes])}
    for change in changes:
        key, equals, text = (part.strip() for part in change.partition("="))
        if not equals:
            raise InputError(f"{spec}: {change!r}: a change is written key=value, as pass_locks=no")
        if key.startswith("chops."):
            values["chops"] = _set_chops(values.get("chops", rules.chops), {key[6:]: _parse_names(text)})
        elif key == "chops":
            if text != "none":
                raise InputError(f"{spec}: chops = {text}: it is none, or set one line: chops.quad=two+two-twos")
            values["chops"] = ()
        elif key in known:
            values[key] = _parse_text(known[key], text)
        else:
            raise InputError(f"{spec}: unknown key {key!r}; {nearest(key, [*known, 'chops.LINE'])}")
    try:
        return dataclasses.replace(rules, **values)
    except InputError as error:
        raise InputError(f"{spec}: {error}") from None


def _read_file(path: str) -> Rules:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"variant file {path}: {reason}; built-in: {', '.join(builtin_names())}") from None
    return from_toml(text, Path(path).name, where=path)


def differences(a: Rules, b: Rules) -> list[tuple[str, str, str]]:
    """Return `(key, value in a, value in b)` for every rule that differs; the chop table line by line."""
    rows = []
    for field in rule_fields():
        if field.name == "chops":
            in_a, in_b = dict(a.chops), dict(b.chops)
            for line in (line for line in LINES if in_a.get(line) != in_b.get(line)):
                values = (format_value(table[line]) if line in table else "not listed" for table in (in_a, in_b))
                rows.append((f"chops.{line}", *values))
        elif getattr(a, field.name) != getattr(b, field.name):
            rows.append((field.name, format_value(getattr(a, field.name)), format_value(getattr(b, field.name))))
    return rows  # type: ignore[return-value]  # the generator yields exactly two values


# ------------------------------------------------------------------------------------------------ the packed record


def _packed_field(field: dataclasses.Field[Any]) -> tuple[Any, ...]:
    """Return the layout of one rule: a number; for a list of instant wins, their numbers in order, padded with -1."""
    if field.name in ("instant_wins", "opening_instant_wins"):
        return (field.name, "i8", (len(INSTANT_WINS),))
    return (field.name, "i8")


# What kernels read: every rule but the lists of chop lines, which are packed as the class masks that follow. A chop
# class is an index into TARGETS. Bits of a class mask are chop classes.
RULES = np.dtype(
    [
        ("players", "i8"),
        *(_packed_field(field) for field in rule_fields() if field.name not in ("chops", "unlocked_chops")),
        ("straight_cards", "i8"),  # mask of cards that may stand in a straight
        ("double_cards", "i8"),  # … in a double straight
        ("quad_cards", "i8"),  # … in a quad
        ("chop_classes", "i8"),  # classes that the chop table covers and that can be played
        ("unlocked_classes", "i8"),  # … that a player who has passed may still play
        ("chopped_by", "i8", (N_TARGETS + 1,)),  # per class of the play to beat: the classes that chop it
        ("chop_order", "i8", (len(LINES),)),  # all chop classes, weakest line first
    ],
    align=True,
)


def chop_line(rules: Rules, chop: str) -> str | None:
    """Return the line of the chop table that governs a chop (section 3), `None` when it has none.

    A double straight whose length has no line takes the line of the nearest shorter listed one.
    """
    listed = dict(rules.chops)
    if chop in listed or not chop.startswith("double-straight-"):
        return chop if chop in listed else None
    for pairs in range(int(chop.rpartition("-")[2]), 2, -1):
        if f"double-straight-{pairs}" in listed:
            return f"double-straight-{pairs}"
    return None


def pack(rules: Rules, players: int) -> NDArray[np.void]:
    """Return the packed record, shape `(1,)` of dtype `RULES`, for a table of `players`."""
    packed = np.zeros(1, RULES)
    record = packed[0]
    record["players"] = players
    for field in rule_fields():
        value = getattr(rules, field.name)
        if field.name in ("instant_wins", "opening_instant_wins"):
            record[field.name] = [INSTANT_WINS.index(kind) for kind in value] + [-1] * (len(INSTANT_WINS) - len(value))
        elif field.name in record.dtype.names:
            record[field.name] = list(field.metadata["choices"]).index(value) if isinstance(value, str) else value
    record["straight_cards"] = FULL if rules.straight_twos else NO_TWOS
    record["double_cards"] = FULL if rules.double_straight_twos else NO_TWOS
    record["quad_cards"] = FULL if rules.quad_twos else NO_TWOS
    listed = dict(rules.chops)
    line_of = {chop: chop_line(rules, chop) for chop in LINES}
    for chop, line in line_of.items():
        pairs = int(chop.rpartition("-")[2]) if chop.startswith("double-straight") else 0
        if line is None or pairs > rules.double_straight_max:
            continue
        bit = 1 << TARGETS.index(chop)
        record["chop_classes"] |= bit
        record["unlocked_classes"] |= bit if line in rules.unlocked_chops else 0
        for target in listed[line]:
            if target != chop:  # equal kinds match: they beat by their top card, not by a chop
                record["chopped_by"][TARGETS.index(target)] |= bit
    order = sorted(LINES, key=lambda chop: (LINES.index(line_of[chop] or chop), LINES.index(chop)))
    record["chop_order"] = [TARGETS.index(chop) for chop in order]
    return packed.view(np.recarray)


assert ONES * 15 == FULL
