"""The curator: sole holder of the data, its budget and its durable record.

One file for each verb, ``context`` for what all of them take, and ``purchase``, the one way in
which anything is paid for. Plans and engines are in :mod:`discreet.relational`, the record itself
in :mod:`discreet.ledger`, answers once they are out in :mod:`discreet.release`.
"""
