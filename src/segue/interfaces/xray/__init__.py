"""The handoff X-ray: what was claimed, what is true, what the next agent reads; as values and as one file."""
