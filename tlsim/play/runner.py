"""Many hands: a `Plan` -> a generator of blocks (a tally each, rows on request), on threads.

Results depend on the plan alone: not on the number of threads, nor on the size of blocks. Stop rules, progress and
saving belong to whoever consumes the generator.
"""

import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tlsim.engine import hand
from tlsim.engine.calls import address_of, bind, raise_failed
from tlsim.engine.compile import kernel, spliced
from tlsim.engine.deal import deal_hands
from tlsim.engine.hand import lazy_functions_of, play_hand_kernel, play_shown_hand, trade_hands
from tlsim.engine.policies import Policy
from tlsim.engine.table import PLAY_HAND, ROW, TABLE, TRADE_HANDS, call_play_hand, call_trade_hands
from tlsim.engine.tally import RARE, add_row, close_deal, n_metrics
from tlsim.engine.turn import BAD_TRADE, FAULTS, NO_FAULT, RAISED
from tlsim.engine.view import MAX_PARAMS
from tlsim.errors import PlayFault
from tlsim.play import legal, transcript
from tlsim.play.plan import Plan, smallest_plan
from tlsim.rules.cards import FULL, join, names
from tlsim.rules.ruleset import pack

# Blocks grow from the first size until one takes long enough to be worth a call, and stay short enough to stop after.
_FIRST_BLOCK, _LARGEST_BLOCK = 1 << 13, 1 << 18
_FIRST_OF_OTHERS = 1 << 9  # for policies that may be slow: nobody knows before the first block
_SHORT, _LONG = 0.1, 0.2  # seconds


@dataclass(frozen=True, slots=True)
class Block:
    """The deals (or matches) start..stop-1 of a plan, played in all seatings."""

    start: int
    stop: int
    tally: NDArray[np.int64]  # shape (2, metrics), see `tlsim.engine.tally`; of matches see `tlsim.play.matches`
    rows: NDArray[Any] | None  # dtype ROW, deal by deal, seating by seating; on request
    seconds: float


# A policy as kernels take it.
POLICY = np.dtype((np.record, [("number", "i8"), ("address", "i8"), ("params", "f8", (MAX_PARAMS,))]))


def pack_policies(policies: list[Policy], called: bool = True) -> Any:
    """Return policies as records of dtype `POLICY`; without their addresses, which compiles them, unless `called`."""
    packed = np.zeros(len(policies), POLICY).view(np.recarray)
    for record, policy in zip(packed, policies, strict=True):
        record["number"], record["address"] = policy.number, policy.address if called else 0
        record["params"][: len(policy.params)] = policy.params
    return packed


@spliced
def seat_policy(table: Any, seat: int, policy: Any) -> None:
    """Put a policy in a seat."""
    table.policy[seat] = policy.number
    table.address[seat] = policy.address
    for k in range(MAX_PARAMS):
        table.params[seat].value[k] = policy.params[k]


@spliced
def play_one(
    rules: Any, table: Any, row: Any, play_hand: int, seed: Any, deal: int, opening: int, leader: int, dealer: int
) -> int:
    """Deal and play one hand; return its fault. `leader` as in `game.open_hand`; `dealer` -1: the one drawn."""
    deal_hands(rules, table, seed, deal)
    row.deal = deal
    if table.trade_hands != 0 and call_trade_hands(table.trade_hands, (rules, table, seed, deal)) != NO_FAULT:
        return table.fault  # type: ignore[no-any-return]
    if dealer >= 0:
        table.sight.dealer = dealer
    call_play_hand(play_hand, (rules, table, row, opening, leader))
    return table.fault  # type: ignore[no-any-return]


