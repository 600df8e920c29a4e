"""Queries answered one by one: private multiplicative weights and its relatives.

Also the offline construction that uses the same updaters, and the journal by which a conversation
goes on later. Who pays, and where the journal is kept, is the curator's.
"""
