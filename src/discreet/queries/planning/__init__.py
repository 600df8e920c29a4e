"""Which mechanism for which workload: from public quantities, or by a choice that is paid for.

Rounds of several analysts have a planner of their own, in :mod:`discreet.queries.analysts`.
"""
