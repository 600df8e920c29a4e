"""What mechanisms leave behind: stand-ins for the data that answer at no further charge.

Post-processing only: nothing here sees data or spends. Boxes that trees leave behind are in
:mod:`discreet.queries.trees`.
"""
