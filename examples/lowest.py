"""The built-in policy `lowest` as a plug-in: the same game, to the bit."""

from tlsim import kit


def choose(rules, view, stream):
    """Sheds its lowest cards."""
    return kit.lowest_play(rules, view)
