"""Live streams that are paid for from the budget: opening one, and going on with it."""
