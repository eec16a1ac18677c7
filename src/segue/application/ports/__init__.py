"""The ports: what the use cases need from the world, and nothing more."""
