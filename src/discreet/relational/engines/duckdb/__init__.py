"""DuckDB as the embedded engine, and the files and frames it reads."""
