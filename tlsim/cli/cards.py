"""`tlsim hand` and `tlsim moves`: what cards can do."""

import click

import tlsim
from tlsim.cli.common import FORMATS, cards_argument, emit, example, format_option, variant_option


@click.command(epilog=example("tlsim hand 3S 4S 5D 6H 7C 7D 8S 8H 9C 9D JH AS 2H"))
@cards_argument
@variant_option
@format_option(*FORMATS)
def hand(cards: tuple[str, ...], variant: str, form: str) -> None:
    """Tell what a hand holds: combinations by kind, chops, instant win, number of legal leads, fewest plays to shed it;
    how many hands are worse, by fewest plays and by strength (its ranks added up, 0 for a 3 to 12 for a 2); and how
    rare is what it holds.

    Cards are a rank (3 4 5 6 7 8 9 10 J Q K A 2) and a suit (S C D H, or ♠ ♣ ♦ ♥), in any order.
    """
    emit(tlsim.hand(cards, variant=variant), form)


@click.command(epilog=example("tlsim moves 7S 7D 8H 2C --on 6H", "tlsim moves 3S 3H 4C 5D --opening -v classic"))
@cards_argument
@click.option("--on", metavar="CARDS", help="The play to beat, in one word or in quotes; without, a lead.")
@click.option("--opening", is_flag=True, help="The first lead: the hand's lowest card is required as the variant says.")
@variant_option
@format_option(*FORMATS)
def moves(cards: tuple[str, ...], variant: str, on: str | None, opening: bool, form: str) -> None:
    """List every legal play of a hand, to lead or on the play to beat. The JSON has them as lists of cards (`moves`),
    and whether passing is legal (`pass`).
    """
    emit(tlsim.moves(cards, variant=variant, on=on, opening=opening), form)
