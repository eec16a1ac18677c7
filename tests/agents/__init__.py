"""Real agent programs."""
