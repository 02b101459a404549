"""The batch files of OpenAI for requests to Responses. The lines are read as those of `openai-batch` are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..file_format_record import FileFormat
from .openai_batch import RESPONSES, line_writer, read


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these."""
    if "custom_id" in document and isinstance(document.get("body"), dict) and document.get("url") == "/v1/responses":
        return "custom_id, body and the address /v1/responses"
    return ""


FORMAT = FileFormat(
    "openai-responses-batch",
    "OpenAI batch, for Responses",
    "https://platform.openai.com/docs/guides/batch",
    "2026-11-18",
    RESPONSES,
    read,
    line_writer("/v1/responses"),
    evidence,
    named=True,
)
