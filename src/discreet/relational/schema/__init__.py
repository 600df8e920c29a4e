"""What the data owner declares: tables, where they lie, and their columns."""
