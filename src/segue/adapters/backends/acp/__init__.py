"""Every agent that speaks the Agent Client Protocol: one adapter, and a table of the known agents."""
