"""The terminal chat: a conversation with any agent, and the handoff from one session to the next."""
