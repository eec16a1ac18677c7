"""What the ending of a step leads to."""
