"""Agents and templates from files: three levels, errors that point, and changes while Segue runs."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from segue.adapters.backends import options_model
from segue.adapters.catalog.project import find_project
from segue.adapters.catalog.trust_store import TrustStore
from segue.adapters.catalog.yaml_catalog import YamlCatalog
from segue.application.pipelines.submit import PipelineRequest
from segue.domain.errors import CatalogError, UnknownName
from segue.domain.pipeline import PipelineStatus
from segue.settings import load_settings
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.trusting import trust, write_project

JUDGE = "agents:\n  judge:\n    description: Judges.\n"


@pytest.fixture
def user_dir(tmp_path: Path) -> Path:
    """The user's own folder of agents and templates."""
    made = tmp_path / "config"
    made.mkdir()
    return made


@pytest.fixture
def project_dir(project: Path) -> Path:
    """The project's `.segue` folder."""
    made = project / ".segue"
    made.mkdir()
    return made


@pytest.fixture
def catalog(user_dir: Path) -> YamlCatalog:
    """A catalog without default back end."""
    return make_catalog(user_dir)


def make_catalog(user_dir: Path, **settings: Any) -> YamlCatalog:
    """A catalog that trusts what the tests trust."""
    trust = TrustStore(load_settings(with_project=False).trust_file)
    return YamlCatalog(user_dir=user_dir, trust=trust, options_model=options_model, **settings)


def write(path: Path, text: str) -> None:
    """Write a file of the user, or one of a project, which is trusted then."""
    if path.parent.name == ".segue":
        write_project(path.parent.parent, text, path.name)
    else:
        path.write_text(text)


def complaint(catalog: YamlCatalog, path: Path, text: str) -> str:
    """What the catalog says of a file of the project."""
    write(path, text)
    with pytest.raises(CatalogError) as caught:
        catalog.load(str(path.parent.parent))
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


