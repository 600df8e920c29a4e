"""Boosting for queries: a generator that is right on most queries becomes right on all.

The constants that texts print are in :mod:`discreet.theory.boosting`; those used, here.
"""
