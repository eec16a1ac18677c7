"""What Segue measures of a step: definitions, dependencies, text, records."""
