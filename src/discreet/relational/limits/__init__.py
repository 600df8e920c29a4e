"""Public limits on what one query may use: groups, expressions, statements, rows and text.

They follow from the plan alone and are checked before anything is paid. Limits on what one person
contributes are in :mod:`discreet.relational.bounding`.
"""
