"""What reads private rows: exact aggregation, counts of cells, candidate keys."""
