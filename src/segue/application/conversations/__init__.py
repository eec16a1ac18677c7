"""Conversations: one live session, of a step or of a chat."""
