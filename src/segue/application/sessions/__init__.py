"""Sessions outside of pipelines."""
