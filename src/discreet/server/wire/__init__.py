"""The PostgreSQL server: psql, psycopg, pandas and SQLAlchemy ask as they ask a database."""
