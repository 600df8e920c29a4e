"""The exact distributions of noise on a grid: what every interval is computed from."""
