"""The records: SQLite with no set-up, PostgreSQL with the same code."""
