"""The terminal chat."""
