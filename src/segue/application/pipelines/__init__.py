"""Pipelines: submitted, run step by step, ended."""
