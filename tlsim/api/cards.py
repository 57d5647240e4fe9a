"""Cards in hand: `hand`, `moves`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tlsim.api.common import DEFAULT_LEVEL, DEFAULT_VARIANT, as_texts, command_line, make_table, plan_of_variant
from tlsim.errors import InputError

if TYPE_CHECKING:
    from tlsim.output.result import Result
    from tlsim.rules.cards import Mask
    from tlsim.rules.ruleset import Rules
    from tlsim.rules.variantfiles import VariantSpec


_HAND_FACTS = ("instant_win", "opening_instant_win", "legal_leads", "fewest_plays")


def hand(cards: str | Sequence[str], *, variant: "VariantSpec" = DEFAULT_VARIANT) -> "Result":
    """Return what a hand holds: combinations by kind, chops, instant wins, legal leads, fewest plays to shed it.

    Among all hands of its size: `percentiles`, by fewest plays and by strength, and `rarity` of what it holds.

    Parameters
    ----------
    cards
        The cards as text, `"3S 4S 10D"`, or as a list of names, in any order.
    variant
        A built-in variant or a TOML file, with changes.

    Raises
    ------
    InputError
        For cards that are none, or more of them than the variant deals.

    Examples
    --------
    >>> import tlsim
    >>> tlsim.hand("3S 3C 4S 4C 5S 5C 9D").tables["hand"]["fewest_plays"].item()
    2
    """
    rules, held = _rules_and_hand(variant, cards)
    from tlsim.chances import rarity
    from tlsim.engine import bulk, cache
    from tlsim.output.result import Result, provenance
    from tlsim.play import legal
    from tlsim.rules.cards import names

    cache.announce_compiling([*legal.KERNELS, *bulk.KERNELS], "10 s")
    facts = legal.describe_hand(rules, held)
    chops = [(name, count, " ".join(names(play))) for name, count, play in facts["chops"]]
    tables = {
        "hand": make_table(["cards", *_HAND_FACTS], [[held.bit_count(), *(facts[name] for name in _HAND_FACTS)]]),
        "combinations": make_table("kind count", facts["combinations"].items()),
        "percentiles": rarity.percentiles(rules, held, 1, DEFAULT_LEVEL),
        "rarity": rarity.rarity(rules, held),
        "chops": make_table("chop count lowest", chops),
    }
    plan = plan_of_variant(rules, variant) | {"hand": names(held)}
    origin = provenance(command_line("hand", *names(held), options={"-v": variant}))
    return Result("hand", plan, origin, tables)


def moves(
    cards: str | Sequence[str],
    *,
    variant: "VariantSpec" = DEFAULT_VARIANT,
    on: str | Sequence[str] | None = None,
    opening: bool = False,
) -> "Result":
    """Return every legal play of a hand.

    The result's `extra` holds the plays as lists of cards (`moves`), and whether passing is legal (`pass`).

    Parameters
    ----------
    cards
        The cards as text, `"3S 4S 10D"`, or as a list of names, in any order.
    variant
        A built-in variant or a TOML file, with changes.
    on
        The play to beat; without, the hand leads.
    opening
        This is the first lead: it must respect the hand's lowest card as the variant's `first_lead` says.

    Raises
    ------
    InputError
        For cards that are none, or more of them than the variant deals; for `on` that is no combination.

    Examples
    --------
    >>> import tlsim
    >>> tlsim.moves("7S 7D 8H 2C", on="6H").extra["moves"]
    [['7S'], ['7D'], ['8H'], ['2C']]
    """
    rules, held = _rules_and_hand(variant, cards)
    pile = 0 if on is None else _mask_of(on)
    if pile and opening:
        raise InputError("opening asks about the first lead, where there is no play to beat")
    from tlsim.engine import cache
    from tlsim.output.result import Result, provenance
    from tlsim.play import legal
    from tlsim.rules.cards import names

    cache.announce_compiling(legal.MOVES, "5 s")
    plays = legal.moves(rules, held, pile, opening)
    rows = [(" ".join(names(play)), *(legal.describe(rules, play) or ("", 0))) for play in plays]
    plan = plan_of_variant(rules, variant) | {"hand": names(held), "on": names(pile), "opening": opening}
    options = {"--on": " ".join(names(pile)) or None, "-v": variant, "--opening": opening}
    origin = provenance(command_line("moves", *names(held), options=options))
    may_pass = bool(pile) and not (rules.must_play and plays)
    extra = {"moves": [names(play) for play in plays], "pass": may_pass}
    return Result("moves", plan, origin, {"moves": make_table("cards kind length", rows)}, extra)


def _rules_and_hand(variant: "VariantSpec", cards: str | Sequence[str]) -> "tuple[Rules, Mask]":
    """Return the rules and the hand, checked."""
    from tlsim.rules.ruleset import deal_of, player_counts
    from tlsim.rules.variantfiles import parse_variant

    rules, held = parse_variant(variant), _mask_of(cards)
    most = max(deal_of(rules, players)[1] for players in player_counts(rules))
    if held.bit_count() > most:
        raise InputError(f"a hand of {rules.name} must have at most {most} cards, got {held.bit_count()}")
    return rules, held


def _mask_of(cards: str | Sequence[str]) -> "Mask":
    """Return the mask of cards given as text, or as a list of names."""
    from tlsim.rules.cards import parse_hand

    return parse_hand(" ".join(as_texts("cards", cards)))
