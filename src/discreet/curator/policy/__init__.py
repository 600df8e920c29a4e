"""Policies: what the data owner allows to be asked, and holding queries to it."""
