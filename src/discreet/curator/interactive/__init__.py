"""Interactive sessions: paid for once, and going on over several calls."""
