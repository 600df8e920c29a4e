"""The functions analysts may use, one file per family. What is not here does not exist."""
