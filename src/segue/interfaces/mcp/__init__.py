"""The MCP server: Segue's own tools, through which agents hand off."""
