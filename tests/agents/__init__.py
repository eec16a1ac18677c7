"""Real agent programs; the cases that they share explain a failure as tests do."""

import pytest

pytest.register_assert_rewrite("tests.agents.native_cases")
