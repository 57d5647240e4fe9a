"""Read dealt hands from files: transcripts (docs/rules.md, section 11), or CSV with the cards by seat."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tlsim.errors import InputError
from tlsim.rules.cards import DECK, parse_card
from tlsim.rules.ruleset import MAX_PLAYERS

_MIN_PLAYERS, _MAX_DECKS = 2, 2

HandTexts: TypeAlias = Sequence[str]
"""The hands of a deal by seat, each as the names of its cards between spaces or commas."""


@dataclass(frozen=True)
class DealtHands:
    """Deals of one table: `held[deal, seat, card]` copies of each card, `cards` a hand, from `decks` decks."""

    held: NDArray[np.int8]
    cards: int
    decks: int

    @property
    def n_deals(self) -> int:
        """Return the number of deals."""
        return len(self.held)

    @property
    def n_seats(self) -> int:
        """Return the number of seats."""
        return int(self.held.shape[1])

    @property
    def deck_size(self) -> int:
        """Return the number of cards in all decks, dealt or not."""
        return DECK * self.decks


def read(path: Path) -> DealtHands:
    """Return the deals of a file.

    One JSON object a line with `hands` (or `dealt`, before trading), a list of cards a seat. Or CSV: a row a deal and a
    column a seat, each with the cards of the seat in one cell; or columns `seat` and `cards`, and `deal` where it is
    known. Every deal has the same number of seats and of cards a hand.

    Raises `InputError`, with the line, for a file that cannot be read so.
    """
    lines = _lines_of(path)
    first_line = next((line for line in lines if line.strip()), "")
    is_json = first_line.lstrip().startswith("{")
    read_deals = _json_deals if is_json else _csv_deals
    deals: list[NDArray[np.int8]] = []
    for number, hands in read_deals(path, lines):
        try:
            deals.append(_count(hands, n_seats=len(deals[0]) if deals else None))
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
    if not deals:
        raise InputError(f"{path}: the file has no deals")
    held = np.stack(deals)
    cards = _cards_of_a_hand(path, held)
    most_copies = int(held.sum(axis=1).max())
    is_one_deck = most_copies == 1 and held.shape[1] * cards <= DECK
    if most_copies > _MAX_DECKS:
        raise InputError(f"{path}: two decks hold a card twice, but one is dealt {most_copies} times in a deal")
    return DealtHands(held, cards, 1 if is_one_deck else _MAX_DECKS)


def _lines_of(path: Path) -> list[str]:
    """Return the lines of a text file; raise `InputError` if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or 'not a text file'}") from None


def _cards_of_a_hand(path: Path, held: NDArray[np.int8]) -> int:
    """Return the number of cards that every hand has; raise `InputError` where they differ."""
    sizes = np.unique(held.sum(axis=2))
    if len(sizes) > 1:
        raise InputError(f"{path}: all hands must have as many cards, but they have {sizes[0]} to {sizes[-1]}")
    return int(sizes[0])


def _json_deals(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, HandTexts]]:
    """Yield the hands of each transcript, with the number of its line."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                transcript = json.loads(line)
                hands: list[Any] = transcript.get("dealt") or transcript["hands"]
                yield number, [" ".join(hand) for hand in hands]
            except (ValueError, KeyError, TypeError, AttributeError):
                raise InputError(f"{path}, line {number}: not a transcript with hands as lists of cards") from None


def _csv_deals(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, HandTexts]]:
    """Yield the hands of each deal of a CSV file, with the number of its last line."""
    rows = [(number, row) for number, row in enumerate(csv.reader(lines), 1) if any(cell.strip() for cell in row)]
    if not rows:
        return
    names = [cell.strip().lower() for cell in rows[0][1]]
    if {"seat", "cards"} <= set(names):
        yield from _deals_of_rows(path, names, rows[1:])
    else:
        has_header = not any(_is_card(word) for cell in rows[0][1] for word in cell.split())
        yield from rows[has_header:]


def _deals_of_rows(
    path: Path, names: Sequence[str], rows: Sequence[tuple[int, list[str]]]
) -> Iterator[tuple[int, HandTexts]]:
    """Yield the hands of each deal from rows of one seat each: a deal ends where its number changes or a seat returns.

    Without a column `deal` only the seats tell.
    """
    hands: dict[str, str] = {}  # of the deal so far, by seat
    deal, last_line = "", 0
    for number, row in rows:
        if len(row) != len(names):
            raise InputError(f"{path}, line {number}: {len(row)} cells under {len(names)} names")
        cells = dict(zip(names, (cell.strip() for cell in row), strict=True))
        if hands and (cells["seat"] in hands or cells.get("deal", deal) != deal):
            yield last_line, [hands[seat] for seat in sorted(hands)]
            hands = {}
        last_line, deal = number, cells.get("deal", "")
        hands[cells["seat"]] = cells["cards"]
    if hands:
        yield last_line, [hands[seat] for seat in sorted(hands)]


def _is_card(word: str) -> bool:
    """Return whether a word is the name of a card."""
    try:
        parse_card(word)
    except InputError:
        return False
    return True


def _count(hands: HandTexts, n_seats: int | None) -> NDArray[np.int8]:
    """Return the copies of each card by seat, shape (seats, cards); `n_seats` are those of the first deal."""
    if n_seats is not None and len(hands) != n_seats:
        raise InputError(f"{len(hands)} hands, but the first deal has {n_seats}")
    if not _MIN_PLAYERS <= len(hands) <= MAX_PLAYERS:
        raise InputError(f"a deal has from {_MIN_PLAYERS} to {MAX_PLAYERS} hands, got {len(hands)}")
    held = np.zeros((len(hands), DECK), np.int8)
    for seat, hand in enumerate(hands):
        for word in hand.replace(",", " ").split():
            held[seat, parse_card(word)] += 1
    return held
