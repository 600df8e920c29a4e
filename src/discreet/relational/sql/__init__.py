"""From the analyst's SQL to our own nodes, by an allow-list; no text of theirs goes further.

What functions and aggregates mean is said in their own folders; the nodes are in
:mod:`discreet.relational.plan`.
"""
