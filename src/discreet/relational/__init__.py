"""Private SQL: declared tables, typed expressions, plans and the engines under them.

From text to noisy numbers and their columns. Nothing here spends: a planned query says what it
costs, and the curator pays.
"""
