"""When two queries are the same: their canonical text under explicit, versioned tags."""
