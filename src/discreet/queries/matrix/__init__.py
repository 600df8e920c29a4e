"""The matrix mechanism: measure a strategy, answer a workload by least squares.

Strategies, how they are chosen and measured, and the reconstruction; for marginals of universes of
any size too. What is left behind is in :mod:`discreet.queries.synopses`.
"""
