"""Code that knows that it is tested: product code which newly asks whether a test runner is there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from segue.domain.evidence.model import Standing, TestComparison, WeakenedTest
from segue.domain.evidence.weakened.changed_files import ChangedFile
from segue.domain.evidence.weakened.paths import is_product
from segue.domain.evidence.weakened.run_groups import has_runs, made_green
from segue.domain.evidence.weakened.task import asks_for_setting

_CERTAIN = re.compile(
    r"PYTEST_CURRENT_TEST|PYTEST_VERSION|['\"](?:pytest|_pytest|unittest)['\"]\s+in\s+sys\.modules"
    r"|sys\.modules\.get\(\s*['\"](?:pytest|unittest)|JEST_WORKER_ID|NODE_TEST_CONTEXT|process\.env\.VITEST"
    r"|import\.meta\.vitest|['\"](?:pytest|unittest|jest|vitest)['\"]\s+in\s+(?:sys\.argv|process\.argv)"
    r"|(?:sys\.argv\[0\]|process\.argv\[1\])[^\n]*(?:test|jest)|inspect\.stack\(\)[^\n]*test|f_code\.co_name[^\n]*test_"
)
_USUAL = re.compile(
    r"NODE_ENV\s*(?:===?|!==?)\s*['\"]test['\"]|['\"]test['\"]\s*(?:===?|!==?)\s*process\.env\.NODE_ENV"
)
_GIVES_AN_ANSWER = re.compile(r"\breturn\b|\?")
_NAMES = ("pytest", "unittest", "NODE_ENV", "under test", "test mode", "test environment", "testing")


def find_code_that_knows(
    files: Sequence[ChangedFile], comparisons: Sequence[TestComparison], task: str | None
) -> Iterator[WeakenedTest]:
    """Product code that newly asks whether it is tested."""
    for file in files:
        if not is_product(file.path) or file.after is None:
            continue
        lines = file.after.splitlines()
        for number, line in file.added_lines():
            is_comment = line.lstrip().startswith(("#", "//", "*"))
            certain, usual = _CERTAIN.search(line), _USUAL.search(line)
            if is_comment or not (certain or usual) or _was_there(file, certain or usual):
                continue
            answers = bool(_GIVES_AN_ANSWER.search("\n".join(lines[number - 1 : number + 2])))
            is_accused = made_green(comparisons) if has_runs(comparisons) else bool(certain) or answers
            standing = Standing.WEAKENED if is_accused else Standing.EDITED
            if is_accused and asks_for_setting(task, _NAMES):
                standing = Standing.DISCLOSED
            reason = f"The code asks whether it is being tested: `{line.strip()[:80]}`"
            yield WeakenedTest(
                way="code knows the test", path=file.path, line=number, reason=reason, standing=standing
            )
            break


def _was_there(file: ChangedFile, found: re.Match[str] | None) -> bool:
    return found is not None and found[0] in (file.before or "")
