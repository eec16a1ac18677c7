"""How the schema came to be, one step a file.

A revision that only adds, so that the Segue before it can still work with the database, has the number of
that one and a part more: `0015`, `0015.1`, `0015.2`. One that changes or removes what is there has the next
number, `0016`: then every older Segue must be stopped first.
"""

HEAD = "0016"
"""The newest revision; a test holds it true, and start-up compares it without loading Alembic."""


def is_older(revision: str, than: str = HEAD) -> bool:
    """True if a revision comes before another one."""
    return _parts(revision) < _parts(than)


def is_current(revision: str | None) -> bool:
    """True if a database needs no migration: it is at the newest revision, or at one that only adds to it."""
    return revision is not None and works_with(revision) and not is_older(revision)


def works_with(revision: str, other: str = HEAD) -> bool:
    """True if the Segue of one of these revisions can work with a database of the other one."""
    return _parts(revision)[:1] == _parts(other)[:1]


def _parts(revision: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in revision.split("."))
    except ValueError:  # not one of ours
        return (-1,)
