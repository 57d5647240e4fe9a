"""`tlsim simulate` and `tlsim replay`: hands from a seed."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import tlsim
from tlsim.cli import command
from tlsim.cli.common import (
    FORMATS,
    deals_option,
    emit,
    example,
    format_option,
    level_option,
    match_option,
    parse_count,
    players_option,
    plot_option,
    policy_option,
    run_with_progress,
    save_plot,
    say_how_to_go_on,
    seed_option,
    text_options,
    threads_option,
    trade_option,
    variant_option,
)
from tlsim.cli.streams import tell, write, write_json
from tlsim.errors import InputError, brief

if TYPE_CHECKING:
    from tlsim.output.result import Result

_CHUNK = 256  # hands that replay holds in memory at once


@command(
    epilog=example(
        "tlsim simulate -v southern -p lowest -n 10M --seed 1",
        "tlsim simulate -p lowest -p random -p lowest -p random -n 1e5",
        "tlsim simulate -v mien-nam -n 1e5 --match 10",
    )
)
@variant_option
@policy_option
@deals_option
@match_option
@trade_option
@seed_option
@players_option
@threads_option
@level_option
@plot_option
@format_option(*FORMATS)
def simulate(plot: Path | None, form: str, **options: Any) -> int | None:
    """Play many deals and print, each with its interval: win rate, mean place and payoff by seat, for the leader of the
    hand and the others, by policy; plays, passes and piles a hand; chops and instant wins by kind.

    When policies differ, every deal is played in every distinct seating of them. Ctrl-C prints what is done.

    With --match also: results by hand number, winning streaks, totals after each hand, and what a match pays.
    """
    unit = "deals" if options["match"] is None else "matches"
    result, interruption = run_with_progress(partial(tlsim.simulate, **options), unit)
    emit(result, form)
    if plot:
        save_plot(result, plot)
    if interruption:
        return say_how_to_go_on(interruption)
    tell(_speed(result))
    return None


def _speed(result: "Result") -> str:
    """Return how many hands were played in how many seconds, and the seed."""
    plan, unit, seconds = result.plan, result.unit, result.provenance["seconds"]
    rate = plan[unit] / seconds
    games = rate * plan["seatings"] * plan.get("match", 1)
    return f"{plan[unit]:,} {unit} in {seconds:.2f} s: {rate:,.0f} {unit}/s, {games:,.0f} games/s (seed {plan['seed']})"


@command(
    epilog=example(
        "tlsim replay -v southern -p lowest --seed 1 --deal 17",
        "tlsim replay --seed 1 --deal 0:1000 --format jsonl > hands.jsonl",
        "tlsim replay --seed 1 --deal 3 --match 10",
    )
)
@variant_option
@policy_option
@seed_option
@players_option
@click.option("--deal", default="0", show_default=True, metavar="K[:L]", help="Deal K, or the deals K to L-1; from 0.")
@match_option
@trade_option
@format_option("text", "jsonl", "json")
def replay(deal: str, seed: int | None, form: str, **options: Any) -> None:
    """Show hands of the run that `simulate` makes of the same options: readable, or as transcripts, one JSON object a
    line; with --format json all of them in one, beside their tables.

    With --match the hands of match K, or of the matches K to L-1, in sequence.
    """
    first, stop = _parse_deals(deal)
    if form == "json":
        write_json(tlsim.replay(deal=(first, stop), seed=seed, **options).to_json())
        return
    chunk = max(1, _CHUNK // max(1, options["match"] or 1))
    for start in range(first, stop, chunk) or (first,):
        result = tlsim.replay(deal=(start, min(start + chunk, stop)), seed=seed, **options)
        seed = result.plan["seed"]  # a drawn one holds for all chunks
        if form == "text":
            write(("\n" if start > first else "") + result.to_text(**text_options()))
        else:
            write_json("\n".join(json.dumps(hand, ensure_ascii=False) for hand in result.extra["hands"]))


def _parse_deals(text: str) -> tuple[int, int]:
    """Return the first deal and the one after the last of `K` or `K:L`."""
    first, colon, stop = text.partition(":")
    try:
        if colon:
            return parse_count(first), parse_count(stop)
        return parse_count(first), parse_count(first) + 1
    except InputError:
        example_texts = "one deal as 17, or the deals 0 to 9 as 0:10"
        raise InputError(f"--deal must be {example_texts}, got {brief(text)[1:-1]}") from None
