"""Contribution bounding: how much one person may change, and which of their rows are kept.

- ``contributions``: how many rows one unit changes, and the sensitivities that follow.
- ``rule``: by which rule rows beyond the limits are treated, by a frozen name.
- ``row_weights``: sums and counts: each row of a person with too many counts as a part of one.
- ``systematic``: at most so many of the rows that belong together, spread along their content.
- ``hashing``: salted hashes (``Shuffle``), and the first rows by them (``first_rows``).
- ``person_groups``: at most G groups, R rows and m rows in a group, for what needs whole rows.
- ``person_rows``: at most R rows of a person, before rows lose their owner.
- ``before_joins``: at most so many rows of a person before a join that multiplies them.
- ``key_truncation``: at most so many rows of a key, in joins on another key than the person.
- ``public_join``: at most so many partners of a row in a public table.
- ``partition_filter``: one part of a table, with each person in few of the parts.

A step of a plan stands beside the text that enforces it and registers it with the compiler. Whoever
changes the rule by which rows count or are kept changes ``row_weights``, ``systematic`` and
``person_groups`` here, gives the new rule a name in ``rule``, and changes what
``execute/exact_aggregation`` hands to them: nothing else knows of it.
"""
