"""Policies: what the data owner allows to be asked, and holding queries to it.

A policy narrows what may be asked; it gives no privacy, and the budget is not kept here.
"""
