"""Read dealt hands from a file, and check that they are deals of one table: as many seats, cards and decks."""

import codecs
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tlsim.chances.deal_texts import Deal, deals_of, parse_dealt_card
from tlsim.errors import InputError
from tlsim.rules.cards import DECK, names
from tlsim.rules.ruleset import MAX_PLAYERS, Rules, check_players, deal_of

MAX_BYTES = 2**30  # of a file: some million deals
_MIN_PLAYERS = 2
_STDIN = "-"
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class DealtHands:
    """Deals of one table: `held[deal, seat, card]` copies of each card, `cards` a hand, from `decks` decks."""

    held: NDArray[np.int8]
    cards: int
    decks: int
    seats: tuple[str, ...] = ()  # as the file names them; empty: they are numbered from 0
    header: str = ""  # a line that was read as names of columns
    n_other_seatings: int = 0  # transcripts left out, of a deal that is there with other policies on its seats

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

    def seat_name(self, seat: int) -> str:
        """Return the name of a seat, as `seat 0` or what the file calls it."""
        name = self.seats[seat] if self.seats else str(seat)
        return f"seat {name}" if name.isdigit() else name


def read(path: Path, rules: Rules) -> DealtHands:
    """Return the deals of a file, or of standard input for `-`; `rules` say from how many decks they are dealt.

    One JSON object a line, or an array of them, with `hands` (or `dealt`, before trading), a list of cards a seat. Or
    CSV: a row a deal and a column a seat, each with the cards of the seat in one cell; or columns `seat` and `cards`,
    and `deal` where it is known; or columns `deal`, `seat` and `card`. Every deal has the same seats and as many cards
    a hand. UTF-8 or UTF-16, at most `MAX_BYTES`.

    Raises `InputError`, with the line, for a file that cannot be read so.
    """
    try:
        return _checked(_text(_bytes_of(path)), rules)
    except InputError as error:
        raise InputError(f"{_name_of(path)}{error}") from None


def _name_of(path: Path) -> str:
    return "standard input" if str(path) == _STDIN else str(path)


# ------------------------------------------------------------------------------------------------ text


def _bytes_of(path: Path) -> bytes:
    """Return what is in a file; raise `InputError` for one that cannot be read, or that is too large."""
    try:
        if str(path) == _STDIN:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with path.open("rb") as file:
                if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
                    raise InputError(": a device, not a file")
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f": {getattr(error, 'strerror', None) or 'no name of a file'}") from None
    if len(data) > MAX_BYTES:
        raise InputError(f": a file of deals has at most {MAX_BYTES >> 20:,} MiB, this one has more")
    return data


def _text(data: bytes) -> str:
    """Return the text of a file, in UTF-8 or with the mark of UTF-16; raise `InputError` for what is no text."""
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        sign = f"the byte 0x{data[error.start]:02x}"
        raise InputError(f", line {line}: {sign} is not UTF-8; not a text file, or one to save as UTF-8") from None
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        raise InputError(f", line {line}: the byte 0x00 is not text; not a text file, or UTF-16 without its mark")
    return text


# ------------------------------------------------------------------------------------------------ deals


def _checked(text: str, rules: Rules) -> DealtHands:
    """Return the deals that a text holds, all alike; raise `InputError`, with the line, for one that is not."""
    file = deals_of(text)
    counted: list[NDArray[np.int8]] = []
    seats: list[str] = []
    decks = 0
    for number, deal in enumerate(file.deals, 1):
        if not counted:
            seats = _seats_of(deal)
            players = _players_of(deal)
            decks, _ = deal_of(rules, _check_players(rules, players))
        counted.append(_count(deal, number, seats))
        _check_decks(counted[-1], deal, number, decks, rules)
    if not counted:
        header = f" but the names {file.header}" if file.header else ""
        raise InputError(f": the file has no deals{header}")
    held = np.stack(counted)
    cards = _cards_of_a_hand(held)
    names_given = () if seats == [str(seat) for seat in range(len(seats))] else tuple(seats)
    return DealtHands(held, cards, decks, names_given, file.header, file.n_other_seatings)


def _check_players(rules: Rules, players: int) -> int:
    """Return the number of seats of a file; raise `InputError` when the variant does not deal to so many."""
    try:
        return check_players(rules, players)
    except InputError as error:
        raise InputError(f": {error}; -v names another variant") from None


def _seats_of(deal: Deal) -> list[str]:
    """Return the seats of the first deal: numbers in their order, names as they come."""
    seats = [hand.seat for hand in deal.hands]
    return sorted(seats, key=int) if all(seat.isdecimal() for seat in seats) else seats


def _players_of(deal: Deal) -> int:
    """Return the number of hands of a deal; raise `InputError` if no table has so many."""
    n = len(deal.hands)
    if not _MIN_PLAYERS <= n <= MAX_PLAYERS:
        raise InputError(f", line {deal.line}: a deal has from {_MIN_PLAYERS} to {MAX_PLAYERS} hands, got {n}")
    return n


def _count(deal: Deal, number: int, seats: Sequence[str]) -> NDArray[np.int8]:
    """Return the copies of each card by seat, shape (seats, cards); `seats` are those of the first deal."""
    if len(deal.hands) != len(seats):
        raise InputError(f", line {deal.line}: {len(deal.hands)} hands, but the first deal has {len(seats)}")
    held = np.zeros((len(seats), DECK), np.int8)
    numbers = {seat: place for place, seat in enumerate(seats)}
    for hand in deal.hands:
        if hand.seat not in numbers:
            raise InputError(f", line {hand.line}: no seat of the first deal is called {hand.seat!r}")
        words = hand.cards.replace(",", " ").split()
        if not words:
            place = f"deal {deal.name or number}, seat {hand.seat}"
            raise InputError(f", line {hand.line}: {place} has no cards")
        row = held[numbers[hand.seat]]
        for word in words:
            try:
                card = parse_dealt_card(word)
            except InputError as error:
                raise InputError(f", line {hand.line}: {error}") from None
            row[card] += 1 if row[card] < MAX_PLAYERS else 0  # more copies are refused below
    return held


def _check_decks(held: NDArray[np.int8], deal: Deal, number: int, decks: int, rules: Rules) -> None:
    """Raise `InputError` for a card that is dealt more often than the decks hold it."""
    copies = held.sum(axis=0, dtype=np.int64)
    too_often = np.flatnonzero(copies > decks)
    if len(too_often):
        card = int(too_often[0])
        holders = [hand for hand in deal.hands if _holds(hand.cards, card)]
        place = f", line {holders[-1].line}: deal {deal.name or number}"
        n_decks = "one deck" if decks == 1 else "two decks"
        what = f"{rules.name} deals {n_decks} to {len(held)} players"
        raise InputError(f"{place}: {names(1 << card)[0]} is dealt {copies[card]} times, but {what}")


def _holds(cards: str, card: int) -> bool:
    return any(parse_dealt_card(word) == card for word in cards.replace(",", " ").split())


def _cards_of_a_hand(held: NDArray[np.int8]) -> int:
    """Return the number of cards that every hand has; raise `InputError` where they differ."""
    sizes = np.unique(held.sum(axis=2))
    if len(sizes) > 1:
        raise InputError(f": all hands must have as many cards, but they have {sizes[0]} to {sizes[-1]}")
    return int(sizes[0])
