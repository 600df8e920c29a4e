"""What can be asked: one file for each kind of job, listed in ``registry.py``."""
