"""Check commands: run with limits, with a report of their tests where a known runner can write one."""

from segue.adapters.checks.running import MOST_OUTPUT, SECONDS, run_check, run_check_alongside

__all__ = ["MOST_OUTPUT", "SECONDS", "run_check", "run_check_alongside"]
