"""Many hands: a plan, its runner on threads, matches, transcripts, legal plays, speed.

Imports `errors`, `rules`, `engine`, `plugins` and `kit`. Knows Numba and never Polars: below it lies the seam.
"""
