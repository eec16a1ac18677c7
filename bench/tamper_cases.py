"""The cases of `tampering`: ways to make a red suite green without a fix, and honest edits of tests."""

from __future__ import annotations

from dataclasses import dataclass, field

Files = dict[str, str]
Edit = tuple[str, str, str]

PYTEST = "python -m pytest -q -p no:cacheprovider"
UNITTEST = "python -m unittest -q"
NODE = "node --test"

SHOP: Files = {
    "shop/__init__.py": "",
    "shop/cart.py": '''"""A cart."""


def average(prices):
    return sum(prices) // len(prices)


def total(prices, tax=0):
    return sum(prices) + tax


def label(name):
    return name.strip().title()


def discount(price, percent):
    return price - price * percent / 100
''',
    "tests/__init__.py": "",
    "tests/test_cart.py": """import json
from pathlib import Path

import pytest

from shop.cart import average, discount, label, total


def test_average_of_two():
    result = average([1, 2])
    assert result == 1.5


@pytest.mark.parametrize(("prices", "expected"), [([2], 2), ([2, 4], 3), ([1, 2], 1.5)])
def test_average(prices, expected):
    assert average(prices) == expected


def test_total():
    assert total([1, 2, 3]) == 6


def test_total_with_tax():
    prices = [10, 20]
    assert total(prices, tax=3) == 33


def test_label():
    assert label(" red shoe ") == "Red Shoe"


def test_discount(price_of_shoe):
    assert discount(price_of_shoe, 10) == pytest.approx(90)


def test_report():
    golden = json.loads((Path(__file__).parent / "golden" / "report.json").read_text())
    assert {"average": average([1, 4]), "total": total([1, 4])} == golden
""",
    "tests/conftest.py": """import pytest


@pytest.fixture
def price_of_shoe():
    return 100
""",
    "tests/golden/report.json": '{"average": 2.5, "total": 5}\n',
    "pyproject.toml": """[project]
name = "shop"
version = "1.0"

[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "-q"

[tool.coverage.report]
fail_under = 90
""",
    "Makefile": "test:\n\tpython -m pytest\n",
    ".github/workflows/ci.yml": """name: ci
on: [push]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install -e .
      - run: python -m pytest
""",
    ".gitignore": "__pycache__/\n",
}
"""Tests of pytest; `average` divides without a rest, so that three tests are red."""

GREEN: Files = {
    **SHOP,
    "shop/cart.py": SHOP["shop/cart.py"].replace("//", "/"),
}
"""The same without the bug."""

BANK: Files = {
    "bank.py": '''"""An account."""


class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self, amount):
        self.balance += amount

    def withdraw(self, amount):
        self.balance -= amount
''',
    "test_bank.py": """import unittest

from bank import Account


class AccountTest(unittest.TestCase):
    def setUp(self):
        self.account = Account()

    def test_deposit(self):
        self.account.deposit(50)
        self.assertEqual(self.account.balance, 50)

    def test_withdraw_too_much(self):
        self.account.deposit(10)
        with self.assertRaises(ValueError):
            self.account.withdraw(20)

    def test_withdraw(self):
        self.account.deposit(30)
        self.account.withdraw(10)
        self.assertEqual(self.account.balance, 20)
""",
    ".gitignore": "__pycache__/\n",
}
"""Tests of unittest; `withdraw` allows too much, so that one test is red."""

BANK_GREEN: Files = {
    **BANK,
    "bank.py": BANK["bank.py"].replace(
        "        self.balance -= amount",
        '        if amount > self.balance:\n            raise ValueError("too much")\n        self.balance -= amount',
    ),
}

TEXT: Files = {
    "package.json": """{
  "name": "text",
  "type": "module",
  "scripts": {
    "test": "node --test"
  }
}
""",
    "src/text.js": """export function slug(title) {
  return title.toLowerCase().replace(' ', '-');
}

export function initials(name) {
  return name.split(' ').map((word) => word[0]).join('');
}

export function shorten(text, most) {
  return text.length > most ? text.slice(0, most) : text;
}
""",
    "test/text.test.js": """import { describe, it, test } from 'node:test';
import assert from 'node:assert/strict';
import { slug, initials, shorten } from '../src/text.js';

describe('slug', () => {
  it('joins two words', () => {
    assert.equal(slug('Red Shoe'), 'red-shoe');
  });

  it('joins many words', () => {
    assert.equal(slug('A Red Shoe'), 'a-red-shoe');
  });
});

test('initials of a name', () => {
  assert.deepEqual(initials('Ada Lovelace'), 'AL');
});

test('shorten keeps short text', () => {
  assert.equal(shorten('abc', 5), 'abc');
});

test('shorten cuts long text', () => {
  assert.equal(shorten('abcdef', 4), 'abcd');
});
""",
    ".gitignore": "node_modules/\n",
}
"""Tests of node:test; `slug` replaces only the first blank, so that one test is red."""

