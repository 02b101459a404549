"""Translations that someone tries on the page: one document in one dialect or in all, with findings, losses and the
places that belong together."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from ...codec import json_text
from ...context import Context
from ...dialects import get, installed
from ...errors import DragomanError
from ...lint import lint
from ...translate import StreamTranslator, translate_request, translate_response, translate_tools
from ...translate.detect import detect
from ..exchange.corresponding_frames import AnswerSide, join_answers
from ..exchange.corresponding_parts import join_documents, read_document
from ..exchange.recorded_exchange_report import explain_loss
from .page_files_and_facts import Answer

MAX_TRIED = 4 * 1024 * 1024
"""Bytes of a payload to translate. The page is for short tests. `dragoman translate` has no limit."""
NESTED = "the JSON is nested too deeply"
_JSON = [("content-type", "application/json")]
_ANSWER = frozenset({"choices", "candidates", "response", "stop_reason", "output", "done", "message"})
"""Fields of answers that no request has."""

Kind = Literal["request", "response", "stream", "tools"]


class _PageTranslation(Struct):
    """A translation that the page requests. Without a target: into all dialects. Without a kind: found by the bytes."""

    body: str
    target: str = ""
    source: str = ""
    kind: Kind | Literal[""] = ""
    model: str = ""
    stream: bool | None = None
    """Set to ask for a stream, or for a whole answer, in the translated request."""


_tried = msgspec.json.Decoder(_PageTranslation).decode


def translate(body: bytes) -> Answer:
    """A payload in another dialect or in all, with its losses."""
    if len(body) > MAX_TRIED:
        return _refusal(
            413, f"the page translates at most {MAX_TRIED} bytes; the command `dragoman translate` has no limit"
        )
    try:
        tried = _tried(body)
        source, reasons = (tried.source, ()) if tried.source else detect(tried.body)
        if not source:
            return _refusal(400, "no dialect fits this document. Choose its dialect by hand.")
        kind = tried.kind or kind_of(tried.body)
        if tried.target:
            found = _translate_into_one(tried, kind, source, tried.target)
            return 200, _JSON, json_text.encode({"source": source, "reasons": reasons, "kind": kind, **found})
        return 200, _JSON, json_text.encode(_translate_into_all(tried, kind, source, reasons))
    except (msgspec.DecodeError, DragomanError) as error:
        return _refusal(400, str(error))
    except RecursionError:
        return _refusal(400, NESTED)


def kind_of(body: str) -> Kind:
    """The kind of a document, by its first characters and fields."""
    start = body.lstrip()
    if start.startswith(("data:", "event:", ":")) or (start.startswith("{") and "}\n{" in start):
        return "stream"
    try:
        document = msgspec.json.decode(start)
    except (msgspec.DecodeError, RecursionError):
        return "request"
    if isinstance(document, list):
        return "tools"
    return "response" if isinstance(document, dict) and _ANSWER & document.keys() else "request"


def _translate_into_all(tried: _PageTranslation, kind: Kind, source: str, reasons: tuple[str, ...]) -> dict[str, Any]:
    """The document in every dialect. A target that refuses the document has a text instead."""
    if kind == "request":  # a document that its own dialect cannot read fails once, not seven times
        get(source).read_request(tried.body.encode(), Context(source, source))
    targets: dict[str, Any] = {}
    for target in installed():
        try:
            targets[target] = _translate_into_one(tried, kind, source, target)
        except DragomanError as error:
            targets[target] = {"error": str(error)}
    return {
        "source": source,
        "reasons": reasons,
        "kind": kind,
        "findings": _findings(tried.body, source, kind, tried.model),
        "targets": targets,
    }


def _translate_into_one(tried: _PageTranslation, kind: Kind, source: str, target: str) -> dict[str, Any]:
    model = tried.model or None
    if kind == "stream":
        stream = StreamTranslator(source=source, target=target)
        written = stream.feed(tried.body.encode()) + stream.close()
        sides = AnswerSide(source, tried.body.encode(), True), AnswerSide(target, written, True)
        return {
            "body": written.decode("utf-8", "replace"),
            "losses": [explain_loss(loss) for loss in stream.losses],
            "joined": join_answers(*sides),
        }
    if kind == "request":
        done = translate_request(tried.body, source=source, target=target, model=model)
    elif kind == "response":
        done = translate_response(tried.body, source=source, target=target)
    else:
        done = translate_tools(tried.body, source=source, target=target, model=model)
    body = done.body
    paths = get(target).upstream_paths
    # With two paths the path decides about a stream, and the body has no field for that.
    if tried.stream is not None and kind == "request" and paths.path == paths.stream_path:
        body = json_text.encode(get(target).endpoints().stream.asking(json_text.decode(body), tried.stream))
    shown = msgspec.json.format(body, indent=2).decode("utf-8", "replace")
    return {
        "body": shown,
        "losses": [explain_loss(loss) for loss in done.losses],
        "joined": _corresponding_parts(tried.body.encode(), source, done.body, target, kind),
    }


def _corresponding_parts(body: bytes, source: str, written: bytes, target: str, kind: Kind) -> list[dict[str, Any]]:
    if kind != "request" and kind != "response":
        return []
    return join_documents(read_document(source, body, kind), read_document(target, written, kind))


def _findings(body: str, dialect: str, kind: Kind, model: str) -> list[Any]:
    try:
        return list(lint(body, dialect=dialect, kind=kind, model=model or None))
    except DragomanError as error:
        return [{"rule": "", "severity": "error", "path": "", "message": str(error), "fix": ""}]


def _refusal(status: int, why: str) -> Answer:
    return status, _JSON, json_text.encode({"error": {"message": why}})
