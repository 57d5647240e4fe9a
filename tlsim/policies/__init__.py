"""Policies: ways to play a seat. The built-in ones are here, one file each; `tlsim.policies.load` finds all others.

A policy plays one seat: `choose(rules, view, stream)` returns the cards it plays (`tlsim.view` has the contract).
"""

from dataclasses import dataclass, field
from typing import Any

# Numbers that kernels know (`tlsim.game.decide_any`): the built-in policies; turns that are written down
# (`tlsim.transcript`); functions called by address, compiled from Python, or in C and the like.
BY_ADDRESS, LOWEST, RANDOM, SCRIPT, BY_C_ADDRESS = range(5)

BUILTIN = {
    "lowest": (LOWEST, "sheds its lowest cards: the longest lead, the lowest answer, a chop when nothing else does"),
    "random": (RANDOM, "every legal play, and passing when it may, with equal probability"),
}
BUILTIN_MODULES = {LOWEST: "policies.lowest", RANDOM: "policies.random"}


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to play a seat: its name as given, the number that kernels know, and what they need to call it."""

    name: str
    number: int
    summary: str = ""
    address: int = 0
    params: tuple[float, ...] = ()
    source: str = ""  # SHA-256 of the file that it is in
    play_hand: int = 0  # the address of a kernel for whole hands with this policy in place of calls; 0: none
    keep: Any = field(default=None, compare=False)  # what must live as long as the address is used

    @property
    def by_address(self) -> bool:
        """Return whether it is called by address, and reads the view."""
        return self.number in (BY_ADDRESS, BY_C_ADDRESS)
