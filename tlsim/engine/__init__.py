"""One hand, compiled: streams, masks, combinations, deal, turns, payoffs, tallies. Knows Numba and never Polars.

Imports `errors` and `rules`.
"""
