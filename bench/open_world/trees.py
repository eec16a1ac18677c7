"""Rebuilds the files of a commit, before and after it, from its facts alone; bodies are made up."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from open_world.facts import Commit, Definition, Dependency, File

MANIFESTS = (
    "package.json",
    "go.mod",
    "Cargo.toml",
    "pyproject.toml",
    "requirements.txt",
    "requirements-dev.txt",
)
_VERBS = ("keep", "take", "put", "hold", "turn", "send", "sort", "join", "pick", "check")
_NOUNS = ("row", "part", "sum", "step", "rest", "line", "mark", "pair", "word", "piece")


def trees_of(commit: Commit) -> tuple[dict[str, str], dict[str, str]]:
    """The text of every file before the commit, and after it."""
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    if commit.kept:
        before["words.txt"] = after["words.txt"] = "".join(f"{each}\n" for each in commit.kept)
    for each in commit.context:
        before[each.path] = after[each.path] = text_of(each, commit, is_after=True)
    for each in commit.files:
        if each.status != "A":
            before[each.old or each.path] = text_of(each, commit, is_after=False)
        if each.status != "D":
            after[each.path] = text_of(each, commit, is_after=True)
            if each.status == "R" and not _are_alike(before[each.old or each.path], after[each.path]):
                after[each.path] = before[each.old or each.path]
            if each.status == "M" and after[each.path] == before[each.path]:
                after[each.path] += _last_line(each)
    return before, after


def _are_alike(one: str, other: str) -> bool:
    """Whether git sees a renamed file, and not one that went and one that came."""
    return SequenceMatcher(None, one.splitlines(), other.splitlines()).ratio() > 0.75


def text_of(file: File, commit: Commit, *, is_after: bool) -> str:
    """A file as it is on one side of the commit."""
    wanted = [each for each in commit.dependencies if each.manifest == file.path]
    if file.path.rsplit("/", 1)[-1] in MANIFESTS and (wanted or file.status == "="):
        return _manifest(file.path.rsplit("/", 1)[-1], wanted, is_after=is_after)
    mark = f"{_comment(file)} " if file.language else ""
    named = "".join(f"{mark}{each}\n" for each in (file.came if is_after else file.went))
    if file.language is None:
        return _plain(file, commit, is_after=is_after) + named
    return _source(file, is_after=is_after) + named


def _last_line(file: File) -> str:
    if file.path.endswith(".json"):
        return "\n"
    return {"python": "# the end\n", None: "the end\n"}.get(file.language, "// the end\n")


def _line(rng: random.Random) -> str:
    return f"{rng.choice(_VERBS)} {rng.choice(_NOUNS)} {rng.randrange(10_000)} {rng.choice(_NOUNS)}"


def _plain(file: File, commit: Commit, *, is_after: bool) -> str:
    """A text whose lines came and went as in the commit."""
    rng = random.Random(f"{commit.number} {file.old or file.path}")
    lines = [_line(rng) for _ in range(max(3, min(120, file.lines - file.add + file.sub)))]
    if is_after and file.status != "=" and (file.add or file.sub):
        gone = min(file.sub, len(lines) // 3 if file.status == "R" else len(lines) - 1)
        came = min(file.add, len(lines) // 3 + 1) if file.status == "R" else file.add
        at = rng.randrange(len(lines) - gone + 1)
        lines[at : at + gone] = [f"{_line(rng)} now" for _ in range(came)]
    return "".join(f"{each}\n" for each in lines)


_FIXED = {
    "package.json": (("left-pad", "1.3.0"), ("semver-lite", "2.0.1")),
    "go.mod": (("example.org/left", "v1.3.0"), ("example.org/right", "v0.9.1")),
    "Cargo.toml": (("leftpad", "1.3"), ("rightpad", "0.9")),
    "pyproject.toml": (("leftpad", ">=1.3"), ("rightpad", ">=0.9")),
}


def _manifest(name: str, wanted: Sequence[Dependency], *, is_after: bool) -> str:
    """A list of dependencies in the notation of its tool."""
    rows = [*_FIXED.get(name, (("leftpad", "==1.3"), ("rightpad", "==0.9")))]
    for each in wanted:
        version = each.after if is_after else each.before
        if version is not None:
            rows.append((each.name, version))
    rows.sort()
    if name == "package.json":
        body = ",\n".join(f'    "{each}": "{version}"' for each, version in rows)
        return f'{{\n  "name": "rebuilt",\n  "version": "0.0.1",\n  "dependencies": {{\n{body}\n  }}\n}}\n'
    if name == "go.mod":
        body = "".join(f"\t{each} {version}\n" for each, version in rows)
        return f"module example.org/rebuilt\n\ngo 1.21\n\nrequire (\n{body})\n"
    if name == "Cargo.toml":
        body = "".join(f'{each} = "{version}"\n' for each, version in rows)
        return f'[package]\nname = "rebuilt"\nversion = "0.0.1"\n\n[dependencies]\n{body}'
    if name == "pyproject.toml":
        body = "".join(f'  "{each}{_specifier(version)}",\n' for each, version in rows)
        return f'[project]\nname = "rebuilt"\nversion = "0.0.1"\ndependencies = [\n{body}]\n'
    return "".join(f"{each}{version}\n" for each, version in rows)


def _specifier(version: str) -> str:
    """Versions with a caret are of another notation."""
    return ">=" + version.lstrip("^~=") if version[:1] in "^~=" or version[:1].isdigit() else version


def _source(file: File, *, is_after: bool) -> str:
    """Source code with the file's definitions, those of one class together."""
    elsewhere = ("removed", "moved out") if is_after else ("added", "moved in")
    there = [each for each in file.defs if each.fate not in elsewhere]
    gone = [
        each.name for each in file.defs if each.fate == "removed" and each.kind in ("function", "constant")
    ]
    out: list[str] = [f"{_comment(file)} {_line(random.Random(file.old or file.path))}", ""]
    if file.language == "go":
        out = ["package rebuilt", ""]
    names = {each.qualified for each in there}
    for each in there:
        if file.language == "python" and "." in each.qualified and each.qualified.split(".")[0] in names:
            continue
        inner = [one for one in there if one.qualified.startswith(each.qualified + ".")]
        out += _definition(each, inner if file.language == "python" else [], file, is_after, gone)
        out.append("")
    if not any(each.fate != "same" for each in file.defs) and file.status in "MR":
        out += _loose(file, is_after=is_after)
    return "\n".join(out).rstrip("\n") + "\n"


