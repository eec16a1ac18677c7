"""The motor that runs pipelines."""
