"""PostgreSQL as an engine: its SQL, what is pinned for a question, which views it may read.

Addresses and connections are in :mod:`discreet.postgres`.
"""
