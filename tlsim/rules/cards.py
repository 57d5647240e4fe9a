"""Cards, hands as bit masks, and their notation (docs/rules.md, section 1).

Card `4*rank + suit` is bit number `card` of a hand, so that a rank is one hexadecimal digit (a *nibble*) of the mask,
integer order of cards is their strength, and everything about shapes is arithmetic on the nibbles. Second copies (two
decks) stand 52 bits up; kernels take them as a mask of their own (`split`, `join`).
"""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from tlsim.errors import InputError, brief

Card: TypeAlias = int
"""A card, `4*rank + suit`, 0..51: integer order is strength."""
Rank: TypeAlias = int
"""A rank, 0 (the 3s) to 12 (the 2s)."""
Mask: TypeAlias = int
"""A set of cards: card c is bit c. Second copies stand 52 bits up, or in a mask of their own."""
Seat: TypeAlias = int
"""A seat at the table, 0..7; play goes to the next higher one."""

RANKS = "3 4 5 6 7 8 9 10 J Q K A 2".split()
SUITS = "SCDH"
SYMBOLS = "♠♣♦♥"

DECK = 52  # cards of one deck
FULL = (1 << DECK) - 1
ONES = 0x1111111111111  # the lowest card (spades) of every rank: one bit a nibble
TWOS = 0xF << 48  # the four 2s
NO_TWOS = FULL ^ TWOS
BLACK = ONES * 0b0011
RED = ONES * 0b1100

_NAMES = [rank + suit for rank in RANKS for suit in SUITS]
_SYMBOL_NAMES = [rank + suit for rank in RANKS for suit in SYMBOLS]
_NUMBER_OF = {name: card for card, name in enumerate(_NAMES)}
_NUMBER_OF |= {name: card for card, name in enumerate(_SYMBOL_NAMES)}
_NUMBER_OF |= {"T" + suit: _NUMBER_OF["10" + suit] for suit in SUITS + SYMBOLS}
_WITHOUT_SELECTORS = str.maketrans("", "", "\ufe0e\ufe0f")  # which ask for ♥ as text, or as an emoji


def parse_card(text: str) -> Card:
    """Return the number 0..51 of a card such as `10D`, `TD`, `10♦` or `10d`; raise `InputError` for anything else."""
    card = _NUMBER_OF.get(text.translate(_WITHOUT_SELECTORS).upper())
    if card is None:
        if text.upper() in [*RANKS, "T"]:
            spellings = " or ".join(text.upper() + suit for suit in SUITS)
            raise InputError(f"card {text!r} has a rank but no suit: write {spellings}")
        spelling = f"a card is a rank ({' '.join(RANKS)}) and a suit (S C D H), as 10D"
        raise InputError(f"unknown card {brief(text)}: {spelling}{_odd_sign(text)}")
    return card


def _odd_sign(text: str) -> str:
    """Return which character of a card is none of English, for those that look like one of it."""
    for sign in text.translate(_WITHOUT_SELECTORS):
        if not sign.isascii() and sign not in SYMBOLS:
            return f"; {brief(sign)} is U+{ord(sign):04X} {unicodedata.name(sign, 'without a name')}"
    return ""


def parse_hand(text: str) -> Mask:
    """Return the mask of cards separated by spaces or commas, in any order.

    Raises
    ------
    InputError
        For an unknown card, a card that is there three times, and no card at all.
    """
    cards = [parse_card(word) for word in text.replace(",", " ").split()]
    for card in cards:
        if cards.count(card) > 2:
            raise InputError(f"a card can be there twice at most, got {_NAMES[card]} {cards.count(card)} times")
    if not cards:
        raise InputError('no cards given: write them as "3S 4S 10D"')
    return mask(cards)


def split(hand: Mask) -> tuple[Mask, Mask]:
    """Return the cards that a mask holds at least once, and those that it holds twice."""
    return hand & FULL, hand >> DECK


def join(hand: Mask, second: Mask) -> Mask:
    """Return the mask of the cards held at least once and of those held twice."""
    return int(hand) | int(second) << DECK


def without(hand: Mask, play: Mask) -> Mask:
    """Return the mask of a hand when a play has left it."""
    (held, held_twice), (played, played_twice) = split(hand), split(play)
    one_copy_stays = held_twice & played & ~played_twice
    return join((held & ~played) | one_copy_stays, held_twice & ~played)


def mask(cards: Iterable[Card]) -> Mask:
    """Return the mask of card numbers, each there once or twice."""
    hand = 0
    for card in cards:
        is_second_copy = hand >> card & 1
        hand |= 1 << (card + DECK * is_second_copy)
    return hand


def numbers(hand: Mask) -> Iterator[Card]:
    """Yield the card numbers in a mask, low to high; a card held twice comes twice."""
    left, second = split(int(hand))
    while left:
        lowest = left & -left
        card = lowest.bit_length() - 1
        yield card
        if second & lowest:
            yield card
        left ^= lowest


def names(hand: Mask) -> list[str]:
    """Return the cards of a mask in file notation (`10D`), low to high."""
    return [_NAMES[card] for card in numbers(hand)]


def show(hand: Mask) -> str:
    """Return the cards of a mask as a terminal shows them (`3♠ 10♦`), low to high."""
    return " ".join(_SYMBOL_NAMES[card] for card in numbers(hand))
