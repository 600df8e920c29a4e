"""Ledgers on a PostgreSQL server."""
