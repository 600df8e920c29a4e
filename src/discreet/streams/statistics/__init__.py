"""What counters can be fed with, and what can be read off their estimates."""
