"""Rules that are one of several choices, as the packed record has them: names for its numbers."""

from tlsim.rules.ruleset import packed_choice

FIRST_LEAD_ALONE = packed_choice("first_lead", "alone")
FIRST_LEAD_FREE = packed_choice("first_lead", "free")
ENDS_LAST = packed_choice("ends", "last")
PAYOFF_STAKE = packed_choice("payoff", "stake")
PAYOFF_PLACES = packed_choice("payoff", "places")
TIES_LATER = packed_choice("ties", "later")
TIES_KICKERS = packed_choice("ties", "kickers")
