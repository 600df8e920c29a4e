"""The privacy calculus: units, domains, metrics, events, guarantees and how they chain."""
