"""A policy in ten lines: plays like `lowest`, but keeps its 2s and chops while nobody is about to go out."""

from tlsim import kit


def choose(rules, view, stream, danger=4.0):
    """Keep 2s and chops until another player is down to `danger` cards."""
    play = kit.lowest_play(rules, view)  # a mask of cards; 0 is a pass
    code = kit.code(rules, play)
    # Cards 48 to 51 are the 2s. `view.on` is what must be beaten, 0 when this seat leads.
    costly = kit.top(code) >= 48 or (view.on != 0 and kit.is_chop(code, view.on))
    if play != 0 and costly and kit.may_pass(rules, view) and kit.fewest_left(rules, view) > danger:
        return 0
    return play
