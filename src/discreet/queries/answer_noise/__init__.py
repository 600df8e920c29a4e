"""What noise is in the answers of a synopsis, where that does not depend on data.

Deviations and confidence intervals of any query that it answers, from public quantities alone.
"""
