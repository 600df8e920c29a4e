"""By which rule the rows of a person beyond the limits are made to count for less, or left out.

Answers under different rules estimate different numbers: the rule is part of what makes two queries
the same, and answers under two rules are never combined. Whoever changes it gives it another name.

Source: contract, "Bounding inside the engine", "Spending" (identical questions).
"""

BOUNDING_RULE = "spread/1"
"""Sums by weight; of whole rows a systematic sample along the content."""
