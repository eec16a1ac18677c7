"""Which files make programs run."""

from __future__ import annotations

from segue.domain.program_files import program_files


def test_files_that_make_programs_run_are_found_in_any_folder_and_case() -> None:
    found = [
        ".GitHub/Workflows/x.yml",
        ".gitlab-ci.yml",
        ".segue/scripts/a.sh",
        ".vscode/tasks.json",
        "ci/Jenkinsfile",
        "sub/.MCP.json",
        "web/.husky/pre-push",
    ]
    others = [
        "src/a.py",
        "docs/.github",
        "jenkins.md",
        ".github/ISSUE_TEMPLATE.md",
        "a.claude/x",
        "tasks.json",
    ]
    assert program_files([*others, *reversed(found), *found]) == found
