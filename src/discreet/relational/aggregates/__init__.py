"""The aggregates of SQL, and the exact measures they are computed from."""
