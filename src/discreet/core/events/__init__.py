"""Events: frozen, versioned accounts of what a release did, and their algebra."""
