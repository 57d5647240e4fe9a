"""What a kernel of hands is compiled for.

The functions that play a hand are written once for all kernels. Each takes a `Mode`, which its kernel sets to one of
the constants below. `engine.specialize` puts its fields in before Numba reads the functions, so that a kernel holds
nothing of what its mode rules out. Uncompiled, a mode is a tuple like any other.
"""

from typing import NamedTuple

from tlsim.engine.policies import LOWEST, RANDOM


class Mode(NamedTuple):
    """What a kernel of hands is compiled for."""

    is_bound: bool = False  # there are obligations after the first lead, or paid chops
    is_shown: bool = False  # somebody reads the whole view: a policy called by address, or a transcript
    two_decks: bool = False
    only_policy: int = 0  # the number of the policy in all seats; 0: any

    @property
    def is_free(self) -> bool:
        """Return whether there is one deck, and nothing binds but the first lead: short ways are possible."""
        return not (self.is_bound or self.two_decks)


PLAIN = Mode()
LOWEST_ALONE = Mode(only_policy=LOWEST)
RANDOM_ALONE = Mode(only_policy=RANDOM)
SHOWN = Mode(is_shown=True)
ANY = Mode(is_bound=True, is_shown=True)
PLAIN_TWO_DECKS = Mode(two_decks=True)
ANY_TWO_DECKS = Mode(is_bound=True, is_shown=True, two_decks=True)
