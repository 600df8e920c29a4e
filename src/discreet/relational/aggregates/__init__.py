"""The aggregates of SQL, one file for each family, and the exact measures behind them.

An aggregate is an object that says how it is written, what it measures, how its column and the
interval of it follow from noisy measures, and how wrong it will be before anything is spent. The
parser, the planner and the curator ask it, and know no aggregate by name. To add one, write its
file, list it in ``registry.py``, and give it a tag in ``identity/tags.py``.
"""
