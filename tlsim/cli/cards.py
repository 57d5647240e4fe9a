"""`tlsim hand` and `tlsim moves`: what cards can do."""

import click

import tlsim
from tlsim.cli import Command, command
from tlsim.cli.common import FORMATS, cards_argument, emit, example, format_option, variant_option
from tlsim.errors import InputError, brief


@command(epilog=example("tlsim hand 3S 4S 5D 6H 7C 7D 8S 8H 9C 9D JH AS 2H"))
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


class _Moves(Command):
    """The command `moves`, which refuses a pile that is written as several words."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; `moves 7S 7D --on 6H 6S` would put the 6S into the hand."""
        if "--on" in args[1:-2]:
            place = args.index("--on")
            first, second = args[place + 1], args[place + 2]
            if not second.startswith("-") and any(map(_is_card, args[:place])):
                both = f"{first},{second}"
                raise InputError(
                    f"--on must be one word, as --on {brief(both)[1:-1]}, or in quotes; got {brief(second)} after it"
                )
        return super().parse_args(ctx, args)


def _is_card(word: str) -> bool:
    """Return whether a word is a card, or several."""
    from tlsim.rules.cards import parse_hand

    try:
        parse_hand(word)
    except InputError:
        return False
    return True


@click.command(
    cls=_Moves,
    epilog=example("tlsim moves 7S 7D 8H 2C --on 6H", "tlsim moves 3S 3H 4C 5D --opening -v classic"),
)
@cards_argument
@click.option(
    "--on",
    metavar="CARDS",
    help="The play to beat; several cards in one word, as 6H,6S, or in quotes. Without, a lead.",
)
@click.option("--opening", is_flag=True, help="The first lead: the hand's lowest card is required as the variant says.")
@variant_option
@format_option(*FORMATS)
def moves(cards: tuple[str, ...], variant: str, on: str | None, opening: bool, form: str) -> None:
    """List every legal play of a hand, to lead or on the play to beat. The JSON has them as lists of cards (`moves`),
    and whether passing is legal (`pass`).
    """
    emit(tlsim.moves(cards, variant=variant, on=on, opening=opening), form)
