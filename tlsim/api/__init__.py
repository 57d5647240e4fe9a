"""The commands as functions: each checks everything, then works, and returns a `Result`.

What a function needs is imported inside it, so that `tlsim variants` does not wait for Numba. May import everything but
`cli`.
"""
