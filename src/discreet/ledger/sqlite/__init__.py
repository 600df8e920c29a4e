"""Ledgers in one SQLite file: its form, its transactions and its errors.

Also :func:`ledger_at`, which takes a path for such a ledger.
"""
