"""Everything that Segue raises on purpose. Each message tells what, which, and what to do."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from difflib import get_close_matches

from segue.domain.trust import ProjectContent, one_line

_MOST_NAMES = 10


class SegueError(Exception):
    """Base of all errors that a user may see; its text is one clear sentence."""

    hints: tuple[str, ...] = ()
    """What to do about it: commands that work if pasted, or what they are about."""


class UnknownName(SegueError):
    """A template, agent or back end was named that does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str | None = None) -> None:
        self.kind, self.name, self.known = kind, name, sorted(known)
        place = f" in {where}" if where else ""
        super().__init__(f'no {kind} "{name}"{place}. {describe_known(name, self.known)}')


class PipelineNotFound(SegueError):
    """No pipeline has this id."""

    def __init__(self, pipeline_id: int) -> None:
        self.pipeline_id = pipeline_id
        super().__init__(f"no pipeline {pipeline_id}; `segue pipelines list` shows those that exist")


class StepNotFound(SegueError):
    """The pipeline has no step with this number."""

    def __init__(self, pipeline_id: int, number: int, count: int) -> None:
        super().__init__(f"pipeline {pipeline_id} has no step {number}; its steps are 1 to {count}")


class ApprovalNotFound(SegueError):
    """No approval has this id."""

    def __init__(self, approval_id: int) -> None:
        super().__init__(f"no approval {approval_id}; `segue inbox` shows those that wait")


class SessionNotFound(SegueError):
    """No session outside of a pipeline has this id."""

    def __init__(self, session_id: int) -> None:
        super().__init__(f"no session {session_id}; `segue session list` shows those that exist")


class InvalidRequest(SegueError):
    """The caller asked for something that cannot be meant."""


class ToolsClosed(SegueError):
    """A token opens no tools, or no longer."""


class TokenRefused(SegueError):
    """No token was shown, or one that does not work."""


class Forbidden(SegueError):
    """The token works, but does not allow this."""


class IllegalMove(SegueError):
    """The pipeline or step is not in a state that allows this move."""


class CannotMerge(IllegalMove):
    """The work of a run is not merged as it is."""

    def __init__(self, sentence: str, *hints: str) -> None:
        super().__init__(sentence)
        self.hints = hints


class NothingToHandOff(IllegalMove):
    """The session holds too little to hand over."""


class CatalogError(SegueError):
    """A catalog file is wrong; the message names file, line and key."""


class UnsafeProject(CatalogError):
    """Another user could change what a project's `.segue/` runs, or it leads out of the project."""


class NotTrusted(CatalogError):
    """A project's `.segue/` was never trusted, or has changed since."""

    def __init__(
        self, content: ProjectContent, changed: tuple[str, ...] | None, *, branch: str | None = None
    ) -> None:
        self.content, self.changed = content, changed
        """`changed` is none if the folder was never trusted."""
        folder = one_line(content.folder)
        names = _enumerate(content.files if changed is None else changed)
        hint = f"read it, then run `segue trust {shlex.quote(folder)}`"
        if changed is None:
            super().__init__(f"{folder} is not trusted, and its .segue/ can run programs ({names}): {hint}")
        elif branch is not None:
            super().__init__(
                f"the branch {branch} has other scripts than those that you trusted in {folder} ({names}): "
                f"commit those that you trusted, or check the branch out in {folder} and {hint}"
            )
        else:
            super().__init__(f"{folder} has changed since it was trusted ({names}): {hint}")


class SettingsError(SegueError):
    """A setting is wrong; the message names it and where it came from."""


class CredentialError(SettingsError):
    """The file of the local credential cannot be used; the message names it and says what to do."""


class StorageError(SegueError):
    """The database cannot be opened or used."""


class AlreadyThere(SegueError):
    """A record that must be the only one of its kind is there already."""


class RepositoryError(SegueError):
    """A git repository cannot be read; the message names it and says why."""

    def __init__(self, sentence: str, *, hints: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.hints = hints


class TooLarge(RepositoryError):
    """The commits of a step are too large to be kept where other machines can get them."""


class LeaseLost(SegueError):
    """Another worker has taken this pipeline over; whoever sees this must stop at once."""

    def __init__(self, pipeline_id: int) -> None:
        self.pipeline_id = pipeline_id
        super().__init__(f"pipeline {pipeline_id} was taken over by another worker")


class BackendError(SegueError):
    """A back end could not do what was asked. Subclasses say whose fault it is."""


class BackendUnavailable(BackendError):
    """The back end cannot be reached, started or configured."""


class AgentFailed(BackendError):
    """The agent itself ended badly: an error from its model, a non-zero exit, no reply."""


class TurnStopped(AgentFailed):
    """Somebody stopped the agent before it had answered."""


class SessionLost(BackendError):
    """The agent session that was waited for is no longer there."""


def describe_known(name: str, known: Iterable[str]) -> str:
    """`Known: a, b. Did you mean "b"?`, for the end of an error message."""
    names = sorted(known)
    if not names:
        return "None are defined."
    text = f"Known: {', '.join(names)}."
    close = get_close_matches(name, names, n=1)
    return f'{text} Did you mean "{close[0]}"?' if close else text


def _enumerate(names: Iterable[str]) -> str:
    """File names for a sentence: printable, and not too many."""
    shown = [one_line(name) for name in sorted(names)]
    more = len(shown) - _MOST_NAMES
    return ", ".join(shown[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
