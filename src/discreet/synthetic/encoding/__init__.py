"""Columns as people have them, as the few numbered cells that synthesis counts, and back."""
