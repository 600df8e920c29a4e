"""From a plan to the text that an engine runs, in standard SQL.

The steps of bounding register their own text from :mod:`discreet.relational.bounding`; what an
engine writes differently is in its folder of :mod:`discreet.relational.engines`.
"""
