"""REST with live events."""
