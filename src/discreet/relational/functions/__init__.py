"""The functions analysts may use, one file per family. What is not here does not exist.

Aggregates are in :mod:`discreet.relational.aggregates`; how engines write functions, in
``compile/standard`` and their dialects.
"""
