"""Owns the run of a dialect's rules over a document, a stream or a conversation. It knows no rule of a dialect."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, get_args

import msgspec

from ..canon.events import Fault
from ..canon.fold_and_unfold import fold
from ..canon.parts import Path, pointer
from ..codec import json_text
from ..codec.caller_document_to_bytes import Body, as_bytes, loose_bytes
from ..codec.sse_splitter import SseSplitter
from ..codec.surrogates.documents import decode_tolerant
from ..context import Context
from ..dialect import Dialect
from ..dialects import get, names
from ..errors import ConfigError, WireError
from ..facts import profiles
from ..rules.helpers import kind_of, word
from ..rules.rule import Breach, Finding, Kind, Rule, Subject, rule, rules_of

DONE = "[DONE]"
KINDS: tuple[Kind, ...] = get_args(Kind)
MCP = "mcp"
"""MCP has rules, but it is not a dialect: it is linted and not translated."""
_MCP_KINDS: tuple[Kind, ...] = ("request", "response", "tools")


@rule("ALL-S01", "error", "stream")
def frames_are_objects(subject: Subject) -> Iterator[Breach]:
    """Every frame of a stream is one JSON object; only the text [DONE] is allowed besides.

    Why: a client that cannot decode a frame drops it or ends the stream, and what it held is lost.

    Good: `data: {"type":"ping"}`

    Bad: `data: {"type":"ping"` (cut), `data: null`

    Source: the stream format of each dialect; any bytes must give a value or a finding.
    """
    for i, frame in enumerate(subject.document):
        if not isinstance(frame, dict) and frame != DONE:
            what = "not JSON" if frame is None else kind_of(frame)
            yield Breach((i,), f"a frame must be a JSON object; this is {what}")


_GENERAL = rules_of(globals())


@lru_cache(maxsize=64)
def rules_for(dialect: str) -> tuple[Rule, ...]:
    """Every rule for documents of a dialect: general rules, its own rules, the seeds' rules, and all rule sets."""
    if dialect == MCP:
        from . import mcp_tool_list_request_and_result_rules

        return mcp_tool_list_request_and_result_rules.RULES
    # Imported late: only a linter needs these rules.
    from . import own_tool_parameter_name_rules, seed_checklist_rules

    return (
        *_GENERAL,
        *get(dialect).rules(),
        *seed_checklist_rules.RULES.get(dialect, ()),
        *own_tool_parameter_name_rules.RULES,
    )


RULE_SETS = ("seeds",)
"""Names of the rule sets that are off by default."""


def _checked_sets(rule_sets: Iterable[str]) -> frozenset[str]:
    for name in rule_sets:
        if name not in RULE_SETS:
            raise ConfigError("rule set", str(name), RULE_SETS)
    return frozenset(rule_sets)


def lintable_names() -> tuple[str, ...]:
    """The names of all dialects, and `mcp`."""
    return (*names(), MCP)


def all_rules() -> dict[str, tuple[Rule, tuple[str, ...]]]:
    """Every rule of the built-in dialects and of MCP by its id, with the dialects that have the rule."""
    found: dict[str, tuple[Rule, tuple[str, ...]]] = {}
    for name in lintable_names():
        for one in rules_for(name):
            found[one.id] = (one, (*found[one.id][1], name) if one.id in found else (name,))
    return dict(sorted(found.items()))


def lint(
    body: Body,
    *,
    dialect: str,
    kind: Kind = "request",
    model: str | None = None,
    headers: Mapping[str, str] | None = None,
    request: Body | None = None,
    rule_sets: Collection[str] = (),
) -> list[Finding]:
    """The breaches of the dialect's rules, in the order of the document.

    `document` of a stream is its bytes, or the list of its decoded frames. `model` is needed if the document does not
    name a model. `headers` are the request's headers. `request` is the request that a response or a stream answers.
    `rule_sets` switches on rules that are off by default (`seeds`). WireError: the bytes are not a document.
    """
    sets = _checked_sets(rule_sets)
    subject = _subject(body, dialect, kind, model, headers)
    if request is not None:
        subject.request = _document(request, dialect, "request")
    return [found for _, found in _findings(subject, dialect, sets)]


def lint_conversation(
    documents: Iterable[tuple[Kind, Body]],
    *,
    dialect: str,
    model: str | None = None,
    headers: Mapping[str, str] | None = None,
    rule_sets: Collection[str] = (),
) -> list[Finding]:
    """The breaches in a conversation: its requests, responses and streams in order, each with its kind.

    In a conversation a rule also sees the response before a request, so it finds parts that the request leaves out.
    Paths begin with the document's number.
    """
    sets = _checked_sets(rule_sets)
    out: list[Finding] = []
    request: Any = None
    response: Any = None
    for number, (kind, body) in enumerate(documents):
        subject = _subject(body, dialect, kind, model, headers)
        if kind == "request":
            subject.before, request = response, subject.document
        else:
            subject.request = request
        found = _findings(subject, dialect, sets)
        out += [msgspec.structs.replace(one, path=pointer((number, *path))) for path, one in found]
        sound = not any(one.severity == "error" for _, one in found)
        response = subject.document if kind == "response" else None
        # A stream with errors may not fold to any response.
        if kind == "stream" and sound:
            response = _fold_frames(subject.document, get(dialect))
    return out


