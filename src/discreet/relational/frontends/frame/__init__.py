"""A small dataframe builder: questions put together in Python, asked as SQL."""
