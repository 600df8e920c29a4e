"""Queries answered one by one: private multiplicative weights and its relatives."""
