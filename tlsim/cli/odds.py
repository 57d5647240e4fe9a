"""`tlsim odds` and `tlsim check-deals`: what dealt hands hold, and whether a shuffle is fair."""

from functools import partial
from pathlib import Path
from typing import Any

import click

import tlsim
from tlsim.api.odds import DEFAULT_ALPHA
from tlsim.cli import FAULT, command
from tlsim.cli.common import (
    FORMATS,
    deals_option,
    emit,
    example,
    format_option,
    level_option,
    players_option,
    plot_option,
    run_with_progress,
    save_plot,
    say_how_to_go_on,
    seed_option,
    threads_option,
    variant_option,
)


@command(
    epilog=example(
        "tlsim odds -v southern",
        "tlsim odds dragon four_twos --any",
        "tlsim odds --event 'twos >= 2 and longest_straight >= 5' --given holds_3s",
        "tlsim odds chop --by twos --plot chops.png",
    )
)
@click.argument("events", nargs=-1, metavar="[EVENT…]")
@click.option(
    "--event",
    "--where",
    "where",
    metavar="EXPR",
    help="An event in SQL over hand columns: 'twos >= 2 and not chop'. --where is the same.",
)
@click.option("--given", metavar="EXPR", help="Of the hands that hold this.")
@click.option("--by", metavar="COLUMN", help="For each value of a column; without an event, how often it comes.")
@click.option("--any", "any_player", is_flag=True, help="Some player at the table, for every number of players.")
@click.option("--count", "count_players", is_flag=True, help="How many players at the table.")
@variant_option
@players_option
@deals_option
@seed_option
@threads_option
@level_option
@plot_option
@format_option(*FORMATS)
def odds(events: tuple[str, ...], plot: Path | None, form: str, **options: Any) -> int | None:
    """Print the odds of what a dealt hand holds: exact as far as they can be counted, beside those of N sampled hands
    or tables, with z, by how many standard errors they differ.

    An EVENT is a hand column: yes or no as dragon, chop_quad, or a number as twos, legal_leads, for its whole
    distribution. An unknown name lists them all. Without EVENT, --event and --by: the tables of a rule set; without
    --players for every kind of hand that it deals.
    """
    result, interruption = run_with_progress(partial(tlsim.odds, *events, **options), "deals")
    emit(result, form)
    if plot:
        save_plot(result, plot)
    return say_how_to_go_on(interruption) if interruption else None


@command("check-deals", epilog=example("tlsim check-deals hands.jsonl", "tlsim check-deals deals.csv --alpha 0.001"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--alpha", type=float, default=DEFAULT_ALPHA, show_default=True, help="The chance of a false alarm.")
@variant_option
@format_option(*FORMATS)
def check_deals(file: Path, alpha: float, variant: str, form: str) -> int:
    """Test the hands that an app has dealt: does every seat get every card as often, and as many 2s, do cards come
    together as often, are suits and ranks spread by chance, are instant wins as frequent as the exact odds say, is a
    deal independent of the one before?

    FILE (- for standard input) has transcripts as of replay --format jsonl, or CSV: a row a deal and a column a seat,
    with the cards of the seat in each cell; or columns deal, seat and cards; or deal, seat and card. "detectable" is
    the relative effect that a test would have found nine times in ten. Exit code 1: the shuffle is not fair.
    """
    result = tlsim.check_deals(file, variant=variant, alpha=alpha)
    emit(result, form)
    return 0 if result.tables["tests"]["fair"].all() else FAULT