def _comment(file: File) -> str:
    return "#" if file.language == "python" else "//"


def _loose(file: File, *, is_after: bool) -> list[str]:
    """Lines outside of any definition, for a commit that changed none."""
    rng = random.Random(file.old or file.path)
    kept = [f"{_comment(file)} {_line(rng)}" for _ in range(6)]
    count = file.add if is_after else file.sub
    if file.status == "R":
        count = min(count, 3)
    return (
        kept[:3]
        + [f"{_comment(file)} {_line(rng)} {'now' if is_after else 'once'}" for _ in range(count)]
        + kept[3:]
    )


def _definition(
    each: Definition, inner: Sequence[Definition], file: File, is_after: bool, gone: Sequence[str]
) -> list[str]:
    changed = each.fate == "changed"
    rng = random.Random(each.qualified)
    name = each.old or each.name if each.fate == "renamed" and not is_after else each.name
    body = [f"value = value + {rng.randrange(1000)}" for _ in range(max(1, min(each.lines, 24) - 2))]
    if changed:
        at = rng.randrange(len(body))
        body[at] = f"value = value * {rng.randrange(1000) + 1000 * is_after}"
        if not is_after and gone:
            body.insert(at, f"{gone[0]}" + ("(value)" if not gone[0].isupper() else ""))
            if gone[0].isupper():
                body[at] = f"value = value + {gone[0]}"
    made_up = rng.randrange(1000) + (1000 if changed and is_after else 0)
    constant = each.value[is_after] if each.value else made_up
    render = {"python": _python, "go": _go, "rust": _rust}.get(file.language or "", _javascript)
    made = render(each, name, body, constant)
    if inner:
        level = rng.randrange(1000) + (1000 if changed and is_after else 0)
        made = [made[0], f'    """{_line(rng)}"""', "", f"    level = {level}", ""]
        for one in inner:
            made += [f"    {line}".rstrip() for line in _definition(one, [], file, is_after, gone)]
            made.append("")
        made.pop()
    return made


