"""What is said of parameters, defaults and base classes is held against the head of the definition."""

from __future__ import annotations

import pytest

from tests.claims.steps import step

HEADS = step(
    {
        "shop.py": "class Base:\n    pass\n\n\ndef total(items):\n    return sum(items)\n",
        "web.ts": "let a = 1\n",
    },
    {
        "shop.py": (
            "class Base:\n    pass\n\n\nclass Gone(Base, KeyError):\n    pass\n\n\n"
            "def total(items, tax=2, *, rate: int | None = None):\n    return sum(items) * tax\n"
        ),
        "web.ts": (
            "export class Late extends Error {\n}\nexport function wait(ms: number, signal?: Signal) {\n}\n"
        ),
    },
)


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("`Gone` derives from `Base`.", "confirmed"),
        ("`Gone` is a subclass of `KeyError`.", "confirmed"),
        ("`Late` extends `Error`.", "confirmed"),
        ("`Gone` derives from `ValueError`.", "refuted"),
        ("`Late` extends `RangeError`.", "refuted"),
        ("`total` takes a second parameter `tax`.", "confirmed"),
        ("`total` takes an optional parameter `tax`, which defaults to 2.", "confirmed"),
        ("`total` takes a second argument, `tax`, 2 by default.", "confirmed"),
        ("`wait` takes an optional argument `signal`.", "confirmed"),
        ("`total` takes a parameter `discount`.", "refuted"),
        ("`total` takes a third parameter `tax`.", "refuted"),
        ("`total` takes a parameter `tax`, which defaults to 3.", "refuted"),
        ("`total` takes a mandatory parameter `tax`.", "refuted"),
        ("`wait` takes a mandatory argument `signal`.", "refuted"),
        ("`total` gained a parameter `items`.", "refuted"),
        ("`total` takes a parameter `tax` for the country.", "partly"),
    ],
)
def test_the_head_of_a_definition_decides(statement: str, verdict: str) -> None:
    assert [str(entry.verdict) for entry in HEADS.entries(f"- {statement}")] == [verdict]


@pytest.mark.parametrize(
    "statement",
    [
        "`total` no longer takes a parameter `items`.",
        "`total` never took the parameter `discount`.",
        "`Gone` used to derive from `ValueError`.",
        "`total` passes a parameter `discount` to the printer.",
    ],
)
def test_what_is_denied_or_told_of_another_time_refutes_nothing(statement: str) -> None:
    assert "refuted" not in {str(entry.verdict) for entry in HEADS.entries(f"- {statement}")}
