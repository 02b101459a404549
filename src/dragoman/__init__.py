"""dragoman: translates LLM tool calling between wire protocols, and reports every meaning that could not be
translated."""

from .canon.losses import Loss
from .canon.parts import Media, Text, ToolCall, ToolResult
from .canon.repair_codes import Repair
from .complete import acomplete, complete
from .context import Resolver
from .errors import (
    ArgumentsError,
    ConfigError,
    DragomanError,
    FaultError,
    LossError,
    RepairError,
    TransportError,
    WireError,
)
from .lint import lint, lint_conversation
from .repair import Repaired, repair
from .rules.rule import Finding
from .seals.vault import MemoryVault, Vault
from .translate import (
    FaultTranslation,
    StreamTranslator,
    Translation,
    translate_fault,
    translate_request,
    translate_response,
    translate_tools,
)
from .translate.detect import detect
from .translate.tool_calls import tool_calls, tool_results

__version__ = "0.1.0"

__all__ = [
    "ArgumentsError",
    "ConfigError",
    "DragomanError",
    "FaultError",
    "FaultTranslation",
    "Finding",
    "Loss",
    "LossError",
    "Media",
    "MemoryVault",
    "Repair",
    "RepairError",
    "Repaired",
    "Resolver",
    "StreamTranslator",
    "Text",
    "ToolCall",
    "ToolResult",
    "Translation",
    "TransportError",
    "Vault",
    "WireError",
    "__version__",
    "acomplete",
    "complete",
    "detect",
    "lint",
    "lint_conversation",
    "repair",
    "tool_calls",
    "tool_results",
    "translate_fault",
    "translate_request",
    "translate_response",
    "translate_tools",
]
