"""Values: their data types, what is publicly known of a column, and typed expressions."""
