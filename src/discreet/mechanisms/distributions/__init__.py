"""The exact distributions of noise on a grid: what every interval is computed from.

They are evaluated here and never drawn from; samplers are in :mod:`discreet.noise`, intervals in
:mod:`discreet.release.intervals`.
"""
