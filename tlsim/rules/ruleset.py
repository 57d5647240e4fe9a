"""Rules of one variant: a frozen dataclass <-> TOML <-> the packed record that kernels read (docs/rules.md).

A rule is one field of `Rules`: its default, its meaning, the section of the rule book that it follows and what is
allowed. The TOML reader, `name,key=value` changes, the rule book in words and the packed record are all derived from
the fields.
"""

import dataclasses
from collections.abc import Collection
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tlsim.errors import InputError, brief, check_range, nearest
from tlsim.rules.cards import DECK, FULL, NO_TWOS, ONES

# Chop lines from weakest to strongest (the rows of the table in section 3), and what a chop may be played on.
LINES = ("double-straight-3", "quad", *(f"double-straight-{n}" for n in range(4, 14)), "quad-run-2", "quad-run-3")
TARGETS = ("two", "two-twos", "three-twos", *LINES)
N_TARGETS = len(TARGETS)  # also the class of a play that is no target
HOLDINGS = {  # what a hand holds that wins at once
    "dragon": "every rank from 3 to A",
    "five-pair-straight": "a double straight of five or more pairs without 2s",
    "four-twos": "at least four 2s",
    "six-pairs": "six pairs",
    "one-colour": "only red or only black cards",
    "four-threes": "at least four 3s",
    "threes-double-straight": "a double straight of three or more pairs that starts with 3s",
}
INSTANT_WINS = tuple(HOLDINGS)

MAX_PLAYERS = 8
MOST_WITH_ONE_DECK = 4  # players, where decks = auto

RulesRecord: TypeAlias = np.record
"""The packed rules of one table, a record of dtype `RULES`: what kernels and policies read."""

Chops = tuple[tuple[str, tuple[str, ...]], ...]  # (line, its targets), in table order


