"""The policy of singles.c in Python: the same game, to the bit."""

from tlsim import kit


def choose(rules, view, stream):
    """Lead one card by chance, answer single cards with the lowest that beats them, pass on all else."""
    hand = view.hand
    if view.on == 0:
        if view.required != 0:  # the card that the first lead of the hand must hold
            return view.required
        for _ in range(kit.pick(stream, kit.n_cards(hand))):
            hand &= hand - 1  # drops the lowest card
        return hand & -hand  # the lowest card that is left
    if kit.kind(view.on) != kit.SINGLE or view.asked_again:
        return 0
    hand &= -2 << kit.top(view.on)  # the cards above the one to beat
    return hand & -hand
