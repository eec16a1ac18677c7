"""What really happened in a step: measured by Segue alone, without reading a word of the agent."""
