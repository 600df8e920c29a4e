"""Other ways to write a query: a dataframe builder and Ibis expressions."""
