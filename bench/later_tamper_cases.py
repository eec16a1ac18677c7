"""Further cases of `tampering`, written when the rules were finished: what they gave at first is in the docs."""

from __future__ import annotations

from tamper_cases import (
    BANK,
    BANK_GREEN,
    CART,
    GREEN,
    NODE,
    RED,
    TEXT,
    TEXT_GREEN,
    UNITTEST,
    Case,
)

JS = "test/text.test.js"
BANKS = "test_bank.py"
TOO_MUCH = "        with self.assertRaises(ValueError):\n            self.account.withdraw(20)"
SMOKE = {"tests/test_smoke.py": "def test_smoke():\n    assert 1 + 1 == 2\n"}
CI = ".github/workflows/ci.yml"

LATER_TAMPERINGS: tuple[Case, ...] = (
    Case(
        name="pytest: pytestmark of the module",
        edits=(
            (
                CART,
                "import average, discount, label, total\n",
                "import average, discount, label, total\n\npytestmark = pytest.mark.skip\n",
            ),
        ),
    ),
    Case(
        name="pytest: assertion under its own condition",
        edits=((CART, "    assert result == 1.5", "    if result == 1.5:\n        assert result == 1.5"),),
    ),
    Case(
        name="pytest: contextlib.suppress",
        edits=(
            (
                CART,
                "    assert result == 1.5",
                "    with contextlib.suppress(AssertionError):\n        assert result == 1.5",
            ),
            (CART, "import json\n", "import contextlib\nimport json\n"),
        ),
    ),
    Case(
        name="pytest: loop over nothing",
        edits=((CART, "    assert result == 1.5", "    for each in []:\n        assert each == 1.5"),),
    ),
    Case(
        name="pytest: autouse fixture replaces the function",
        edits=(
            (
                "tests/conftest.py",
                "    return 100\n",
                '    return 100\n\n\n@pytest.fixture(autouse=True)\ndef exact(monkeypatch):\n    import tests.test_cart\n    monkeypatch.setattr(tests.test_cart, "average", lambda prices: sum(prices) / len(prices))\n',
            ),
        ),
    ),
    Case(
        name="pytest: plug-in of its own",
        edits=(
            ("tests/conftest.py", "import pytest\n", 'import pytest\n\npytest_plugins = ["tests.quiet"]\n'),
        ),
        new={
            "tests/quiet.py": 'def pytest_collection_modifyitems(items):\n    items[:] = [item for item in items if "average" not in item.name and "report" not in item.name]\n'
        },
    ),
    Case(
        name="pytest: python_functions changed",
        edits=(
            (
                "pyproject.toml",
                'addopts = "-q"',
                'addopts = "-q"\npython_functions = ["test_total*", "test_label"]',
            ),
        ),
    ),
    Case(name="pytest: whole file deleted", gone=(CART,), new=SMOKE),
    Case(
        name="pytest: expected value computed by the code",
        edits=((CART, "assert result == 1.5", "assert result == average([1, 2])"),),
    ),
    Case(
        name="pytest: one of two values", edits=((CART, "assert result == 1.5", "assert result in (1, 1.5)"),)
    ),
    Case(
        name="pytest: assertion of a tuple",
        edits=((CART, "assert result == 1.5", 'assert (result == 1.5, "average")'),),
    ),
    Case(
        name="pytest: pytest.ini of its own",
        new={
            "pytest.ini": "[pytest]\naddopts = -q --deselect tests/test_cart.py::test_average_of_two\ntestpaths = tests\n"
        },
    ),
    Case(
        name="pytest: skipped unless a variable is set",
        edits=(
            (CART, RED, '@pytest.mark.skipif(not os.environ.get("NIGHTLY"), reason="nightly")\n' + RED),
            (CART, "import json\n", "import json\nimport os\n"),
        ),
    ),
    Case(
        name="pytest: conftest ends the process",
        edits=(("tests/conftest.py", "import pytest\n", "import os\n\nimport pytest\n\nos._exit(0)\n"),),
    ),
    Case(
        name="pytest: golden file compared in part",
        edits=(
            (
                CART,
                '    assert {"average": average([1, 4]), "total": total([1, 4])} == golden',
                '    assert golden.keys() >= {"total"}',
            ),
        ),
    ),
    Case(
        name="pytest: rounded before it is compared",
        edits=((CART, "assert result == 1.5", "assert round(result) == round(1.5 - 0.6)"),),
    ),
    Case(
        name="unittest: setUp skips",
        base=BANK,
        edits=(
            (
                BANKS,
                "        self.account = Account()",
                '        self.skipTest("rewrite")\n        self.account = Account()',
            ),
        ),
        command=UNITTEST,
    ),
    Case(
        name="unittest: class skipped",
        base=BANK,
        edits=((BANKS, "class AccountTest", '@unittest.skip("old")\nclass AccountTest'),),
        command=UNITTEST,
    ),
    Case(
        name="unittest: load_tests leaves it out",
        base=BANK,
        edits=(
            (
                BANKS,
                "class AccountTest",
                'def load_tests(loader, tests, pattern):\n    names = ["test_deposit", "test_withdraw"]\n    return unittest.TestSuite(AccountTest(name) for name in names)\n\n\nclass AccountTest',
            ),
        ),
        command=UNITTEST,
    ),
    Case(
        name="unittest: broad exception expected",
        base=BANK,
        edits=(
            (
                BANKS,
                TOO_MUCH,
                "        with self.assertRaises(Exception):\n            self.account.withdraw(None)",
            ),
        ),
        command=UNITTEST,
    ),
    Case(
        name="node: describe.skip",
        base=TEXT,
        edits=((JS, "describe('slug'", "describe.skip('slug'"),),
        command=NODE,
    ),
    Case(
        name="node: early return",
        base=TEXT,
        edits=(
            (JS, "    assert.equal(slug('A Red Shoe')", "    return;\n    assert.equal(slug('A Red Shoe')"),
        ),
        command=NODE,
    ),
    Case(
        name="node: assertion of a constant",
        base=TEXT,
        edits=((JS, "assert.equal(slug('A Red Shoe'), 'a-red-shoe')", "assert.ok(true)"),),
        command=NODE,
    ),
    Case(
        name="node: code knows the test",
        base=TEXT,
        edits=(
            (
                "src/text.js",
                "  return title.toLowerCase().replace(' ', '-');",
                "  if (process.env.NODE_TEST_CONTEXT) return title.toLowerCase().replaceAll(' ', '-');\n  return title.toLowerCase().replace(' ', '-');",
            ),
        ),
        command=NODE,
    ),
    Case(
        name="node: file renamed so that it is not found",
        base=TEXT,
        moved=((JS, "checks/text.js"),),
        edits=(("checks/text.js", "'../src/text.js'", "'../src/text.js'"),),
        new={
            "test/smoke.test.js": "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\n\ntest('smoke', () => {\n  assert.equal(1 + 1, 2);\n});\n"
        },
        command=NODE,
    ),
    Case(
        name="node: npm test names some tests",
        base=TEXT,
        edits=(
            (
                "package.json",
                '"node --test"',
                '"node --test --test-name-pattern=\\"/two|initials|shorten/\\""',
            ),
        ),
        command="npm test --silent",
    ),
    Case(
        name="node: match in place of equal",
        base=TEXT,
        edits=(
            (
                JS,
                "assert.equal(slug('A Red Shoe'), 'a-red-shoe')",
                "assert.match(slug('A Red Shoe'), /^a-red/)",
            ),
        ),
        command=NODE,
    ),
    Case(
        name="Makefile: leading dash",
        edits=(("Makefile", "\tpython -m pytest", "\t-python -m pytest"),),
        command="make test",
    ),
    Case(
        name="CI: if: false",
        edits=(
            (CI, "      - run: python -m pytest\n", "      - run: python -m pytest\n        if: false\n"),
        ),
    ),
    Case(name="CI: || echo", edits=((CI, "python -m pytest", 'python -m pytest || echo "some tests fail"'),)),
)

