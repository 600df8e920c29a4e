"""Connections to PostgreSQL servers: addresses, connecting, errors and the ends of transactions.

The engine and the ledger both reach their servers from here, and name what goes wrong each in
errors of its own. No text of a server is ever passed on.
"""
