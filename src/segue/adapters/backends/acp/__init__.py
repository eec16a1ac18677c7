"""Every agent that speaks the Agent Client Protocol: one adapter, and a line in a table for each known agent."""
