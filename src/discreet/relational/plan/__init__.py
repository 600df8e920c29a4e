"""The relational plan: rows built by steps of known stability, keys, and queries over them.

Descriptions, to be compiled and hashed. Steps that bound contributions are in
:mod:`discreet.relational.bounding`, the text of most steps in :mod:`discreet.relational.compile`
(that of features stands beside them), prices in :mod:`discreet.relational.planning`.
"""