def _rule(default: Any, meaning: str, section: str, *, low: int = 0, high: int = 0, choices: Any = None) -> Any:
    """Return a dataclass field that carries its meaning, its section of docs/rules.md and what it allows."""
    metadata = {"meaning": meaning, "section": section, "low": low, "high": high, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All rules of a variant. Equal fields play the same game, whatever the name."""

    name: str = dataclasses.field(default="", compare=False)
    summary: str = dataclasses.field(default="", compare=False)

    decks: int | str = _rule(
        "auto",
        "packs of 52 cards",
        "4.1",
        choices={
            "auto": "one for up to four players, two for more",
            1: "one",
            2: "two, so that every card is there twice",
        },
    )
    cards: int | str = _rule(
        13,
        "cards dealt to each player",
        "4.1",
        choices={
            13: "",
            17: "for three players with one deck",
            "equal": "as many as can be, for 5 to 8 players with two decks",
        },
    )
    min_players: int = _rule(2, "fewest players", "4.1", low=2, high=MAX_PLAYERS)
    max_players: int = _rule(4, "most players", "4.1", low=2, high=MAX_PLAYERS)
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
    first_lead_every_hand: bool = _rule(False, "every hand of a match is led as an opening hand is", "5")
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
    ties: str = _rule(
        "forbidden",
        "a play that matches and has the same top card (two decks)",
        "7",
        choices={
            "forbidden": "may not follow",
            "later": "may follow, an exact copy included",
            "kickers": "may follow where, from the top down, the first card that differs is higher",
        },
    )
    trading: bool = _rule(False, "players may swap cards after the deal; four 2s are no instant win then", "8")
    pass_locks: bool = _rule(True, "a player who passes is out of the pile", "4.5")
    must_play: bool = _rule(False, "passing only when nothing can be played", "9")
    finish_on_two: bool = _rule(True, "the play that empties a hand may hold a 2", "9")
    instant_wins: tuple[str, ...] = _rule((), "hands that win at once, best first", "6", choices=HOLDINGS)
    opening_instant_wins: tuple[str, ...] = _rule(
        (), "hands that win at once on opening hands, after the others", "6", choices=HOLDINGS
    )
    six_pairs_quads_twice: bool = _rule(True, "a quad counts as two of the six pairs", "6")
    instant_wins_any_size: bool = _rule(False, "instant wins other than four 2s also without 13 cards", "6")
    payoff: str = _rule(
        "stake",
        "what is paid at the end",
        "10",
        choices={
            "stake": "the loser pays every other player 1; after an instant win everybody pays the winner 1",
            "places": "by place, as +2 +1 −1 −2 or +2 +1 0 −1 −2; after an instant win everybody pays the winner 2",
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
            raise InputError(f"min_players must be at most max_players = {self.max_players}, got {self.min_players}")
        if not player_counts(self):
            raise InputError(
                f"{_what_can_be_dealt(self)}, got min_players = {self.min_players} and max_players = {self.max_players}"
            )
        if self.straight_min == 13 and not self.straight_twos:
            raise InputError("straight_min must be at most 12 without straight_twos, got 13")
        if self.payoff == "cards" and self.ends != "first-out":
            raise InputError(f"payoff = cards needs ends = first-out, got ends = {self.ends}")
        if self.cong and self.payoff == "stake":
            raise InputError("cong = yes needs payoff = places or payoff = cards, got payoff = stake")
        for line in self.unlocked_chops:
            if line not in dict(self.chops):
                raise InputError(f"unlocked_chops must be lines of the chop table, which has no line {line}")
        for kind in self.opening_instant_wins:
            if kind in self.instant_wins:
                raise InputError(f"opening_instant_wins must not repeat what instant_wins lists, got {kind}")


@cache
def rule_fields() -> tuple[dataclasses.Field[Any], ...]:
    """Return the fields of `Rules` that are rules (not its name and summary), in order."""
    return tuple(field for field in dataclasses.fields(Rules) if "meaning" in field.metadata)


def deal_of(rules: Rules, players: int) -> tuple[int, int]:
    """Return the number of decks, and of cards dealt to each of so many players (section 4.1)."""
    decks = _n_decks(rules, players)
    if rules.cards == "equal":
        return decks, decks * DECK // players
    return decks, int(rules.cards)


def _n_decks(rules: Rules, players: int) -> int:
    if rules.decks == "auto":
        return 1 if players <= MOST_WITH_ONE_DECK else 2
    return int(rules.decks)


def _can_be_dealt(rules: Rules, players: int) -> bool:
    decks, cards = deal_of(rules, players)
    if rules.cards == "equal":
        return decks == 2 and players >= 5
    return players * cards <= decks * DECK and (cards == 13 or (players, decks) == (3, 1))


def player_counts(rules: Rules) -> list[int]:
    """Return the numbers of players that the variant allows with its decks and hand size (section 4.1)."""
    return [n for n in range(rules.min_players, rules.max_players + 1) if _can_be_dealt(rules, n)]


def _what_can_be_dealt(rules: Rules) -> str:
    """Return which numbers of players the decks and hand size are for."""
    deal = f"cards = {rules.cards} with decks = {rules.decks}"
    allowed = [n for n in range(2, MAX_PLAYERS + 1) if _can_be_dealt(rules, n)]
    if not allowed:
        return f"{deal} can be dealt to nobody"
    return f"{deal} can be dealt to {span(allowed)} players"


def span(counts: list[int]) -> str:
    """Return numbers of players in words: `2 to 4`, `3`."""
    if len(counts) == 1:
        return str(counts[0])
    return f"{counts[0]} to {counts[-1]}"


def check_players(rules: Rules, players: int | None) -> int:
    """Return `players`; for `None` four, or else the most that the variant allows.

    Raises
    ------
    InputError
        When the variant does not allow so many.
    """
    counts = player_counts(rules)
    if players is None:
        return 4 if 4 in counts else counts[-1]
    if players not in counts:
        raise InputError(
            f"players must be {span(counts)} in {rules.name} ({_describe_deal(rules)}), got {brief(players)}"
        )
    return players


def _describe_deal(rules: Rules) -> str:
    decks = "two decks" if _n_decks(rules, rules.max_players) == 2 else "one deck"
    if rules.decks == "auto" and rules.max_players > MOST_WITH_ONE_DECK:
        decks = "one deck, two above four players"
    if rules.cards == "equal":
        return f"equal shares from {decks}"
    return f"{rules.cards} cards each from {decks}"


# ------------------------------------------------------------------------------------------------ values and text


def format_value(value: Any) -> str:
    """Return a rule's value as it is written in `name,key=value`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "+".join(value) or "none"
    return str(value)


def _unquoted(value: Any) -> str:
    """Return a value for an error message, text without quotes."""
    return brief(value)[1:-1] if isinstance(value, str) else brief(value)


def _check_value(field: dataclasses.Field[Any], value: Any) -> None:
    """Raise `InputError` unless `value` has the field's type and is among what it allows."""
    key, choices, low, high = field.name, *(field.metadata[k] for k in ("choices", "low", "high"))
    if key == "chops":
        _check_chops(value, choices)
    elif isinstance(field.default, tuple):
        _check_names(key, value, choices)
    elif choices:
        if type(value) not in (int, str) or value not in choices:
            raise InputError(f"{key} must be one of {', '.join(map(str, choices))}, got {_unquoted(value)}")
    elif isinstance(field.default, bool):
        if not isinstance(value, bool):
            raise InputError(f"{key} must be yes or no (true or false in TOML), got {brief(value)}")
    elif type(value) is not int:
        raise InputError(f"{key} must be a whole number, got {brief(value)}")
    else:
        check_range(key, value, low, high)


def _check_chops(chops: Chops, known: tuple[str, ...]) -> None:
    """Raise `InputError` unless every target is a 2, a pair or triple of 2s, or another line (section 3)."""
    for line, targets in chops:
        _check_names("chops", (line,), LINES)
        _check_names(f"chops.{line}", targets, known)
        if line in targets:
            raise InputError(f"chops.{line} must not name {line}: a play beats its own kind by its top card")
    for line, targets in chops:
        for target in targets:
            if target in LINES and target not in dict(chops):
                raise InputError(f"chops.{line} must name 2s or lines of the chop table, which has no line {target}")


def _check_names(key: str, value: Any, allowed: Collection[str]) -> None:
    """Raise `InputError` unless `value` lists some of the allowed names, each once."""
    if not isinstance(value, tuple) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{key} must be a list of names, got {brief(value)}")
    for name in value:
        if name not in allowed:
            raise InputError(f"{key}: unknown name {brief(name)}; {nearest(name, tuple(allowed))}")
    if len(set(value)) < len(value):
        raise InputError(f"{key} must not repeat a name, got {_unquoted(format_value(value))}")


# ------------------------------------------------------------------------------------------------ the packed record


_LISTS_OF_WINS = ("instant_wins", "opening_instant_wins")
_LISTS_OF_LINES = ("chops", "unlocked_chops")


def _packed_field(field: dataclasses.Field[Any]) -> tuple[Any, ...]:
    """Return the layout of one rule: a number; for a list of instant wins, their numbers in order, padded with -1."""
    if field.name in _LISTS_OF_WINS:
        return (field.name, "i8", (len(INSTANT_WINS),))
    return (field.name, "i8")


# What kernels read: every rule but the lists of chop lines, which are packed as the class masks that follow. A chop
# class is an index into TARGETS. Bits of a class mask are chop classes.
RULES = np.dtype(
    [
        ("players", "i8"),
        *(_packed_field(field) for field in rule_fields() if field.name not in _LISTS_OF_LINES),
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


def packed_choice(rule: str, choice: str) -> int:
    """Return the number that the packed record has for one of the choices of a rule."""
    field = next(field for field in rule_fields() if field.name == rule)
    return list(field.metadata["choices"]).index(choice)


def chop_line(rules: Rules, chop: str) -> str | None:
    """Return the line of the chop table that governs a chop (section 3), `None` when it has none.

    A double straight whose length has no line takes the line of the nearest shorter listed one.
    """
    listed = dict(rules.chops)
    if chop in listed:
        return chop
    for pairs in range(_pairs_of(chop), 2, -1):
        if f"double-straight-{pairs}" in listed:
            return f"double-straight-{pairs}"
    return None


def _pairs_of(chop: str) -> int:
    """Return the number of pairs of a double straight, 0 for another chop."""
    if not chop.startswith("double-straight-"):
        return 0
    return int(chop.rpartition("-")[2])


def pack(rules: Rules, players: int) -> NDArray[np.void]:
    """Return the packed record, shape `(1,)` of dtype `RULES`, for a table of `players`."""
    packed = np.zeros(1, RULES)
    record = packed[0]
    for field in rule_fields():
        if field.name not in _LISTS_OF_LINES:
            record[field.name] = _packed_value(field, rules)
    record["players"] = players
    record["decks"], record["cards"] = deal_of(rules, players)
    cards_by_twos = {True: FULL, False: NO_TWOS}
    record["straight_cards"] = cards_by_twos[rules.straight_twos]
    record["double_cards"] = cards_by_twos[rules.double_straight_twos]
    record["quad_cards"] = cards_by_twos[rules.quad_twos]
    _pack_chops(record, rules)
    return packed.view(np.recarray)


def _packed_value(field: dataclasses.Field[Any], rules: Rules) -> int | list[int]:
    """Return one rule as numbers: a choice by its place among the choices, a list of instant wins padded with -1."""
    value = getattr(rules, field.name)
    if field.name in _LISTS_OF_WINS:
        wins = [kind for kind in value if not (rules.trading and kind == "four-twos")]  # sections 6 and 8
        return [INSTANT_WINS.index(kind) for kind in wins] + [-1] * (len(INSTANT_WINS) - len(wins))
    if isinstance(value, str):
        return packed_choice(field.name, value)
    return int(value)


def _pack_chops(record: np.void, rules: Rules) -> None:
    """Write the chop table to a packed record, as masks of chop classes."""
    listed = dict(rules.chops)
    line_of = {chop: chop_line(rules, chop) for chop in LINES}
    for chop, line in line_of.items():
        if line is None or _pairs_of(chop) > rules.double_straight_max:
            continue
        bit = 1 << TARGETS.index(chop)
        record["chop_classes"] |= bit
        if line in rules.unlocked_chops:
            record["unlocked_classes"] |= bit
        for target in listed[line]:
            if target != chop:  # equal kinds match: they beat by their top card, not by a chop
                record["chopped_by"][TARGETS.index(target)] |= bit
    order = sorted(LINES, key=lambda chop: (LINES.index(line_of[chop] or chop), LINES.index(chop)))
    record["chop_order"] = [TARGETS.index(chop) for chop in order]


assert ONES * 15 == FULL
