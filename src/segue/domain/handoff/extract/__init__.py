"""Reads a handoff out of whatever an agent wrote: from `extraction.py` down to words and paths."""
