"""Policies of users: from files and libraries, compiled, called.

May import `errors`, `rules`, `engine` and Numba; not `play` or what is below. `pipeline` leans on Numba's inside and is
imported when a policy is compiled the fast way; `plain` uses what Numba documents.
"""
