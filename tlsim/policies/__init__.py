"""The built-in policies, one file each, and the table of them.

A policy plays one seat: `choose(rules, view, stream)` returns the cards it plays (`tlsim.view` has the contract).
"""

from dataclasses import dataclass

from tlsim.errors import InputError, nearest

# Numbers that kernels know: the compiled `if` in `tlsim.game.decide`. 0 is a policy called by its address; SCRIPT
# plays turns that are written down (`tlsim.script`).
BY_ADDRESS, LOWEST, RANDOM, SCRIPT = range(4)
_BUILTIN = {
    "lowest": (LOWEST, "sheds its lowest cards: the longest lead, the lowest answer, a chop when nothing else does"),
    "random": (RANDOM, "every legal play, and passing when it may, with equal probability"),
}


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to play a seat: its name as given, the number that kernels know, for number 0 a native address."""

    name: str
    number: int
    summary: str = ""
    address: int = 0


def builtin_names() -> list[str]:
    """Return the names of the built-in policies."""
    return list(_BUILTIN)


def parse_policy(spec: str) -> Policy:
    """Return the policy that `NAME[,key=value…]` names; raise `InputError` for an unknown name or parameter."""
    name, _, changes = spec.partition(",")
    name = name.strip()
    if name not in _BUILTIN:
        raise InputError(f"unknown policy {name!r}; {nearest(name, builtin_names())}")
    if changes:
        raise InputError(f"{spec}: policy {name} has no parameters, but {changes!r} is given")
    return Policy(name, *_BUILTIN[name])


def parse_policies(specs: list[str] | tuple[str, ...], players: int) -> list[Policy]:
    """Return one policy a seat from one for all seats or one a seat; raise `InputError` for another number of them."""
    if len(specs) not in (1, players):
        raise InputError(f"{len(specs)} policies for {players} players: give one for all seats, or one a seat")
    policies = [parse_policy(spec) for spec in specs]
    return policies * players if len(policies) == 1 else policies
