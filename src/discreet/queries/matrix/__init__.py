"""The matrix mechanism: measure a strategy, answer a workload by least squares."""
