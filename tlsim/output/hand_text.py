"""The transcript of a hand (docs/rules.md, section 11) as readable text."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tlsim.errors import InputError
from tlsim.output.text import SEPARATOR, WIDTH, fold_parts
from tlsim.rules.cards import FULL, RANKS, TWOS, Mask, Seat, mask, names, parse_card, show, without
from tlsim.rules.ruleset import Rules, chop_line
from tlsim.rules.variantfiles import parse_variant

Transcript = Mapping[str, Any]
_LONGEST_NAME = 30  # of a policy


@dataclass(frozen=True, slots=True)
class Turn:
    """What a seat plays: a mask of cards, none for a pass; whether it chops."""

    seat: Seat
    cards: Mask
    is_chop: bool = False


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
    for n, pile in enumerate(piles(transcript, rules or _rules_of(transcript)), 1):
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


def _show_play(turn: Turn, cards_text: Callable[[Mask], str]) -> str:
    if not turn.cards:
        return "pass"
    if turn.is_chop:
        return f"chops with {cards_text(turn.cards)}"
    return cards_text(turn.cards)


def _mask(cards: Sequence[str]) -> Mask:
    return mask(map(parse_card, cards))


def _short(name: str) -> str:
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
        transcript["variant"],
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


def piles(transcript: Mapping[str, Any], rules: Rules) -> list[list[Turn]]:
    """Return the turns of a hand pile by pile: a transcript does not mark who leads (section 4.5)."""
    found: list[list[Turn]] = []
    passed: set[int] = set()
    owner, on, last = -1, 0, 0
    for play in transcript["plays"]:
        seat, cards = play["player"], _mask(play["cards"])
        # After each play the other seats are asked in turn, each once; whoever passes is out, but for some chops.
        distance = (seat - owner) % transcript["players"]
        is_out = rules.pass_locks and seat in passed and not _may_come_back(rules, cards, on)
        if owner < 0 or (cards and (distance <= last or is_out)):
            found.append([])
            passed, on = set(), 0
        found[-1].append(Turn(seat, cards, bool(on and cards and _shape(cards) != _shape(on))))
        if cards:
            owner, on, last = seat, cards, 0
            passed.discard(seat)
        else:
            last = distance
            passed.add(seat)
    return found


def _shape(cards: int) -> tuple[int, int]:
    """Return the number of cards and of ranks: equal for two combinations when they match."""
    return cards.bit_count(), sum(cards >> 4 * rank & 15 > 0 for rank in range(len(RANKS)))


def _chop_name(cards: int) -> str:
    """Return what the chop table calls a combination (section 3), nothing when it is neither chop nor target."""
    n, ranks = _shape(cards)
    if ranks > 1:
        return {1: "", 2: f"double-straight-{ranks}", 4: f"quad-run-{ranks}"}[n // ranks]
    return "quad" if n == 4 else ("two", "two-twos", "three-twos")[n - 1] if cards & TWOS else ""


def _may_come_back(rules: Rules, cards: int, on: int) -> bool:
    """Return whether a seat that has passed is asked again because it can play these cards (section 4.5)."""
    if not cards or not on:
        return False
    line = chop_line(rules, _chop_name(cards))
    if line is None or line not in rules.unlocked_chops:
        return False
    if _shape(cards) != _shape(on):
        return _chop_name(on) in dict(rules.chops)[line]
    top, beaten = (cards & FULL).bit_length(), (on & FULL).bit_length()
    return top > beaten or (top == beaten and rules.ties != "forbidden")
