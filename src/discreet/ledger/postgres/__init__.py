"""Ledgers on a PostgreSQL server: their tables, transactions and errors.

Addresses and connections are in :mod:`discreet.postgres`.
"""
