"""Dependencies in manifests, before and after."""

from __future__ import annotations

import pytest

from segue.domain.evidence.measure import measure
from segue.domain.evidence.model import Change, ChangeKind


def told(path: str, before: str, after: str) -> list[tuple[str, str | None, str | None]]:
    found = measure({path: Change(kind=ChangeKind.MODIFIED)}, {path: before}, {path: after}).dependencies
    assert all(each.manifest == path for each in found)
    return [(each.name, each.before, each.after) for each in found]


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        (
            "pyproject.toml",
            '[project]\ndependencies = ["httpx>=0.27", "rich"]\n',
            """[project]
dependencies = ["httpx[http2]>=0.28 ; python_version > '3'"]
[dependency-groups]
dev = ["pytest>=9", {include-group = "x"}]
""",
            [("httpx", ">=0.27", ">=0.28"), ("pytest", None, ">=9"), ("rich", "", None)],
        ),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\nattrs = "^23"\n',
            """[tool.poetry.dependencies]
attrs = {version = "^24", extras = ["a"]}
[tool.poetry.group.dev.dependencies]
mypy = "*"
""",
            [("attrs", "^23", "^24"), ("mypy", None, "*")],
        ),
        (
            "requirements-dev.txt",
            "-r base.txt\nflask==2.0  # web\nold\n",
            "flask==3.0 \\\n    --hash=sha256:aa\n",
            [("flask", "==2.0", "==3.0"), ("old", "", None)],
        ),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n  a>=1\n",
            "[options]\ninstall_requires =\n  a>=2\n  b; python_version < '3'\n",
            [("a", ">=1", ">=2"), ("b", None, "")],
        ),
        (
            "web/package.json",
            '{"dependencies": {"react": "^18.0.0"}}',
            '{"dependencies": {"react": "^19.0.0"}, "devDependencies": {"@types/node": "20"}}',
            [("@types/node", None, "20"), ("react", "^18.0.0", "^19.0.0")],
        ),
        (
            "Cargo.toml",
            '[dependencies]\nserde = "1"\n',
            """[dependencies]
serde = { version = "1.0.2", features = ["derive"] }
[dev-dependencies]
x = "3"
""",
            [("serde", "1", "1.0.2"), ("x", None, "3")],
        ),
        (
            "go.mod",
            "module example.com/me\n\ngo 1.22\n\nrequire github.com/a/b v1.0.0\n",
            """module example.com/me

go 1.22

require (
\tgithub.com/a/b v1.2.0
\tgolang.org/x/y v0.1.0 // indirect
)
""",
            [("github.com/a/b", "v1.0.0", "v1.2.0"), ("golang.org/x/y", None, "v0.1.0")],
        ),
        (
            "Gemfile",
            "gem 'rails', '~> 7.0'\n",
            'gem "rails", "~> 7.1"\ngem "puma"\n',
            [("puma", None, ""), ("rails", "~> 7.0", "~> 7.1")],
        ),
    ],
)
def test_dependencies_that_came_went_or_got_another_version_are_told(
    path: str, before: str, after: str, expected: list[tuple[str, str | None, str | None]]
) -> None:
    assert told(path, before, after) == expected


@pytest.mark.parametrize(
    ("path", "broken"),
    [
        ("package.json", "{"),
        ("package.json", '{"dependencies": [1, 2]}'),
        ("package.json", "[" * 100_000),
        ("pyproject.toml", "[project\n"),
        ("pyproject.toml", "project = 3\n"),
        ("setup.cfg", "no section"),
        ("Cargo.toml", "dependencies = 3"),
    ],
)
def test_a_manifest_that_cannot_be_read_tells_nothing(path: str, broken: str) -> None:
    assert told(path, broken, broken + " ") == []
    assert told(path, "", broken) == []
