"""Owns access to the exchanges that tests use: the corpus of the repository and, where they exist, the recordings.

The recordings and the reference material are in the shared folder beside the repository. They are not part of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.corpus.corpus_files import DATA, OWN
from tests.oracles import code_assist

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini")

# Hosts of the dialect's own provider. `NAME.recorded` means that the recorder hid the host and kept the name.
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
    """One recorded exchange. The corpus README explains the fields."""

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
        """Answered with 200 by the dialect's own provider. The judges are calibrated on these records."""
        return self.own_host and self.status == 200

    def header(self, name: str) -> str | None:
        return (self.request_headers or {}).get(name)


REQUIRED = "required"
"""The value of DRAGOMAN_SHARED that turns absent material from a skipped test into a failed one."""


def shared() -> Path:
    """The shared folder: beside the repository, or the folder that DRAGOMAN_SHARED names."""
    override = os.environ.get("DRAGOMAN_SHARED")
    return Path(override) if override and override != REQUIRED else _REPO.parent / "shared"


def has_recordings() -> bool:
    """True when the recordings exist. Where they are required and absent, the test fails."""
    folder = shared() / "wire"
    if os.environ.get("DRAGOMAN_SHARED") == REQUIRED:
        return require_shared() == folder
    return folder.is_dir()


def require_shared(part: str = "wire") -> Path:
    """The folder `part` of the shared material. Without it the test is skipped; with DRAGOMAN_SHARED=required it
    fails."""
    folder = shared() / part
    if folder.is_dir():
        return folder
    reason = f"recorded material is absent: no folder {part!r} in the shared folder (set DRAGOMAN_SHARED to its place)"
    if os.environ.get("DRAGOMAN_SHARED") == REQUIRED:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@cache
def records(dialect: str) -> list[Record]:
    """Every exchange of one dialect: the corpus, then the recordings where they exist. Treat the values as
    read-only."""
    return own(dialect) + (recorded(dialect) if has_recordings() else [])


@cache
def own(dialect: str) -> list[Record]:
    """The synthetic exchanges of the repository, in file order."""
    return _wrapped(own("gemini")) if dialect == code_assist.NAME else _decoded(DATA / f"{dialect}.jsonl")


@cache
def recorded(dialect: str) -> list[Record]:
    """The recorded exchanges, in file order. Without them the test is skipped."""
    folder = require_shared()
    return _wrapped(recorded("gemini")) if dialect == code_assist.NAME else _decoded(folder / f"{dialect}.jsonl")


def _decoded(path: Path) -> list[Record]:
    decoder = msgspec.json.Decoder(Record)
    return [decoder.decode(line) for line in path.read_bytes().splitlines() if line]


# Every third Gemini record is also a Code Assist record, in the envelope. Reading and writing are Gemini's, and all
# records would double the run.
_EVERY = 3


def wrapped_ones() -> list[Record]:
    """The Gemini records that are also Code Assist records."""
    return own("gemini")[::_EVERY] + (recorded("gemini")[::_EVERY] if has_recordings() else [])


def _wrapped(items: list[Record]) -> list[Record]:
    out: list[Record] = []
    for number in range(0, len(items), _EVERY):
        item = items[number]
        model = model_of(item) or "gemini-3-pro"
        changes: dict[str, Any] = {
            "id": item.id.replace("gemini-", f"{code_assist.NAME}-"),
            "dialect": code_assist.NAME,
            "response": code_assist.wrap_answer(item.response, number),
        }
        if item.request is not None:
            changes["request"] = code_assist.wrap_request(item.request, model, number)
        if item.stream is not None:
            changes["stream"] = code_assist.wrap_stream(item.raw, number).decode()
        out.append(msgspec.structs.replace(item, **changes))
    return out


@cache
def _by_id() -> dict[str, Record]:
    return {record.id: record for dialect in DIALECTS for record in records(dialect)}


def record(record_id: str) -> Record:
    """The record with this id; without the recordings the synthetic record of the same shape."""
    found = _by_id()
    return found.get(record_id) or found[record_id + OWN]


def base_id(record_id: str) -> str:
    """The id of the recording that gave a synthetic exchange its shape; else the id itself."""
    return record_id.removesuffix(OWN)


def least(recorded: int, own: int) -> int:
    """Return the minimum number of records that a test must use: with the recordings, or with only the corpus."""
    return recorded if has_recordings() else own


def surprises(found: Iterable[str], listed: Iterable[str]) -> list[str]:
    """Return unexpected ids: found but not listed, or listed recordings that were not found. Both kinds fail a test.

    A synthetic exchange may be found where the recording of the same shape is listed. It need not be found, because its
    texts differ.
    """
    known, seen = set(listed), set(found)
    missed = known - seen if has_recordings() else set[str]()
    return sorted(name for name in seen if base_id(name) not in known) + [
        f"{name} no longer" for name in sorted(missed)
    ]


def streams(dialect: str) -> list[Record]:
    """Records whose answer is an SSE stream."""
    return [item for item in records(dialect) if item.stream is not None and item.framing == "sse"]


def model_of(item: Record) -> str | None:
    """The requested model; for an answer without its request the model that answered."""
    if item.dialect == "gemini":
        found = _MODEL_IN_URL.search(item.url or "")
        if found:
            return found.group(1)
    elif item.request is not None and isinstance(item.request.get("model"), str):
        return str(item.request["model"])
    return _model_in_answer(item)


def _model_in_answer(item: Record) -> str | None:
    key = "modelVersion" if item.dialect in ("gemini", code_assist.NAME) else "model"
    answer = item.response[0] if isinstance(item.response, list) and item.response else item.response
    if isinstance(answer, dict):
        answer = answer.get("response", answer) if item.dialect == code_assist.NAME else answer
        value = answer.get(key)
        return value if isinstance(value, str) else None
    # In a stream the first mention is the answering model: message_start, response.created and chunks all have it.
    found = re.search(rf'"{key}"\s*:\s*"([^"]+)"', item.stream or "")
    return found.group(1) if found else None
