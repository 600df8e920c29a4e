"""From a plan to the text that an engine runs."""
