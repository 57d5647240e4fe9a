"""The game as data: cards and their notation, `Rules`, variant files.

Imports only `errors`; nothing here knows Numba.
"""
