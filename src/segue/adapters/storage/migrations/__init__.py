"""How the schema came to be, one step a file."""

HEAD = "0011"
"""The newest revision; a test holds it true, and start-up compares it without loading Alembic."""
