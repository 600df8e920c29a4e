"""Apache Spark as an engine."""
