"""From a query to a planned one: measures, sensitivities, the split of the spend, the event."""
