"""Many hands: a `Plan` -> a generator of blocks (a tally each, rows on request), on threads.

Results depend on the plan alone: not on the number of threads, nor on the size of blocks. Stop rules, progress and
saving belong to whoever consumes the generator.
"""

import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tlsim.engine import hand
from tlsim.engine.calls import address_of, bind, raise_failed
from tlsim.engine.compile import kernel, spliced
from tlsim.engine.deal import deal_hands
from tlsim.engine.faults import NO_FAULT
from tlsim.engine.hand import GOVERNED, lazy_functions_of, play_hand_kernel, play_shown_hand
from tlsim.engine.policies import Policy
from tlsim.engine.rng import Word
from tlsim.engine.sums import add_row, close_deal
from tlsim.engine.table import PLAY_HAND, ROW, TABLE, TRADE_HANDS, Row, Table, call_play_hand, call_trade_hands
from tlsim.engine.tally import RARE, Tally, n_metrics
from tlsim.engine.trades import trade_hands
from tlsim.engine.view import MAX_PARAMS
from tlsim.errors import PlayFault
from tlsim.play import faulttext, legal, transcript
from tlsim.play.plan import Plan, smallest_plan
from tlsim.rules.cards import FULL, Seat
from tlsim.rules.ruleset import RulesRecord, pack

# Blocks grow from the first size until one takes long enough to be worth a call, and stay short enough to stop after.
_FIRST_BLOCK, _LARGEST_BLOCK = 1 << 13, 1 << 18
_FIRST_OF_OTHERS = 1 << 9  # for policies that may be slow: nobody knows before the first block
_SHORT, _LONG = 0.1, 0.2  # seconds


@dataclass(frozen=True, slots=True)
class Block:
    """The deals (or matches) start..stop-1 of a plan, played in all seatings."""

    start: int
    stop: int
    tally: Tally  # of matches see `tlsim.play.matches`
    rows: NDArray[Any] | None  # dtype ROW, deal by deal, seating by seating; on request
    seconds: float


# A policy as kernels take it.
POLICY_RECORD = np.dtype((np.record, [("number", "i8"), ("address", "i8"), ("params", "f8", (MAX_PARAMS,))]))


def pack_policies(policies: list[Policy], called: bool = True) -> NDArray[Any]:
    """Return policies as an array of `POLICY_RECORD`; without their addresses, which compiles them, unless `called`."""
    packed = np.zeros(len(policies), POLICY_RECORD).view(np.recarray)
    for record, policy in zip(packed, policies, strict=True):
        record["number"], record["address"] = policy.number, policy.address if called else 0
        record["params"][: len(policy.params)] = policy.params
    return packed


class PackedPlan(NamedTuple):
    """A plan as kernels take it."""

    rules: NDArray[Any]  # shape (1,), dtype RULES
    seatings: NDArray[np.int64]  # shape (seatings, players): indices into `policies`
    policies: NDArray[Any]  # the distinct ones, dtype POLICY_RECORD
    play_hand: int  # the address of the kernel of one hand
    seed: Word
    hands: int  # of a match; 0 where every deal is a hand of its own


class Opening(NamedTuple):
    """How a hand starts."""

    is_opening: int  # 1: an opening hand
    leader: Seat  # GOVERNED: section 4.3 says who leads
    dealer: Seat  # DRAWN: the one drawn with the deal


DRAWN = -1


@spliced
def seat_policy(table: Table, seat: Seat, policy: np.record) -> None:
    """Put a policy in a seat."""
    table.policy[seat] = policy.number
    table.address[seat] = policy.address
    for k in range(MAX_PARAMS):
        table.params[seat].value[k] = policy.params[k]


@spliced
def play_one(rules: RulesRecord, table: Table, row: Row, plan: PackedPlan, deal: int, opening: Opening) -> int:
    """Deal and play one hand; return its fault."""
    deal_hands(rules, table, plan.seed, deal)
    row.deal = deal
    if table.trade_hands != 0 and call_trade_hands(table.trade_hands, (rules, table, plan.seed, deal)) != NO_FAULT:
        return table.fault  # type: ignore[no-any-return]  # a field of a record
    if opening.dealer != DRAWN:
        table.sight.dealer = opening.dealer
    call_play_hand(plan.play_hand, (rules, table, row, opening.is_opening, opening.leader))
    return table.fault  # type: ignore[no-any-return]  # a field of a record


@kernel
def play_block(
    plan: PackedPlan, tables: NDArray[Any], start: int, stop: int, rows: NDArray[Any], tally: Tally
) -> tuple[int, int]:
    """Play the deals start..stop-1; return the deal and seating of the first fault, or `(-1, 0)`.

    `rows` holds all rows, deal by deal, seating by seating, or those of one deal, which are written over.
    """
    rules, table = plan.rules[0], tables[0]
    n_seatings, rare_at = len(plan.seatings), tally.shape[1] - RARE
    keeps_rows = len(rows) > n_seatings
    for deal in range(start, stop):
        for seating in range(n_seatings):
            seats = plan.seatings[seating]
            if n_seatings > 1 or deal == start:
                for seat in range(rules.players):
                    seat_policy(table, seat, plan.policies[seats[seat]])
            row = rows[(deal - start) * n_seatings + seating if keeps_rows else seating]
            row.seating = seating
            if play_one(rules, table, row, plan, deal, Opening(1, GOVERNED, DRAWN)) != NO_FAULT:
                return deal, seating
            add_row(rules, table, row, seats, rare_at)
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
        rules = pack(plan.rules, plan.players)
        kernel = kernels(plan, shown)[0]
        loop = self._find_loop() if kernel is play_shown_hand else 0
        self.packed = PackedPlan(
            rules,
            np.array(plan.seatings, np.int64),
            pack_policies(plan.distinct, called=not loop),
            loop or address_of(kernel, PLAY_HAND),
            np.uint64(plan.seed % (1 << 64)),
            plan.match or 0,
        )
        bind(lazy_functions_of(rules[0], {policy.number for policy in plan.policies}, kernel))
        self.trade_hands = address_of(trade_hands, TRADE_HANDS) if plan.rules.trading else 0

    def new_table(self) -> NDArray[Any]:
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
        rows = np.zeros(len(self.plan.seatings) * (stop - start if keep else 1), ROW).view(np.recarray)
        tally = np.zeros((2, n_metrics(self.plan.players, len(self.plan.distinct))), np.int64)
        deal, seating = play_block(self.packed, table, start, stop, rows, tally)
        raise_failed()
        if deal >= 0:
            raise PlayFault(faulttext.describe(self.plan, table[0], int(deal), int(seating)))
        return Block(start, stop, tally, rows if keep else None, time.perf_counter() - began)

    def hand(self, deal: int, seating: int) -> tuple[Table, Row]:
        """Return the table and the row after one hand."""
        table = self.new_table()
        rows = np.zeros(1, ROW).view(np.recarray)
        tally = np.zeros((2, n_metrics(self.plan.players, len(self.plan.distinct))), np.int64)
        packed = self.packed._replace(seatings=self.packed.seatings[seating : seating + 1])
        fault_deal, _ = play_block(packed, table, deal, deal + 1, rows, tally)
        raise_failed()
        if fault_deal >= 0:
            raise PlayFault(faulttext.describe(self.plan, table[0], deal, seating))
        return table[0], rows[0]


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
    plan.check_sums()
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
    transcript.Hand(plan.rules, transcript.Script([1, 2])).moves()
