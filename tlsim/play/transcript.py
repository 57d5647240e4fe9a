"""Transcripts of hands (docs/rules.md, §11): what a table and a row say, and a hand played from what is written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tlsim.engine import two_decks
from tlsim.engine.calls import address_of, raise_failed
from tlsim.engine.compile import kernel
from tlsim.engine.faults import Fault
from tlsim.engine.hand import GOVERNED, play_hand_kernel
from tlsim.engine.policies import SCRIPT
from tlsim.engine.table import PLAY_HAND, ROW, TABLE, Row, Table, call_play_hand
from tlsim.errors import InputError
from tlsim.rules.cards import FULL, Mask, Seat, join, mask, names, parse_card, split
from tlsim.rules.ruleset import INSTANT_WINS, Rules, pack


@kernel
def play_script(
    rules: NDArray[Any], tables: NDArray[Any], rows: NDArray[Any], play_hand: int, opening: int, leader: Seat
) -> int:
    """Play the script of a table with the kernel at an address; return its fault."""
    return call_play_hand(  # type: ignore[no-any-return]  # made by Numba
        play_hand, (rules[0], tables[0], rows[0], opening, leader)
    )


@kernel
def moves_here(rules: NDArray[Any], tables: NDArray[Any]) -> tuple[int, bool]:
    """Write the plays of the seat to act; return how many, and whether it may pass."""
    passing = two_decks.may_pass(rules[0], tables[0].sight)
    return two_decks.legal_plays_of_either(rules[0], tables[0].sight), passing


KERNELS = [play_script, moves_here]


@dataclass(frozen=True, slots=True)
class Script:
    """A hand that is written down: its cards, and its turns from the first lead, 0 for a pass."""

    hands: Sequence[Mask]  # after trading
    turns: Sequence[Mask] = ()
    dealer: Seat = 0
    leader: Seat | None = None  # who leads freely; `None`: the holder of the lowest card leads (section 4.3)
    opening: bool | None = None  # whether it is an opening hand; `None`: if nobody leads freely
    dealt: Sequence[Mask] = ()  # before trading, where there is any


class Hand:
    """A hand played from a script, to its end or to where the script ends.

    Raises `InputError` when a turn of the script is not legal.
    """

    def __init__(self, rules: Rules, script: Script) -> None:
        self.rules, self.players, self.script = rules, len(script.hands), script
        self._packed = pack(rules, self.players)
        self._table = np.zeros(1, TABLE).view(np.recarray)
        self._row = np.zeros(1, ROW).view(np.recarray)
        self._play_hand = address_of(play_hand_kernel(self._packed[0], is_shown=True), PLAY_HAND)
        self.is_over = False
        self._write(script)
        self.play(len(script.turns))

    def play(self, n_turns: int) -> None:
        """Play the hand anew, to its end or to where so many turns of the script end."""
        script, table = self.script, self._table[0]
        table["hands"], table["hands_second"] = table["dealt"], table["dealt_second"]
        table["n_script"] = n_turns
        is_opening = script.leader is None if script.opening is None else script.opening
        leader = GOVERNED if script.leader is None else script.leader
        fault = Fault.of(play_script(self._packed, self._table, self._row, self._play_hand, int(is_opening), leader))
        raise_failed()
        self.is_over = fault == Fault.NONE
        if fault not in (Fault.NONE, Fault.SCRIPT_ENDS):
            view = table["sight"]
            cards = " ".join(names(join(table["fault_cards"], table["fault_second"]))) or "a pass"
            raise InputError(f"turn {view['n_turns']}, seat {view['seat']}: {cards}: {fault.text}")

    def _write(self, script: Script) -> None:
        """Write a script to the table."""
        table = self._table[0]
        for seat, hand in enumerate(script.hands):
            table["hands"][seat], table["hands_second"][seat] = split(hand)
        table["dealt"], table["dealt_second"] = table["hands"], table["hands_second"]
        table["policy"][:] = SCRIPT
        for turn, play in enumerate(script.turns):
            table["script"][turn], table["script_second"][turn] = split(play)
        for seat, hand in enumerate(script.dealt or script.hands):
            table["before"][seat], table["before_second"][seat] = split(hand)
        table["sight"]["dealer"] = script.dealer

    @property
    def seat(self) -> Seat:
        """Return the seat to act."""
        return int(self._table[0]["sight"]["seat"])

    @property
    def leads(self) -> bool:
        """Return whether the seat to act leads a pile."""
        return bool(self._table[0]["sight"]["on"] == 0)

    @property
    def n_chops(self) -> int:
        """Return how many chops were played so far."""
        return int(self._row[0]["chops"].sum())

    @property
    def held(self) -> list[Mask]:
        """Return the cards that each seat holds now."""
        return _masks(self._table[0], "hands", self.players)

    def moves(self) -> tuple[list[Mask], bool]:
        """Return every legal play of the seat to act, and whether it may pass."""
        n, passing = moves_here(self._packed, self._table)
        raise_failed()
        return _masks(self._table[0]["sight"], "plays", n), bool(passing)

    def transcript(self, **origin: Any) -> dict[str, Any]:
        """Return the transcript of the hand; `origin` has the keys that only the caller knows."""
        return transcript(self.rules, self._table[0], self._row[0], self.players, **origin)


def _masks(record: np.record, field: str, n: int) -> list[Mask]:
    """Return the first n masks of a field of a record, each with its second copies."""
    return [join(*both) for both in zip(record[field][:n], record[f"{field}_second"][:n], strict=True)]


def is_governed(rules: Rules, opening: bool) -> bool:
    """Return whether section 4.3 says who leads what first, rather than section 5."""
    return opening or rules.first_lead_every_hand


def transcript(rules: Rules, table: Table, row: Row, players: int, **origin: Any) -> dict[str, Any]:
    """Return the transcript of the hand that a table and a row hold.

    `origin` has its index, seed and policies, and of a hand of a match the number of that.
    """
    view, seats = table["sight"], range(players)
    n = int(view["n_turns"])
    dealt = _masks(table, "dealt", players)
    lowest = min(hand & FULL & -hand for hand in dealt)
    places = [int(row["places"][seat]) for seat in seats]
    kind = int(row["instant"])
    turns = [join(*both) for both in zip(view["turn_cards"][:n], view["turn_second"][:n], strict=True)]
    return {
        "index": origin["index"],
        **({"match": origin["match"]} if "match" in origin else {}),
        "seed": origin["seed"],
        "variant": rules.name,
        "players": players,
        "policies": origin["policies"],
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


def script_of(rules: Rules, written: Mapping[str, Any]) -> Script:
    """Return the script of a transcript."""

    def masks(lists: Iterable[Iterable[str]]) -> list[Mask]:
        return [mask(map(parse_card, cards)) for cards in lists]

    return Script(
        hands=masks(written["hands"]),
        turns=masks(play["cards"] for play in written["plays"]),
        dealer=written["dealer"],
        leader=None if is_governed(rules, written["opening"]) else written["leader"],
        opening=written["opening"],
        dealt=masks(written.get("dealt", ())),
    )


@dataclass(frozen=True, slots=True)
class Turn:
    """What a seat plays: a mask of cards, none for a pass; whether it chops what it beats."""

    seat: Seat
    cards: Mask
    is_chop: bool


def piles(rules: Rules, written: Mapping[str, Any]) -> list[list[Turn]]:
    """Return the turns of a transcript pile by pile, as the engine plays them: a transcript does not mark who leads.

    Raises `InputError` when a turn is not legal.
    """
    script = script_of(rules, written)
    hand = Hand(rules, script)
    found: list[list[Turn]] = []
    hand.play(0)
    for number, (play, cards) in enumerate(zip(written["plays"], script.turns, strict=True), 1):
        if hand.leads:
            found.append([])
        n_chops = hand.n_chops
        hand.play(number)
        found[-1].append(Turn(play["player"], cards, is_chop=hand.n_chops > n_chops))
    return found


def replay(rules: Rules, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the transcript of a hand played again from a transcript's own hands and plays.

    Equal to that transcript when it is right. Raises `InputError` for plays that are not legal or do not end the hand.
    """
    hand = Hand(rules, script_of(rules, written))
    if not hand.is_over:
        raise InputError(f"{Fault.SCRIPT_ENDS.text}: {len(written['plays'])} turns, seat {hand.seat} is to act")
    return hand.transcript(**{key: written[key] for key in ("index", "match", "seed", "policies") if key in written})
