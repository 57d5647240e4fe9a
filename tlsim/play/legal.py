"""What may be played, and what a hand holds, from Python; with one deck or two.

Hands and plays are masks (`rules.cards`). Second copies in one of them, or a card in both, mean two decks; then the
kernels are those of `tlsim.engine.two_decks`.
"""

from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np

from tlsim.engine import features, one_deck, two_decks
from tlsim.engine.shapes import KINDS, QUAD_RUN
from tlsim.engine.view import VIEW
from tlsim.errors import InputError
from tlsim.rules.cards import DECK, join, mask, names, numbers, split
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


def _packed_for(rules: Rules, *masks: int) -> tuple[Any, bool]:
    """Return the packed rules for a hand of this size, the first mask, and whether the masks are of two decks.

    Raises `InputError` when they are, and the variant has one deck.
    """
    twice = masks[0] >> DECK or masks[-1] >> DECK
    if twice and not has_two_decks(rules):
        raise InputError(f"card {names(twice & -twice)[0]} is given twice: {rules.name} is played with one deck")
    shared = len(masks) > 1 and masks[0] & masks[1] != 0 and has_two_decks(rules)
    two = twice != 0 or shared or rules.decks == 2
    packed = pack(rules, check_players(rules, None))
    packed[0]["decks"], packed[0]["cards"] = 1 + two, masks[0].bit_count()
    return packed, two


def _code(packed: Any, two: bool, cards: int) -> int:
    return int(two_decks.classify_kernel(packed, *split(cards)) if two else one_deck.classify_kernel(packed, cards))


# ------------------------------------------------------------------------------------------------ plays


def describe(rules: Rules, cards: int) -> tuple[str, int] | None:
    """Return the kind and length of a combination, `None` when the cards are none under these rules."""
    code = _code(*_packed_for(rules, cards), cards)
    return (KINDS[code >> 10], (code >> 6) & 15) if code else None


def may_follow(rules: Rules, play: int, on: int) -> bool:
    """Return whether one combination may be played on another (0: led), obligations apart."""
    packed, two = _packed_for(rules, play, on) if on else _packed_for(rules, play)
    code, beaten = _code(packed, two, play), _code(packed, two, on)
    if code == 0 or (beaten == 0 and on != 0):
        return False
    if on == 0:
        return code >> 10 != QUAD_RUN
    if two:
        return bool(two_decks.beats_kernel(packed, code, split(play), beaten, split(on)))
    return bool(one_deck.beats_kernel(packed, code, beaten))


def moves(rules: Rules, hand: int, on: int = 0, opening: bool = False) -> list[int]:
    """Return every legal play of a hand, as masks in the order of kind, length, top card and cards; passing not.

    `on` is the play to beat, 0 to lead a pile; on an `opening` lead the hand's lowest card is required as
    `rules.first_lead` says. Raises `InputError` when `on` is no combination, or a card is there more often than the
    variant's decks hold it.
    """
    packed, two = _packed_for(rules, hand, on) if on else _packed_for(rules, hand)
    for card in range(DECK):
        copies = sum(one >> card & 1 for mask in (hand, on) for one in split(mask))
        if copies > 1 + two:
            often = "three times" if two else "both"
            raise InputError(f"{names(1 << card)[0]} is {often} in the hand and on the pile")
    views = np.zeros(1, VIEW).view(np.recarray)
    view = views[0]
    view["hand"], view["hand_second"] = split(hand)
    view["on_cards"], view["on_second"] = split(on)
    view["on"] = _code(packed, two, on)
    if on and not view["on"]:
        raise InputError(f"{' '.join(names(on))} is no combination in {rules.name}: nothing can be played on it")
    if opening and not on and rules.first_lead != "free":
        view["required"] = hand & -hand
    n = (two_decks if two else one_deck).legal_plays_kernel(packed, views)
    found = [join(*both) for both in zip(view["plays"][:n], view["plays_second"][:n], strict=True)]
    return sorted(found, key=lambda play: (_code(packed, two, play), play))


# ------------------------------------------------------------------------------------------------ hands


def instant_win_name(rules: Rules, hand: int, opening: bool) -> str | None:
    """Return the instant win that a dealt hand has, `None` for none; on an `opening` hand there are more."""
    packed, two = _packed_for(rules, hand)
    if two:
        kind = int(two_decks.instant_kind_kernel(packed, *split(hand), int(opening)))
    else:
        kind = int(features.instant_kind_kernel(packed, hand, int(opening)))
    return INSTANT_WINS[kind] if kind >= 0 else None


def describe_hand(rules: Rules, hand: int) -> dict[str, Any]:
    """Return what a hand holds.

    `combinations`: how many by kind, runs by length; `chops`: `(name, how many, the lowest as a mask)` of what the chop
    table lists; `instant_win` and `opening_instant_win`: names or `None`; `legal_leads`, `fewest_plays`: numbers.
    """
    packed, two = _packed_for(rules, hand)
    lattice = two_decks.lattice_kernel(*split(hand))
    combinations: Counter[str] = Counter()
    chops: dict[str, list[int]] = {}
    plays = moves(rules, hand)
    for play in [*plays, *_quad_runs(rules, hand)]:
        kind, length = describe(rules, play) or ("", 0)
        name = kind if length == 1 else f"{kind}-{length}"
        combinations[name] += 1
        if chop_line(rules, name):
            chops.setdefault(name, []).append(play)
    return {
        "combinations": dict(combinations),
        "chops": [(name, len(found), found[0]) for name, found in chops.items()],
        "instant_win": instant_win_name(rules, hand, False),
        "opening_instant_win": instant_win_name(rules, hand, True),
        "legal_leads": len(plays) if two else int(features.count_leads_kernel(packed, hand)),
        "fewest_plays": int(features.fewest_plays_kernel(packed, lattice, hand.bit_count())),
    }


def _quad_runs(rules: Rules, hand: int) -> list[int]:
    """Return the quad runs of a hand, which only answer and so are no leads."""
    cards = list(numbers(hand))
    same = [[card for card in cards if card // 4 == rank] for rank in range(12)]
    quads = [{mask(four) for four in combinations(of_rank, 4)} for of_rank in same]
    runs = [sum(run) for n in (2, 3) for rank in range(13 - n) for run in product(*quads[rank : rank + n])]
    return [run for run in runs if describe(rules, run)]
