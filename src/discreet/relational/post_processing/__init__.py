"""What is computed from released numbers: tables of answers, evaluated without any data.

Every step is a typed node that the translation rebuilt from an allow-list. Values are public
constants, or numbers that know the noise they were released with; so intervals follow through
sums, differences, ratios, windows and outer aggregates.
"""
