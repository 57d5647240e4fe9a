"""What may be played, and what a hand holds, from Python; with one deck or two.

Hands and plays are masks (`rules.cards`). Second copies in one of them, or a card in both, mean two decks; then the
kernels are those of `tlsim.engine.two_decks`.
"""

from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tlsim.engine import features, one_deck, two_decks
from tlsim.engine.shapes import KINDS, QUAD_RUN, Code
from tlsim.engine.view import VIEW
from tlsim.errors import InputError
from tlsim.rules.cards import DECK, Mask, join, mask, names, numbers, split
from tlsim.rules.ruleset import INSTANT_WINS, Rules, check_players, chop_line, deal_of, pack, player_counts

MOVES = [one_deck.legal_plays_kernel, one_deck.classify_kernel]  # what `moves` needs for one deck …
_FEATURES = [
    features.instant_kind_kernel,
    features.fewest_plays_kernel,
    features.count_leads_kernel,
    two_decks.lattice_kernel,
]
KERNELS = [*MOVES, *_FEATURES]  # … and `describe_hand`


def has_two_decks(rules: Rules) -> bool:
    """Return whether some table of a variant plays with two decks."""
    return any(deal_of(rules, players)[0] == 2 for players in player_counts(rules))


class _Position:
    """The packed rules for some masks, and the kernels that take them: those of one deck or of two.

    Raises `InputError` when the masks hold a card twice and the variant has one deck.
    """

    def __init__(self, rules: Rules, *masks: Mask) -> None:
        self.rules = rules
        twice = masks[0] >> DECK or masks[-1] >> DECK
        if twice and not has_two_decks(rules):
            raise InputError(f"card {names(twice & -twice)[0]} is given twice: {rules.name} is played with one deck")
        is_shared = len(masks) > 1 and masks[0] & masks[1] != 0 and has_two_decks(rules)
        self.two_decks = twice != 0 or is_shared or rules.decks == 2
        self.packed = pack(rules, check_players(rules, None))
        self.packed[0]["decks"], self.packed[0]["cards"] = 1 + self.two_decks, masks[0].bit_count()

    def code(self, cards: Mask) -> Code:
        """Return the code of cards, 0 when they are no combination."""
        if self.two_decks:
            return int(two_decks.classify_kernel(self.packed, *split(cards)))
        return int(one_deck.classify_kernel(self.packed, cards))

    def beats(self, play: Mask, on: Mask) -> bool:
        """Return whether a combination beats another."""
        code, on_code = self.code(play), self.code(on)
        if code == 0 or on_code == 0:
            return False
        if self.two_decks:
            return bool(two_decks.beats_kernel(self.packed, code, split(play), on_code, split(on)))
        return bool(one_deck.beats_kernel(self.packed, code, on_code))

    def plays(self, views: NDArray[Any]) -> list[Mask]:
        """Return the legal plays of a view, shape (1,), as masks in the order of kind, length, top card and cards."""
        kernels = two_decks if self.two_decks else one_deck
        n, view = kernels.legal_plays_kernel(self.packed, views), views[0]
        plays = [join(*both) for both in zip(view["plays"][:n], view["plays_second"][:n], strict=True)]
        return sorted(plays, key=lambda play: (self.code(play), play))

    def instant_kind(self, hand: Mask, opening: bool) -> int:
        """Return the index of a hand's instant win among INSTANT_WINS, -1 for none."""
        if self.two_decks:
            return int(two_decks.instant_kind_kernel(self.packed, *split(hand), int(opening)))
        return int(features.instant_kind_kernel(self.packed, hand, int(opening)))


# ------------------------------------------------------------------------------------------------ plays


def describe(rules: Rules, cards: Mask) -> tuple[str, int] | None:
    """Return the kind and length of a combination, `None` when the cards are none under these rules."""
    code = _Position(rules, cards).code(cards)
    if code == 0:
        return None
    kind, length = _kind_and_length(code)
    return KINDS[kind], length


def may_follow(rules: Rules, play: Mask, on: Mask) -> bool:
    """Return whether one combination may be played on another (0: led), obligations apart."""
    if on:
        return _Position(rules, play, on).beats(play, on)
    code = _Position(rules, play).code(play)
    return code != 0 and _kind_and_length(code)[0] != QUAD_RUN


