"""Policies of users: found, compiled, called. Imports what is above: `errors`, `rules`, `engine`."""
