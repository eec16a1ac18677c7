"""Installs agent programs, in pinned versions, into Segue's own folder."""

from __future__ import annotations

from segue.adapters.installs.installer import Installed, Installer
from segue.adapters.installs.pins import known_programs, pinned_program, this_platform

__all__ = ["Installed", "Installer", "known_programs", "pinned_program", "this_platform"]
