"""OpenCode, driven through its HTTP server: one server for many sessions, its own or somebody else's."""
