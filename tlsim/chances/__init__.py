"""Odds of dealt hands, exact and sampled; questions about them; whether a shuffle is fair. Imports what is above.

Read the modules in this order, which is the way of a question from its text to the printed table:

1. `columns`: what one may ask of a hand. `steps`: how the answer is counted rank by rank; `fewest_plays`: one of them.
2. `sql`, `sql_limits`: a question in SQL becomes a checked expression; what it needs of ranks becomes a condition.
3. `exact_hands`: the exact distribution of columns over all hands.
4. `automata`, then `exact_tables`: the exact odds that k players of a table all hold an event.
5. `sample`: hands and tables are dealt, and the values of questions counted.
6. `answers`: exact and sampled odds of a list of questions, side by side, as rows of tables.
7. `questions`: what a user asks, and what `tlsim odds` shows of a rule set, as such a list. `rarity`: one hand.

Apart from these: `deal_texts` and `deal_files` read the deals of others, `deal_check` tests whether they are fair.
"""
