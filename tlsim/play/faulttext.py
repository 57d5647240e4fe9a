"""The fault that stopped a hand, in words."""

from typing import Any

from tlsim.engine.faults import Fault
from tlsim.engine.table import Table
from tlsim.play.plan import Plan
from tlsim.rules.cards import FULL, join, names


def describe(plan: Plan, table: Table, deal: int, seating: int) -> str:
    """Return what is wrong with the last play at a table, whose it is, and how to play the hand again."""
    match = f"match {deal // plan.match}, " if plan.match else ""
    where = f"seed {plan.seed}, {match}deal {deal}"
    fault = Fault.of(int(table["fault"]))
    if fault is Fault.BAD_TRADE:
        name, offer = plan.trade.name if plan.trade else "built-in", table["offer"]
        swap = f"{_side_of(offer, 'give_a')} for {_side_of(offer, 'give_b')}"
        return f"trading policy {name}: {fault.text}: {swap} ({where})"
    view = table["sight"]
    seat = int(view["seat"])
    policy = plan.distinct[plan.seatings[seating][seat]].name
    hand = " ".join(names(join(view["hand"], view["hand_second"])))
    where += f", turn {int(view['n_turns'])}, seat {seat}, hand {hand}"
    return f"policy {policy}: {fault.text}: {_played(table, fault)} ({where})"


def _side_of(offer: Any, field: str) -> str:
    """Return the cards of one side of a swap."""
    return " ".join(names(join(offer[field] & FULL, offer[f"{field}_second"] & FULL))) or "nothing"


def _played(table: Table, fault: Fault) -> str:
    """Return what a policy played; a faulty one may return any number."""
    cards, second = int(table["fault_cards"]), int(table["fault_second"])
    if fault is Fault.POLICY_FAILED:
        return "nothing played"
    if cards == 0:
        return "a pass"
    if cards & ~FULL:
        return f"{cards:#x}, a mask with bits that are no card"
    return " ".join(names(join(cards, second & FULL)))
