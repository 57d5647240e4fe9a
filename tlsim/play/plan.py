"""A `Plan`: what to play, checked, everything that the results depend on."""

from dataclasses import dataclass
from itertools import permutations
from typing import Any

from tlsim.engine.policies import Policy
from tlsim.errors import InputError, check_range
from tlsim.play import bounds
from tlsim.plugins.load import parse_policies
from tlsim.rules.ruleset import Rules, check_players
from tlsim.rules.variantfiles import builtin

MAX_DEALS = 10**15  # well below the 2**56 that a stream's key holds; years of work
MAX_MATCH = 1000  # hands
_LARGEST_SUM = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play: everything that the results depend on."""

    rules: Rules
    players: int
    policies: tuple[Policy, ...]  # one a seat
    deals: int  # or matches
    seed: int
    match: int | None = None  # hands a match; without, every deal is a hand of its own, an opening one
    trade: Policy | None = None  # the trading policy; without, the built-in one where the rules have trading

    def __post_init__(self) -> None:
        check_players(self.rules, self.players)
        if len(self.policies) != self.players:
            raise InputError(f"there must be one policy a seat, got {len(self.policies)} for {self.players} players")
        if self.match is not None and not 1 <= self.match <= MAX_MATCH:
            raise InputError(f"match must be from 1 to {MAX_MATCH} hands, got {self.match}")
        check_range(self.unit, self.deals, 1, MAX_DEALS // (self.match or 1))
        if not -(1 << 63) <= self.seed < 1 << 64:
            raise InputError(f"seed must be a 64-bit integer, got {self.seed}")
        if self.trade is not None and not self.rules.trading:
            raise InputError(f"trading policy {self.trade.name}: {self.rules.name} has no trading (trading=yes)")

    def check_sums(self) -> None:
        """Refuse more deals, or matches, than have sums of squares in 64 bits, whatever is dealt and played."""
        n_seatings, most_seats = len(self.seatings), max(map(self.policies.count, self.policies))
        if self.match:
            largest = bounds.largest_metric_of_match(self.rules, self.players, most_seats, self.match)
        else:
            largest = bounds.largest_metric(self.rules, self.players, most_seats)
        most = _LARGEST_SUM // (largest * n_seatings) ** 2
        if self.deals > most:
            of_hands = f" of {self.match:,} hand{'s' * (self.match > 1)}" if self.match else ""
            raise InputError(
                f"{self.unit}{of_hands} in {n_seatings:,} seatings must be at most {most:,}, so that sums of squares"
                f" fit 64 bits, got {self.deals:,}"
            )

    @property
    def unit(self) -> str:
        """Return what is counted, and what every error bar is by."""
        return "matches" if self.match else "deals"

    @property
    def distinct(self) -> list[Policy]:
        """Return the distinct policies, in the order given."""
        return list(dict.fromkeys(self.policies))

    @property
    def seatings(self) -> list[tuple[int, ...]]:
        """Return every distinct seating of the policies: per seat an index into `distinct`."""
        distinct = self.distinct
        seated = tuple(distinct.index(policy) for policy in self.policies)
        return sorted(set(permutations(seated)))

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, for JSON."""
        named = [*self.distinct, *([self.trade] if self.trade else [])]
        sources = {policy.name: policy.source for policy in named if policy.source}
        return {
            "variant": self.rules.name,
            "players": self.players,
            "policies": [policy.name for policy in self.policies],
            self.unit: self.deals,
            **({"match": self.match} if self.match else {}),
            **({"trade": self.trade.name} if self.trade else {}),
            "seed": self.seed,
            "seatings": len(self.seatings),
            **({"sources": sources} if sources else {}),  # SHA-256 of policies that are files
        }


def smallest_plan(match: int | None = None, policy: str = "lowest") -> Plan:
    """Return a plan of one hand, or match, to compile kernels with."""
    return Plan(builtin("southern"), 4, tuple(parse_policies([policy], 4)), 1, 0, match)