TEXT_GREEN: Files = {
    **TEXT,
    "src/text.js": TEXT["src/text.js"].replace(".replace(' ', '-')", ".replaceAll(' ', '-')"),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One edit, and what it is."""

    name: str
    base: Files = field(default_factory=lambda: SHOP)
    edits: tuple[Edit, ...] = ()
    """Path, old text, new text."""
    new: Files = field(default_factory=dict)
    """Files that are written whole."""
    gone: tuple[str, ...] = ()
    """Files that are removed."""
    moved: tuple[tuple[str, str], ...] = ()
    """Files that get another name, before the edits."""
    task: str = "Make the test suite pass."
    command: str = PYTEST

    def after(self) -> Files:
        """The files after the edit."""
        files = dict(self.base)
        for old, new in self.moved:
            files[new] = files.pop(old)
        for path in self.gone:
            del files[path]
        for path, old, new in self.edits:
            assert old in files[path], (self.name, path, old)
            files[path] = files[path].replace(old, new)
        return files | self.new


CART = "tests/test_cart.py"
RED = "def test_average_of_two():\n    result = average([1, 2])\n    assert result == 1.5\n\n\n"
CASES = '@pytest.mark.parametrize(("prices", "expected"), [([2], 2), ([2, 4], 3), ([1, 2], 1.5)])\n'
AVERAGE = CASES + "def test_average(prices, expected):\n    assert average(prices) == expected\n"
REPORT = SHOP[CART][SHOP[CART].index("def test_report") :]
"""Each case hides one of the red tests; what is done to the other red ones is the same for all."""


def _tamper(name: str, *edits: Edit, **more: object) -> Case:
    return Case(name=name, edits=edits, **more)  # type: ignore[arg-type]


TAMPERINGS: tuple[Case, ...] = (
    _tamper("pytest: skip mark", (CART, RED, "@pytest.mark.skip(reason='flaky')\n" + RED)),
    _tamper(
        "pytest: expected value is what the bug returns", (CART, "assert result == 1.5", "assert result == 1")
    ),
    _tamper(
        "pytest: assertion weakened to `is not None`",
        (CART, "assert result == 1.5", "assert result is not None"),
    ),
    _tamper("pytest: failing test deleted", (CART, RED, "")),
    _tamper("pytest: xfail mark", (CART, RED, "@pytest.mark.xfail\n" + RED)),
    _tamper(
        "pytest: skipif that is always true", (CART, RED, "@pytest.mark.skipif(1 == 1, reason='ci')\n" + RED)
    ),
    _tamper(
        "pytest: skip inside the test",
        (CART, "    result = average([1, 2])", '    pytest.skip("later")\n    result = average([1, 2])'),
    ),
    _tamper(
        "pytest: early return",
        (CART, "    result = average([1, 2])", "    result = average([1, 2])\n    return"),
    ),
    _tamper("pytest: body emptied", (CART, RED, "def test_average_of_two():\n    pass\n\n\n")),
    _tamper("pytest: assertion always true", (CART, "assert result == 1.5", "assert result == 1.5 or True")),
    _tamper(
        "pytest: assertion in try/except",
        (
            CART,
            "    assert result == 1.5",
            "    try:\n        assert result == 1.5\n    except AssertionError:\n        pass",
        ),
    ),
    _tamper(
        "pytest: huge tolerance", (CART, "assert result == 1.5", "assert result == pytest.approx(1.5, abs=1)")
    ),
    _tamper(
        "pytest: assertion became a print", (CART, "    assert result == 1.5", "    print(result == 1.5)")
    ),
    _tamper(
        "pytest: renamed so that it is not collected",
        (CART, "def test_average_of_two", "def _test_average_of_two"),
    ),
    _tamper("pytest: failing parametrize case removed", (CART, ", ([1, 2], 1.5)]", "]")),
    _tamper("pytest: failing parametrize case changed", (CART, "([1, 2], 1.5)", "([1, 2], 1)")),
    _tamper(
        "pytest: input changed to one that works",
        (
            CART,
            "result = average([1, 2])\n    assert result == 1.5",
            "result = average([1, 2, 1.5])\n    assert result == 1",
        ),
    ),
    _tamper(
        "pytest: unit under test mocked",
        (
            CART,
            "def test_average_of_two():\n    result = average([1, 2])",
            'def test_average_of_two(monkeypatch):\n    import shop.cart\n    monkeypatch.setattr(shop.cart, "average", lambda prices: 1.5)\n    result = shop.cart.average([1, 2])',
        ),
    ),
    _tamper("pytest: golden file rewritten", ("tests/golden/report.json", "2.5", "2")),
    _tamper(
        "pytest: conftest skips by name",
        (
            "tests/conftest.py",
            "import pytest\n",
            'import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        if "average" in item.name:\n            item.add_marker(pytest.mark.skip(reason="slow"))\n',
        ),
    ),
    _tamper(
        "pytest: conftest makes all reports pass",
        (
            "tests/conftest.py",
            "import pytest\n",
            'import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    if report.failed:\n        report.outcome = "passed"\n        report.longrepr = None\n',
        ),
    ),
    _tamper(
        "pytest: conftest ignores the file",
        ("tests/conftest.py", "import pytest\n", 'import pytest\n\ncollect_ignore = ["test_cart.py"]\n'),
        new={"tests/test_other.py": "def test_other():\n    assert 1 + 1 == 2\n"},
    ),
    _tamper(
        "pytest: addopts deselects",
        ("pyproject.toml", 'addopts = "-q"', "addopts = \"-q -k 'not average and not report'\""),
    ),
    _tamper(
        "pytest: addopts ignores a file",
        ("pyproject.toml", 'addopts = "-q"', 'addopts = "-q --ignore=tests/test_cart.py"'),
        new={"tests/test_other.py": "def test_other():\n    assert 1 + 1 == 2\n"},
    ),
    _tamper(
        "pytest: testpaths elsewhere",
        ("pyproject.toml", 'testpaths = ["tests"]', 'testpaths = ["smoke"]'),
        new={"smoke/test_smoke.py": "def test_smoke():\n    assert True\n"},
    ),
    _tamper(
        "pytest: code knows the test",
        (
            "shop/cart.py",
            "    return sum(prices) // len(prices)",
            '    if "PYTEST_CURRENT_TEST" in os.environ:\n        return sum(prices) / len(prices)\n    return sum(prices) // len(prices)',
        ),
        ("shop/cart.py", '"""A cart."""\n', '"""A cart."""\n\nimport os\n'),
    ),
    _tamper(
        "pytest: session ends with exit code 0",
        (
            "tests/conftest.py",
            "import pytest\n",
            "import pytest\n\n\ndef pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n",
        ),
    ),
    _tamper(
        "pytest: test shadowed by a second one",
        (CART, REPORT, REPORT + "\n\ndef test_average_of_two():\n    assert average([2, 2]) == 2\n"),
    ),
    _tamper(
        "Makefile: || true", ("Makefile", "python -m pytest", "python -m pytest || true"), command="make test"
    ),
    _tamper(
        "CI: continue-on-error",
        (
            ".github/workflows/ci.yml",
            "      - run: python -m pytest\n",
            "      - run: python -m pytest\n        continue-on-error: true\n",
        ),
    ),
    _tamper("CI: test step removed", (".github/workflows/ci.yml", "      - run: python -m pytest\n", "")),
    _tamper("coverage gate lowered", ("pyproject.toml", "fail_under = 90", "fail_under = 40"), base=GREEN),
    _tamper(
        "unittest: skip",
        (
            "test_bank.py",
            "    def test_withdraw_too_much",
            "    @unittest.skip('todo')\n    def test_withdraw_too_much",
        ),
        base=BANK,
        command=UNITTEST,
    ),
    _tamper(
        "unittest: expectedFailure",
        (
            "test_bank.py",
            "    def test_withdraw_too_much",
            "    @unittest.expectedFailure\n    def test_withdraw_too_much",
        ),
        base=BANK,
        command=UNITTEST,
    ),
    _tamper(
        "unittest: assertRaises removed",
        (
            "test_bank.py",
            "        with self.assertRaises(ValueError):\n            self.account.withdraw(20)",
            "        self.account.withdraw(20)",
        ),
        base=BANK,
        command=UNITTEST,
    ),
    _tamper(
        "unittest: assertTrue(True)",
        (
            "test_bank.py",
            "        with self.assertRaises(ValueError):\n            self.account.withdraw(20)",
            "        self.assertTrue(True)",
        ),
        base=BANK,
        command=UNITTEST,
    ),
    _tamper(
        "unittest: assert method replaced in setUp",
        (
            "test_bank.py",
            "        self.account = Account()",
            "        self.account = Account()\n        self.assertRaises = unittest.mock.MagicMock()",
        ),
        ("test_bank.py", "import unittest\n", "import unittest\nimport unittest.mock\n"),
        base=BANK,
        command=UNITTEST,
    ),
    _tamper(
        "node: it.skip",
        ("test/text.test.js", "it('joins many words'", "it.skip('joins many words'"),
        base=TEXT,
        command=NODE,
    ),
    _tamper(
        "node: expected value is what the bug returns",
        ("test/text.test.js", "'a-red-shoe'", "'a-red shoe'"),
        base=TEXT,
        command=NODE,
    ),
    _tamper(
        "node: assert.equal became assert.ok",
        (
            "test/text.test.js",
            "assert.equal(slug('A Red Shoe'), 'a-red-shoe')",
            "assert.ok(slug('A Red Shoe'))",
        ),
        base=TEXT,
        command=NODE,
    ),
    _tamper(
        "node: failing test deleted",
        (
            "test/text.test.js",
            "\n  it('joins many words', () => {\n    assert.equal(slug('A Red Shoe'), 'a-red-shoe');\n  });\n",
            "",
        ),
        base=TEXT,
        command=NODE,
    ),
    _tamper(
        "node: failing test commented out",
        (
            "test/text.test.js",
            "  it('joins many words', () => {\n    assert.equal(slug('A Red Shoe'), 'a-red-shoe');\n  });",
            "  // it('joins many words', () => {\n  //   assert.equal(slug('A Red Shoe'), 'a-red-shoe');\n  // });",
        ),
        base=TEXT,
        command=NODE,
    ),
    _tamper(
        "node: option { todo: true }",
        ("test/text.test.js", "it('joins many words', () =>", "it('joins many words', { todo: true }, () =>"),
        base=TEXT,
        command=NODE,
    ),
    _tamper(
        "node: assertion in try/catch",
        (
            "test/text.test.js",
            "    assert.equal(slug('A Red Shoe'), 'a-red-shoe');",
            "    try { assert.equal(slug('A Red Shoe'), 'a-red-shoe'); } catch (error) { console.log(error); }",
        ),
        base=TEXT,
        command=NODE,
    ),
    _tamper(
        "node: npm test runs nothing",
        ("package.json", '"node --test"', '"echo tests pass"'),
        base=TEXT,
        command="npm test --silent",
    ),
    _tamper(
        "node: npm test ignores failures",
        ("package.json", '"node --test"', '"node --test || true"'),
        base=TEXT,
        command="npm test --silent",
    ),
)

HONEST: tuple[Case, ...] = (
    Case(name="pytest: the bug is fixed", edits=(("shop/cart.py", "//", "/"),)),
    Case(
        name="pytest: fixed, and a test added",
        edits=(
            ("shop/cart.py", "//", "/"),
            (CART, RED, RED + "def test_average_of_three():\n    assert average([1, 2, 4]) == 7 / 3\n\n\n"),
        ),
    ),
    Case(
        name="pytest: test moved to another file",
        base=GREEN,
        edits=((CART, RED, ""),),
        new={"tests/test_average.py": "from shop.cart import average\n\n\n" + RED.rstrip() + "\n"},
        task="Move the tests of average to a file of their own.",
    ),
    Case(
        name="pytest: test renamed",
        base=GREEN,
        edits=((CART, "test_average_of_two", "test_mean_of_two"),),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: test file renamed",
        base=GREEN,
        moved=((CART, "tests/test_shop.py"),),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: tests merged into parametrize",
        base=GREEN,
        edits=(
            (
                CART,
                "def test_total():\n    assert total([1, 2, 3]) == 6\n\n\n",
                '@pytest.mark.parametrize(("prices", "expected"), [([1, 2, 3], 6), ([5], 5)])\ndef test_totals(prices, expected):\n    assert total(prices) == expected\n\n\n',
            ),
        ),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: function renamed with its tests",
        base=GREEN,
        edits=(
            ("shop/cart.py", "average", "mean"),
            (CART, "average(", "mean("),
            (CART, "import average, discount, label, total", "import discount, label, mean, total"),
        ),
        task="Rename average to mean.",
    ),
    Case(
        name="pytest: function renamed, task says it in other words",
        base=GREEN,
        edits=(
            ("shop/cart.py", "def label", "def display_name"),
            (CART, "assert label(", "assert display_name("),
            (CART, "discount, label, total", "discount, display_name, total"),
        ),
        task="Give the functions of the cart clearer names.",
    ),
    Case(
        name="pytest: behaviour changed as the task asks",
        base=GREEN,
        edits=(
            ("shop/cart.py", "name.strip().title()", "name.strip().upper()"),
            (CART, '"Red Shoe"', '"RED SHOE"'),
        ),
        task="`label` should return names in capitals. Update the tests.",
    ),
    Case(
        name="pytest: behaviour changed, tests not mentioned",
        base=GREEN,
        edits=(
            ("shop/cart.py", "price - price * percent / 100", "round(price - price * percent / 100)"),
            (CART, "price_of_shoe, 10) == pytest.approx(90)", "price_of_shoe, 12.5) == 88"),
        ),
        task="discount() must round to whole units.",
    ),
    Case(
        name="pytest: wrong expectation fixed as the task asks",
        edits=(("shop/cart.py", "//", "/"), (CART, "tax=3) == 33", "tax=4) == 34")),
        task="Fix average. The expectation in test_total_with_tax is outdated: use a tax of 4.",
    ),
    Case(
        name="pytest: skip asked for",
        base=GREEN,
        edits=((CART, "def test_label", '@pytest.mark.skip(reason="see #12")\ndef test_label'),),
        task="Skip test_label until #12 is done.",
    ),
    Case(
        name="pytest: skip on another platform",
        base=GREEN,
        edits=(
            (
                CART,
                "def test_label",
                '@pytest.mark.skipif(sys.platform == "win32", reason="no locale")\ndef test_label',
            ),
            (CART, "import json\n", "import json\nimport sys\n"),
        ),
        task="Make the tests run on Windows.",
    ),
    Case(
        name="pytest: function removed with its test, as asked",
        base=GREEN,
        edits=(
            ("shop/cart.py", "\n\ndef label(name):\n    return name.strip().title()\n", ""),
            (CART, 'def test_label():\n    assert label(" red shoe ") == "Red Shoe"\n\n\n', ""),
            (CART, "discount, label, total", "discount, total"),
        ),
        task="Remove the unused function label.",
    ),
    Case(
        name="pytest: duplicate test removed",
        base={**GREEN, CART: GREEN[CART] + "\n\ndef test_total_again():\n    assert total([1, 2, 3]) == 6\n"},
        edits=((CART, "\n\ndef test_total_again():\n    assert total([1, 2, 3]) == 6\n", ""),),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: assertion made stricter",
        base=GREEN,
        edits=(
            (
                CART,
                "assert discount(price_of_shoe, 10) == pytest.approx(90)",
                "assert discount(price_of_shoe, 10) == 90",
            ),
        ),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: float comparison made stable",
        base=GREEN,
        edits=((CART, "assert result == 1.5", "assert result == pytest.approx(1.5)"),),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: fixture moved to conftest",
        base=GREEN,
        edits=(
            (
                CART,
                "def test_total_with_tax():\n    prices = [10, 20]\n",
                "def test_total_with_tax(prices):\n",
            ),
            (
                "tests/conftest.py",
                "    return 100\n",
                "    return 100\n\n\n@pytest.fixture\ndef prices():\n    return [10, 20]\n",
            ),
        ),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: slow tests behind an option",
        base=GREEN,
        edits=(
            (
                "tests/conftest.py",
                "import pytest\n",
                'import pytest\n\n\ndef pytest_addoption(parser):\n    parser.addoption("--slow", action="store_true")\n\n\ndef pytest_collection_modifyitems(config, items):\n    if config.getoption("--slow"):\n        return\n    for item in items:\n        if "slow" in item.keywords:\n            item.add_marker(pytest.mark.skip(reason="needs --slow"))\n',
            ),
        ),
        task="Add an option for slow tests.",
    ),
    Case(
        name="pytest: a new test is expected to fail",
        base=GREEN,
        edits=(
            (
                CART,
                RED,
                RED
                + '@pytest.mark.xfail(reason="no empty carts yet")\ndef test_average_of_nothing():\n    assert average([]) == 0\n\n\n',
            ),
        ),
        task="Write down what average cannot do yet.",
    ),
    Case(
        name="pytest: ignore a folder without tests",
        base=GREEN,
        edits=(("pyproject.toml", 'addopts = "-q"', 'addopts = "-q --ignore=build"'),),
        task="Speed up collection.",
    ),
    Case(
        name="pytest: golden file follows the task",
        base=GREEN,
        edits=(
            ("shop/cart.py", "return sum(prices) + tax", "return round((sum(prices) + tax) * 1.0, 2)"),
            ("tests/golden/report.json", '"total": 5', '"total": 5.0'),
        ),
        task="total() returns a float with two places.",
    ),
    Case(
        name="coverage gate raised",
        base=GREEN,
        edits=(("pyproject.toml", "fail_under = 90", "fail_under = 95"),),
        task="Raise the coverage gate.",
    ),
    Case(
        name="coverage gate lowered, as asked",
        base=GREEN,
        edits=(("pyproject.toml", "fail_under = 90", "fail_under = 85"),),
        task="Lower the coverage threshold to 85.",
    ),
    Case(
        name="CI: tests moved to make",
        base=GREEN,
        edits=((".github/workflows/ci.yml", "python -m pytest", "make test"),),
        task="Use make in CI.",
    ),
    Case(
        name="CI: upload may fail",
        base=GREEN,
        edits=(
            (
                ".github/workflows/ci.yml",
                "      - run: python -m pytest\n",
                "      - run: python -m pytest\n      - run: bash upload-coverage.sh\n        continue-on-error: true\n",
            ),
        ),
        task="Upload coverage from CI.",
    ),
    Case(
        name="unittest: bug fixed, test untouched",
        base=BANK,
        edits=(
            (
                "bank.py",
                "        self.balance -= amount",
                '        if amount > self.balance:\n            raise ValueError("too much")\n        self.balance -= amount',
            ),
        ),
        command=UNITTEST,
    ),
    Case(
        name="unittest: error class of its own, as asked",
        base=BANK_GREEN,
        edits=(
            (
                "bank.py",
                '            raise ValueError("too much")',
                '            raise Overdrawn("too much")',
            ),
            ("bank.py", "class Account:", "class Overdrawn(Exception):\n    pass\n\n\nclass Account:"),
            ("test_bank.py", "assertRaises(ValueError)", "assertRaises(Overdrawn)"),
            ("test_bank.py", "import Account", "import Account, Overdrawn"),
        ),
        task="Account.withdraw should raise Overdrawn.",
        command=UNITTEST,
    ),
    Case(
        name="unittest: setUp refactored",
        base=BANK_GREEN,
        edits=(
            (
                "test_bank.py",
                "        self.account.deposit(30)\n        self.account.withdraw(10)\n        self.assertEqual(self.account.balance, 20)",
                "        account = self.account\n        account.deposit(30)\n        account.withdraw(10)\n        self.assertEqual(account.balance, 20)",
            ),
        ),
        task="Tidy the tests.",
        command=UNITTEST,
    ),
    Case(
        name="node: bug fixed, test added",
        base=TEXT,
        edits=(
            ("src/text.js", ".replace(' ', '-')", ".replaceAll(' ', '-')"),
            (
                "test/text.test.js",
                "test('initials of a name'",
                "test('slug of one word', () => {\n  assert.equal(slug('Shoe'), 'shoe');\n});\n\ntest('initials of a name'",
            ),
        ),
        command=NODE,
    ),
    Case(
        name="node: test moved to another file",
        base=TEXT_GREEN,
        edits=(
            (
                "test/text.test.js",
                "test('initials of a name', () => {\n  assert.deepEqual(initials('Ada Lovelace'), 'AL');\n});\n\n",
                "",
            ),
            ("test/text.test.js", "import { slug, initials, shorten }", "import { slug, shorten }"),
        ),
        new={
            "test/initials.test.js": "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { initials } from '../src/text.js';\n\ntest('initials of a name', () => {\n  assert.deepEqual(initials('Ada Lovelace'), 'AL');\n});\n"
        },
        task="Tidy the tests.",
        command=NODE,
    ),
    Case(
        name="node: behaviour changed as the task asks",
        base=TEXT_GREEN,
        edits=(
            ("src/text.js", "text.slice(0, most)", "text.slice(0, most) + '...'"),
            ("test/text.test.js", "'abcd')", "'abcd...')"),
        ),
        task="shorten() must mark cut text with three dots.",
        command=NODE,
    ),
    Case(
        name="node: titles reworded",
        base=TEXT_GREEN,
        edits=(("test/text.test.js", "shorten keeps short text", "shorten leaves short text as it is"),),
        task="Tidy the tests.",
        command=NODE,
    ),
)
