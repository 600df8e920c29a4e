"""Contribution bounding: how much one person may change, and which of their rows are kept."""
