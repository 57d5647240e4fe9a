"""Rule sets and tables that tests go through: every built-in variant and player count, and random rule sets."""

import random
from dataclasses import replace
from typing import Any, cast

from tlsim.errors import InputError
from tlsim.rules.ruleset import INSTANT_WINS, LINES, Rules, deal_of, player_counts
from tlsim.rules.variantfiles import builtin, builtin_names, parse_variant


def every_table() -> list[tuple[str, int]]:
    """Return `(variant, players)` for every built-in variant, hand size and player count, with one deck and two."""
    specs = [spec for name in builtin_names() for spec in (name, f"{name},cards=17")]
    specs += [f"{name},cards=equal" for name in builtin_names() if builtin(name).max_players > 4]
    return [(spec, players) for spec in specs for players in player_counts(parse_variant(spec))]


def random_rules(rng: random.Random, two_decks: bool = False) -> Rules:
    """Return a rule set with every option drawn at random; combinations that make no sense are drawn again.

    Hands are dealt from one deck unless `two_decks`.
    """
    while True:
        lines = [line for line in LINES if rng.random() < 0.4]
        chops = tuple((line, _some(rng, [*TWOS, *lines], 0.3, but=line)) for line in lines)
        wins = rng.sample(INSTANT_WINS, rng.randint(0, len(INSTANT_WINS)))
        split = rng.randint(0, len(wins))
        try:
            return replace(
                builtin("southern"),
                name="random",
                decks=rng.choice(_DECKS if two_decks else _DECKS[:3]),
                cards=rng.choice(_CARDS if two_decks else _CARDS[:3]),
                max_players=8 if two_decks else 4,
                first_lead=rng.choice(["alone", "included", "free"]),
                ends=rng.choice(["last", "last", "first-out"]),
                straight_min=rng.choice([3, 3, 3, 4, 5]),
                double_straight_max=rng.choice([3, 4, 5, 13]),
                chops=chops,
                unlocked_chops=tuple(line for line, _ in chops if rng.random() < 0.3),
                instant_wins=tuple(wins[:split]),
                opening_instant_wins=tuple(wins[split:]),
                ties=rng.choice(["forbidden", "later", "kickers"]),
                trading=rng.random() < 0.3,
                payoff=rng.choice(["stake", "places", "cards"]),
                **{key: cast("Any", rng.random() < 0.5) for key in _BOOLEANS},
            )
        except InputError:
            continue


def random_table(rng: random.Random, decks: int) -> tuple[Rules, int]:
    """Return a random rule set and a number of players, who are dealt hands from so many decks."""
    while True:
        rules = random_rules(rng, two_decks=decks == 2)
        players = rng.choice(player_counts(rules))
        if deal_of(rules, players)[0] == decks:
            return rules, players


_CARDS: list[int | str] = [13, 13, 17, "equal"]
_DECKS: list[int | str] = [1, "auto", "auto", 2]
TWOS = ("two", "two-twos", "three-twos")
_BOOLEANS = [
    "first_lead_every_hand",
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
