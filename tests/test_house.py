"""The house rules: layers, sizes, the public face, what an import costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import segue
from segue.adapters.storage.migrations import versions
from segue.interfaces.cli.tree import COMMANDS, CommandTree
from segue.testing.pipelines import lay_out_database

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "segue"
MODULES = sorted(SOURCE.rglob("*.py"))
HEAVY = (
    "acp",
    "fastapi",
    "starlette",
    "uvicorn",
    "sqlalchemy",
    "alembic",
    "dbos",
    "mcp",
    "httpx",
    "psutil",
    "textual",
    "splintr",
    "pydantic",
    "pydantic_settings",
    "structlog",
    "segue.domain.handoff",
)


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_imports_go_one_way() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 kept, 0 broken" in done.stdout


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_says_what_lives_in_it_and_is_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    assert ast.get_docstring(ast.parse(text)), "the first line of a module says what lives in it"


def test_no_class_name_occurs_twice() -> None:
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_the_public_face_is_exactly_this() -> None:
    assert sorted(segue.__all__) == [
        "AgentAsked",
        "AgentBackend",
        "AgentSaid",
        "AgentUsedTool",
        "Briefing",
        "Capabilities",
        "CheckFunction",
        "CheckOutcome",
        "Claim",
        "ClaimsVerified",
        "CustomNotation",
        "Evidence",
        "Extraction",
        "Handoff",
        "Ledger",
        "Message",
        "NotTrusted",
        "OpenSegue",
        "OutputNotation",
        "PipelineTemplate",
        "Predecessor",
        "Problem",
        "Reply",
        "Result",
        "Run",
        "RunEnded",
        "RunEvent",
        "SegueError",
        "SessionRequest",
        "StepEnded",
        "StepResult",
        "StepStarted",
        "TemplateStep",
        "__version__",
        "brief",
        "check_handoff",
        "extract_handoff",
        "fix_handoff",
        "open_segue",
        "redact",
        "render_context_header",
        "render_handoff",
        "rewrite_task_file",
        "run_pipeline",
        "verify_claims",
    ]
    assert all(hasattr(segue, name) for name in segue.__all__)


@pytest.mark.parametrize("code", ["import segue", "from segue.__main__ import main"])
def test_a_light_import_loads_nothing_heavy(code: str) -> None:
    loaded = run_python(f"import sys; {code}; print(' '.join(sys.modules))").split()
    assert not [name for name in HEAVY if name in loaded]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['segue', '--help']\n"
        "from segue.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "print('LOADED', *sys.modules)"
    )
    printed = run_python(code)
    assert "Usage: segue" in printed
    loaded = printed.partition("LOADED")[2].split()
    assert not [name for name in HEAVY if name in loaded]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_says_of_a_command_what_it_says_of_itself(name: str) -> None:
    told = CommandTree(name="segue").commands[name].help or ""
    assert told.startswith(COMMANDS[name].help)


def test_reading_loads_neither_the_engine_nor_what_writes(tmp_path: Path) -> None:
    lay_out_database(tmp_path / "data")
    code = (
        f"import os, sys; os.environ['SEGUE_DATA_DIR'] = {str(tmp_path / 'data')!r}\n"
        "sys.argv = ['segue', 'pipelines', 'list']\n"
        "from segue.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "print('LOADED', *sys.modules)"
    )
    loaded = run_python(code).partition("LOADED")[2].split()
    assert "segue.adapters.storage.views" in loaded
    slow = ("dbos", "fastapi", "uvicorn", "sqlalchemy", "alembic", "psycopg")
    assert not [name for name in slow if name in loaded]
    after_a_reply = (
        "segue.domain.handoff.extract.extraction",
        "segue.domain.claims.verify",
        "segue.domain.evidence.weakened.find",
    )
    assert not [name for name in after_a_reply if name in loaded], "no reply is there to be read"


def test_a_run_on_one_machine_loads_no_dbos(tmp_path: Path) -> None:
    code = f"""
import asyncio, sys
from pathlib import Path
from segue.application.pipelines.submit import PipelineRequest
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff

async def run():
    backend = ScriptedBackend({{"developer": [say_handoff()], "senior_reviewer": [say_handoff()]}})
    async with build_test_segue(Path({str(tmp_path)!r}), backend) as segue:
        request = PipelineRequest(template="quick_fix", prompt="Fix it.", working_dir={str(tmp_path)!r})
        print((await follow_to_end(segue, (await segue.pipelines.submit(request)).id)).status)

asyncio.run(run())
print("LOADED", *sys.modules)
"""
    status, _, loaded = run_python(code).partition("LOADED")
    assert "done" in status.split()
    assert not {"dbos", "psycopg"} & set(loaded.split())
    assert [path.name for path in (tmp_path / "data").glob("*.db")] == ["segue.db"]


def test_except_exception_stands_where_failures_are_handed_on() -> None:
    places = {
        str(path.relative_to(SOURCE))
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and isinstance(node.type, ast.Name)
        and node.type.id == "Exception"
    }
    assert places == {
        "application/pipelines/runner.py",
        "adapters/storage/writer.py",  # a thread hands every failure to the caller of the transaction
    }, "the API's own place is its exception handler, not an `except`"


def test_migrations_are_numbered_without_a_gap() -> None:
    names = sorted(path.name for path in Path(versions.__path__[0]).glob("0*.py"))
    assert [name[:4] for name in names] == [f"{number:04}" for number in range(1, len(names) + 1)]


def test_nothing_names_a_machine_or_a_registry() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        path = ROOT / name
        if path.suffix in (".png", ".svg") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for word in ("/work" + "/main", "/" + "root/", "/tmp/" + "wt"):
            assert word not in text, f"{name} names {word}"
        if name.endswith(".lock") or "/installs/" in name:
            assert "://" not in text, f"{name} names an address"
