"""Estimates with intervals, and the tables of a run: from integer tallies to Polars frames.

The first folder below the seam: it knows Polars and never Numba. Imports what is above.
"""
