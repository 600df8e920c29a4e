"""What reads private rows: exact aggregation, counts of cells, candidate keys.

Exact numbers leave these modules for those that add noise, and for nobody else. Invented rows, for
simulation, are made here too, from the schema alone.
"""
