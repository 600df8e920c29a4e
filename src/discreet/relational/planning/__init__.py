"""From a query to a planned one: measures, sensitivities, the split of the spend, the event.

Batches, discovered keys, the first k keys and magnitudes are planned here too. A plan is made from
public facts alone; released, it has its exact numbers from :mod:`discreet.relational.execute` and
adds the noise.
"""