@kernel
def play_block(
    rules_: Any,
    tables: Any,
    seatings: Any,
    policies: Any,
    play_hand: int,
    seed: Any,
    start: int,
    stop: int,
    keep: bool,
    rows: Any,
    tally: Any,
) -> Any:
    """Play the deals start..stop-1; return the deal and seating of the first fault, or `(-1, 0)`.

    `seatings` has shape (seatings, players); `rows` holds all rows with `keep`, else those of one deal;
    `play_hand` is an address.
    """
    rules, table = rules_[0], tables[0]
    n_seatings, rare_at = len(seatings), tally.shape[1] - RARE
    for deal in range(start, stop):
        for s in range(n_seatings):
            if n_seatings > 1 or deal == start:
                for seat in range(rules.players):
                    seat_policy(table, seat, policies[seatings[s, seat]])
            row = rows[(deal - start) * n_seatings + s if keep else s]
            row.seating = s
            if play_one(rules, table, row, play_hand, seed, deal, 1, -1, -1) != NO_FAULT:
                return deal, s
            add_row(rules, table, row, seatings[s], rare_at)
        close_deal(table, rare_at, tally)
    return -1, 0


def kernels(plan: Plan, shown: bool = False) -> list[Any]:
    """Return the kernels that play a plan: that of one hand, and that of many; `shown` for transcripts."""
    by_address = any(policy.by_address for policy in plan.policies)
    numbers = {policy.number for policy in plan.policies}
    return [play_hand_kernel(pack(plan.rules, plan.players)[0], shown or by_address, numbers), play_block]


