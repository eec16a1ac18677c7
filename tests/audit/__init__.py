"""The audit trail: its chains, and that no alteration goes unnoticed."""
