"""Values: their data types, what is publicly known of a column, and typed expressions.

What owners write to declare a column is in :mod:`discreet.relational.schema`.
"""
