"""Running it: listening, health, metrics, logs, back-ups."""
