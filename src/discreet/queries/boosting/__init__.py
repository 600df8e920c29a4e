"""Boosting for queries: a generator that is right on most queries becomes right on all."""
