"""Readers of what other tools wrote down of their sessions; nothing of theirs is ever changed."""
