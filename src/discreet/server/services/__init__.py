"""What people may do: one file for each noun, all of them in the ``Service``."""
