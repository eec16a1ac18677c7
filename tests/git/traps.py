"""A hostile repository: it names a program on every occasion, and each that runs leaves its name behind."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.git.repositories import git, write

SETTINGS = """
[core]
	fsmonitor = BIN/fsmonitor
	hooksPath = BIN/hooks
	pager = BIN/pager
	editor = BIN/editor
	sshCommand = BIN/ssh
	gitProxy = BIN/proxy
	askPass = BIN/askpass
	alternateRefsCommand = BIN/alternates
[alias]
	status = !BIN/alias-status
	add = !BIN/alias-add
	update-index = !BIN/alias-update-index
	lazy = !BIN/alias
[branch "main"]
	mergeOptions = --squash
[commit]
	gpgSign = true
[credential]
	helper = !BIN/credential
[diff]
	external = BIN/external-diff
	ignoreSubmodules = none
	noprefix = true
	submodule = log
[diff "x"]
	command = BIN/diff-command
	textconv = BIN/textconv
[filter "x"]
	clean = BIN/clean
	smudge = BIN/smudge
	required = true
[filter "y.z=1"]
	process = BIN/process
[gpg]
	program = BIN/gpg
[gpg "ssh"]
	program = BIN/gpg-ssh
[hook "x"]
	command = BIN/configured-hook
	event = post-checkout
	event = post-index-change
	event = reference-transaction
[interactive]
	diffFilter = BIN/diff-filter
[log]
	showSignature = true
[merge]
	default = x
	verifySignatures = true
[merge "x"]
	driver = BIN/merge-driver %O %A %B
[pager]
	diff = BIN/pager-diff
	log = BIN/pager-log
[protocol]
	allow = always
[remote "origin"]
	url = ext::BIN/transport
	uploadpack = BIN/uploadpack
	promisor = true
[sequence]
	editor = BIN/sequence-editor
[status]
	submoduleSummary = true
[submodule]
	recurse = true
[submodule "module"]
	active = true
	ignore = none
	url = ext::BIN/submodule-transport
	update = !BIN/submodule-update
[trailer "x"]
	command = BIN/trailer
[uploadpack]
	packObjectsHook = BIN/pack-objects
[color]
	ui = always
"""
"""A setting for every occasion on which git runs a program that its configuration names."""
ATTRIBUTES = "*.md filter=x diff=x\n*.rst filter=y.z=1\n* diff=x\n"
HOOKS = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-merge-commit",
    "post-merge",
    "post-checkout",
    "post-rewrite",
    "post-index-change",
    "reference-transaction",
    "pre-auto-gc",
    "fsmonitor-watchman",
]


@dataclass(frozen=True)
class Traps:
    """Programs that must not run, and the file in which they leave their names."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def settings(self) -> str:
        return SETTINGS.replace("BIN", str(self.bin))

    def sprung(self) -> list[str]:
        """The names of those that ran, and forget them."""
        marker = self.folder / "ran"
        names = sorted(set(marker.read_text().split())) if marker.exists() else []
        marker.unlink(missing_ok=True)
        return names

    def set_in(self, git_dir: Path) -> None:
        """Set all of them in a `.git` folder."""
        with (git_dir / "config").open("a") as file:
            file.write(self.settings)
        self.set_hooks(git_dir)

    def set_hooks(self, git_dir: Path) -> None:
        shutil.copytree(self.bin / "hooks", git_dir / "hooks", symlinks=True, dirs_exist_ok=True)
        write(git_dir, {"info/attributes": ATTRIBUTES})


def make_traps(folder: Path) -> Traps:
    """The programs, each a link to one that writes down the name by which it was called."""
    traps = Traps(folder)
    (traps.bin / "hooks").mkdir(parents=True)
    program = folder / "program"
    # What git talks to gets its words back; not a transport, which would have git wait for ever.
    answer = "case $0 in *transport) ;; *) cat 2>/dev/null;; esac"
    program.write_text(f"#!/bin/sh\necho \"${{0##*/}}\" >> '{folder}/ran'\n{answer}\nexit 0\n")
    program.chmod(0o755)
    named = {word.split("/")[1] for word in SETTINGS.split() if word.lstrip("!:ext").startswith("BIN/")}
    for name in named - {"hooks"}:
        (traps.bin / name).symlink_to(program)
    for hook in HOOKS:
        (traps.bin / "hooks" / hook).symlink_to(program)
    return traps


def hostile_nested_repository(folder: Path, traps: Traps) -> None:
    """A repository inside another, with a commit, a change that nobody committed, and all traps set."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    write(folder, {"x.md": "x\n"})
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    traps.set_in(folder / ".git")
    write(folder, {"x.md": "X\n"})
