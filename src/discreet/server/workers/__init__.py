"""Processes that hold the data: one for each analyst, one more for the owner's own work."""
