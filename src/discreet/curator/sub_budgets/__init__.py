"""Budgets within a budget: children, partitions, blocks of time.

What is granted, to which part of the tables, and at what price above. How sub-accounts are kept
is in :mod:`discreet.ledger`; which rows a part has, in :mod:`discreet.relational`.
"""
