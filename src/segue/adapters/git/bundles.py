"""Git bundles: commits as bytes, without what the reader has already. No reference is made for them."""

from __future__ import annotations

from collections.abc import Sequence

from segue.adapters.git.repository import Repository
from segue.domain.errors import RepositoryError

MOST_BYTES = 256_000_000
"""A bundle is kept in one row of the database, and read whole."""
_HEADERS = {"sha1": b"# v2 git bundle\n", "sha256": b"# v3 git bundle\n@object-format=sha256\n"}


def has_commit(repository: Repository, commit: str) -> bool:
    """True if the repository has it, under whatever name or none."""
    return repository.run("cat-file", "-t", commit, may_fail=True).text == b"commit\n"


def missing_from(
    repository: Repository, commit: str, known: Sequence[str], *, fetched: bool
) -> list[str] | None:
    """The commits that a bundle of this one builds on; none if nothing of it is missing.

    `known` are commits that the reader has; with `fetched`, also all that was fetched from the origin.
    """
    remotes = ("--remotes=origin",) if fetched else ()
    asked = ("rev-list", "--boundary", "--ignore-missing", commit, "--not", *remotes, *known)
    listed = repository.run(*asked).text.decode("ascii").split()
    if all(line.startswith("-") for line in listed):
        return None
    return [line[1:] for line in listed if line.startswith("-")]


def make_bundle(repository: Repository, tips: Sequence[str], without: Sequence[str]) -> bytes | None:
    """A bundle of these commits and all before them, without those of `without`; none if it is too large."""
    asked = ("pack-objects", "--revs", "--thin", "--stdout", "--delta-base-offset", "--quiet")
    revisions = "".join(f"{line}\n" for line in (*tips, *(f"^{each}" for each in without)))
    packed = repository.run(*asked, stdin=revisions.encode("ascii"), most_bytes=MOST_BYTES)
    if packed.is_cut:
        return None
    needed = "".join(f"-{each}\n" for each in without)
    named = "".join(f"{tip} refs/heads/commit-{tip[:12]}\n" for tip in tips)
    return _HEADERS[repository.digest] + f"{needed}{named}\n".encode("ascii") + packed.text


def take_bundle(repository: Repository, content: bytes, *reasons: str) -> None:
    """Take in the commits of a bundle; the caller gives them a name.

    `reasons` say why what it builds on may be missing.
    """
    header, _, pack = content.partition(b"\n\n")
    needed = [line[1:].decode("ascii") for line in header.splitlines() if line.startswith(b"-")]
    if missing := [each for each in needed if not has_commit(repository, each)]:
        raise RepositoryError(
            f"{repository.top} lacks the commit {missing[0]}, which the work of the run builds on"
            + "".join(f" ({reason})" for reason in reasons)
        )
    repository.run("index-pack", "--stdin", "--fix-thin", stdin=pack)
