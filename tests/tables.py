"""Rule sets and tables that tests go through: every built-in variant and player count, and random rule sets."""

import random
from dataclasses import replace
from typing import Any, cast

from tlsim.errors import InputError
from tlsim.rules import INSTANT_WINS, LINES, TARGETS, Rules, player_counts
from tlsim.variantfiles import builtin, builtin_names, parse_variant


def every_table() -> list[tuple[str, int]]:
    """Return `(variant, players)` for every built-in variant, hand size and player count, with one deck and two."""
    specs = [spec for name in builtin_names() for spec in (name, f"{name},cards=17")]
    specs += [f"{name},cards=equal" for name in builtin_names() if builtin(name).max_players > 4]
    return [(spec, players) for spec in specs for players in player_counts(parse_variant(spec))]


def random_rules(rng: random.Random) -> Rules:
    """Return a rule set with every option drawn at random; combinations that make no sense are drawn again."""
    while True:
        chops = tuple((line, _some(rng, TARGETS, 0.3, but=line)) for line in LINES if rng.random() < 0.4)
        wins = rng.sample(INSTANT_WINS, rng.randint(0, len(INSTANT_WINS)))
        split = rng.randint(0, len(wins))
        try:
            return replace(
                builtin("southern"),
                name="random",
                cards=rng.choice([13, 13, 17]),
                first_lead=rng.choice(["alone", "included", "free"]),
                ends=rng.choice(["last", "last", "first-out"]),
                straight_min=rng.choice([3, 3, 3, 4, 5]),
                double_straight_max=rng.choice([3, 4, 5, 13]),
                chops=chops,
                unlocked_chops=tuple(line for line, _ in chops if rng.random() < 0.3),
                instant_wins=tuple(wins[:split]),
                opening_instant_wins=tuple(wins[split:]),
                payoff=rng.choice(["stake", "places", "cards"]),
                **{key: cast("Any", rng.random() < 0.5) for key in _BOOLEANS},
            )
        except InputError:
            continue


_BOOLEANS = [
    "straight_twos",
    "double_straight_twos",
    "quad_twos",
    "pass_locks",
    "must_play",
    "finish_on_two",
    "six_pairs_quads_twice",
    "instant_wins_any_size",
    "leftover_penalties",
    "chop_penalties",
    "cong",
]


def _some(rng: random.Random, names: Any, share: float, but: str) -> tuple[str, ...]:
    return tuple(name for name in names if rng.random() < share and name != but)
