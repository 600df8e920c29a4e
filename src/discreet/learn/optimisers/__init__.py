"""Private optimisation: minimisers of losses over private rows, each with its event."""
