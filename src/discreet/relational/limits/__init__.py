"""Public limits on what one query may use: rows, text, cells, size of the statement."""
