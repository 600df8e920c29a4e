"""Prefix sums as a product of two matrices: noise between them, on whole numbers."""
