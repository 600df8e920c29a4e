"""Universes and workloads: which linear queries are asked of which records."""
