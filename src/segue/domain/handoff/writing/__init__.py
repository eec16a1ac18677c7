"""Writes a handoff down: as YAML, JSON, sections, or into a task file."""
