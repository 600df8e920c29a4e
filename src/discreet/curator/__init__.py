"""The curator: sole holder of the data, its budget and its durable record."""
