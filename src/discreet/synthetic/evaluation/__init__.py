"""How good a synthetic table is: against the real one, for its owner; or privately, for a price."""
