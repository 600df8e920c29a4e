"""What the data owner declares: tables, where they lie, and their columns.

What is known of computed values is in :mod:`discreet.relational.types`; how a source is read, in
the engines.
"""
