"""Handoffs: asked for, reviewed, repaired and saved, for steps and for chat."""
