"""Policies: ways to play a seat. The built-in ones are here; `tlsim.plugins.load` finds all others.

`lowest` and `random` are the policies, each with its plain version. What they pick from is in modules of its own: the
lowest play of a kind (`lowest_plays`), the k-th one (`kth_plays`), and the choice of `lowest` with two decks.

A policy plays one seat: `choose(rules, view, stream)` returns the cards it plays (`engine.view` has the contract).
"""

from dataclasses import dataclass
from typing import Any

from tlsim.errors import InputError

# Numbers that kernels know (`tlsim.engine.turn.decide`): the built-in policies; turns that are written down
# (`tlsim.play.transcript`); functions called by address, compiled from Python, or in C and the like.
BY_ADDRESS, LOWEST, RANDOM, SCRIPT, BY_C_ADDRESS = range(5)

BUILTIN = {
    "lowest": (LOWEST, "sheds its lowest cards: the longest lead, the lowest answer, a chop when nothing else does"),
    "random": (RANDOM, "every legal play, and passing when it may, with equal probability"),
}


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to play a seat: its name as given, the number that kernels know, and what they need to call it."""

    name: str
    number: int
    summary: str = ""
    params: tuple[float, ...] = ()
    source: str = ""  # SHA-256 of the file that it is in
    code: Any = None  # `tlsim.plugins.compiled.Compiled`: where the `address` and `loop` of one come from

    @property
    def by_address(self) -> bool:
        """Return whether it is called by address, and reads the view."""
        return self.number in (BY_ADDRESS, BY_C_ADDRESS)

    @property
    def address(self) -> int:
        """Return the address of its C function, 0 for a built-in one; raise `InputError` when it cannot be compiled."""
        return self._compiled("address")

    @property
    def loop(self) -> int:
        """Return the address of a kernel that plays hands with it in all seats that are called by address; 0: none.

        Raises `InputError` as `address` does.
        """
        return self._compiled("loop")

    def _compiled(self, what: str) -> int:
        if self.code is None:
            return 0
        try:
            return int(getattr(self.code, what))
        except InputError as error:
            debug = f"; python:{self.name} runs it uncompiled" if self.source else ""
            raise InputError(f"{self.name}: {error}{debug}") from None
