"""Budgets within a budget: children, partitions, blocks of time."""
