"""What a task asks for, and what it merely names."""

from __future__ import annotations

import pytest

from segue.domain.evidence.weakened.task import (
    asks_for_behaviour,
    asks_for_edit,
    asks_for_removal,
    asks_for_setting,
)

NAMES = {"test_average_of_two", "average", "tests/test_cart.py", "test_cart.py"}


@pytest.mark.parametrize(
    "task",
    [
        "Make the test suite pass.",
        "Fix average so that test_average_of_two passes.",
        "Update average so that the tests pass.",
        "Change the code until test_average_of_two passes.",
        "average returns wrong values in test_average_of_two.",
        "Fix average without changing the tests.",
        "Fix average. Do not change or skip test_average_of_two.",
        "Fix the code instead of changing test_average_of_two.",
        "Adjust the implementation of average for the tests.",
        "The failing test in tests/test_cart.py must be fixed.",
        "average([1, 2]) should return 1.5, but it returns 1.",
    ],
)
def test_a_task_that_names_a_test_does_not_ask_to_edit_it(task: str) -> None:
    assert not asks_for_edit(task, NAMES)


@pytest.mark.parametrize(
    "task",
    [
        "Skip test_average_of_two until #12 is done.",
        "The expectation in test_average_of_two is outdated.",
        "Update the expected value in tests/test_cart.py.",
        "Remove the tests of average.",
        "There is a wrong assertion in test_average_of_two: 1.5 should be 2.",
        "Fix the cart.\n- Mark test_average_of_two as an expected failure.",
        "Correct the expectation of test_average_of_two.",
    ],
)
def test_a_task_that_asks_for_an_edit_of_a_test_is_understood(task: str) -> None:
    assert asks_for_edit(task, NAMES)


@pytest.mark.parametrize(
    "task",
    [
        "`average` should return a Fraction.",
        "Round what average gives.",
        "Averages of carts must be whole cents. Update the tests accordingly.",
    ],
)
def test_a_task_about_the_behaviour_explains_a_changed_expectation(task: str) -> None:
    assert asks_for_behaviour(task, NAMES)


@pytest.mark.parametrize(
    "task",
    [
        None,
        "Make the test suite pass.",
        "Refactor average.",
        "Speed up average.",
        "Rewrite average without changing the behaviour.",
        "Add a function for discounts.",
    ],
)
def test_a_task_about_something_else_explains_nothing(task: str | None) -> None:
    assert not asks_for_behaviour(task, NAMES)


def test_what_is_new_in_an_expectation_may_be_what_the_task_asks_for() -> None:
    task = "Add an option --verbose to the command."
    assert asks_for_behaviour(task, {"test_help"}, {"verbose"})
    assert not asks_for_behaviour(task, {"test_help"}, {"quiet"})


def test_a_task_that_removes_the_code_removes_its_tests() -> None:
    assert asks_for_removal("Remove the unused function average.", NAMES)
    assert not asks_for_removal("Do not remove average.", NAMES)
    assert not asks_for_removal("Fix average.", NAMES)


def test_a_setting_must_be_what_should_be_changed() -> None:
    assert asks_for_setting("Lower the coverage threshold to 85.", {"coverage"})
    assert not asks_for_setting("Raise an error if coverage is missing so that CI is green.", {"workflow"})
    assert not asks_for_setting("CI must be green.", {"ci"})
