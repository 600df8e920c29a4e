"""Connections to PostgreSQL servers, for the engine and the ledger."""
