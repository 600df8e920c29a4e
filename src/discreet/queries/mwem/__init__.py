"""MWEM and the multiplicative weights underneath it.

The same weights for queries that come one by one are in :mod:`discreet.queries.online`.
"""
