"""One file for each noun that people look at."""
