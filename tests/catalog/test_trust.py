"""Trust in a project: what it covers, what is refused, and what a running Segue does when files change."""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from segue.adapters.backends import options_model
from segue.adapters.catalog.project import read_project
from segue.adapters.catalog.trust_store import TrustStore
from segue.adapters.catalog.yaml_catalog import YamlCatalog
from segue.domain.errors import CatalogError, NotTrusted, StorageError, UnsafeProject
from segue.domain.trust import ProjectContent

JUDGE = "agents: {judge: {backend: command, options: {command: ./judge.sh}}}\n"


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "data" / "trust.json")


@pytest.fixture
def catalog(tmp_path: Path, store: TrustStore) -> YamlCatalog:
    return YamlCatalog(user_dir=tmp_path / "config", trust=store, options_model=options_model)


@pytest.fixture
def file(project: Path) -> Path:
    """The project's catalog, which names a script."""
    (project / ".segue").mkdir()
    (project / "judge.sh").write_text("echo Fine.\n")
    path = project / ".segue" / "team.yaml"
    path.write_text(JUDGE)
    return path


def content_of(project: Path) -> ProjectContent:
    found = read_project(project)
    assert found is not None
    return found.content


class TestWhatItCovers:
    @pytest.mark.parametrize(
        "text",
        [
            "agents: {a: {options: {command: ./run.sh}}}",
            "agents: {a: {options: {command: [python3, run.sh, x]}}}",
            "agents: {a: {options: {command: [sh, -c, 'cd . && exec \"./run.sh\" | cat']}}}",
            "agents: {a: {options: {program: run.sh}}}",
            "agents: {a: {options: {arguments: ['--hook=run.sh']}}}",
            "agents: {a: {options: {command: '{working_dir}/run.sh'}}}",
            "agents: {a: {options: {script: run.sh}}}",
            "agents: {a: {options: {set_env: {LD_PRELOAD: './x.so:./run.sh'}}}}",
            "agents: {a: {options: {config: {mcp: {x: {command: [run.sh]}}}}}}",
            "agents: {a: {options: {actions: [{say: x}, {run: [sh, run.sh]}]}}}",
            "agents: {a: {options: {when: {hello: [{run: [./run.sh]}]}}}}",
            "templates: {t: {checks: ['sh run.sh -q']}}",
            "templates: {t: {checks: ['sh -e > log.txt ./run.sh']}}",
            """templates: {t: {checks: ["A=' >' ./run.sh ''"]}}""",
            """templates: {t: {checks: ["xargs -I '>' sh run.sh"]}}""",
            "templates: {t: {checks: ['true && X=1 timeout 5 bash -eu run.sh']}}",
            "templates: {t: {checks: ['cat log | sh < run.sh']}}",
            "templates: {t: {checks: ['uv run --with foo run.sh', 'awk -f run.sh']}}",
            "templates: {t: {checks: ['python -u -W ignore run.sh tests']}}",
            'templates: {t: {checks: ["true\\nsh run.sh"]}}',
            "templates: {t: {checks: ['echo > run.sh; sh run.sh']}}",
            "templates: {t: {checks: ['echo > \"$(./run.sh)\"']}}",
            "templates: {t: {steps: [{agent: a, checks: [./run.sh]}]}}",
            "something_new: [{checks: run.sh}]",
        ],
    )
    def test_a_script_is_covered_wherever_a_command_names_it(self, project: Path, text: str) -> None:
        (project / ".segue").mkdir()
        (project / "run.sh").write_text("echo\n")
        (project / ".segue" / "a.yaml").write_text(text)
        found = content_of(project)
        assert sorted(found.files) == [".segue/a.yaml", "run.sh"]
        assert any("run.sh" in line for line in found.commands)

    @pytest.mark.parametrize(
        ("check", "script"),
        [
            ("cd tools && sh go.sh", "tools/go.sh"),
            ("python -m tools.go -q", "tools/go.py"),
            ("./link/../go.sh", "tools/go.sh"),
            ("pytest tools/run", "tools/run"),
        ],
    )
    def test_the_file_that_runs_is_the_one_that_is_covered(
        self, project: Path, check: str, script: str
    ) -> None:
        (project / ".segue").mkdir()
        (project / "tools" / "deep").mkdir(parents=True)
        for name in ("go.sh", "go.py", "run"):
            (project / "tools" / name).write_text("")
        (project / "tools" / "run").chmod(0o755)
        (project / "go.sh").write_text("")
        (project / "link").symlink_to("tools/deep")
        (project / ".segue" / "a.yaml").write_text(json.dumps({"templates": {"t": {"checks": [check]}}}))
        assert script in content_of(project).files

    @pytest.mark.parametrize(
        "check",
        [
            "pytest -q tests/test_a.py",
            "python -m pytest tests/test_a.py --junitxml=out.xml",
            "uv run pytest tests/test_a.py | tee out.xml",
            "ruff check 'tests/test_a.py' && cat < out.xml > tests/test_a.py",
        ],
    )
    def test_a_file_that_a_program_only_reads_may_change(self, project: Path, check: str) -> None:
        (project / ".segue").mkdir()
        (project / "tests").mkdir()
        (project / "tests" / "test_a.py").write_text("")
        (project / "out.xml").write_text("")
        (project / ".segue" / "a.yaml").write_text(json.dumps({"templates": {"t": {"checks": [check]}}}))
        assert sorted(content_of(project).files) == [".segue/a.yaml"]

    def test_an_option_of_a_back_end_of_its_own_may_be_called_anything(self, project: Path) -> None:
        (project / ".segue").mkdir()
        for name in ("one.sh", "two.sh", "three.sh"):
            (project / name).write_text("")
        (project / ".segue" / "segue.yaml").write_text(
            "backend: mine.back:End\nbackend_options: {'mine.back:End': {password: one.sh}}\n"
        )
        (project / ".segue" / "a.yaml").write_text(
            "agents: {a: {options: {system: two.sh}}, b: {backend: scripted, options: {system: no.sh}},"
            " c: {backend: 'x:Y', options: {when: {x: three.sh}}}}"
        )
        found = sorted(content_of(project).files)
        assert found == [".segue/a.yaml", ".segue/segue.yaml", "one.sh", "three.sh", "two.sh"]

    @pytest.mark.parametrize("path", ["./bin:/usr/bin", "/usr/bin:", "~/bin"])
    def test_a_search_path_with_relative_folders_is_an_error(self, project: Path, path: str) -> None:
        (project / ".segue").mkdir()
        options = {"command": "cat", "set_env": {"PATH": path}}
        (project / ".segue" / "a.yaml").write_text(json.dumps({"agents": {"a": {"options": options}}}))
        with pytest.raises(CatalogError, match=r'a\.yaml:1: "PATH" .* absolute'):
            read_project(project)

    @pytest.mark.parametrize("check", ["w " * 49_000, "x" * 200_000])
    def test_a_command_without_end_is_an_error(self, project: Path, check: str) -> None:
        (project / ".segue").mkdir()
        checks = [check + str(number) for number in range(3)]
        (project / ".segue" / "a.yaml").write_text(json.dumps({"templates": {"t": {"checks": checks}}}))
        with pytest.raises(CatalogError, match=r"too many words|more than 100000 characters"):
            read_project(project)

    def test_settings_name_scripts_and_modules_too(self, project: Path) -> None:
        (project / ".segue").mkdir()
        for name in ("run.sh", "own/__init__.py", "own/back.py", "own/back.abi3.so"):
            (project / name).parent.mkdir(exist_ok=True)
            (project / name).write_text("")
        (project / ".segue" / "segue.yaml").write_text(
            "backend: own.back:Mine\nbackend_options: {x: {program: ./run.sh}}\n"
        )
        assert sorted(content_of(project).files) == [
            ".segue/segue.yaml",
            "own/__init__.py",
            "own/back.abi3.so",
            "own/back.py",
            "run.sh",
        ]

    def test_words_for_a_model_and_files_outside_are_not(self, project: Path, tmp_path: Path) -> None:
        (project / ".segue").mkdir()
        (project / "run.sh").write_text("")
        (tmp_path / "outside.sh").write_text("")
        (project / ".segue" / "a.yaml").write_text(
            "agents: {a: {description: run.sh, system_prompt_additions: run.sh, options: {system: run.sh, "
            "actions: [{say: run.sh}, {write: {path: run.sh, text: run.sh}}], command: ../outside.sh}}}"
        )
        (project / ".segue" / "notes.md").write_text("run.sh")
        assert sorted(content_of(project).files) == [".segue/a.yaml"]

    @pytest.mark.parametrize("check", ["echo > log", "echo 2>> ./log", "echo x >'log'; true", "> log"])
    def test_a_file_that_is_only_written_to_may_change(self, project: Path, check: str) -> None:
        (project / ".segue").mkdir()
        (project / "log").write_text("")
        (project / ".segue" / "a.yaml").write_text(json.dumps({"templates": {"t": {"checks": [check]}}}))
        assert sorted(content_of(project).files) == [".segue/a.yaml"]

    def test_a_folder_without_files_that_configure_needs_no_trust(
        self, project: Path, catalog: YamlCatalog
    ) -> None:
        (project / ".segue" / "tasks").mkdir(parents=True)
        (project / ".segue" / "tasks" / "a.yaml").write_text("task: x")
        assert read_project(project) is None
        nested = project / "nested"
        (nested / ".segue").mkdir(parents=True)
        (project / ".segue" / "a.yaml").write_text("agents: {}\n")
        assert content_of(nested).folder == str(project), "an empty folder hides nothing"
        (project / ".segue" / "a.yaml").unlink()
        assert catalog.load(str(project)) == catalog.load()

    def test_a_script_seen_from_a_folder_of_the_project_is_covered_as_well(
        self, project: Path, file: Path, store: TrustStore
    ) -> None:
        (project / "sub").mkdir()
        (project / "sub" / "judge.sh").write_text("echo Other.\n")
        store.trust(content_of(project))
        with pytest.raises(NotTrusted, match=r"\(sub/judge\.sh\)"):
            store.check(content_of(project / "sub"))
        store.trust(content_of(project / "sub"))
        store.check(content_of(project))
        store.check(content_of(project / "sub"))

    def test_a_catalog_file_that_is_gone_is_a_change(
        self, project: Path, file: Path, store: TrustStore
    ) -> None:
        (project / ".segue" / "rules.yaml").write_text("agents: {}\n")
        store.trust(content_of(project))
        (project / ".segue" / "rules.yaml").unlink()
        with pytest.raises(NotTrusted, match=r"\(\.segue/rules\.yaml\)"):
            store.check(content_of(project))

    def test_the_bytes_that_were_hashed_are_the_bytes_that_are_used(self, project: Path) -> None:
        (project / ".segue").mkdir()
        (project / ".segue" / "segue.yaml").write_text("mcp: http\n")
        found = read_project(project)
        (project / ".segue" / "segue.yaml").write_text("mcp: stdio\n")
        assert found is not None
        assert found.settings is not None
        assert found.settings.value == {"mcp": "http"}


