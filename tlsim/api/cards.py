"""Cards in hand: `hand`, `moves`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tlsim.api.common import (
    DEFAULT_LEVEL,
    DEFAULT_VARIANT,
    as_options,
    command_line,
    make_table,
)
from tlsim.errors import InputError

if TYPE_CHECKING:
    from tlsim.output.result import Result
    from tlsim.rules.ruleset import Rules


_HAND_FACTS = ("instant_win", "opening_instant_win", "legal_leads", "fewest_plays")


def hand(cards: str | Sequence[str], variant: str = DEFAULT_VARIANT) -> "Result":
    """Return what a hand holds: combinations by kind, chops, instant wins, legal leads, fewest plays to shed it.

    Among all hands of its size: `percentiles`, by fewest plays and by strength, and `rarity` of what it holds.
    """
    rules, held = hand_of(cards, variant)
    from tlsim.chances import rarity
    from tlsim.engine import bulk, cache
    from tlsim.output.result import Result, provenance
    from tlsim.play import legal
    from tlsim.rules.cards import names

    cache.announce_compiling([*legal.KERNELS, *bulk.KERNELS], "10 s")
    found = legal.describe_hand(rules, held)
    chops = [(name, count, " ".join(names(play))) for name, count, play in found["chops"]]
    tables = {
        "hand": make_table(["cards", *_HAND_FACTS], [[held.bit_count(), *(found[name] for name in _HAND_FACTS)]]),
        "combinations": make_table("kind count", found["combinations"].items()),
        "percentiles": rarity.percentiles(rules, held, 1, DEFAULT_LEVEL),
        "rarity": rarity.rarity(rules, held),
        "chops": make_table("chop count lowest", chops),
    }
    plan = {"variant": rules.name, "hand": names(held)}
    return Result("hand", plan, provenance(command_line("hand", *names(held), "-v", variant)), tables)


def moves(
    cards: str | Sequence[str],
    on: str | Sequence[str] | None = None,
    opening: bool = False,
    variant: str = DEFAULT_VARIANT,
) -> "Result":
    """Return every legal play of a hand: to lead, or on the play `on`.

    With `opening` the lead must respect the hand's lowest card as the variant's `first_lead` says. `extra` holds the
    plays as lists of cards (`moves`) and whether passing is legal (`pass`).
    """
    rules, held = hand_of(cards, variant)
    pile = 0 if on is None else as_mask(on)
    if pile and opening:
        raise InputError("opening is about the first lead: there is no play to beat then")
    from tlsim.engine import cache
    from tlsim.output.result import Result, provenance
    from tlsim.play import legal
    from tlsim.rules.cards import names

    cache.announce_compiling(legal.MOVES, "5 s")

    plays = legal.moves(rules, held, pile, opening)
    rows = [(" ".join(names(play)), *(legal.describe(rules, play) or ("", 0))) for play in plays]
    plan = {"variant": rules.name, "hand": names(held), "on": names(pile), "opening": opening}
    line = command_line("moves", *names(held), *as_options({"--on": " ".join(names(pile)) or None, "-v": variant}))
    may_pass = bool(pile) and not (rules.must_play and plays)
    extra = {"moves": [names(play) for play in plays], "pass": may_pass}
    made = provenance(line + (" --opening" if opening else ""))
    return Result("moves", plan, made, {"moves": make_table("cards kind length", rows)}, extra)


def hand_of(cards: str | Sequence[str], variant: str) -> "tuple[Rules, int]":
    """Return checked rules and hand."""
    from tlsim.rules.ruleset import deal_of, player_counts
    from tlsim.rules.variantfiles import parse_variant

    rules, held = parse_variant(variant), as_mask(cards)
    most = max(deal_of(rules, players)[1] for players in player_counts(rules))
    if held.bit_count() > most:
        raise InputError(f"{held.bit_count()} cards: a hand of {rules.name} has at most {most}")
    return rules, held


def as_mask(cards: str | Sequence[str]) -> int:
    """Return the mask of cards given as text, or as a list of names."""
    from tlsim.rules.cards import parse_hand

    return parse_hand(cards if isinstance(cards, str) else " ".join(cards))