def _fold_frames(frames: list[Any], dialect: Dialect) -> Any:
    """The response that a sound stream folds to, as one document. None: the stream ended with a fault."""
    shape = b"%b\n" if dialect.framing == "ndjson" else b"data: %b\n\n"
    raw = b"".join([shape % json_text.encode(frame) for frame in frames if isinstance(frame, dict)])
    reader = dialect.reader(Context(dialect.name, dialect.name))
    response = fold([*reader.feed(raw), *reader.close()])
    if isinstance(response, Fault):
        return None
    return json_text.decode(dialect.write_response(response, Context(dialect.name, dialect.name)))


def _subject(body: Body, dialect: str, kind: Kind, model: str | None, headers: Mapping[str, str] | None) -> Subject:
    kinds = _MCP_KINDS if dialect == MCP else KINDS
    if kind not in kinds:
        raise ConfigError("kind of document", str(kind), kinds)
    document = _document(body, dialect, kind)
    model_name = model or word(document, "model")
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    return Subject(document, kind, model_name, profiles.lookup(dialect, model_name), lowered)


def _findings(subject: Subject, dialect: str, sets: frozenset[str]) -> list[tuple[Path, Finding]]:
    found: list[tuple[tuple[int, ...], Path, Finding]] = []
    places: dict[int, dict[str, int]] = {}
    for one in rules_for(dialect):
        if subject.kind in one.kinds and (not one.rule_set or one.rule_set in sets):
            for breach in one.check(subject):
                severity = breach.severity or one.severity
                finding = Finding(one.id, severity, pointer(breach.at), breach.message, breach.fix)
                found.append((_order(subject.document, breach.at, places), breach.at, finding))
    found.sort(key=lambda entry: (entry[0], entry[2].rule, entry[2].path, entry[2].message))
    # A rule may find the same breach twice.
    return [(path, finding) for _, path, finding in dict.fromkeys(found)]


def _order(document: Any, path: Path, places: dict[int, dict[str, int]]) -> tuple[int, ...]:
    """The position of a path in the document, for sorting. An absent key comes after all present keys. `places` keeps
    the positions of the keys of each object on the way: one search for each finding would make the cost quadratic."""
    key: list[int] = []
    value: json_text.JsonValue = document
    for step in path:
        if isinstance(value, dict):
            known = places.get(id(value))
            if known is None:
                known = places[id(value)] = {key: place for place, key in enumerate(value)}
            here = known.get(str(step), len(value))
            value = value.get(step) if isinstance(step, str) else None
        elif isinstance(value, list) and isinstance(step, int):
            here = step
            value = value[step] if 0 <= step < len(value) else None
        else:
            here, value = 0, None
        key.append(here)
    return tuple(key)


def _document(body: Body, dialect: str, kind: Kind) -> Any:
    if dialect not in lintable_names():
        get(dialect)  # the error lists the known names
    if kind == "stream":
        return _frames(body, get(dialect))
    document: json_text.JsonValue = _decode_body(as_bytes(body, dialect), dialect)
    if kind == "tools":
        inner: json_text.JsonValue = document.get("tools") if isinstance(document, dict) else document
        if not isinstance(inner, list):
            raise WireError(dialect, "", "a list of tools, or an object that has it", kind_of(document))
        return inner
    if not isinstance(document, dict):
        raise WireError(dialect, "", "a JSON object", kind_of(document))
    return document


def _decode_body(body: bytes, dialect: str) -> Any:
    try:
        return decode_tolerant(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise WireError(dialect, "", "JSON", str(error)) from None


def _frames(body: Body, dialect: Dialect) -> list[Any]:
    """The decoded frames of a stream, from bytes in the dialect's framing or from a JSON array of frames."""
    data = loose_bytes(body, dialect.name)
    if data.lstrip()[:1] == b"[":
        frames: list[Any] = _decode_body(data, dialect.name)
        return frames
    if dialect.framing == "ndjson":
        return [_frame(line) for line in data.splitlines() if line.strip()]
    splitter = SseSplitter(dialect.name)
    return [_frame(text) for _, text in (*splitter.feed(data), *splitter.close())]


def _frame(text: bytes) -> Any:
    if text.strip() == b"[DONE]":
        return DONE
    try:
        return decode_tolerant(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