class TestLevels:
    def test_the_project_goes_over_the_user_who_goes_over_what_is_built_in(
        self, catalog: YamlCatalog, user_dir: Path, project_dir: Path, project: Path
    ) -> None:
        entry = "agents:\n  {}: {{description: {}}}\n  {}: {{description: {}}}\n"
        write(user_dir / "mine.yaml", entry.format("developer", "user", "designer", "user"))
        write(project_dir / "ours.yml", entry.format("developer", "project", "judge", "project"))
        agents = catalog.load(str(project)).agents
        seen = [agents[name].description for name in ("developer", "designer", "judge")]
        assert seen == ["project", "user", "project"]
        assert agents["architect"].description.startswith("Decides how")
        assert "judge" not in catalog.load().agents

    def test_a_project_is_found_from_a_folder_inside_it(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        write(project_dir / "a.yaml", JUDGE)
        (project / "src" / "deep").mkdir(parents=True)
        assert "judge" in catalog.load(str(project / "src" / "deep")).agents

    def test_the_settings_file_is_no_part_of_the_catalog(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        write(project_dir / "segue.yaml", "port: 9000\n")
        write(project_dir / "notes.txt", "port: 9000\n")
        write(project_dir / "empty.yaml", "")
        assert catalog.load(str(project)) == catalog.load()

    def test_the_built_in_templates_name_their_agents_in_order_each_with_a_job(
        self, catalog: YamlCatalog
    ) -> None:
        loaded = catalog.load()
        orders = {name: [step.agent for step in t.steps] for name, t in loaded.templates.items()}
        assert orders == {
            "quick_fix": ["developer", "senior_reviewer"],
            "full_feature": [
                "product_owner",
                "architect",
                "designer",
                "developer",
                "senior_reviewer",
                "qa",
            ],
        }
        for template in loaded.templates.values():
            assert all(len(step.description) > 200 for step in template.steps)
        assert all(agent.system_prompt_additions for agent in loaded.agents.values())

    def test_a_name_that_does_not_exist_lists_those_that_do(self, catalog: YamlCatalog) -> None:
        with pytest.raises(UnknownName, match=r'no template "quickfix".*Did you mean "quick_fix"'):
            catalog.load().template("quickfix")


BAD = {
    "an unknown key of an agent": (
        "agents:\n  judge:\n    descripton: x\n",
        ':3: unknown key "descripton" in agent "judge". Known: ',
        'Did you mean "description"?',
    ),
    "an unknown key of a step": (
        "templates:\n  t:\n    steps:\n      - agent: developer\n      - agent: qa\n        timeot: 3\n",
        ':6: unknown key "timeot" in template "t", step 2. Known: ',
        'Did you mean "timeout"?',
    ),
    "an unknown key at the top": ("agnets: {}\n", ':1: unknown key "agnets". ', 'Did you mean "agents"?'),
    "a missing key": (
        "templates:\n  t:\n    steps:\n      - agent: qa\n      - description: x\n",
        ':5: "agent" is missing in template "t", step 2',
    ),
    "no steps": ("templates:\n  t:\n    steps: []\n", ':3: "steps" in template "t": ', "at least 1"),
    "a duplicate key": ("agents:\n  judge: {}\n  judge: {}\n", ':3: "judge" stands here twice'),
    "a duplicate key deep inside": (
        "agents:\n  judge:\n    model: a\n    backend: scripted\n    model: b\n",
        ':5: "model" stands here twice',
    ),
    "broken YAML": ("agents:\n  judge: [\n  - x\n}\n", ":3: this is no YAML: "),
    "a tab": ("agents:\n\tjudge: {}\n", ":2: this is no YAML: "),
    "two documents": ("agents: {}\n---\nagents: {}\n", "this is no YAML: "),
    "a list": ("- agents\n", ":1: a list of `key: value` lines is expected here"),
    "a control character": ("agents: \0\n", "this is no YAML: "),
    "a date that is none": ("agents:\n  judge: {model: 2026-99-99}\n", "this is no YAML: "),
    "a tag that makes no sense": ("agents:\n  judge: {model: !!bool maybe}\n", "this is no YAML: "),
    "a tag that runs code": ("agents: !!python/object/apply:os.getcwd []\n", ":1: this is no YAML: "),
    "a wrong type": ("agents:\n  judge:\n    timeout: soon\n", ':3: "timeout" in agent "judge": ', "number"),
    "an endless time-out": ("agents:\n  judge:\n    timeout: .inf\n", ':3: "timeout" in agent "judge": '),
    "a wrong key that YAML takes for true": (
        "agents:\n  judge:\n    on: x\n",
        ':3: unknown key "on" in agent "judge"',
    ),
    "a wrong key that is a number": (
        "agents:\n  judge:\n    12: x\n",
        ':3: unknown key "12" in agent "judge"',
    ),
    "nothing for an agent": (
        "agents:\n  judge:\n",
        ':2: "judge": a list of `key: value` lines is expected here',
    ),
    "a word for an agent": ("agents:\n  judge: x\n", ":2: ", "`key: value` lines"),
    "a list for the agents": ("agents: [x]\n", ":1: ", "`key: value` lines"),
    "a word for a step": ("templates:\n  t:\n    steps:\n      - qa\n", ":4: ", "`key: value` lines"),
    "an unknown agent in a template": (
        "templates:\n  t:\n    steps:\n      - agent: developr\n",
        ':4: template "t" names an agent "developr" that does not exist. Known: ',
        'Did you mean "developer"?',
    ),
    "an unknown back end": (
        "agents:\n  judge:\n    backend: comand\n",
        ':3: agent "judge": no back end "comand". ',
        'Did you mean "command"?',
    ),
    "an unknown option of a back end": (
        "agents:\n  judge:\n    backend: command\n    options:\n      command: cat\n      pas_env: [A]\n",
        ':6: unknown key "pas_env" in agent "judge", options. ',
        'Did you mean "pass_env"?',
    ),
    "a missing option of a back end": (
        "agents:\n  judge:\n    backend: command\n",
        ':2: "command" is missing in agent "judge", options',
    ),
    "an unknown key deep in the options": (
        "agents:\n  judge:\n    backend: scripted\n    options:\n      actions:\n        - sya: hello\n",
        ':6: unknown key "sya" in agent "judge", options. ',
        'Did you mean "say"?',
    ),
    "something that contains itself": ("agents: &a\n  judge: *a\n", "nested too deeply"),
}


class TestErrors:
    @pytest.mark.parametrize("what", BAD)
    def test_one_sentence_names_the_file_and_the_place(
        self, catalog: YamlCatalog, project_dir: Path, what: str
    ) -> None:
        text, *parts = BAD[what]
        path = project_dir / "team.yaml"
        sentence = complaint(catalog, path, text)
        assert sentence.startswith((str(path), f"cannot read {path}"))
        for part in parts:
            assert part in sentence

    def test_text_that_is_no_utf_8_is_named(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        (project_dir / "team.yaml").write_bytes(b"agents: \xff\n")
        trust(project)
        with pytest.raises(CatalogError, match="is not UTF-8 text"):
            catalog.load(str(project))

    def test_a_folder_in_place_of_a_file_is_named(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        (project_dir / "team.yaml").mkdir()
        with pytest.raises(CatalogError, match=r"cannot read .*team\.yaml"):
            catalog.load(str(project))

    def test_aliases_and_merged_keys_are_fine(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        text = (
            "agents:\n  one: &one {description: first, model: small}\n  two: *one\n"
            "  three:\n    <<: *one\n    model: large\n"
        )
        write(project_dir / "team.yaml", text)
        agents = catalog.load(str(project)).agents
        assert agents["two"] == agents["one"]
        assert (agents["three"].description, agents["three"].model) == ("first", "large")

    def test_a_bomb_of_aliases_is_refused_at_once(self, catalog: YamlCatalog, project_dir: Path) -> None:
        lines = ["agents: {}", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
        started = time.process_time()
        sentence = complaint(catalog, project_dir / "bomb.yaml", "\n".join(lines))
        assert "more than" in sentence
        assert time.process_time() - started < 2

    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"default_backend": "comand"}, r'the setting "backend" \(SEGUE_BACKEND\) is wrong: no back end'),
            ({"default_backend": "command"}, '"backend_options" "command" is wrong: field required'),
            (
                {"default_backend": "command", "default_options": {"command": {"comand": "cat"}}},
                '"backend_options" "com',
            ),
        ],
    )
    def test_a_wrong_default_is_blamed_on_the_settings_and_not_on_a_file(
        self, user_dir: Path, settings: dict[str, Any], said: str
    ) -> None:
        catalog = make_catalog(user_dir, **settings)
        with pytest.raises(CatalogError, match=said) as caught:
            catalog.load()
        assert "builtin.yaml" not in str(caught.value)

    def test_defaults_of_the_settings_are_completed_by_the_profile(
        self, user_dir: Path, project_dir: Path, project: Path
    ) -> None:
        catalog = make_catalog(
            user_dir,
            default_backend="command",
            default_options={"command": {"command": "cat", "pass_env": ["A"]}},
        )
        write(
            project_dir / "a.yaml",
            "agents:\n  judge: {options: {command: tac}}\n  wit: {backend: scripted}\n",
        )
        agents = catalog.load(str(project)).agents
        assert agents["judge"].options == {"command": "tac", "pass_env": ["A"]}
        assert agents["developer"].backend == "command"
        assert agents["wit"].options == {}


class TestNames:
    def test_a_name_is_what_stands_there(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        names = ["on", "no", "12", "1.0", "~", "null", "2026-01-02", "0x1F"]
        write(project_dir / "a.yaml", "agents:\n" + "".join(f"  {name}: {{model: big}}\n" for name in names))
        agents = catalog.load(str(project)).agents
        assert set(names) <= set(agents)

    @pytest.mark.parametrize(
        "text", ["agents:\n", "templates:\n", "agents: ~\ntemplates: null\n", "# none\n"]
    )
    def test_what_is_left_empty_means_none(
        self, catalog: YamlCatalog, project_dir: Path, project: Path, text: str
    ) -> None:
        write(project_dir / "a.yaml", text)
        assert catalog.load(str(project)) == catalog.load()


class TestFolders:
    def test_a_folder_that_cannot_be_read_keeps_the_last_good(
        self, catalog: YamlCatalog, project_dir: Path, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(_folder: Path) -> Iterator[Path]:
            raise PermissionError(13, "Permission denied")

        write(project_dir / "a.yaml", JUDGE)
        good = catalog.load(str(project))
        with monkeypatch.context() as patch:
            patch.setattr(Path, "iterdir", refuse)
            assert catalog.load(str(project)) is good
            assert "cannot read the folder" in (catalog.problem(str(project)) or "")
            with pytest.raises(CatalogError, match="cannot read the folder"):
                catalog.load()
        assert catalog.problem(str(project)) is None

    def test_a_folder_that_cannot_even_be_looked_at_is_named(self) -> None:
        catalog = make_catalog(Path("x" * 300))
        with pytest.raises(CatalogError, match="cannot read the folder xxx"):
            catalog.load()

    def test_the_search_for_a_project_ends_at_the_user_s_home(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".segue").mkdir()
        (tmp_path / ".segue" / "a.yaml").touch()
        home = tmp_path / "home"
        (home / "work").mkdir(parents=True)
        assert find_project(home / "work") == tmp_path / ".segue"
        monkeypatch.setenv("HOME", str(home))
        assert find_project(home / "work") is None
        (home / ".segue").mkdir()
        (home / ".segue" / "a.yaml").touch()
        assert find_project(home / "work") == home / ".segue"

    def test_a_folder_of_somebody_else_supplies_no_commands(
        self, project_dir: Path, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        inside = project / "src"
        inside.mkdir()
        (project_dir / "a.yaml").touch()
        assert find_project(inside) == project_dir
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
        assert find_project(inside) is None
        assert find_project(project) == project_dir, "the user went into this very folder"

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
    def test_the_search_ends_at_the_first_folder_of_somebody_else(self, tmp_path: Path) -> None:
        (tmp_path / ".segue").mkdir()
        (tmp_path / ".segue" / "a.yaml").touch()
        shared = tmp_path / "shared"
        mine = shared / "mine"
        mine.mkdir(parents=True)
        assert find_project(mine) == tmp_path / ".segue"
        (shared / ".segue").mkdir()
        (shared / ".segue" / "a.yaml").touch()
        os.chown(shared / ".segue", 12345, 12345)
        assert find_project(mine) == tmp_path / ".segue", "passed over"
        os.chown(shared, 12345, 12345)
        assert find_project(mine) is None


class TestHotReload:
    def test_a_change_is_seen(self, catalog: YamlCatalog, project_dir: Path, project: Path) -> None:
        path = project_dir / "a.yaml"
        write(path, JUDGE)
        assert catalog.load(str(project)).agents["judge"].description == "Judges."
        write(path, JUDGE.replace("Judges.", "Judged!"))
        assert catalog.load(str(project)).agents["judge"].description == "Judged!"
        path.unlink()
        assert "judge" not in catalog.load(str(project)).agents

    def test_nothing_is_read_again_while_nothing_changed(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        write(project_dir / "a.yaml", JUDGE)
        assert catalog.load(str(project)) is catalog.load(str(project))

    def test_a_broken_change_keeps_the_last_good_and_says_what_is_wrong_until_it_is_fixed(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        path = project_dir / "a.yaml"
        write(path, JUDGE)
        good = catalog.load(str(project))
        assert catalog.problem(str(project)) is None
        write(path, "agents:\n  judge:\n    descripton: x\n")
        assert catalog.load(str(project)) is good
        assert f'{path}:3: unknown key "descripton"' in (catalog.problem(str(project)) or "")
        write(path, JUDGE.replace("Judges.", "Back again."))
        assert catalog.load(str(project)).agents["judge"].description == "Back again."
        assert catalog.problem(str(project)) is None

    def test_taking_a_broken_file_away_fixes_it_too(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        write(project_dir / "b.yaml", JUDGE)
        good = catalog.load(str(project))
        path = project_dir / "a.yaml"
        write(path, "agents: [\n")
        assert catalog.load(str(project)) is good
        assert catalog.problem(str(project)) is not None
        path.unlink()
        write(project_dir / "b.yaml", JUDGE)
        assert catalog.load(str(project)) == good
        assert catalog.problem(str(project)) is None

    def test_what_was_never_good_is_an_error_and_a_problem(
        self, catalog: YamlCatalog, project_dir: Path, project: Path
    ) -> None:
        sentence = complaint(catalog, project_dir / "a.yaml", "agents: [\n")
        assert catalog.problem(str(project)) == sentence

    async def test_a_template_that_is_edited_changes_nothing_in_a_pipeline_that_runs(
        self, tmp_path: Path, project_dir: Path, project: Path
    ) -> None:
        text = (
            "agents:\n  one: &one {system_prompt_additions: OLD ORDERS}\n  two: *one\n"
            "templates:\n  t:\n    steps:\n      - {agent: one, description: OLD JOB}\n"
            "      - {agent: two, description: OLD JOB}\n"
        )
        write(project_dir / "t.yaml", text)
        backend = ScriptedBackend({"one": [{"delay": 0.3}, say_handoff()], "two": [say_handoff()]})
        async with build_test_segue(tmp_path, backend) as segue:
            submitted = await segue.pipelines.submit(PipelineRequest(template="t", prompt="Do it."))
            write(project_dir / "t.yaml", text.replace("OLD", "NEW").replace("agent: two", "agent: one"))
            async with asyncio.timeout(120):
                ended = await follow_to_end(segue, submitted.id)
            new = segue.catalog.load(str(project)).template("t")
        assert ended.status is PipelineStatus.DONE
        assert [step.agent_name for step in ended.steps] == ["one", "two"]
        assert "OLD JOB" in backend.received["two"][0]
        assert "OLD ORDERS" in backend.received["two"][0]
        assert "NEW" not in backend.received["two"][0]
        assert new.steps[1].agent == "one"