def _indent(lines: Iterable[str], end: str = "") -> list[str]:
    return [f"    {each}{end}" for each in lines]


def _python(each: Definition, name: str, body: list[str], constant: int) -> list[str]:
    if each.kind == "constant":
        return [f"{name} = {constant}"]
    if each.kind == "class":
        rows = [f"level_{at} = {line.rsplit(' ', 1)[-1]}" for at, line in enumerate(body)]
        return [f"class {name}:", *_indent(rows)]
    if each.kind == "test":
        given = "self" if "." in each.qualified else ""
        return [f"def {name}({given}):", "    value = 1", *_indent(body), "    assert value"]
    given = "self, value" if "." in each.qualified else "value"
    return [f"def {name}({given}):", *_indent(body), "    return value"]


def _javascript(each: Definition, name: str, body: list[str], constant: int) -> list[str]:
    if each.kind == "constant":
        return [f"const {name} = {constant};"]
    if each.kind == "test":
        return [
            f'test("{name}", () => {{',
            "    let value = 1;",
            *_indent(body, ";"),
            "    expect(value).toBe(2);",
            "});",
        ]
    if each.kind == "class":
        return [
            f"class {name} {{",
            "    run(value) {",
            *_indent(_indent(body, ";")),
            "        return value;",
            "    }",
            "}",
        ]
    if each.kind == "type":
        rows = [f"    part{at}: {line.rsplit(' ', 1)[-1]};" for at, line in enumerate(body)]
        return [f"type {name} = {{", *rows, "};"]
    return [f"function {name}(value) {{", *_indent(body, ";"), "    return value;", "}"]


def _go(each: Definition, name: str, body: list[str], constant: int) -> list[str]:
    if each.kind == "constant":
        return [f"const {name} = {constant}"]
    if each.kind == "type":
        rows = [f"\tPart{at} int // {line.rsplit(' ', 1)[-1]}" for at, line in enumerate(body)]
        return [f"type {name} struct {{", *rows, "}"]
    given = "t *testing.T" if each.kind == "test" else "value int"
    owner = f"(c *{each.qualified.split('.')[0]}) " if each.kind == "method" and "." in each.qualified else ""
    result = "" if each.kind == "test" else " int"
    start = ["\tvalue := 1"] if each.kind == "test" else []
    end = ["\tt.Log(value)"] if each.kind == "test" else ["\treturn value"]
    return [f"func {owner}{name}({given}){result} {{", *start, *(f"\t{line}" for line in body), *end, "}"]


def _rust(each: Definition, name: str, body: list[str], constant: int) -> list[str]:
    if each.kind == "constant":
        return [f"const {name}: i64 = {constant};"]
    if each.kind == "type":
        rows = [f"    part{at}: [u8; {line.rsplit(' ', 1)[-1]}]," for at, line in enumerate(body)]
        return [f"struct {name} {{", *rows, "}"]
    if each.kind == "test":
        return [
            "#[test]",
            f"fn {name}() {{",
            "    let mut value = 1;",
            *_indent(body, ";"),
            "    assert!(value > 0);",
            "}",
        ]
    return [f"fn {name}(mut value: i64) -> i64 {{", *_indent(body, ";"), "    value", "}"]
