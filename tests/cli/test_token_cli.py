"""`segue token`: who may use the server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.adapters.credential import login_name
from segue.testing.pipelines import lay_out_database
from tests.cli.conftest import Ran

Segue = Callable[..., Ran]


@pytest.fixture
def data(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder."""
    folder = tmp_path / "data"
    lay_out_database(folder)
    monkeypatch.setenv("SEGUE_DATA_DIR", str(folder))
    return folder


def test_the_header_is_that_of_the_credential_which_is_made_if_need_be(segue: Segue, data: Path) -> None:
    assert not (data / "credential").exists()
    first = segue("token", "header")
    assert (first.code, first.err) == (0, "")
    assert first.out == f"Authorization: Bearer {(data / 'credential').read_text()}"
    assert segue("token", "header") == first


def test_a_token_is_made_listed_and_revoked(segue: Segue, data: Path) -> None:
    made = segue("token", "new", "ci", "--role", "run", "--role", "approve", "--expires", "2w")
    assert made.code == 0, made.err
    assert re.fullmatch(r"segue_[\w-]{43}\n", made.out)
    assert re.search(r"ci: run, approve; it expires on [\d-]{10} .* UTC\. It is shown only now:", made.err)
    assert "it never expires" in segue("token", "new", "old", "--role", "read", "--expires", "never").err
    segue("token", "header")
    listed = segue("token", "list")
    assert re.search(r"ci +run, approve +named", listed.out)
    assert re.search(r"old +read +named .* never", listed.out)
    assert re.search(rf"{login_name()} +admin +local", listed.out)
    shown = json.loads(segue("token", "list", "--json").out)
    assert [each["name"] for each in shown] == ["ci", "old", login_name()]
    assert (shown[0]["roles"], shown[1]["expires_at"]) == (["run", "approve"], None)
    assert made.out.strip() not in listed.out + str(shown)
    assert segue("token", "revoke", "ci") == Ran(code=0, out="revoked 1 token of ci\n", err="")
    assert [each["name"] for each in json.loads(segue("token", "list", "--json").out)] == [
        "old",
        login_name(),
    ]
    assert "was revoked" in segue("token", "list", "--all").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("new", "ci", "--role", "king"), "read, run, approve, admin"),
        (("new", "ci", "--role", "run", "--expires", "soon"), "90d"),
        (("new", "a\nb", "--role", "run"), "one line"),
        (("new", login_name(), "--role", "run"), "local credential"),
        (("revoke", "ci"), 'no token "ci"'),
        (("link", "--role", "king"), "read, run, approve, admin"),
    ],
)
def test_misuse_is_one_sentence(segue: Segue, data: Path, arguments: tuple[str, ...], said: str) -> None:
    ran = segue("token", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_token_needs_a_role(segue: Segue, data: Path) -> None:
    assert segue("token", "new", "ci").code == 2


def test_a_link_holds_its_code_behind_the_hash(segue: Segue, data: Path) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:8000/#code=segue_[\w-]{43}\n", segue("token", "link").out)
    assert segue("token", "link", "--port", "9").out.startswith("http://127.0.0.1:9/#code=")
    for host, shown in (("::1", "[::1]"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("box", "box")):
        assert segue("token", "link", "--host", host).out.startswith(f"http://{shown}:8000/#")


def test_a_link_needs_no_trust_in_the_project(segue: Segue, data: Path, project: Path) -> None:
    (project / ".segue").mkdir()
    (project / ".segue" / "segue.yaml").write_text("log_level: debug\n")
    assert segue("token", "link").code == 0


def test_a_credential_that_others_can_read_stops_the_server(segue: Segue, data: Path) -> None:
    segue("token", "header")
    (data / "credential").chmod(0o644)
    for arguments in (("token", "header"), ("serve", "--port", "0")):
        ran = segue(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert f"the credential {data / 'credential'} can be read or written by others (mode 0644)" in ran.err
        assert "Remove it, and a new one is made" in ran.err
        assert "Traceback" not in ran.err
