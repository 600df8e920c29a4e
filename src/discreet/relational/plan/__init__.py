"""The relational plan: rows built by steps of known stability, keys, and queries over them."""
