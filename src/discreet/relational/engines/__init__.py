"""What differs between engines, one folder for each; the protocol is in ``engine``.

Everything else is said once, in the other folders of ``relational``. To add an engine, read
:mod:`discreet.relational.engines.engine`.
"""
