"""Dealt hands from files: transcripts (docs/rules.md, section 11), or CSV with the cards by seat."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tlsim.errors import InputError
from tlsim.rules.cards import parse_card
from tlsim.rules.ruleset import MAX_PLAYERS

_KINDS = 52


@dataclass(frozen=True)
class Dealt:
    """Deals of one table: `held[deal, seat, card]` copies of each card, `cards` a hand, from `decks` decks."""

    held: NDArray[np.int8]
    cards: int
    decks: int


def read(path: Path) -> Dealt:
    """Return the deals of a file; raise `InputError` for one that cannot be read, with the line.

    One JSON object a line with `hands` (or `dealt`, before trading), a list of cards a seat. Or CSV: a row a deal and a
    column a seat, each with the cards of the seat in one cell; or columns `seat` and `cards`, and `deal` where it is
    known. Every deal has the same number of seats and of cards a hand.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    is_json = next((line.lstrip().startswith("{") for line in lines if line.strip()), False)
    deals: list[NDArray[np.int8]] = []
    for number, hands in _json_deals(path, lines) if is_json else _csv_deals(path, lines):
        try:
            deals.append(_count(hands, deals[0].shape if deals else None))
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
    if not deals:
        raise InputError(f"{path}: no deals")
    held = np.stack(deals)
    cards = {int(n) for n in np.unique(held.sum(axis=2))}
    if len(cards) > 1:
        raise InputError(f"{path}: hands of {min(cards)} to {max(cards)} cards: all must have as many")
    most = int(held.sum(axis=1).max())
    decks = 1 if most == 1 and held.shape[1] * min(cards) <= _KINDS else 2
    if most > decks:
        raise InputError(f"{path}: a card is dealt {most} times in one deal: two decks hold it twice")
    return Dealt(held, min(cards), decks)


def _json_deals(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
                hands = row.get("dealt") or row["hands"]
                yield number, [" ".join(hand) for hand in hands]
            except (ValueError, KeyError, TypeError, AttributeError):
                raise InputError(f"{path}, line {number}: it is no transcript: hands as lists of cards") from None


def _csv_deals(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    rows = [(number, row) for number, row in enumerate(csv.reader(lines), 1) if any(cell.strip() for cell in row)]
    names = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if not {"seat", "cards"} <= set(names):
        has_header = bool(rows) and not any(_is_card(word) for cell in rows[0][1] for word in cell.split())
        yield from rows[has_header:]
        return
    deal: dict[str, str] = {}
    last, started = "", 0
    for number, row in rows[1:]:
        if len(row) != len(names):
            raise InputError(f"{path}, line {number}: {len(row)} cells under {len(names)} names")
        cells = dict(zip(names, (cell.strip() for cell in row), strict=True))
        if deal and (cells["seat"] in deal or cells.get("deal", last) != last):
            yield started, [deal[seat] for seat in sorted(deal)]
            deal = {}
        started, last = number, cells.get("deal", "")
        deal[cells["seat"]] = cells["cards"]
    if deal:
        yield started, [deal[seat] for seat in sorted(deal)]


def _is_card(word: str) -> bool:
    try:
        parse_card(word)
    except InputError:
        return False
    return True


def _count(hands: Sequence[str], shape: tuple[int, ...] | None) -> NDArray[np.int8]:
    """Return the copies of each card by seat, shape (seats, cards)."""
    if not 1 < len(hands) <= MAX_PLAYERS or (shape and len(hands) != shape[0]):
        raise InputError(f"{len(hands)} hands, where the first deal has {shape[0] if shape else '2 to 8'}")
    held = np.zeros((len(hands), _KINDS), np.int8)
    for seat, hand in enumerate(hands):
        for word in hand.replace(",", " ").split():
            held[seat, parse_card(word)] += 1
    return held
