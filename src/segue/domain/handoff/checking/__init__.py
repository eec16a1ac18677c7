"""Checks a handoff: the rules, what can be mended, secrets, what agents hand in by a tool."""
