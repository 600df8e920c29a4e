"""What everything else is written in: units, domains, metrics, events, guarantees, errors.

Protocols and registries stand here, and what implements them elsewhere: no price, no noise, no
data. Transformations of data are in :mod:`discreet.calculus`.
"""
