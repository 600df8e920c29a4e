"""Other ways to write a query: a dataframe builder and Ibis expressions. All become SQL text."""
