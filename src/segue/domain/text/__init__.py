"""Words that evidence, claims and transcripts have in common."""
