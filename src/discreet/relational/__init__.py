"""Private SQL: declared tables, typed expressions, plans and the engines under them."""