class Runner:
    """The arrays of a plan that kernels take; `play` runs one block and may be called from any thread."""

    def __init__(self, plan: Plan, shown: bool = False) -> None:
        self.plan = plan
        self.rules = pack(plan.rules, plan.players)
        self.seatings = np.array(plan.seatings, np.int64)
        self.seed = np.uint64(plan.seed % (1 << 64))
        kernel = kernels(plan, shown)[0]
        loop = self._find_loop() if kernel is play_shown_hand else 0
        self.play_hand = loop or address_of(kernel, PLAY_HAND)
        self.policies = pack_policies(plan.distinct, called=not loop)
        bind(lazy_functions_of(self.rules[0], {policy.number for policy in plan.policies}, kernel))
        self.trade_hands = address_of(trade_hands, TRADE_HANDS) if plan.rules.trading else 0

    def new_table(self) -> Any:
        """Return the table of one thread, shape (1,) of dtype TABLE."""
        table = np.zeros(1, TABLE).view(np.recarray)
        if self.trade_hands:
            table[0]["trade_hands"] = self.trade_hands
            if trade := self.plan.trade:
                table[0]["trade"] = trade.address
                table[0]["trade_params"]["value"][: len(trade.params)] = trade.params
        return table

    def _find_loop(self) -> int:
        """Return the address of a kernel that has the only policy called by address in it; 0: none."""
        called = {policy.code: policy for policy in self.plan.policies if policy.by_address}
        return next(iter(called.values())).loop if len(called) == 1 else 0

    def play(self, start: int, stop: int, keep: bool = False) -> Block:
        """Return one block; raise `PlayFault` at the first fault in it."""
        began = time.perf_counter()
        table = self.new_table()
        rows = np.zeros(len(self.seatings) * (stop - start if keep else 1), ROW).view(np.recarray)
        tally = np.zeros((2, n_metrics(self.plan.players, len(self.policies))), np.int64)
        deal, seating = self._call(table, self.seatings, start, stop, keep, rows, tally)
        if deal >= 0:
            raise PlayFault(self._describe_fault(table, int(deal), int(seating)))
        return Block(start, stop, tally, rows if keep else None, time.perf_counter() - began)

    def hand(self, deal: int, seating: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the table and the row after one hand."""
        table = self.new_table()
        rows = np.zeros(1, ROW).view(np.recarray)
        tally = np.zeros((2, n_metrics(self.plan.players, len(self.policies))), np.int64)
        chosen = self.seatings[seating : seating + 1]
        if self._call(table, chosen, deal, deal + 1, True, rows, tally)[0] >= 0:
            raise PlayFault(self._describe_fault(table, deal, seating))
        return table[0], rows[0]

    def _call(self, table: Any, seatings: Any, start: int, stop: int, keep: bool, rows: Any, tally: Any) -> Any:
        plan = (self.rules, table, seatings, self.policies, self.play_hand, self.seed)
        found = play_block(*plan, start, stop, keep, rows, tally)
        raise_failed()
        return found

    def _describe_fault(self, table: Any, deal: int, seating: int) -> str:
        view = table[0]["sight"]
        seat = int(view["seat"])
        policy = self.plan.distinct[self.plan.seatings[seating][seat]].name
        match = f"match {deal // self.plan.match}, " if self.plan.match else ""
        mask, second = int(table[0]["fault_cards"]), int(table[0]["fault_second"])
        cards = " ".join(names(join(mask & FULL, second & FULL))) if mask else "a pass"
        where = f"(seed {self.plan.seed}, {match}deal {deal}"
        if int(table[0]["fault"]) == BAD_TRADE:
            offer, name = table[0]["offer"], self.plan.trade.name if self.plan.trade else "built-in"
            gives = [join(offer[f"give_{one}"] & FULL, offer[f"give_{one}_second"] & FULL) for one in "ab"]
            a, b = (" ".join(names(cards)) for cards in gives)
            return f"trading policy {name}: {FAULTS[BAD_TRADE]}: {a or 'nothing'} for {b or 'nothing'} {where})"
        if int(table[0]["fault"]) == RAISED:
            cards = "nothing played"
        elif mask & ~FULL:  # what a faulty policy returns may be any number
            cards = f"{mask:#x}, a mask with bits that are no card"
        return (
            f"policy {policy}: {FAULTS[int(table[0]['fault'])]}: {cards}"
            f" {where}, turn {int(view['n_turns'])}, seat {seat},"
            f" hand {' '.join(names(join(view['hand'], view['hand_second'])))})"
        )


def blocks(
    plan: Plan,
    threads: int = 1,
    start: int = 0,
    keep_rows: bool = False,
    block: int | None = None,
    runner: type[Runner] = Runner,
) -> Generator[Block]:
    """Yield the blocks of a plan in order, from deal `start` on; closing the generator stops the work.

    `block` fixes the number of deals a block, instead of letting it grow to what takes a tenth of a second.
    """
    play = runner(plan).play
    first = _FIRST_OF_OTHERS if any(policy.by_address for policy in plan.policies) else _FIRST_BLOCK
    size = smallest = block or max(1, first // (len(plan.seatings) * (plan.match or 1)))
    pending: deque[Future[Block]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="tlsim") as pool:
        try:
            while start < plan.deals or pending:
                while start < plan.deals and len(pending) <= threads:
                    rest = plan.deals - start
                    last = max(smallest, rest // (2 * threads))  # so that no thread is left with much at the end
                    stop = start + min(size, rest if block else last, rest)
                    pending.append(pool.submit(play, start, stop, keep_rows))
                    start = stop
                done = pending.popleft().result()
                if block is None and done.seconds < _SHORT and size < _LARGEST_BLOCK:
                    size *= 2
                elif block is None and done.seconds > _LONG:
                    size = max(1, size // 2)
                yield done
        finally:
            for future in pending:
                future.cancel()


def hands(plan: Plan, first: int, stop: int) -> Iterator[dict[str, Any]]:
    """Yield a transcript (docs/rules.md, section 11) of every hand of the deals first..stop-1, seating by seating."""
    runner = Runner(plan, shown=True)
    for deal in range(first, stop):
        for seating in range(len(plan.seatings)):
            table, row = runner.hand(deal, seating)
            policies = [plan.distinct[index].name for index in plan.seatings[seating]]
            yield transcript.transcript(
                plan.rules, table, row, plan.players, index=deal, seed=plan.seed, policies=policies
            )


def all_kernels() -> list[Any]:
    """Return the kernels that commands call."""
    return [*hand.KERNELS, trade_hands, play_block, *legal.KERNELS, *transcript.KERNELS]


def load(plan: Plan) -> None:
    """Compile the kernels that a plan needs, or load them from the cache."""
    Runner(plan).play(0, 1)


def warm_up() -> None:
    """Compile all kernels that commands call, or load them from the cache."""
    for kernel_of_hands in hand.KERNELS:
        address_of(kernel_of_hands, PLAY_HAND)
    address_of(trade_hands, TRADE_HANDS)
    plan = smallest_plan()
    load(plan)
    next(hands(plan, 0, 1))
    legal.describe_hand(plan.rules, FULL & 0x1FFF)
    transcript.Hand(plan.rules, [1, 2], []).moves()
