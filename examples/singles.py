"""The policy of singles.c in Python: the same game, to the bit."""

from tlsim import kit


def choose(rules, view, stream):
    """Lead one card by chance, answer single cards with the lowest that beats them, pass on all else."""
    hand = view.hand
    if view.on == 0:
        if view.required != 0:
            return view.required
        for _ in range(kit.pick(stream, kit.n_cards(hand))):
            hand &= hand - 1
        return hand & -hand
    if kit.kind(view.on) != kit.SINGLE or view.asked_again:
        return 0
    hand &= -2 << kit.top(view.on)
    return hand & -hand
