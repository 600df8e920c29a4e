"""What the service remembers beside the ledger: people, grants, jobs, releases, limits.

Nothing private, and nothing that the ledger does not decide better. Each file here holds the
functions about one noun; they take a connection and are run by :class:`StateStore`.
"""
