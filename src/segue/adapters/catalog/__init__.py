"""Agents and templates from YAML files on three levels: built in, the user's, the project's."""
