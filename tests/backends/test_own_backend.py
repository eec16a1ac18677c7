"""A back end of a reader's own, as the page shows it: by dotted path, by entry point, and the wrong ways."""

from __future__ import annotations

import importlib.util
import py_compile
import re
import sys
from collections.abc import Callable, Iterator
from inspect import isfunction
from pathlib import Path

import pytest

from segue.__main__ import LazyParts
from segue.adapters.backends import BACKENDS, LoadedBackends, backend_class, plugins
from segue.domain.errors import BackendUnavailable
from segue.interfaces.cli.app import run_cli
from tests.cli.conftest import Ran
from tests.trusting import write_project

Segue = Callable[..., Ran]
PAGE = (Path(__file__).parents[2] / "docs" / "back-ends.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    """The page's only block in a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


@pytest.fixture
def segue(capsys: pytest.CaptureFixture[str]) -> Segue:
    """Runs one command in this process."""

    def run(*arguments: str) -> Ran:
        code = run_cli(LazyParts(), list(arguments))
        printed = capsys.readouterr()
        return Ran(code=code, out=printed.out, err=printed.err)

    return run


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that Python imports from, with the page's module in it."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "my_module.py").write_text(example("python"))
    monkeypatch.syspath_prepend(str(folder))
    plugins.cache_clear()
    yield folder
    plugins.cache_clear()
    for name in ("my_module", "my_wrong"):
        sys.modules.pop(name, None)


@pytest.fixture
def catalog(project: Path, packages: Path) -> Path:
    """The page's catalog in a project."""
    return write_project(project, example("yaml"))


def install(packages: Path, name: str, place: str) -> None:
    """What an installed package leaves: its entry points, as the page's pyproject.toml declares them."""
    (group,) = re.findall(r'\[project\.entry-points\."(.+)"\]', example("toml"))
    info = packages / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {place}\n")
    plugins.cache_clear()


def test_it_runs_by_its_dotted_path(segue: Segue, catalog: Path) -> None:
    ran = segue("run", "think", "Think.", "--in-place")
    assert ran.code == 0, ran.out + ran.err
    assert "on my_module:MyBackend, named in its profile" in ran.err
    assert "in a bright mood" in segue("pipelines", "show", "1", "--step", "1").out


def test_it_runs_by_the_name_of_its_entry_point(segue: Segue, catalog: Path, packages: Path) -> None:
    (name, place) = re.findall(r'^(\w+) = "(.+)"$', example("toml"), re.MULTILINE)[0]
    install(packages, name, place)
    write_project(catalog.parent.parent, example("yaml").replace(place, name))
    ran = segue("run", "think", "Think.", "--in-place")
    assert ran.code == 0, ran.out + ran.err
    assert f"on {name}, named in its profile" in ran.err


@pytest.mark.usefixtures("no_agents", "project")
def test_the_doctor_knows_it_both_ways(segue: Segue, packages: Path) -> None:
    assert segue("agents", "doctor").code == 1
    install(packages, "mine", "my_module:MyBackend")
    ran = segue("agents", "doctor")
    assert ran.code == 0
    assert ["✔", "mine", "1.0", "thinks"] in [line.split() for line in ran.out.splitlines()]
    assert "thinks" in segue("agents", "doctor", "my_module:MyBackend").out


def test_its_options_are_checked_like_all_others(segue: Segue, catalog: Path) -> None:
    write_project(catalog.parent.parent, example("yaml").replace("mood:", "mod:"))
    ran = segue("run", "think", "Think.")
    assert ran.code == 2
    assert f'{catalog}:4: unknown key "mod" in agent "thinker", options.' in ran.err
    assert '"mood"' in ran.err


NO_SUBCLASS = "my_wrong:MyBackend is no subclass of AgentBackend"
HALF = """
from segue.application.ports.backend import AgentBackend
class MyBackend(AgentBackend):
    async def open(self, request): ...
"""


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        ("my_missing:MyBackend", "", "No module named 'my_missing'; correct its dotted path"),
        ("my_wrong:MyBackend", "", "module 'my_wrong' has no attribute 'MyBackend'"),
        ("my_wrong:", "", "module 'my_wrong' has no attribute ''"),
        (":MyBackend", "", "Empty module name"),
        ("my_wrong:MyBackend", "class MyBackend:\n  pass\n", NO_SUBCLASS),
        ("my_wrong:MyBackend", "def MyBackend():\n  pass\n", NO_SUBCLASS),
        ("my_wrong:MyBackend", "class MyBackend(:\n", "from my_wrong:MyBackend: invalid syntax"),
        ("my_wrong:MyBackend", "nonsense\n", "name 'nonsense' is not defined"),
        ("my_wrong:MyBackend", HALF, "my_wrong:MyBackend lacks abort, close, send, wait"),
    ],
)
def test_a_wrong_one_is_one_clear_sentence(
    segue: Segue, catalog: Path, packages: Path, place: str, text: str, said: str
) -> None:
    (packages / "my_wrong.py").write_text(text)
    write_project(catalog.parent.parent, example("yaml").replace("my_module:MyBackend", f'"{place}"'))
    ran = segue("run", "think", "Think.")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith(f'segue: {catalog}:3: agent "thinker": the back end "{place}" ')
    assert said in ran.err


def test_one_that_cannot_be_made_is_a_sentence_too(packages: Path) -> None:
    (packages / "my_wrong.py").write_text(
        "from segue.testing import ScriptedBackend\n"
        "class MyBackend(ScriptedBackend):\n  def __init__(self): super().__init__()\n"
    )
    with pytest.raises(BackendUnavailable, match='the back end "my_wrong:MyBackend" cannot be made'):
        LoadedBackends(sessions_dir=packages).get("my_wrong:MyBackend", "thinker")


def test_the_page_names_every_back_end_and_every_method() -> None:
    from segue.application.ports.backend import AgentBackend

    for name in BACKENDS:
        assert f"`{name}`" in PAGE
    methods = [name for name, value in vars(AgentBackend).items() if isfunction(value) and name[0] != "_"]
    assert len(methods) > 10
    for name in methods:
        assert re.search(rf"`{name}[`(]", PAGE), f"the page does not tell of {name}"


def test_what_is_beside_the_source_of_a_module_is_not_run(packages: Path, tmp_path: Path) -> None:
    """Bytecode that says of itself that it need not be compared with the source."""
    source, marker, evil = packages / "my_wrong.py", tmp_path / "marker", tmp_path / "evil.py"
    source.write_text("")
    evil.write_text(f"open({str(marker)!r}, 'w')")
    cached = importlib.util.cache_from_source(str(source))
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(evil), cfile=cached, invalidation_mode=unchecked)
    with pytest.raises(BackendUnavailable, match="has no attribute 'End'"):
        backend_class("my_wrong:End")
    assert not marker.exists()
