"""dragoman: translates LLM tool calling between wire protocols, and reports everything that could not cross."""

from .canon.losses import Loss
from .canon.parts import Media, Text, ToolCall, ToolResult
from .detect import detect
from .errors import ConfigError, DragomanError, FaultError, LossError, WireError
from .tooling import tool_calls, tool_results
from .translate import (
    FaultTranslation,
    StreamTranslator,
    Translation,
    translate_fault,
    translate_request,
    translate_response,
    translate_tools,
)

__version__ = "0.1.0"

__all__ = [
    "ConfigError",
    "DragomanError",
    "FaultError",
    "FaultTranslation",
    "Loss",
    "LossError",
    "Media",
    "StreamTranslator",
    "Text",
    "ToolCall",
    "ToolResult",
    "Translation",
    "WireError",
    "__version__",
    "detect",
    "tool_calls",
    "tool_results",
    "translate_fault",
    "translate_request",
    "translate_response",
    "translate_tools",
]
