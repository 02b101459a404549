"""Owns the outcome of a translation: body, headers, renamed tools, repairs, and the code, effect, severity and path of
each loss. The wording of losses and errors is not part of the outcome.

Only the public functions of the library are used, so that the outcomes of two commits can be compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec

from tests.manifest import library_names
from tests.manifest.documents import MODELS, Document, Kind, Origin, cuts, documents, variants

CREATED = 1_700_000_000
STRATEGIES = ("auto", "native", "id", "vault", "skip")
Outcome = dict[str, Any]
Named = tuple[str, str, Callable[[], Outcome]]
"""A variant, the id of a document, and its outcome."""


def outcomes(origin: Origin, source: str, target: str, kind: Kind) -> Iterator[Named]:
    """The outcomes of all documents of one kind between two dialects. The order matters: see `variants`."""
    return _OF_KIND[kind](documents(origin, source, kind), source, target)


def _requests(found: tuple[Document, ...], source: str, target: str) -> Iterator[Named]:
    for document in found:
        library_names.forget()
        for variant, body in variants(document).items():
            yield variant, document.id, _request(body, source, target)


def _request(body: bytes, source: str, target: str) -> Callable[[], Outcome]:
    return lambda: _settled(
        lambda: library_names.translate_request(
            body, source=source, target=target, model=MODELS[target], repair="report"
        )
    )


def _answers(found: tuple[Document, ...], source: str, target: str) -> Iterator[Named]:
    for document in found:
        for strategy in STRATEGIES:
            yield strategy, document.id, _answer(document.body, source, target, strategy)


def _answer(body: bytes, source: str, target: str, strategy: Any) -> Callable[[], Outcome]:
    def outcome() -> Outcome:
        vault = library_names.MemoryVault()
        given: dict[str, Any] = {"answers": _request_of_client(target, source), "created": CREATED, "seals": strategy}
        made = _settled(
            lambda: library_names.translate_response(body, source=source, target=target, vault=vault, **given)
        )
        return {**made, "kept": len(vault)}

    return outcome


def _streams(found: tuple[Document, ...], source: str, target: str) -> Iterator[Named]:
    for document in found:
        for name, pieces in cuts(document).items():
            yield name, document.id, _stream(pieces, source, target, "auto")
        yield "skip", document.id, _stream([document.body], source, target, "skip")


def _stream(pieces: list[bytes], source: str, target: str, strategy: Any) -> Callable[[], Outcome]:
    def outcome() -> Outcome:
        vault = library_names.MemoryVault()
        given: dict[str, Any] = {"answers": _request_of_client(target, source), "created": CREATED, "seals": strategy}
        try:
            stream = library_names.StreamTranslator(source=source, target=target, vault=vault, **given)
            written = b"".join([*map(stream.feed, pieces), stream.close()])
        except library_names.DragomanError as error:
            return _refused(error)
        fault = stream.fault
        return {
            "body": _text(written),
            "losses": _losses(stream.losses),
            "fault": None if fault is None else [fault.kind, fault.status],
            "kept": len(vault),
        }

    return outcome


def _faults(found: tuple[Document, ...], source: str, target: str) -> Iterator[Named]:
    for document in found:
        yield "fault", document.id, _fault(document, source, target)


def _fault(document: Document, source: str, target: str) -> Callable[[], Outcome]:
    headers = {"retry-after": "7"}

    def outcome() -> Outcome:
        given: dict[str, Any] = {"source": source, "target": target, "headers": headers}
        return _settled(lambda: library_names.translate_fault(document.body, status=document.status, **given))

    return outcome


_OF_KIND: dict[Kind, Callable[[tuple[Document, ...], str, str], Iterator[Named]]] = {
    "request": _requests,
    "answer": _answers,
    "stream": _streams,
    "fault": _faults,
}


def _settled(translate: Callable[[], library_names.Translation]) -> Outcome:
    try:
        made = translate()
    except library_names.DragomanError as error:
        return _refused(error)
    return {
        "body": _text(made.body),
        "losses": _losses(made.losses),
        "headers": made.headers,
        "renamed": made.renamed,
        "wrapped": sorted(made.wrapped),
        "repairs": [[repair.name, repair.path] for repair in made.repairs],
        "stand_ins": made.stand_ins,
        "stream": made.stream,
        "asked": library_names.requested_model(made),
        "model": made.model,
        "status": getattr(made, "status", None),
    }


def _refused(error: library_names.DragomanError) -> Outcome:
    found: Outcome = {"error": type(error).__name__, "path": getattr(error, "path", None)}
    fault = getattr(error, "fault", None)
    return found if fault is None else {**found, "fault": [fault.kind, fault.status]}


def _losses(losses: Any) -> list[list[str]]:
    return [[loss.code, loss.effect, loss.severity, loss.path] for loss in losses]


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")


@cache
def _request_of_client(client: str, upstream: str) -> library_names.Translation:
    """Return the request for an answer or a stream: the client's request, translated for the upstream."""
    body = msgspec.json.encode(_REQUESTS[client])
    return library_names.translate_request(body, source=client, target=upstream, model=MODELS[upstream])


_CONTENTS = [{"role": "user", "parts": [{"text": "What is the weather in Oslo?"}]}]
_MESSAGES = [{"role": "user", "content": "What is the weather in Oslo?"}]
_REQUESTS: dict[str, Any] = {
    "anthropic": {"model": MODELS["anthropic"], "max_tokens": 4096, "messages": _MESSAGES},
    "code-assist": {"model": MODELS["code-assist"], "project": "p", "request": {"contents": _CONTENTS}},
    "gemini": {"contents": _CONTENTS},
    "ollama": {"model": MODELS["ollama"], "messages": _MESSAGES},
    "openai-chat": {"model": MODELS["openai-chat"], "messages": _MESSAGES},
    "openai-responses": {"model": MODELS["openai-responses"], "input": "What is the weather in Oslo?"},
    "openrouter": {"model": MODELS["openrouter"], "messages": _MESSAGES},
}


def spelled(outcome: Outcome) -> str:
    """Return an outcome as text. Equal outcomes have equal texts."""
    return json.dumps(outcome, ensure_ascii=False, sort_keys=True, indent=1)
