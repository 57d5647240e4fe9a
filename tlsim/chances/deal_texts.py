"""Read the forms in which files write deals: transcripts (docs/rules.md, section 11) and tables in CSV.

What is wrong is told from its line on (`, line 3: …`); `deal_files` puts the name of the file before it.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from tlsim.errors import InputError
from tlsim.rules.cards import RANKS, Card, parse_card

_MAX_SHOWN = 60  # signs of a text that an error shows
_SELECTORS = str.maketrans("", "", "\ufe0e\ufe0f")  # what follows a suit sign to show it as text, or in colour
_WHITE = re.compile(r"\s*")
_LOOKS_LIKE_A_CARD = re.compile(rf"(?:{'|'.join([*RANKS, 'T'])})[^\d\s]{{1,2}}", re.IGNORECASE)
_DELIMITERS = (";", "\t", ",")

CsvRow: TypeAlias = tuple[int, list[str]]
"""The cells of a row, after the number of its last line."""


class Hand(NamedTuple):
    """The cards of one seat, as the names of the cards between spaces or commas, and the line where they stand."""

    seat: str
    line: int
    cards: str


class Deal(NamedTuple):
    """One deal: the name that the file gives it, or "", and its hands."""

    name: str
    hands: list[Hand]

    @property
    def line(self) -> int:
        """Return the last line of the deal."""
        return max((hand.line for hand in self.hands), default=1)


@dataclass
class DealTexts:
    """The deals of a file; the rest is known when they have all been read."""

    deals: Iterable[Deal]
    header: str = ""
    n_other_seatings: int = 0


def deals_of(text: str) -> DealTexts:
    """Return the deals that a text holds, in JSON or in CSV; reading them raises `InputError` with the line."""
    text = text.translate(_SELECTORS)
    file = DealTexts([])
    if text.lstrip()[:1] in ("{", "["):
        file.deals = _json_deals(text, file)
    else:
        file.deals = _csv_deals(_csv_rows(text), file)
    return file


def cut(text: str) -> str:
    """Return the first signs of a text from a file, those that cannot be printed as `?`."""
    first_signs = text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
    return "".join(sign if sign.isprintable() else "?" for sign in first_signs)


@cache
def parse_dealt_card(word: str) -> Card:
    """Return the number of a card; raise `InputError` for anything else, with the sign that no card has.

    >>> parse_dealt_card("10D")
    30
    """
    try:
        return parse_card(word)
    except InputError as error:
        odd = next((sign for sign in word if not sign.isascii() and sign not in "♠♣♦♥"), None)
        if odd is not None:
            name = unicodedata.name(odd, "without a name").lower()
            raise InputError(f"unknown card {cut(word)!r}: U+{ord(odd):04X} ({name}) is no sign of a card") from None
        if len(word) > _MAX_SHOWN:
            raise InputError(f"unknown card {cut(word)!r}") from None
        raise error from None


# ------------------------------------------------------------------------------------------------ JSON


def _json_deals(text: str, file: DealTexts) -> Iterator[Deal]:
    """Yield the deals of transcripts, one after another or in an array.

    A transcript that differs from one before only in who sits where, as `replay` writes for each seating of a deal, is
    left out and counted.
    """
    seatings: dict[Any, list[Any]] = {}
    for line, value in _json_values(text):
        try:
            is_one = isinstance(value, dict) or (value and _is_deal(value))
            deals = [value] if is_one else value
            for transcript in deals:
                hands = _hands_of(transcript)
                if _is_other_seating(transcript, hands, seatings):
                    file.n_other_seatings += 1
                else:
                    yield Deal("", [Hand(str(seat), line, hand) for seat, hand in enumerate(hands)])
        except (ValueError, LookupError, TypeError, AttributeError):
            raise InputError(f", line {line}: not a transcript with hands as lists of cards") from None


def _json_values(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the values of a text of JSON, one a line or longer, each after the line where it begins."""
    decoder, at, line = json.JSONDecoder(), 0, 1
    while True:
        start = _WHITE.match(text, at).end()  # type: ignore[union-attr]  # it matches anywhere
        line += text.count("\n", at, start)
        if start == len(text):
            return
        try:
            value, at = decoder.raw_decode(text, start)
        except RecursionError:
            raise InputError(f", line {line}: not a transcript, but JSON too deep to read") from None
        except ValueError as error:
            if isinstance(error, json.JSONDecodeError) and text[error.pos :].strip():  # else it ends too soon
                line = error.lineno
            raise InputError(f", line {line}: not a transcript with hands as lists of cards") from None
        yield line, value
        line += text.count("\n", start, at)


def _is_deal(value: list[Any]) -> bool:
    """Return whether a list is one deal, a list of hands: texts, or lists of cards."""
    first = value[0]
    if isinstance(first, str):
        return True
    return isinstance(first, list) and bool(first) and isinstance(first[0], str) and len(first[0].split()) == 1


def _hands_of(transcript: Any) -> list[str]:
    """Return the hands of a transcript, or of a list of hands, as texts; raises one of many errors for another."""
    hands = transcript
    if isinstance(transcript, dict):
        hands = transcript.get("dealt") or transcript["hands"]
    if not isinstance(hands, list):
        raise TypeError
    return [hand if isinstance(hand, str) else " ".join(hand) for hand in hands]


