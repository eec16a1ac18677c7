"""What other tools wrote down of a session, and the handoff that is made of it without a model."""

from segue.domain.transcripts.prompting import first_prompt
from segue.domain.transcripts.recording import Recorder
from segue.domain.transcripts.summary import is_empty, summarise
from segue.domain.transcripts.values import (
    AssistantText,
    Branch,
    Change,
    Entry,
    Failure,
    FileChange,
    FoundSession,
    PlanItem,
    Summary,
    ToolCall,
    ToolKind,
    Transcript,
    UserMessage,
)

__all__ = [
    "AssistantText",
    "Branch",
    "Change",
    "Entry",
    "Failure",
    "FileChange",
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
