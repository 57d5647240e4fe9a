"""Odds of dealt hands, exact and sampled; questions about them; whether a shuffle is fair. Imports what is above."""