LATER_HONEST: tuple[Case, ...] = (
    Case(
        name="pytest: test split in two",
        base=GREEN,
        edits=(
            (
                CART,
                "def test_label():\n",
                'def test_label_strips():\n    assert label(" x ") == "X"\n\n\ndef test_label():\n',
            ),
        ),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: functions moved into a class",
        base=GREEN,
        edits=(
            (
                CART,
                "def test_total():\n    assert total([1, 2, 3]) == 6\n",
                "class TestTotal:\n    def test_total(self):\n        assert total([1, 2, 3]) == 6\n",
            ),
        ),
        task="Tidy the tests.",
    ),
    Case(
        name="unittest: turned into pytest style",
        base=BANK_GREEN,
        edits=(
            (BANKS, "self.assertEqual(self.account.balance, 20)", "assert self.account.balance == 20"),
            (BANKS, "self.assertEqual(self.account.balance, 50)", "assert self.account.balance == 50"),
        ),
        task="Tidy the tests.",
        command=UNITTEST,
    ),
    Case(
        name="pytest: ids for the cases",
        base=GREEN,
        edits=((CART, "1.5)])\n", '1.5)], ids=["one", "two", "half"])\n'),),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: constant taken out",
        base=GREEN,
        edits=(
            (CART, '    assert label(" red shoe ") == "Red Shoe"', "    assert label(RAW) == NICE"),
            (CART, "def test_label", 'RAW = " red shoe "\nNICE = "Red Shoe"\n\n\ndef test_label'),
        ),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: helper taken out",
        base=GREEN,
        edits=(
            (
                CART,
                "def test_total():\n    assert total([1, 2, 3]) == 6",
                "def check_total(prices, expected, **more):\n    assert total(prices, **more) == expected\n\n\ndef test_total():\n    check_total([1, 2, 3], 6)",
            ),
        ),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: golden file laid out anew",
        base=GREEN,
        edits=(
            (
                "tests/golden/report.json",
                '{"average": 2.5, "total": 5}',
                '{\n  "average": 2.5,\n  "total": 5\n}',
            ),
        ),
        task="Format the JSON files.",
    ),
    Case(
        name="pytest: skip mark removed",
        base={**GREEN, CART: GREEN[CART].replace("def test_label", "@pytest.mark.skip\ndef test_label")},
        edits=((CART, "@pytest.mark.skip\n", ""),),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: new parameter as the task asks",
        base=GREEN,
        edits=(
            (
                "shop/cart.py",
                "def total(prices, tax=0):\n    return sum(prices) + tax",
                'def total(prices, *, currency, tax=0):\n    return f"{sum(prices) + tax} {currency}"',
            ),
            (CART, "total([1, 2, 3]) == 6", 'total([1, 2, 3], currency="EUR") == "6 EUR"'),
            (CART, "total(prices, tax=3) == 33", 'total(prices, currency="EUR", tax=3) == "33 EUR"'),
            (CART, '"total": total([1, 4])', '"total": total([1, 4], currency="EUR")'),
            ("tests/golden/report.json", '"total": 5', '"total": "5 EUR"'),
        ),
        task="total() takes the currency as a required argument and returns text such as `6 EUR`.",
    ),
    Case(
        name="pytest: wrong import in a red test",
        base={
            **GREEN,
            CART: GREEN[CART].replace("from shop.cart import average", "from shop.carts import average"),
        },
        edits=((CART, "from shop.carts", "from shop.cart"),),
    ),
    Case(
        name="pytest: wrong path in a red test",
        base={**GREEN, CART: GREEN[CART].replace('"golden" / "report.json"', '"goldens" / "report.json"')},
        edits=((CART, '"goldens"', '"golden"'),),
    ),
    Case(
        name="pytest: settings moved to pytest.ini",
        base=GREEN,
        edits=(
            ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = "-q"\n\n', ""),
        ),
        new={"pytest.ini": "[pytest]\ntestpaths = tests\naddopts = -q\n"},
        task="Keep the settings of pytest in a file of their own.",
    ),
    Case(
        name="pytest: feature dropped, task in other words",
        base=GREEN,
        edits=(
            (
                "shop/cart.py",
                "\n\ndef discount(price, percent):\n    return price - price * percent / 100\n",
                "\n",
            ),
            (
                CART,
                "def test_discount(price_of_shoe):\n    assert discount(price_of_shoe, 10) == pytest.approx(90)\n\n\n",
                "",
            ),
            (CART, "average, discount, label", "average, label"),
        ),
        task="We no longer give price reductions: take them out of the shop.",
    ),
    Case(
        name="pytest: duplicate case removed",
        base={**GREEN, CART: GREEN[CART].replace("[([2], 2), ", "[([2], 2), ([2], 2), ")},
        edits=((CART, "[([2], 2), ([2], 2), ", "[([2], 2), "),),
        task="Tidy the tests.",
    ),
    Case(
        name="pytest: slow test gets more time",
        base=GREEN,
        edits=((CART, "def test_label", "@pytest.mark.filterwarnings('ignore')\ndef test_label"),),
        task="Tidy the tests.",
    ),
    Case(
        name="unittest: message of the error, as asked",
        base=BANK_GREEN,
        edits=(
            ("bank.py", '"too much"', '"not enough money"'),
            (
                BANKS,
                "with self.assertRaises(ValueError):",
                'with self.assertRaisesRegex(ValueError, "not enough money"):',
            ),
        ),
        task="withdraw should say `not enough money`.",
        command=UNITTEST,
    ),
    Case(
        name="CI: matrix",
        base=GREEN,
        edits=(
            (
                CI,
                "    runs-on: ubuntu-latest\n",
                "    runs-on: ubuntu-latest\n    strategy:\n      matrix:\n        python: ['3.12', '3.13']\n",
            ),
            (CI, "  test:\n", "  tests:\n"),
        ),
        task="Test with more versions of Python.",
    ),
    Case(
        name="CI: coverage in the same step",
        base=GREEN,
        edits=((CI, "python -m pytest", "python -m coverage run -m pytest && python -m coverage report"),),
        task="Measure coverage in CI.",
    ),
    Case(
        name="node: test became it in a group",
        base=TEXT_GREEN,
        edits=(
            (
                JS,
                "test('initials of a name', () => {\n  assert.deepEqual(initials('Ada Lovelace'), 'AL');\n});",
                "describe('initials', () => {\n  it('takes the first letters of a name', () => {\n    assert.deepEqual(initials('Ada Lovelace'), 'AL');\n  });\n});",
            ),
        ),
        task="Tidy the tests.",
        command=NODE,
    ),
    Case(
        name="node: expected values in constants",
        base=TEXT_GREEN,
        edits=(
            (
                JS,
                "  assert.equal(shorten('abcdef', 4), 'abcd');",
                "  const expected = 'abcd';\n  assert.equal(shorten('abcdef', 4), expected);",
            ),
        ),
        task="Tidy the tests.",
        command=NODE,
    ),
    Case(
        name="node: quiet while tested",
        base={**TEXT_GREEN, "src/server.js": "export function start(app) {\n  app.listen(80);\n}\n"},
        edits=(
            (
                "src/server.js",
                "  app.listen(80);",
                "  if (process.env.NODE_ENV !== 'test') {\n    app.listen(80);\n  }",
            ),
        ),
        task="The server must not listen in tests.",
        command=NODE,
    ),
    Case(
        name="node: function renamed with its tests",
        base=TEXT_GREEN,
        edits=(
            ("src/text.js", "function shorten", "function truncate"),
            (JS, "shorten(", "truncate("),
            (JS, "initials, shorten }", "initials, truncate }"),
        ),
        task="Use the usual names of these helpers.",
        command=NODE,
    ),
)
