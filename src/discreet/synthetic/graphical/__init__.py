"""Graphical models over discrete attributes: junction trees, inference, estimation, rows.

Source: 004b:A14; modern-data:A3.
"""
