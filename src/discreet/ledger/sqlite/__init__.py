"""Ledgers in one SQLite file."""
