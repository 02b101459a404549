"""Owns the law of no silent loss: what a translation drops, a loss names with its place.

A document is marked: every text, or one more field or item at each place, gets a unique marker. After the translation
each marker must be in the output, or a reported loss must name its place in the source. The documents come from
`tests/recorded`, `tests/property` and `tests/generated`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

import dragoman
from dragoman import Loss, Translation
from dragoman.canon import Request, Response
from dragoman.codec import packed_seals
from dragoman.context import Context
from dragoman.dialects import get
from tests.laws import marked_documents, marked_values
from tests.laws.marked_documents import Marked, word_set
from tests.recorded.recorded_bodies import CREATED, Case, context, written_again

Json = Any

WAYS: dict[str, Callable[[Json], Marked]] = {
    "texts": marked_documents.mark_texts,
    "unknown fields": marked_documents.add_fields,
    "unknown kinds": marked_documents.add_variants,
}
"""The ways to mark a document."""

NAMED_EVENTS = ("anthropic", "openai-responses")
"""Dialects whose events have a type."""


def document(case: Case, target: str, way: str) -> list[str]:
    """Return the leaves of a request or an answer that another dialect does not get, without a loss."""
    marked = WAYS[way](msgspec.json.decode(case.body))
    try:
        out = _translated(case, marked.body, target)
    except dragoman.FaultError:
        return []  # an answer with the status "failed" must not become a normal answer
    except dragoman.WireError as error:
        return [f"refused: {error}"]
    return [f"dropped without a loss: {place}" for place in silent(marked, out.body, out.losses)]


def within_dialect(case: Case, way: str) -> list[str]:
    """Return the leaves of a request or an answer that do not come back in its own dialect."""
    marked = WAYS[way](msgspec.json.decode(case.body))
    return [f"gone: {place}" for place in silent(marked, _rewritten(case, marked.body), ())]


def stream(case: Case, target: str) -> list[str]:
    """Return what a stream drops without a loss: unknown fields, or an event of an unknown kind. A stream repeats its
    fields in every event, so one loss is enough."""
    named = case.dialect in NAMED_EVENTS
    translator = dragoman.StreamTranslator(source=case.dialect, target=target, created=CREATED)
    translator.feed(_with_unknown_fields(case.body, named=named))
    translator.close()
    found = [] if any(loss.path.endswith("/x_field") for loss in translator.losses) else ["no loss for the field"]
    kinds = [loss.detail for loss in translator.losses if loss.code == "event.dropped"]
    if named and not any("x_unknown_kind" in kind for kind in kinds):
        found.append("no loss for the event")
    return found


def request(value: Request, dialect: str) -> list[str]:
    """Return the texts of a request in canon that a dialect does not write, without a loss."""
    value, places = marked_values.request(value)
    under = Context("elsewhere", dialect)
    body = get(dialect).write_request(value, under)
    return silent(Marked(body, places), body, under.losses.all())


def response(value: Response, dialect: str) -> list[str]:
    """Return the texts of an answer in canon that a dialect does not write, without a loss."""
    value, places = marked_values.response(value)
    under = Context("elsewhere", dialect, created=5)
    body = get(dialect).write_response(value, under)
    return silent(Marked(body, places), body, under.losses.all())


def _translated(case: Case, body: bytes, target: str) -> Translation:
    if case.kind == "request":
        model = case.model or "some-model"
        return dragoman.translate_request(body, source=case.dialect, target=target, model=model)
    return dragoman.translate_response(body, source=case.dialect, target=target, created=CREATED)


def _rewritten(case: Case, body: bytes) -> bytes:
    """Read the document and write it in the same dialect."""
    dialect, under = get(case.dialect), context(case.dialect, case.dialect)
    if case.kind == "request":
        return written_again(dialect, dialect.read_request(body, under), under)
    return dialect.write_response(dialect.read_response(body, under), under)


def _with_unknown_fields(raw: bytes, *, named: bool) -> bytes:
    """Add one field to every top-level object of a stream, and one event of an unknown kind after the first event."""
    lines = raw.replace(b"\r\n", b"\n").split(b"\n")
    changed = [line[:-1] + b',"x_field":"x"}' if line.startswith((b"data: {", b"{")) else line for line in lines]
    if named:
        event = b'event: x_unknown_kind\ndata: {"type":"x_unknown_kind","sequence_number":1}\n'
        changed.insert(changed.index(b"") + 1, event)
    return b"\n".join(changed)


# Losses about one aspect of an object only: they excuse the leaves named here, not all leaves below their place.
NARROW: dict[str, frozenset[str]] = {
    code: word_set(words)
    for code, words in {
        "order.approximated": "",
        "tool.custom.wrapped": "format grammar syntax",
        "call.custom.wrapped": "",
        "tool.renamed": "name",
        "tool.namespace.prefixed": "name namespace",
        "tool.deferred.expanded": "defer_loading",
        "tool.strict.dropped": "strict",
        "tool.strict.approximated": "strict",
        "tool.merged": "",
        "call.id.rewritten": "id call_id tool_call_id tool_use_id",
        "name.dropped": "name",
        "cache.dropped": "cache_control prompt_cache_breakpoint",
        "cache.approximated": "cache_control prompt_cache_breakpoint",
        "seal.dropped": "signature encrypted_content thoughtSignature thought_signature data extra_content"
        " tool_changes",
        "citation.dropped": "citations annotations groundingMetadata citationMetadata",
        "citation.approximated": "citations annotations groundingMetadata citationMetadata",
        "media.detail.dropped": "detail mediaResolution media_resolution",
        "media.reference": "",
        "media.moved": "",
        "result.error.as_text": "is_error",
        "result.structured.as_text": "",
        "result.moved": "",
        "result.media.moved": "",
        "refusal.as_text": "",
        "system.demoted": "",
        "choice.weakened": "",
        "arguments.invalid": "",
        "format.as_text": "",
        "stop.approximated": "",
        "tool.output_schema.dropped": "output_schema response responseJsonSchema response_json_schema",
        "format.detail.dropped": "name description strict",
        "schema.rewritten": "",
        "schema.ref.inlined": "",
        "result.orphaned": "",
        "turn.dropped": "",
        "fault.approximated": "",
    }.items()
}


# Losses about the whole document: they excuse only the values under these keys.
WHOLE: dict[str, frozenset[str]] = {
    "stop.approximated": word_set("stop_sequence stop_details finish_details finishMessage promptFeedback"),
}


def silent(marked: Marked, out: bytes, losses: Iterable[Loss]) -> list[str]:
    """Return the markers that are neither in the output nor under a reported loss, each with its place."""
    text = visible(out)
    reported = [(loss.code, path_of(loss.path)) for loss in losses if loss.effect != "invented"]
    # A loss of the whole document in an envelope is named by the envelope's key.
    reported += [(code, ()) for code, path in reported if path in (("request",), ("response",))]
    # The seal of a compaction is the whole block except its text.
    compactions = [path for code, path in reported if code == "seal.dropped" and _is_compaction(marked.body, path)]
    found: list[str] = []
    for mark, places in marked.places.items():
        # A text document may be sent as the base64 of its text.
        if mark in text or base64.b64encode(mark.encode()).decode() in text:
            continue
        for at in places:
            steps = tuple([str(step) for step in at])
            if any(steps[: len(path)] == path and steps[-1] != "content" for path in compactions):
                continue
            if not any(excuses(code, path, steps) for code, path in reported):
                found.append("/" + "/".join(steps))
    return found


def _is_compaction(document: bytes, path: tuple[str, ...]) -> bool:
    value = msgspec.json.decode(document)
    for step in path:
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return isinstance(value, dict) and value.get("type") == "compaction"


def excuses(code: str, path: tuple[str, ...], leaf: tuple[str, ...]) -> bool:
    if code == "answer.dropped":  # the second, third ... answer
        leaf = leaf[1:] if leaf[0] == "response" else leaf
        return leaf[0] in ("choices", "candidates") and leaf[1] != "0"
    if code == "id.dropped" and leaf == ("traceId",):  # the id of the answer, outside the document that is read
        return True
    if not path:
        return not WHOLE.get(code, frozenset()).isdisjoint(leaf)
    if leaf[: len(path)] != path or path in (("request",), ("response",)):
        return False
    if code == "seal.dropped" and "reasoning_details" in path:  # OpenRouter: the seal is the whole detail
        return leaf[-1] not in ("text", "summary")
    return leaf == path or code not in NARROW or not NARROW[code].isdisjoint(leaf[len(path) :])


def path_of(pointer: str) -> tuple[str, ...]:
    return tuple([step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]])


_PACKED = re.compile(packed_seals.MARK + r"[A-Za-z0-9+/]*=*")


def visible(out: bytes) -> str:
    """Return the output and its packed content: a seal of another origin is sent as base64."""
    text = out.decode()
    packed = [packed_seals.unpack(slot) for slot in _PACKED.findall(text)]
    return text + " ".join([seal.data for seal in packed if seal is not None])
