"""Which files of a repository make programs run: settings of Segue and of agents, hooks, CI."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

_FOLDERS = frozenset(
    {
        ".segue",
        # hooks
        ".githooks",
        ".husky",
        ".lefthook",
        # CI
        ".buildkite",
        ".circleci",
        ".woodpecker",
        # agents and editors
        ".claude",
        ".codex",
        ".cursor",
        ".devcontainer",
        ".gemini",
        ".goose",
        ".opencode",
    }
)
_FOLDERS_OF_TWO = frozenset(
    {
        ".forgejo/workflows",
        ".gitea/workflows",
        ".github/actions",
        ".github/workflows",
        ".gitlab/ci",
    }
)
_FILES = frozenset(
    {
        "segue.yaml",
        "segue.yml",
        # hooks
        ".lefthook.yaml",
        ".lefthook.yml",
        ".overcommit.yml",
        ".pre-commit-config.yaml",
        ".pre-commit-config.yml",
        "lefthook.yaml",
        "lefthook.yml",
        # CI
        ".appveyor.yml",
        ".cirrus.yml",
        ".drone.yml",
        ".gitlab-ci.yml",
        ".travis.yml",
        ".woodpecker.yml",
        "appveyor.yml",
        "azure-pipelines.yaml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        "jenkinsfile",
        # agents and editors
        ".envrc",
        ".mcp.json",
        "opencode.json",
        "opencode.jsonc",
    }
)
_FILES_OF_TWO = frozenset(
    {".vscode/launch.json", ".vscode/mcp.json", ".vscode/settings.json", ".vscode/tasks.json"}
)


def program_files(paths: Iterable[str]) -> list[str]:
    """Those paths that name such files, in order; in any folder, and however they are capitalized."""
    return sorted({path for path in paths if _runs_programs(path.lower().split("/"))})


def _runs_programs(parts: list[str]) -> bool:
    last_two = "/".join(parts[-2:])
    return (
        parts[-1] in _FILES
        or last_two in _FILES_OF_TWO
        or not _FOLDERS.isdisjoint(parts)
        or any("/".join(pair) in _FOLDERS_OF_TWO for pair in pairwise(parts))
    )
