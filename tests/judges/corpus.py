"""Owns access to the recorded exchanges and reference material in the shared folder beside the repository."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.judges import envelope

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini")

# Hosts that are the dialect's own provider. `NAME.recorded` means the recorder hid the host and kept the name.
REAL_HOSTS: dict[str, tuple[str, ...]] = {
    "openai-chat": ("api.openai.com",),
    "openai-responses": ("api.openai.com",),
    "openrouter": ("openrouter.ai",),
    "anthropic": ("api.anthropic.com", "anthropic.recorded"),
    "gemini": ("generativelanguage.googleapis.com", "gemini.recorded", "aiplatform.googleapis.com"),
}

_REPO = Path(__file__).resolve().parents[2]
_MODEL_IN_URL = re.compile(r"/models/([^/:?]+)(?::|\?|$)")


class Record(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One recorded exchange. Field meanings are those of the corpus README."""

    id: str
    dialect: str
    provider: str | None
    repo: str
    path: str
    index: int
    origin: str
    url: str | None
    status: int | None
    request_headers: dict[str, str] | None
    request: dict[str, Any] | None
    streaming: bool
    framing: str | None
    framing_rebuilt: bool
    response: Any
    stream: str | None
    has_tools: bool
    features: list[str]
    shape: str

    @property
    def ok(self) -> bool:
        """True unless the answer is known to be a fault."""
        return self.status in (None, 200) and "error" not in self.features

    @property
    def raw(self) -> bytes:
        """The stream as bytes, as it came over the wire."""
        return (self.stream or "").encode()

    @property
    def own_host(self) -> bool:
        """Answered by the dialect's own provider, not by a compatible server."""
        host = self.provider or ""
        return any(host == name or host.endswith("-" + name) for name in REAL_HOSTS.get(self.dialect, ()))

    @property
    def real(self) -> bool:
        """Answered with 200 by the dialect's own provider: what the judges are calibrated on."""
        return self.own_host and self.status == 200

    def header(self, name: str) -> str | None:
        return (self.request_headers or {}).get(name)


def shared() -> Path:
    """The shared folder: beside the repository, or where DRAGOMAN_SHARED says."""
    override = os.environ.get("DRAGOMAN_SHARED")
    return Path(override) if override else _REPO.parent / "shared"


def require_shared(part: str = "wire") -> Path:
    """The folder `part` of the shared material; without it skip the test, or fail it when CI=true."""
    folder = shared() / part
    if folder.is_dir():
        return folder
    reason = f"recorded material is absent: no folder {part!r} in the shared folder (set DRAGOMAN_SHARED to its place)"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@cache
def records(dialect: str) -> list[Record]:
    """Every record of one dialect, in file order. Decoded once per process: treat the values as read-only."""
    if dialect == envelope.NAME:
        return _wrapped()
    lines = (require_shared() / f"{dialect}.jsonl").read_bytes().splitlines()
    decoder = msgspec.json.Decoder(Record)
    return [decoder.decode(line) for line in lines if line]


# Of the Gemini records every third one is also a Code Assist record, in the envelope: reading and writing are Gemini's,
# and all of them would double the run.
_EVERY = 3


def _wrapped() -> list[Record]:
    out: list[Record] = []
    for number, item in enumerate(records("gemini")):
        if number % _EVERY:
            continue
        model = model_of(item) or "gemini-3-pro"
        changes: dict[str, Any] = {
            "id": item.id.replace("gemini-", f"{envelope.NAME}-"),
            "dialect": envelope.NAME,
            "response": envelope.wrap_answer(item.response, number),
        }
        if item.request is not None:
            changes["request"] = envelope.wrap_request(item.request, model, number)
        if item.stream is not None:
            changes["stream"] = envelope.wrap_stream(item.raw, number).decode()
        out.append(msgspec.structs.replace(item, **changes))
    return out


@cache
def _by_id() -> dict[str, Record]:
    return {record.id: record for dialect in DIALECTS for record in records(dialect)}


def record(record_id: str) -> Record:
    """The record with this id."""
    return _by_id()[record_id]


def streams(dialect: str) -> list[Record]:
    """Records whose answer is an SSE stream."""
    return [item for item in records(dialect) if item.stream is not None and item.framing == "sse"]


def model_of(item: Record) -> str | None:
    """The model asked for; for answers stored alone the model that answered."""
    if item.dialect == "gemini":
        found = _MODEL_IN_URL.search(item.url or "")
        if found:
            return found.group(1)
    elif item.request is not None and isinstance(item.request.get("model"), str):
        return str(item.request["model"])
    return _model_in_answer(item)


def _model_in_answer(item: Record) -> str | None:
    key = "modelVersion" if item.dialect in ("gemini", envelope.NAME) else "model"
    answer = item.response[0] if isinstance(item.response, list) and item.response else item.response
    if isinstance(answer, dict):
        answer = answer.get("response", answer) if item.dialect == envelope.NAME else answer
        value = answer.get(key)
        return value if isinstance(value, str) else None
    # In a stream the first mention is the answering model: message_start, response.created and chunks all carry it.
    found = re.search(rf'"{key}"\s*:\s*"([^"]+)"', item.stream or "")
    return found.group(1) if found else None