def _kind_and_length(code: Code) -> tuple[int, int]:
    """Return kind and length of a code, as `kind_of` and `length_of` of `engine.one_deck` do in kernels."""
    return code >> 10, (code >> 6) & 15


def moves(rules: Rules, hand: Mask, on: Mask = 0, opening: bool = False) -> list[Mask]:
    """Return every legal play of a hand, as masks in the order of kind, length, top card and cards; passing not.

    `on` is the play to beat, 0 to lead a pile; on an `opening` lead the hand's lowest card is required as
    `rules.first_lead` says. Raises `InputError` when `on` is no combination, or a card is there more often than the
    variant's decks hold it.
    """
    position = _Position(rules, hand, on) if on else _Position(rules, hand)
    _check_copies(hand, on, 1 + position.two_decks)
    views = np.zeros(1, VIEW).view(np.recarray)
    view = views[0]
    view["hand"], view["hand_second"] = split(hand)
    view["on_cards"], view["on_second"] = split(on)
    view["on"] = position.code(on)
    if on and not view["on"]:
        raise InputError(f"{' '.join(names(on))} is no combination in {rules.name}: nothing can be played on it")
    if opening and not on and rules.first_lead != "free":
        view["required"] = hand & -hand
    return position.plays(views)


def _check_copies(hand: Mask, on: Mask, decks: int) -> None:
    """Raise `InputError` when hand and pile together hold a card more often than there are decks."""
    for card in range(DECK):
        copies = sum(cards >> card & 1 for mask in (hand, on) for cards in split(mask))
        if copies > decks:
            often = "both" if decks == 1 else "three times"
            raise InputError(f"{names(1 << card)[0]} is {often} in the hand and on the pile")


# ------------------------------------------------------------------------------------------------ hands


def instant_win_name(rules: Rules, hand: Mask, opening: bool) -> str | None:
    """Return the instant win that a dealt hand has, `None` for none; on an `opening` hand there are more."""
    kind = _Position(rules, hand).instant_kind(hand, opening)
    return INSTANT_WINS[kind] if kind >= 0 else None


def describe_hand(rules: Rules, hand: Mask) -> dict[str, Any]:
    """Return what a hand holds.

    `combinations`: how many by kind, runs by length; `chops`: `(name, how many, the lowest as a mask)` of what the chop
    table lists; `instant_win` and `opening_instant_win`: names or `None`; `legal_leads`, `fewest_plays`: numbers.
    """
    position = _Position(rules, hand)
    lattice = two_decks.lattice_kernel(*split(hand))
    combinations: Counter[str] = Counter()
    chops: dict[str, list[Mask]] = {}
    leads = moves(rules, hand)
    for play in [*leads, *_quad_runs(rules, hand)]:
        kind, length = describe(rules, play) or ("", 0)
        name = kind if length == 1 else f"{kind}-{length}"
        combinations[name] += 1
        if chop_line(rules, name):
            chops.setdefault(name, []).append(play)
    n_leads = len(leads)
    if not position.two_decks:
        n_leads = int(features.count_leads_kernel(position.packed, hand))
    return {
        "combinations": dict(combinations),
        "chops": [(name, len(plays), plays[0]) for name, plays in chops.items()],
        "instant_win": instant_win_name(rules, hand, False),
        "opening_instant_win": instant_win_name(rules, hand, True),
        "legal_leads": n_leads,
        "fewest_plays": int(features.fewest_plays_kernel(position.packed, lattice, hand.bit_count())),
    }


def _quad_runs(rules: Rules, hand: Mask) -> list[Mask]:
    """Return the quad runs of a hand, which only answer and so are no leads."""
    cards = list(numbers(hand))
    by_rank = [[card for card in cards if card // 4 == rank] for rank in range(12)]
    quads = [{mask(four) for four in combinations(of_rank, 4)} for of_rank in by_rank]
    runs = [sum(run) for n in (2, 3) for rank in range(13 - n) for run in product(*quads[rank : rank + n])]
    return [run for run in runs if describe(rules, run)]
