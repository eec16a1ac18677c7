"""A check runs what the files say, whatever bytecode lies beside them."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.adapters.git.bytecode import forget_bytecode
from tests.git.test_test_runs import CODE, PYTEST, NewProject, Project, _test, project

__all__ = ["project"]

WRONG = CODE.replace("x + x", "x - x")
IGNORED = {".gitignore": "__pycache__/\n*.pyc\n"}
FILES = {"double.py": CODE, "test_double.py": _test("double"), **IGNORED}


def run_as_an_agent(made: Project) -> int:
    writing = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        PYTEST.split(), cwd=made.top, env=writing, capture_output=True, check=False
    ).returncode


def keep_the_second(made: Project, edit: Callable[[], None], name: str) -> None:
    """Edit a file within the second in which it was compiled, however fast this machine is."""
    before = (made.top / name).stat()
    edit()
    os.utime(made.top / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (made.top / name).stat().st_size == before.st_size


def plant(made: Project, text: str, name: str, place: Path) -> None:
    """Compile a text as if it were that of a file."""
    other = made.top.parent / "other.py"
    other.write_text(text)
    status = (made.top / name).stat()
    assert other.stat().st_size == status.st_size
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    py_compile.compile(str(other), cfile=str(place), dfile=name, doraise=True)


def test_what_was_compiled_in_the_second_of_an_edit_refutes_no_true_claim(project: NewProject) -> None:
    made = project(FILES)
    made.write({"double.py": WRONG})
    assert run_as_an_agent(made) == 1
    keep_the_second(made, lambda: made.write({"double.py": CODE}), "double.py")
    assert run_as_an_agent(made) == 1, "Python took the new file for the one that it had compiled"
    assert made.check().run.exit_code == 0


def test_a_test_that_pytest_is_made_to_take_for_another(project: NewProject) -> None:
    made = project({**FILES, "test_double.py": _test("double", 5)})
    made.write({"test_double.py": _test("double", 4)})
    assert run_as_an_agent(made) == 0
    made.git("checkout", "test_double.py")
    (compiled,) = (made.top / "__pycache__").glob("test_double*-pytest-*.pyc")
    content = compiled.read_bytes()
    named = importlib.util.source_hash((made.top / "test_double.py").read_bytes())
    compiled.write_bytes(content[:8] + named + content[16:])
    assert run_as_an_agent(made) == 0
    assert made.check().run.exit_code == 1


def test_planted_bytecode_makes_no_red_test_green(project: NewProject) -> None:
    made = project({**FILES, "double.py": WRONG})
    plant(made, CODE, "double.py", Path(importlib.util.cache_from_source(str(made.top / "double.py"))))
    assert run_as_an_agent(made) == 0
    assert made.check().run.exit_code == 1


def test_planted_bytecode_that_git_tracks_is_kept_and_not_run(project: NewProject) -> None:
    made = project({**FILES, "double.py": WRONG})
    planted = Path(importlib.util.cache_from_source(str(made.top / "double.py")))
    plant(made, CODE, "double.py", planted)
    made.git("add", "-f", str(planted))
    assert run_as_an_agent(made) == 0
    content = planted.read_bytes()
    assert made.check().run.exit_code == 1
    assert planted.read_bytes() == content


@pytest.mark.parametrize("ignored", [{}, IGNORED], ids=["seen", "ignored"])
def test_bytecode_without_its_source_is_not_imported(project: NewProject, ignored: dict[str, str]) -> None:
    made = project({"double.py": CODE, "test_double.py": _test("double"), **ignored})
    py_compile.compile(str(made.top / "double.py"), cfile=str(made.top / "double.pyc"), doraise=True)
    (made.top / "double.py").unlink()
    assert run_as_an_agent(made) == 0
    run = made.check().run
    assert run.exit_code == 2
    assert "No module named 'double'" in run.output
    assert (made.top / "double.pyc").exists(), "it could be the user's own"


def test_bytecode_without_its_source_that_is_part_of_the_project_is_imported(project: NewProject) -> None:
    made = project({"double.py": CODE, "test_double.py": _test("double")})
    py_compile.compile(str(made.top / "double.py"), cfile=str(made.top / "double.pyc"), doraise=True)
    (made.top / "double.py").unlink()
    made.git("add", "-A")
    assert made.check().run.exit_code == 0


def test_what_is_installed_in_the_project_keeps_its_bytecode(project: NewProject) -> None:
    made = project(FILES)
    installed = made.top / "env" / "site-packages"
    made.write({"env/site-packages/bare.py": "X = 4\n", "test_bare.py": _test_of("bare", installed)})
    py_compile.compile(str(installed / "bare.py"), cfile=str(installed / "bare.pyc"), doraise=True)
    kept = Path(py_compile.compile(str(installed / "bare.py"), doraise=True) or "")
    (installed / "bare.py").unlink()
    assert made.check().run.exit_code == 0
    assert kept.exists()


def _test_of(module: str, place: Path) -> str:
    return (
        f"import sys\nsys.path.append({str(place)!r})\nimport {module}\n\n\n"
        f"def test_it():\n    assert {module}.X == 4\n"
    )


def test_nothing_outside_of_the_tree_is_removed(project: NewProject, tmp_path: Path) -> None:
    made = project(FILES)
    outside = tmp_path / "outside"
    (outside / "__pycache__").mkdir(parents=True)
    for place in (outside, outside / "__pycache__"):
        (place / "mine.pyc").write_bytes(b"mine")
    (made.top / "linked").symlink_to(outside)
    (made.top / "__pycache__").symlink_to(outside)
    assert forget_bytecode(made.top) is False
    assert not (made.top / "__pycache__").is_symlink()
    assert (outside / "mine.pyc").exists()
    assert (outside / "__pycache__" / "mine.pyc").exists()


def test_a_repository_inside_keeps_what_it_tracks(project: NewProject) -> None:
    made = project(FILES)
    inner = Project(made.top / "inner", {"__pycache__/own.pyc": "own", "a.py": "A = 1\n"})
    inner.write({"__pycache__/left.pyc": "left"})
    assert forget_bytecode(made.top) is True
    assert (inner.top / "__pycache__" / "own.pyc").exists()
    assert not (inner.top / "__pycache__" / "left.pyc").exists()


def test_a_folder_in_no_repository_has_nothing_that_is_tracked(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_bytes(b"a")
    (tmp_path / "__pycache__" / "notes.txt").write_text("not compiled")
    assert forget_bytecode(tmp_path) is False
    assert [each.name for each in (tmp_path / "__pycache__").iterdir()] == ["notes.txt"]


def test_a_repository_that_cannot_be_read_keeps_all_of_it(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_bytes(b"a")
    assert forget_bytecode(tmp_path) is True
    assert (tmp_path / "__pycache__" / "a.pyc").exists()


def test_pythons_own_files_are_not_compiled_anew(project: NewProject) -> None:
    made = project(FILES)
    made.write({"test_prefix.py": "import sys\n\n\ndef test_it():\n    assert sys.pycache_prefix is None\n"})
    assert made.check(f"{sys.executable} -m pytest -q test_prefix.py").run.exit_code == 0
