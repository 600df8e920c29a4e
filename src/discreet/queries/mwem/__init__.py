"""MWEM and the multiplicative weights underneath it."""
