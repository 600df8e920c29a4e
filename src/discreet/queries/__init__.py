"""Many linear queries at once: what they share, and the estimates that agree with each other."""
