"""What other tools wrote down of a session, and the handoff that is made of it without a model."""

from segue.domain.transcripts.model import (
    AssistantText,
    Branch,
    Entry,
    Failure,
    FileChange,
    FileChangeKind,
    FoundSession,
    PlanItem,
    Summary,
    ToolCall,
    ToolKind,
    Transcript,
    UserMessage,
)
from segue.domain.transcripts.prompting import first_prompt
from segue.domain.transcripts.recording import Recorder
from segue.domain.transcripts.summary import is_empty, summarise

__all__ = [
    "AssistantText",
    "Branch",
    "Entry",
    "Failure",
    "FileChange",
    "FileChangeKind",
    "FoundSession",
    "PlanItem",
    "Recorder",
    "Summary",
    "ToolCall",
    "ToolKind",
    "Transcript",
    "UserMessage",
    "first_prompt",
    "is_empty",
    "summarise",
]
