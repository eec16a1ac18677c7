"""The documentation says what the program does."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_of_the_command_line_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == load(ROOT / "docs" / "generate.py").render_cli_page(), "run ./do docs"


def test_the_capabilities_are_those_of_the_classes() -> None:
    page = (ROOT / "docs" / "back-ends.md").read_text(encoding="utf-8")
    assert "| `scripted` |" in page
    assert page == load(ROOT / "docs" / "generate.py").render_back_ends_page(), "run ./do docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_map_nests_as_the_folders_do() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = text.partition("```\nsrc/segue/\n")[2].partition("```")[0].splitlines()
    around: list[str] = []
    named = set()
    for line in lines:
        indent, name = re.match(r"( *)(\S+)  ", line).groups()  # type: ignore[union-attr]  # every line has a name
        depth = len(indent) // 2 - 1
        assert depth <= len(around), f"{name} stands in no folder"
        del around[depth:]
        named.add("".join(around) + name)
        if name.endswith("/"):
            around.append(name)
    assert len(named) > 30
    source = ROOT / "src" / "segue"
    for name in named:
        found = source / name
        assert found.is_dir() if name.endswith("/") else found.is_file(), f"architecture.md names {name}"


def test_every_setting_is_documented() -> None:
    from segue.settings import Settings

    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    for name in Settings.model_fields:
        assert f"`{name}`" in text


def test_the_line_before_the_server_s_example_gives_the_built_in_agents_a_back_end(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from segue.bootstrap import open_catalog
    from segue.settings import load_settings

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("export "))
    for variable in shlex.split(line)[1:]:
        monkeypatch.setenv(*variable.split("=", 1))
    developer = open_catalog(load_settings(project)).load().agents["developer"]
    assert (developer.backend, developer.options) == ("command", {"command": "claude -p"})


def test_every_page_is_linked_from_the_first() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{page.name})" in text
