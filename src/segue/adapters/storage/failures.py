"""What drivers say when a database cannot be reached, in one clear sentence."""

from __future__ import annotations

import sqlite3

from segue.adapters.storage.address import Address


def explain(address: Address, error: Exception) -> str:
    """Why a database cannot be used now."""
    return f"cannot use the database {address.shown}: {_cause(error)}"


def explain_opening(address: Address, error: Exception) -> str:
    """Why a database could not be opened, and what to do."""
    what_to_do = "Check it"
    if address.is_postgres:
        what_to_do = "Check that the server runs and lets you in"
    elif isinstance(error, sqlite3.OperationalError):
        what_to_do = "Check that its folder exists and can be written"
    cause = f"cannot open the database {address.shown}: {_cause(error)}"
    return f"{cause}. {what_to_do}, or set SEGUE_DATABASE_URL"


def _cause(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip().rstrip(".") if lines else type(error).__name__
