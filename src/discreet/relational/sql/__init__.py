"""From the analyst's SQL to our own nodes, by an allow-list; no text of theirs goes further."""
