"""Several tables: people, and rows that belong to them.

Source: contract, "Units and neighbours", "Bounding inside the engine".
"""
