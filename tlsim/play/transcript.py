"""Transcripts of hands (RULES.md, section 11): what a table and a row say, and a hand played from what is written.

A *script* is the turns of a hand from its first lead: masks of cards, 0 for a pass.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tlsim.engine import two_decks
from tlsim.engine.calls import address_of, raise_failed
from tlsim.engine.compile import kernel
from tlsim.engine.hand import play_hand_kernel
from tlsim.engine.policies import SCRIPT
from tlsim.engine.table import PLAY_HAND, ROW, TABLE, call_play_hand
from tlsim.engine.turn import FAULTS, NO_FAULT, SCRIPT_ENDS
from tlsim.errors import InputError
from tlsim.rules.cards import FULL, join, mask, names, parse_card, split
from tlsim.rules.ruleset import INSTANT_WINS, Rules, pack


@kernel
def _play_script(rules: Any, tables: Any, rows: Any, play_hand: int, opening: int, leader: int) -> Any:
    return call_play_hand(play_hand, (rules[0], tables[0], rows[0], opening, leader))


@kernel
def _moves_here(rules: Any, tables: Any) -> Any:
    """Write the plays of the seat to act; return how many, and whether it may pass."""
    passing = two_decks.may_pass(rules[0], tables[0].sight)
    return two_decks.legal_plays_of_either(rules[0], tables[0].sight), passing


KERNELS = [_play_script, _moves_here]


class Hand:
    """A hand played from a script, to its end or to where the script ends.

    `hands` are those after trading, `dealt` those before, where there is any. `leader` leads freely; without one the
    holder of the lowest card leads (section 4.3), on an opening hand if `opening` does not say otherwise. Raises
    `InputError` when a turn of the script is not legal.
    """

    def __init__(
        self,
        rules: Rules,
        hands: Sequence[int],
        script: Sequence[int],
        dealer: int = 0,
        leader: int | None = None,
        opening: bool | None = None,
        dealt: Sequence[int] = (),
    ) -> None:
        self.rules, self.players = rules, len(hands)
        self._packed = pack(rules, self.players)
        self._table: Any = np.zeros(1, TABLE).view(np.recarray)
        self._row: Any = np.zeros(1, ROW).view(np.recarray)
        table = self._table[0]
        for seat, hand in enumerate(hands):
            table["hands"][seat], table["hands_second"][seat] = split(hand)
        table["dealt"], table["dealt_second"] = table["hands"], table["hands_second"]
        table["policy"][:] = SCRIPT
        for turn, play in enumerate(script):
            table["script"][turn], table["script_second"][turn] = split(play)
        table["n_script"] = len(script)
        for seat, hand in enumerate(dealt or hands):
            table["before"][seat], table["before_second"][seat] = split(hand)
        table["sight"]["dealer"] = dealer
        as_opening, first = int(leader is None if opening is None else opening), -1 if leader is None else leader
        play_hand = address_of(play_hand_kernel(self._packed[0], shown=True), PLAY_HAND)
        fault = _play_script(self._packed, self._table, self._row, play_hand, as_opening, first)
        raise_failed()
        self.is_over = fault == NO_FAULT
        if fault not in (NO_FAULT, SCRIPT_ENDS):
            view = table["sight"]
            cards = " ".join(names(join(table["fault_cards"], table["fault_second"]))) or "a pass"
            raise InputError(f"turn {view['n_turns']}, seat {view['seat']}: {cards}: {FAULTS[int(fault)]}")

    @property
    def seat(self) -> int:
        """Return the seat to act."""
        return int(self._table[0]["sight"]["seat"])

    @property
    def held(self) -> list[int]:
        """Return the cards that each seat holds now."""
        return _masks(self._table[0], "hands", self.players)

    def moves(self) -> tuple[list[int], bool]:
        """Return every legal play of the seat to act, and whether it may pass."""
        n, passing = _moves_here(self._packed, self._table)
        raise_failed()
        return _masks(self._table[0]["sight"], "plays", n), bool(passing)

    def transcript(self, **given: Any) -> dict[str, Any]:
        """Return the transcript of the hand; `given` are the keys that only the caller knows."""
        return transcript(self.rules, self._table[0], self._row[0], self.players, **given)


def _masks(record: Any, field: str, n: int) -> list[int]:
    """Return the first n masks of a field of a record, each with its second copies."""
    return [join(*both) for both in zip(record[field][:n], record[f"{field}_second"][:n], strict=True)]


def is_governed(rules: Rules, opening: bool) -> bool:
    """Return whether section 4.3 says who leads what first, rather than section 5."""
    return opening or rules.first_lead_every_hand


def transcript(rules: Rules, table: Any, row: Any, players: int, **given: Any) -> dict[str, Any]:
    """Return the transcript of the hand that a table and a row hold.

    `given` are index, seed and policies, and of a hand of a match the number of that.
    """
    view, seats = table["sight"], range(players)
    n = int(view["n_turns"])
    dealt = _masks(table, "dealt", players)
    lowest = min(hand & FULL & -hand for hand in dealt)
    places = [int(row["places"][seat]) for seat in seats]
    kind = int(row["instant"])
    turns = [join(*both) for both in zip(view["turn_cards"][:n], view["turn_second"][:n], strict=True)]
    return {
        "index": given["index"],
        **({"match": given["match"]} if "match" in given else {}),
        "seed": given["seed"],
        "variant": rules.name,
        "players": players,
        "policies": given["policies"],
        "opening": bool(view["opening"]),
        "dealer": int(row["dealer"]),
        **({"dealt": [names(hand) for hand in _masks(table, "before", players)]} if rules.trading else {}),
        "hands": [names(hand) for hand in dealt],
        "leader": int(row["leader"]),
        "required": names(lowest)[0] if is_governed(rules, view["opening"]) and rules.first_lead != "free" else None,
        "instant_win": {"player": places.index(1), "kind": INSTANT_WINS[kind]} if kind >= 0 else None,
        "plays": [
            {"player": int(seat), "cards": names(cards)}
            for seat, cards in zip(view["turn_seat"][:n], turns, strict=True)
        ],
        "places": places,
        "payoffs": [int(row["payoffs"][seat]) / 2 for seat in seats],
    }


def replay(rules: Rules, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the transcript of a hand played again from a transcript's own hands and plays.

    Equal to the one given when that is right. Raises `InputError` for plays that are not legal or do not end the hand.
    """
    hands = [mask(map(parse_card, hand)) for hand in written["hands"]]
    script = [mask(map(parse_card, play["cards"])) for play in written["plays"]]
    leader = None if is_governed(rules, written["opening"]) else written["leader"]
    dealt = [mask(map(parse_card, hand)) for hand in written.get("dealt", ())]
    hand = Hand(rules, hands, script, written["dealer"], leader, written["opening"], dealt)
    if not hand.is_over:
        raise InputError(f"{FAULTS[SCRIPT_ENDS]}: {len(script)} turns, seat {hand.seat} is to act")
    return hand.transcript(**{key: written[key] for key in ("index", "match", "seed", "policies") if key in written})
