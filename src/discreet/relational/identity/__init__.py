"""When two queries are the same: their canonical text under explicit, versioned tags.

``former`` and ``former_tags`` know queries as they were first written, for ledgers of that time.
"""
