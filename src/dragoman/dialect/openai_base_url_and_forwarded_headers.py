"""The base URL and the header rules that OpenAI's two dialects share."""

from __future__ import annotations

from .endpoints_record import HeaderRules

BASE_URL = "https://api.openai.com/v1"
HEADERS = HeaderRules(
    family="openai",
    names=("x-client-request-id", "idempotency-key", "originator", "session_id", "session-id", "conversation_id"),
    begins=("openai-", "x-openai-", "x-codex-", "chatgpt-"),
    lost={"openai-beta": "warning", "openai-organization": "info", "openai-project": "info"},
    answered=("x-models-etag",),
    answered_begins=("openai-", "x-codex-"),
    ids=("apim-request-id",),
)
