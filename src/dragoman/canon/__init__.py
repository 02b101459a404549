"""Owns the neutral values. Each dialect is read into these values and written from them.

The package knows no provider, no field name of a wire and no bytes.
"""

from .events import Event, Fault, FaultKind, Finish, PartDelta, PartEnd, PartStart, Start
from .losses import Effect, Loss, Losses, Severity
from .parts import (
    Citation,
    Extra,
    HostedCall,
    HostedResult,
    IncompleteCall,
    Media,
    MediaKind,
    Opaque,
    Part,
    Path,
    Reasoning,
    Seal,
    Text,
    ToolCall,
    ToolResult,
    pointer,
)
from .request import Format, Request, Settings
from .response import Alternative, Response, Stop, StopReason, Usage
from .tools import Choice, Grammar, HostedTool, Tool
from .turns import Role, Turn

__all__ = [
    "Alternative",
    "Choice",
    "Citation",
    "Effect",
    "Event",
    "Extra",
    "Fault",
    "FaultKind",
    "Finish",
    "Format",
    "Grammar",
    "HostedCall",
    "HostedResult",
    "HostedTool",
    "IncompleteCall",
    "Loss",
    "Losses",
    "Media",
    "MediaKind",
    "Opaque",
    "Part",
    "PartDelta",
    "PartEnd",
    "PartStart",
    "Path",
    "Reasoning",
    "Request",
    "Response",
    "Role",
    "Seal",
    "Settings",
    "Severity",
    "Start",
    "Stop",
    "StopReason",
    "Text",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Turn",
    "Usage",
    "pointer",
]
