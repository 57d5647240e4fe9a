"""The built-in policy `random` as a plug-in: the same game, to the bit."""

from tlsim import kit


def choose(rules, view, stream):
    """Every legal play, and passing when it may, with equal probability."""
    return kit.random_play(rules, view, stream)
