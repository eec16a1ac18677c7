"""Settings: what beats what, and how a wrong one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.domain.errors import SettingsError
from segue.settings import NEVER_FROM_PROJECT, Settings, load_settings
from tests.trusting import write_project


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings file, not yet written."""
    monkeypatch.setenv("SEGUE_CONFIG_DIR", str(tmp_path))
    return tmp_path / "segue.yaml"


@pytest.fixture
def project_file(project: Path) -> Path:
    """The project's settings file, not yet written."""
    return project / ".segue" / "segue.yaml"


def write(project: Path, text: str) -> None:
    """The project's settings file, trusted."""
    write_project(project, text, "segue.yaml")


def complaint(project: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(project)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_environment_beats_the_project_which_beats_the_user_who_beats_the_defaults(
    user_file: Path, project_file: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file.write_text("handoff_turns: 1001\nbackend: user\nstep_timeout: 5\n")
    write(project, "handoff_turns: 1002\nbackend: project\n")
    monkeypatch.setenv("SEGUE_HANDOFF_TURNS", "1003")
    settings = load_settings(project)
    assert (settings.handoff_turns, settings.backend, settings.step_timeout) == (1003, "project", 5)
    assert settings.max_running == 20
    assert load_settings(project, with_project=False).backend == "user"


def test_the_command_line_beats_them_all(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_PORT", "1003")
    assert load_settings(project, port=1004, host=None).port == 1004


def test_an_empty_variable_is_as_good_as_none(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_DATABASE_URL", "")
    assert load_settings(project).main_database_url.endswith("/segue.db")


def test_options_of_back_ends_come_from_a_variable_too(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGUE_BACKEND_OPTIONS", '{"command": {"command": "cat"}}')
    assert load_settings(project).backend_options == {"command": {"command": "cat"}}


def test_an_unknown_setting_names_file_line_and_the_nearest(project_file: Path, project: Path) -> None:
    write(project, "backend: here\nmcpp: off\n")
    sentence = complaint(project)
    assert sentence.startswith(f'{project_file}:2: unknown setting "mcpp". Known: ')
    assert sentence.endswith('Did you mean "mcp"?')


def test_a_wrong_value_in_a_file_names_file_and_line(project_file: Path, project: Path) -> None:
    write(project, "backend: here\n\nmax_running: many\n")
    assert complaint(project).startswith(f'{project_file}:3: "max_running" is wrong: ')


def test_the_file_that_is_blamed_is_the_one_that_counts(
    user_file: Path, project_file: Path, project: Path
) -> None:
    user_file.write_text("max_running: 1\n")
    write(project, "\nmax_running: -1\n")
    assert complaint(project).startswith(f"{project_file}:2: ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SEGUE_PORT", "many"),
        ("SEGUE_PORT", "70000"),
        ("SEGUE_STEP_TIMEOUT", "0"),
        ("SEGUE_STEP_TIMEOUT", "inf"),
        ("SEGUE_LOG_LEVEL", "loud"),
        ("SEGUE_BACKEND_OPTIONS", "[1]"),
    ],
)
def test_a_wrong_variable_is_named_with_its_value(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert complaint(project).startswith(f"{name}='{value}' is wrong: ")


@pytest.mark.parametrize("address", ["https://me:secret@example.org/a.git", "ext::sh -c true", "../a.git"])
def test_steps_are_pushed_to_an_address_without_a_password(
    project: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("SEGUE_PUSH_TO", address)
    sentence = complaint(project)
    assert sentence.startswith("SEGUE_PUSH_TO is wrong: ")
    assert address not in sentence
    for good in ("origin", "git@example.org:a.git", "/srv/a.git"):
        monkeypatch.setenv("SEGUE_PUSH_TO", good)
        assert load_settings(project).push_to == good


def test_a_variable_that_is_no_json_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_BACKEND_OPTIONS", "{broken")
    assert "backend_options" in complaint(project).lower()


@pytest.mark.parametrize(
    "text", ["mcp: [\n", "- mcp\n", "12: x\n", "mcp: off\nmcp: http\n", "backend: 2026-99-99\n"]
)
def test_a_file_that_makes_no_sense_is_named(project_file: Path, project: Path, text: str) -> None:
    write(project, text)
    assert complaint(project).startswith(f"{project_file}:")


def test_settings_cannot_be_changed(project: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings(project).port = 1  # type: ignore[misc]  # that is the point


def test_a_tilde_is_the_home(
    user_file: Path, project: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file.write_text("data_dir: ~/x\n")
    assert load_settings(project).data_dir == own_home / "x"
    monkeypatch.setenv("SEGUE_DATA_DIR", "~/y")
    assert load_settings(project).data_dir == own_home / "y"
    monkeypatch.setenv("SEGUE_DATA_DIR", "~nobody-has-this-name/y")
    assert "SEGUE_DATA_DIR" in complaint(project)


def test_a_relative_path_belongs_to_the_file_that_it_stands_in(
    user_file: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file.write_text("data_dir: theirs\ndatabase_url: sqlite:///their.db\n")
    (project / "deep").mkdir()
    monkeypatch.chdir(project / "deep")
    assert load_settings().data_dir == user_file.parent / "theirs"
    assert load_settings().main_database_url == f"sqlite:///{user_file.parent}/their.db"
    user_file.write_text("database_url: sqlite:///our.db?timeout=5\n")
    assert load_settings().main_database_url == f"sqlite:///{user_file.parent}/our.db?timeout=5"
    monkeypatch.setenv("SEGUE_DATA_DIR", "here")
    assert load_settings().data_dir == project / "deep" / "here"


@pytest.mark.parametrize("url", ["sqlite:////abs/x.db", "postgresql://u@h/n", "sqlite://"])
def test_other_databases_stay_as_they_are(user_file: Path, project: Path, url: str) -> None:
    user_file.write_text(f"database_url: {url}\n")
    assert load_settings(project).main_database_url == url


@pytest.mark.parametrize(
    ("url", "engine"),
    [
        ("sqlite:////x.db", None),
        ("sqlite+aiosqlite:////x?timeout=5", None),
        ("postgresql+psycopg://u@h/n?sslmode=require", "postgresql://u@h/n?sslmode=require"),
    ],
)
def test_the_engine_has_rows_of_its_own_on_postgresql_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch, url: str, engine: str | None
) -> None:
    monkeypatch.setenv("SEGUE_DATABASE_URL", url)
    assert load_settings(project).engine_database_url == engine


@pytest.mark.parametrize("is_trusted", [True, False])
@pytest.mark.parametrize("name", sorted(NEVER_FROM_PROJECT & Settings.model_fields.keys()))
def test_what_is_the_user_s_alone_is_never_taken_from_a_project(
    user_file: Path, project_file: Path, project: Path, name: str, *, is_trusted: bool
) -> None:
    write(project, f"mcp: off\n{name}: x\n")
    if not is_trusted:
        project_file.write_text(f"\n{name}: y\n")
    sentence = complaint(project)
    assert sentence.startswith(f'{project_file}:2: "{name}" is never taken from a project')
    assert str(user_file) in sentence
    assert f"SEGUE_{name.upper()}" in sentence


@pytest.mark.usefixtures("user_file")
@pytest.mark.parametrize(
    "line",
    [
        "HOST: 0.0.0.0",
        "Config_Dir: .segue/cfg",
        "Allow_Rest_Commands: true",
        "_env_prefix: X",
        "_cli_parse_args: [x]",
    ],
)
def test_a_setting_is_known_by_its_exact_name_alone(project_file: Path, project: Path, line: str) -> None:
    """What is compared with the names that no project may set is what takes effect."""
    write(project, f"mcp: off\n{line}\n")
    key = line.partition(":")[0]
    assert complaint(project).startswith(f'{project_file}:2: unknown setting "{key}". ')


def test_the_user_s_own_file_is_as_strict(user_file: Path, project: Path) -> None:
    user_file.write_text("Port: 1\n")
    said = complaint(project)
    assert said.startswith(f'{user_file}:1: unknown setting "Port". ')
    assert said.endswith('Did you mean "port"?')


@pytest.mark.parametrize("value", [1e12, float("nan"), float("inf"), -1, "long"])
def test_what_stands_on_the_command_line_is_checked_too(
    project: Path, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    monkeypatch.setenv("SEGUE_STEP_TIMEOUT", "5")
    with pytest.raises(SettingsError, match=r'^"step_timeout" on the command line is wrong: '):
        load_settings(project, step_timeout=value)
