"""Interactive sessions: paid for once, and going on over several calls.

Sparse vector sessions and conversations, the list of all that an account has open, and the one way
to resume them. Rounds are resumed from here too, and live in :mod:`discreet.curator.rounds`.
"""
