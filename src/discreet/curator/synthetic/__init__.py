"""Synthetic tables of private ones: made once, paid for once, sampled for free afterwards.

The mechanisms, and columns as cells, are in :mod:`discreet.synthetic`.
"""
