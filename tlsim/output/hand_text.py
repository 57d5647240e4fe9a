"""The transcript of a hand (docs/rules.md, section 11) as readable text."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tlsim.errors import InputError, printable
from tlsim.output.text import SEPARATOR, WIDTH, fold_parts
from tlsim.rules.cards import Mask, mask, names, parse_card, show, without
from tlsim.rules.ruleset import Rules
from tlsim.rules.variantfiles import parse_variant

if TYPE_CHECKING:
    from tlsim.play.transcript import Turn

Transcript = Mapping[str, Any]
_LONGEST_NAME = 30  # of a policy


def show_hands(
    transcripts: Iterable[Transcript], rules: Rules | None = None, *, symbols: bool = True, width: int = WIDTH
) -> Iterator[str]:
    """Yield transcripts as `show_hand` does, those of a match with what each seat has won so far."""
    match, totals = None, list[float]()
    for transcript in transcripts:
        if "match" not in transcript:
            yield show_hand(transcript, rules, symbols=symbols, width=width)
            continue
        previous, match = match, (transcript["match"], transcript["policies"])
        if match != previous:
            totals = [0.0] * transcript["players"]
        totals = list(map(operator.add, totals, transcript["payoffs"]))
        yield show_hand(transcript, rules, symbols=symbols, width=width, totals=totals)


def show_hand(
    transcript: Transcript,
    rules: Rules | None = None,
    *,
    symbols: bool = True,
    width: int = WIDTH,
    totals: Sequence[float] = (),
) -> str:
    """Return a transcript as text that fits `width`: the hands, the piles, the result.

    Parameters
    ----------
    transcript
        A hand, as docs/rules.md describes it in section 11.
    rules
        They tell where a pile ends. Without, those of the transcript's variant; for a file of the user's, whose name
        says nothing, the defaults.
    symbols
        Show suits as on a terminal, otherwise as in files.
    width
        Columns that the text fits.
    totals
        Shown beside the payoffs: what each seat has won so far in a match.
    """
    cards_text = show if symbols else _in_file_notation
    hands = [_mask(hand) for hand in transcript["hands"]]
    policies = [_short(name) for name in transcript["policies"]]
    lines = fold_parts(_head(transcript, cards_text), SEPARATOR, width)
    for seat, (policy, hand) in enumerate(zip(policies, hands, strict=True)):
        lines += _labelled(f"  seat {seat}  {policy.ljust(max(map(len, policies)))}", [cards_text(hand)], width)
    for n, pile in enumerate(_piles(transcript, rules or _rules_of(transcript)), 1):
        entries = []
        for turn in pile:
            hands[turn.seat] = without(hands[turn.seat], turn.cards)
            entry = f"{turn.seat}: {_show_play(turn, cards_text)}"
            if not hands[turn.seat]:
                entry += " (out)"
            entries.append(entry)
        lines += _labelled(f"  pile {n}".ljust(9), entries, width)
    return "\n".join([*lines, *_result(transcript, hands, cards_text, totals)])


def _in_file_notation(cards: Mask) -> str:
    return " ".join(names(cards))


def _show_play(turn: "Turn", cards_text: Callable[[Mask], str]) -> str:
    if not turn.cards:
        return "pass"
    if turn.is_chop:
        return f"chops with {cards_text(turn.cards)}"
    return cards_text(turn.cards)


def _mask(cards: Sequence[str]) -> Mask:
    return mask(map(parse_card, cards))


def _short(name: str) -> str:
    name = printable(name)
    if len(name) <= _LONGEST_NAME:
        return name
    return name[: _LONGEST_NAME - 2] + " …"


def _labelled(label: str, entries: Sequence[str], width: int) -> list[str]:
    """Return a label with its entries beside it, folded between them."""
    first, *others = fold_parts(entries, "   ", width - len(label) - 2)
    return [f"{label}  {first}", *(f"{' ' * len(label)}  {line}" for line in others)]


def _head(transcript: Transcript, cards_text: Callable[[Mask], str]) -> list[str]:
    """Return what is known before the first play: which hand it is, who deals and who leads."""
    lead = f"seat {transcript['leader']} leads"
    if transcript["required"]:
        lead += f", with {cards_text(_mask([transcript['required']]))}"
    head = [
        f"deal {transcript['index']}",
        f"seed {transcript['seed']}",
        printable(transcript["variant"]),
        "opening hand" if transcript["opening"] else "later hand",
        f"seat {transcript['dealer']} deals",
        lead,
    ]
    if "match" in transcript:
        head.insert(0, f"match {transcript['match']}")
    return head


def _result(
    transcript: Transcript, left: Sequence[Mask], cards_text: Callable[[Mask], str], totals: Sequence[float]
) -> list[str]:
    """Return place and payoff of each seat, its total if there is one, and what it still holds."""
    instant_win = transcript["instant_win"]
    lines = []
    if instant_win:
        lines.append(f"  seat {instant_win['player']} wins at once: {instant_win['kind']}")
    for seat, (place, payoff) in enumerate(zip(transcript["places"], transcript["payoffs"], strict=True)):
        facts = [f"seat {seat}", f"place {place}", f"{payoff:+5g}"]
        if totals:
            facts.append(f"total {totals[seat]:+5g}")
        if left[seat] and not instant_win:
            facts.append(f"holds {cards_text(left[seat])}")
        lines.append("  " + "  ".join(facts))
    return lines


# ------------------------------------------------------------------------------------------------ piles


def _rules_of(transcript: Mapping[str, Any]) -> Rules:
    try:
        return parse_variant(transcript["variant"])
    except InputError:
        return Rules()


def _piles(transcript: Transcript, rules: Rules) -> "list[list[Turn]]":
    """Return the turns pile by pile; all in one where they are not legal under these rules."""
    from tlsim.play.transcript import Turn, piles  # brings Numba along, so late

    try:
        return piles(rules, transcript)
    except InputError:
        turns = [Turn(play["player"], _mask(play["cards"]), is_chop=False) for play in transcript["plays"]]
        return [turns] if turns else []