class TestWhatIsRefused:
    @pytest.mark.parametrize("place", [".segue", ".segue/team.yaml", "judge.sh"])
    def test_what_every_user_can_write(self, project: Path, file: Path, place: str) -> None:
        (project / place).chmod(0o777)
        with pytest.raises(UnsafeProject, match=f"every user of this machine can write {project / place}"):
            read_project(project)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    @pytest.mark.parametrize("place", [".segue", ".segue/team.yaml", "judge.sh"])
    def test_what_belongs_to_another_user(self, project: Path, file: Path, place: str) -> None:
        os.chown(project / place, 12345, 12345)
        with pytest.raises(UnsafeProject, match=f"{project / place} belongs to another user"):
            read_project(project)

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs files of root and another user")
    def test_what_belongs_to_root_is_fine(
        self, project: Path, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert read_project(project) is not None

    def test_a_catalog_file_that_leads_out_of_the_project(
        self, project: Path, file: Path, tmp_path: Path
    ) -> None:
        file.rename(tmp_path / "team.yaml")
        file.symlink_to(tmp_path / "team.yaml")
        with pytest.raises(UnsafeProject, match="leads out of the project"):
            read_project(project)
        file.unlink()
        file.symlink_to(project / "judge.sh")
        assert read_project(project) is not None, "inside it may lead anywhere"

    def test_a_folder_that_leads_out_of_the_project(self, project: Path, file: Path, tmp_path: Path) -> None:
        file.parent.rename(tmp_path / "elsewhere")
        file.parent.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(UnsafeProject, match="leads out of the project"):
            read_project(project)

    def test_a_pipe_is_not_waited_for(self, project: Path, file: Path) -> None:
        os.mkfifo(project / ".segue" / "pipe.yaml")
        with pytest.raises(CatalogError, match="not a regular file"):
            read_project(project)

    def test_a_link_to_an_interpreter_may_lead_out_and_must_stay_as_it_is(
        self, project: Path, file: Path, store: TrustStore
    ) -> None:
        (project / "judge.sh").unlink()
        (project / "judge.sh").symlink_to(sys.executable)
        store.trust(content_of(project))
        assert f"judge.sh -> {Path(sys.executable).resolve()}" in content_of(project).commands
        (project / "judge.sh").unlink()
        (project / "judge.sh").symlink_to("/bin/sh")
        with pytest.raises(NotTrusted, match=r"\(judge\.sh\)"):
            store.check(content_of(project))


class TestWhileSegueRuns:
    def test_an_untrusted_change_is_not_used_and_is_reported_until_it_is_trusted(
        self, project: Path, file: Path, store: TrustStore, catalog: YamlCatalog
    ) -> None:
        with pytest.raises(NotTrusted):
            catalog.load(str(project))
        store.trust(content_of(project))
        good = catalog.load(str(project))
        assert catalog.problem(str(project)) is None
        file.write_text(JUDGE.replace("./judge.sh", "cat"))
        assert catalog.load(str(project)) is good
        assert catalog.why_backend("judge", str(project)) == "named in its profile"
        assert "has changed since it was trusted (.segue/team.yaml)" in (catalog.problem(str(project)) or "")
        store.trust(content_of(project))
        assert catalog.load(str(project)).agents["judge"].options == {"command": "cat"}
        assert catalog.problem(str(project)) is None

    def test_a_changed_script_is_not_run_by_the_last_version_either(
        self, project: Path, file: Path, store: TrustStore, catalog: YamlCatalog
    ) -> None:
        store.trust(content_of(project))
        catalog.load(str(project))
        (project / "judge.sh").write_text("echo Bribed.\n")
        with pytest.raises(NotTrusted, match=r"\(judge\.sh\)"):
            catalog.load(str(project))
        file.write_text(JUDGE.replace("./judge.sh", "cat"))
        with pytest.raises(NotTrusted, match=r"\(\.segue/team\.yaml\)"):
            catalog.load(str(project))
        assert "segue trust" in (catalog.problem(str(project)) or "")

    def test_what_is_revoked_serves_no_longer(
        self, project: Path, file: Path, store: TrustStore, catalog: YamlCatalog
    ) -> None:
        store.trust(content_of(project))
        catalog.load(str(project))
        assert store.revoke(str(project))
        with pytest.raises(NotTrusted):
            catalog.load(str(project))

    @pytest.mark.parametrize("is_revoked", [True, False])
    def test_a_file_that_cannot_be_read_does_not_bring_back_what_is_not_trusted(
        self, project: Path, file: Path, store: TrustStore, catalog: YamlCatalog, *, is_revoked: bool
    ) -> None:
        store.trust(content_of(project))
        good = catalog.load(str(project))
        os.mkfifo(project / ".segue" / "pipe.yaml")
        assert catalog.load(str(project)) is good
        if is_revoked:
            store.revoke(str(project))
        else:
            (project / "judge.sh").write_text("echo Bribed.\n")
        with pytest.raises(CatalogError, match="not a regular file"):
            catalog.load(str(project))


def test_a_list_that_others_can_write_is_not_believed(
    project: Path, file: Path, store: TrustStore, tmp_path: Path
) -> None:
    store.trust(content_of(project))
    (tmp_path / "data").chmod(0o777)
    with pytest.raises(StorageError, match="others can write into the data folder"):
        store.check(content_of(project))


def _trust(path: Path, number: int) -> None:
    TrustStore(path).trust(ProjectContent(folder=f"/{number}", files={"a": "b"}))


class TestStore:
    def test_processes_that_write_at_the_same_time_lose_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "data" / "trust.json"
        with ProcessPoolExecutor(4) as pool:
            list(pool.map(_trust, [path] * 40, range(40)))
        assert {each.folder for each in TrustStore(path).projects()} == {f"/{number}" for number in range(40)}
        assert path.stat().st_mode & 0o777 == 0o600

    def test_a_look_makes_nothing(self, tmp_path: Path) -> None:
        store = TrustStore(tmp_path / "data" / "trust.json")
        assert store.projects() == []
        with pytest.raises(NotTrusted):
            store.check(ProjectContent(folder="/x", files={"a": "b"}))
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("text", ["", "[]", '{"/x": 1}', "\xff"])
    def test_a_damaged_file_is_named(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "trust.json").write_text(text, encoding="latin-1")
        with pytest.raises(StorageError, match=r"trust\.json, the list of trusted folders, is damaged"):
            TrustStore(tmp_path / "trust.json").projects()
