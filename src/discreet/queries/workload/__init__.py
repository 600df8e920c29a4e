"""Universes and workloads: which linear queries are asked of which records.

Also their exact answers, and their stored form. No noise.
"""
