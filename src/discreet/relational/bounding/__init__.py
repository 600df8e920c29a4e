"""Contribution bounding: how much one person may change, and which of their rows are kept.

- ``contributions``: how many rows one unit changes, and the sensitivities that follow.
- ``hashing``: which rows come first (``Shuffle``), and the text that keeps them (``first_rows``).
- ``person_groups``: at most G groups, R rows and m rows in a group, when everything is added up.
- ``person_rows``: at most R rows of a person, before rows lose their owner.
- ``before_joins``: at most so many rows of a person before a join that multiplies them.
- ``key_truncation``: at most so many rows of a key, in joins on another key than the person.
- ``public_join``: at most so many partners of a row in a public table.
- ``partition_filter``: one part of a table, with each person in few of the parts.

A step of a plan stands beside the text that enforces it and registers it with the compiler. Whoever
changes the rule by which rows are kept changes ``hashing`` and ``person_groups`` here, and what
``execute/exact_aggregation`` hands to ``PersonBounds``: nothing else knows of it.
"""