def _is_other_seating(transcript: Any, hands: list[str], seatings: dict[Any, list[Any]]) -> bool:
    """Return whether a transcript is of a deal that is there, with other policies; note it in `seatings`."""
    if not isinstance(transcript, dict) or "policies" not in transcript or "index" not in transcript:
        return False
    keys = [str(transcript.get(key)) for key in ("variant", "seed", "match", "index")]
    seen = seatings.setdefault((*keys, *hands), [])
    is_new = bool(seen) and transcript["policies"] not in seen
    seen.append(transcript["policies"])
    return is_new


# ------------------------------------------------------------------------------------------------ CSV


def _csv_rows(text: str) -> Iterator[CsvRow]:
    """Yield the rows that are not empty; `;` or a tab in the first one is what separates its cells."""
    first_line = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = next((sign for sign in _DELIMITERS if sign in first_line), ",")
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise InputError(f", line {reader.line_num}: not a table: {error}") from None


def _csv_deals(rows: Iterator[CsvRow], file: DealTexts) -> Iterator[Deal]:
    """Yield the deals of a table: in rows of one deal, of one hand, or of one card."""
    first = next(rows, None)
    if first is None:
        return
    names = [cell.lower() for cell in first[1]]
    if {"seat", "cards"} <= set(names) and "deal" not in names:
        yield from _deals_until_a_seat_returns(names, rows)
    elif {"seat", "cards"} <= set(names) or {"deal", "seat", "card"} <= set(names):
        yield from _numbered_deals(names, rows)
    elif {"seat", "card"} <= set(names):
        raise InputError(f", line {first[0]}: one card a row needs the columns deal, seat and card")
    else:
        yield from _wide_deals(first, rows, file)


def _wide_deals(first: CsvRow, rows: Iterator[CsvRow], file: DealTexts) -> Iterator[Deal]:
    """Yield the deals of rows with the hands of one deal each, after a column that numbers them, if there is one.

    A first row none of whose cells could be cards has the names of the columns.
    """
    seats: list[str] = []
    if not any(map(_could_be_cards, first[1])):
        seats = first[1]
        seats = [cut(cell) for cell in seats]
        file.header = " ".join(seats)
        after_header = next(rows, None)
        if after_header is None:
            return
        first = after_header
    is_numbered = bool(first[1][0]) and not _could_be_cards(first[1][0]) and any(map(_could_be_cards, first[1][1:]))
    seats = seats[is_numbered:]
    if len(seats) != len(first[1]) - is_numbered or len(set(seats)) != len(seats) or not all(seats):
        seats = [str(seat) for seat in range(len(first[1]) - is_numbered)]
    for line, cells in (first, *rows):
        hands = cells[is_numbered:]
        name = cut(cells[0]) if is_numbered else ""
        named = [*seats, *(str(seat) for seat in range(len(seats), len(hands)))]
        yield Deal(name, [Hand(seat, line, hand) for seat, hand in zip(named, hands, strict=False)])


def _could_be_cards(cell: str) -> bool:
    """Return whether a cell has a card, or two words that look like cards and may be misspelt."""
    words = cell.replace(",", " ").split()
    return any(map(_is_card, words)) or sum(_LOOKS_LIKE_A_CARD.fullmatch(word) is not None for word in words) > 1


def _is_card(word: str) -> bool:
    """Return whether a word is the name of a card."""
    try:
        parse_card(word)
    except InputError:
        return False
    return True


def _cells_by_name(names: Sequence[str], rows: Iterator[CsvRow]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line of each row, and its cells by the names of their columns."""
    for line, row in rows:
        if len(row) != len(names):
            raise InputError(f", line {line}: {len(row)} cells under {len(names)} names")
        cells = dict(zip(names, row, strict=True))
        yield line, cells | {name: cut(cells[name]) for name in ("deal", "seat") if name in cells}


def _deals_until_a_seat_returns(names: Sequence[str], rows: Iterator[CsvRow]) -> Iterator[Deal]:
    """Yield the deals of rows with one hand each that are not numbered: a seat that returns begins the next deal."""
    hands: dict[str, Hand] = {}
    for line, cells in _cells_by_name(names, rows):
        if cells["seat"] in hands:
            yield Deal("", list(hands.values()))
            hands = {}
        hands[cells["seat"]] = Hand(cells["seat"], line, cells["cards"])
    if hands:
        yield Deal("", list(hands.values()))


def _numbered_deals(names: Sequence[str], rows: Iterator[CsvRow]) -> Iterator[Deal]:
    """Yield the deals of rows with one hand or one card each, in any order; the deals in that of their first rows."""
    deals: dict[str, dict[str, Hand]] = {}
    for line, cells in _cells_by_name(names, rows):
        hands = deals.setdefault(cells["deal"], {})
        before = hands.get(cells["seat"])
        cards = cells.get("cards", cells.get("card", ""))
        if before is not None:
            if "cards" in cells:
                place = f"deal {cells['deal']}"
                raise InputError(f", line {line}: {place} has seat {cells['seat']} twice, first in line {before.line}")
            cards = f"{before.cards} {cards}"
        hands[cells["seat"]] = Hand(cells["seat"], line, cards)
    for name, of_deal in deals.items():
        yield Deal(name, list(of_deal.values()))
