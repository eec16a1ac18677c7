"""Documents that the tests of `segue handoff` work on."""

from __future__ import annotations

REPLY = """\
## What Was Done
- Added POST /auth/login
- Wrote five tests

## Decisions Made
- Use JWT

## Open Questions
- Where do refresh tokens live?

## Next Agent Context
Add refresh tokens.
"""
KEY = "AKIAQ3EGRZ7YT5XK2LMN"
TASK = """\
# Task 7: Login

## Objective
A login.\t

## Handoff

```yaml
outcome: Done
files_modified:
  - path: ./src/app.py
    lines: L4-L9
```

## Log
 kept  as it is
"""
