"""Fetches from other repositories, and pushes to them: the only git commands that reach the network.

They obey the settings of the user and of the system, which say how the user logs in, and nothing that a
repository says: an address is all that is taken from there. Git runs no hook here, and of its ways to reach
a repository, those that would run a program that the address names are closed (`ext::`).
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from segue.adapters.git.processes import running, write_settings
from segue.adapters.git.repository import Repository
from segue.domain.errors import RepositoryError

_FETCH_SECONDS, _PUSH_SECONDS = 1800.0, 120.0
"""How long each may take: a push that takes longer is one that a bundle takes the place of."""
_SETTINGS = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
    ("http.lowSpeedLimit", "1000"),
    ("http.lowSpeedTime", "60"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)
_KEPT = ("SSH_", "GIT_SSH", "GIT_SSL_", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "SSL_CERT_")
"""How the names of variables begin that say how the user reaches other machines."""
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def fetch(repository: Repository, url: str, *refspecs: str) -> None:
    """Take in what an address has under these names; what it has under others is left."""
    quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-auto-gc")
    asked = ("fetch", *quiet, "--no-recurse-submodules", "--end-of-options", url, *refspecs)
    _run(repository, url, asked, _FETCH_SECONDS)


def push(repository: Repository, url: str, commit: str, branch: str) -> None:
    """Put a commit on a branch there; refused if that would drop commits that the branch has."""
    asked = ("push", "--quiet", "--no-verify", "--no-recurse-submodules", "--no-follow-tags")
    _run(repository, url, (*asked, url, f"{commit}:refs/heads/{branch}"), _PUSH_SECONDS)


def _run(repository: Repository, url: str, arguments: tuple[str, ...], seconds: float) -> None:
    own = repository.private.environment["GIT_COMMON_DIR"]
    variables = {
        **_users_own(),
        "GIT_DIR": str(repository.git_dir),
        "GIT_WORK_TREE": str(repository.top),
        "GIT_COMMON_DIR": own,
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        **write_settings(_SETTINGS),
    }
    try:
        with running(repository.top, arguments, None, variables, (seconds, False)) as chunks:
            for _ in chunks:
                pass
    except RepositoryError as error:
        raise RepositoryError(f"{arguments[0]} with {_without_password(url)}: {error}") from error


def _users_own() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_KEPT) or name.lower() in _PROXIES
    }


def _without_password(url: str) -> str:
    if "://" not in url:
        return url
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
