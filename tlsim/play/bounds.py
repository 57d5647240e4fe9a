"""How large what is counted can get: what says that sums of squares fit in 64 bits, and what a mean can be at all.

Every bound follows from the rules, not from what is usual.
"""

from tlsim.rules.cards import DECK
from tlsim.rules.ruleset import Rules, deal_of

ONE = 840  # a whole in parts that any number of players shares evenly


def most_payoff(rules: Rules, players: int) -> int:
    """Return a bound on what one seat gets or pays in a hand, half units (section 10).

    Base amounts are largest after an instant win, which no cóng raises above; leftovers and chopped plays cost at most
    what red 2s do, 2 half units a card.
    """
    decks, cards = deal_of(rules, players)
    others = players - 1
    most = instant_payoff(rules, players) * others
    return most + 2 * cards * others * rules.leftover_penalties + 2 * DECK * decks * rules.chop_penalties


def instant_payoff(rules: Rules, players: int) -> int:
    """Return what each other seat pays the winner of an instant win, half units (section 10)."""
    return {"stake": 2, "places": 4, "cards": 4 * deal_of(rules, players)[1]}[rules.payoff]


def most_decisions(rules: Rules, players: int) -> int:
    """Return a bound on the plays and passes of a hand: a play has a card, and is passed by every other seat at most.

    >>> from tlsim.rules.variantfiles import builtin
    >>> most_decisions(builtin("southern"), 4)
    208
    """
    return players * deal_of(rules, players)[1] * players


def largest_metric(rules: Rules, players: int, seats: int) -> int:
    """Return a bound on every metric of a hand, where no policy has more than so many seats.

    What a group of seats is paid, the others pay; all seats together are paid nothing. No other metric is larger than
    the decisions: places add up to at most players².
    """
    payers = min(seats, players // 2) if seats < players else 1
    return max(most_decisions(rules, players), payers * most_payoff(rules, players))


def largest_metric_of_match(rules: Rules, players: int, seats: int, hands: int) -> int:
    """Return a bound on every metric of a match in one seating, as `largest_metric` does on those of a hand.

    At the end the totals of the seats of a policy add up in size, and so do their squares divided by the largest total.
    The margin is at most the largest total and what is the least for the second: an equal share of it to pay.
    """
    largest_total = hands * most_payoff(rules, players)
    margin = largest_total + -(-largest_total // (players - 1))
    return max(hands * largest_metric(rules, players, seats), ONE, seats * largest_total, margin)
