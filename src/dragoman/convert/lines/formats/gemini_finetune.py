"""The fine-tuning sets for Gemini on Vertex AI: one conversation on each line, in the form of generateContent.

A line has `contents`, and may have `systemInstruction` and `tools`. Function calls are described at
https://cloud.google.com/vertex-ai/generative-ai/docs/models/tune-function-calling (2026-11-18).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..file_format_record import Columns
from ._training import training_dialect, training_format

NAME = "gemini-finetune"
_MEMBERS = frozenset({"systemInstruction", "contents", "tools"})
_READ = _MEMBERS | {"system_instruction"}


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these."""
    contents = document.get("contents")
    if not isinstance(contents, list) or not contents or not document.keys() <= _READ:
        return ""
    last = contents[-1]
    ends = isinstance(last, dict) and last.get("role") == "model"
    return "contents that end with the model's, and no settings" if ends else ""


_CALL: Columns = {"id": "text", "name": "text", "args": "json"}
_RESULT: Columns = {"id": "text", "name": "text", "response": "json"}
_PART: Columns = {
    "text": "text",
    "thought": "bool",
    "thoughtSignature": "text",
    "functionCall": _CALL,
    "functionResponse": _RESULT,
    "inlineData": {"mimeType": "text", "data": "text"},
    "fileData": {"mimeType": "text", "fileUri": "text"},
}
_CONTENT: Columns = {"role": "text", "parts": [_PART]}
_COLUMNS: Columns = {
    "systemInstruction": {"role": "text", "parts": [{"text": "text"}]},
    "contents": [_CONTENT],
    "tools": "json",
}

_DIALECT = training_dialect("gemini", NAME, _MEMBERS)

FORMAT = training_format(
    NAME,
    "Gemini fine-tuning set (Vertex AI)",
    "https://cloud.google.com/vertex-ai/generative-ai/docs/models/gemini-supervised-tuning-prepare",
    "2026-11-18",
    _DIALECT,
    evidence,
    _COLUMNS,
)
