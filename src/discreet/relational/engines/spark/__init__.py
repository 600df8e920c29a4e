"""Apache Spark as an engine: its SQL, and a session of our own with pinned settings."""
