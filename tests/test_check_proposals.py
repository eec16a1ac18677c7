"""Which command would check a project is told by its files."""

from __future__ import annotations

import json

import pytest

from segue.domain.check_proposals import propose_checks

NODE = json.dumps({"scripts": {"test": "vitest run"}})
NO_TEST = json.dumps({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}})


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, ["pytest -q"]),
        ({"pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8"]\n'}, ["pytest -q"]),
        ({"pyproject.toml": '[project]\ndependencies = ["pytest-httpserver"]\n'}, []),
        ({"setup.cfg": "[tool:pytest]\n"}, ["pytest -q"]),
        ({"tests/conftest.py": ""}, ["pytest -q"]),
        ({"requirements.txt": "httpx\npytest==8.3\n"}, ["pytest -q"]),
        ({"package.json": NODE}, ["npm test"]),
        ({"package.json": NODE, "pnpm-lock.yaml": ""}, ["pnpm test"]),
        ({"package.json": NO_TEST}, []),
        ({"package.json": "{not json"}, []),
        ({"package.json": "[]"}, []),
        ({"Cargo.toml": "[package]\n"}, ["cargo test"]),
        ({"go.mod": "module x\n"}, ["go test ./..."]),
        ({"Makefile": "build:\n\tcc x.c\ntest: build\n\t./x\n"}, ["make test"]),
        ({"Makefile": "tests:\n\t./x\ntest := 1\n"}, []),
        ({"Makefile": "test:\n\tpytest\n", "pytest.ini": ""}, ["pytest -q"]),
        ({"pytest.ini": "", "package.json": NODE}, ["pytest -q", "npm test"]),
        ({}, []),
    ],
)
def test_the_files_of_a_project_tell_its_check(files: dict[str, str], commands: list[str]) -> None:
    assert [each.command for each in propose_checks(files)] == commands


def test_a_proposal_names_the_file_that_told() -> None:
    (found,) = propose_checks({"pyproject.toml": "[tool.pytest.ini_options]"})
    assert (found.runner, found.found_in) == ("pytest", "pyproject.toml")
