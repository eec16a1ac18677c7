"""Checks a handoff: the rules, what can be fixed, secrets, what agents hand in by a tool."""
