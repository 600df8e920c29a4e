"""Tables as statistics offices publish them: a hierarchy of places whose counts add up.

Source: Abowd and others, "The 2020 Census Disclosure Avoidance System TopDown Algorithm", 2022.
"""
