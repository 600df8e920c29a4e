"""Events: frozen, versioned accounts of what a release did, and their algebra.

``versioned`` is how they are written; ``event`` the base, composition and sampling (``+``, ``*``,
``subsample``); ``mechanisms``, ``key_selection``, ``shuffled`` and ``tuned`` the kinds that
mechanisms record. Users import them from :mod:`discreet.events`.
"""
