"""The command line: nouns and plain verbs, `--json` on every read."""
