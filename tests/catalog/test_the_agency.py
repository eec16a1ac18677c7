"""Files in theAgency's form: read in place, with errors that point at what stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.adapters.catalog.yaml_catalog import YamlCatalog
from segue.domain.catalog import AgentProfile
from segue.domain.errors import CatalogError, NotTrusted
from tests.catalog.test_catalog import complaint, make_catalog, write
from tests.trusting import trust

LISTS = """\
agents:
  - name: planner
    description: Plans.
    opencode_agent: plan
    default_model: anthropic/claude-sonnet-4-5
    system_prompt_additions: Change no file.
  - name: builder
    opencode_agent: build
pipelines:
  - name: careful
    description: Plan, then build.
    steps:
      - {type: agent, agent: planner, description: Plan it.}
      - {type: agent, agent: builder, description: Build it., model: big}
"""


@pytest.fixture
def catalog(tmp_path: Path) -> YamlCatalog:
    """A catalog without default back end."""
    return make_catalog(tmp_path / "config")


@pytest.fixture
def ours(project: Path) -> Path:
    """The project's catalog file."""
    (project / ".segue").mkdir()
    return project / ".segue" / "agents.yaml"


def test_lists_with_names_are_agents_and_templates(catalog: YamlCatalog, ours: Path, project: Path) -> None:
    write(ours, LISTS)
    read = catalog.load(str(project))
    planner = read.agents["planner"]
    assert (planner.backend, planner.model) == ("opencode", "anthropic/claude-sonnet-4-5")
    assert planner.options["agent"] == "plan"
    assert planner.system_prompt_additions == "Change no file."
    steps = read.templates["careful"].steps
    assert [(step.agent, step.description, step.model) for step in steps] == [
        ("planner", "Plan it.", None),
        ("builder", "Build it.", "big"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (LISTS.replace("agent: builder", "agent: bilder"), 14, 'an agent "bilder" that does not exist'),
        (LISTS.replace("opencode_agent: plan", "opencode_agent: 7"), 4, '"agent" in agent "planner"'),
        (LISTS.replace("description: Plans.", "describtion: Plans."), 3, 'unknown key "describtion"'),
        (LISTS.replace("  - name: builder\n", "  - model: m\n"), 7, 'entry 2 of "agents" has no "name"'),
        (LISTS.replace("name: builder", "name: planner"), 7, '"planner" stands twice in "agents", first on'),
        (LISTS + "templates: {}\n", 15, '"pipelines" and "templates" mean the same'),
    ],
)
def test_an_error_names_the_line_of_the_file(
    catalog: YamlCatalog, ours: Path, text: str, line: int, words: str
) -> None:
    sentence = complaint(catalog, ours, text)
    assert sentence.startswith(f"{ours}:{line}: ")
    assert words in sentence


def test_agents_of_opencode_in_files_of_their_own_stand_under_those_of_the_project(
    catalog: YamlCatalog, ours: Path, project: Path
) -> None:
    folder = project / ".opencode" / "agents"
    folder.mkdir(parents=True)
    (folder / "scout.yaml").write_text("description: Looks around.\nopencode_agent: explore\n")
    (folder / "planner.yaml").write_text("name: planner\ndescription: Of the folder.\n")
    (folder / "notes.yaml").write_text("remember: the milk\n")
    (folder / "broken.yaml").write_text("a: [\n")
    write(ours, LISTS)
    trust(project)
    agents = catalog.load(str(project)).agents
    assert agents["scout"].options["agent"] == "explore"
    assert agents["planner"].description == "Plans."
    assert not agents.keys() & {"notes", "broken"}
    (folder / "scout.yaml").write_text("description: Looks around.\nbackend: command\n")
    with pytest.raises(NotTrusted, match=r"scout\.yaml"):
        make_catalog(project / "none").load(str(project))


def test_a_command_in_a_list_of_agents_is_shown_before_it_is_trusted(
    catalog: YamlCatalog, ours: Path, project: Path
) -> None:
    from segue.adapters.catalog.project import read_project

    ours.write_text("agents:\n  - name: x\n    backend: command\n    options: {command: [rm, -rf, build]}\n")
    found = read_project(project)
    assert found is not None
    assert any("rm -rf build" in line for line in found.content.commands)
    with pytest.raises(CatalogError, match="trust"):
        catalog.load(str(project))


def test_an_agent_that_names_its_back_end_keeps_it(catalog: YamlCatalog, ours: Path, project: Path) -> None:
    write(ours, "agents:\n  - {name: a, backend: command, options: {command: [cat]}, default_model: m}\n")
    assert catalog.load(str(project)).agents["a"] == AgentProfile(
        backend="command", model="m", options={"command": ["cat"]}
    )
