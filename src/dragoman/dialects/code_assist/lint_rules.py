"""Owns the rules for Code Assist: the envelope (GCA-...). Gemini's rules check the request inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...rules.helpers import frames, given, items, kind_of, quoted, sub, word
from ...rules.rule import Breach, Subject, rule, rules_of
from ..gemini.lint_rules import RULES as GEMINI
from ..gemini.lint_rules_helpers import at_key, key, snake
from .unsupported_field_removal import CONFIG

_HOST = {"host": "cloudcode-pa.googleapis.com"}
_PAYLOAD = (
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "safetySettings",
    "generationConfig",
    "cachedContent",
)
_ENVELOPE = {"userPromptId": "user_prompt_id", "enabledCreditTypes": "enabled_credit_types"}
_PREFIX = "models/"


def _counts(subject: Subject) -> bool:
    """Whether the request counts tokens: its model name is in the inner request."""
    return "model" not in subject.document and "model" in sub(subject.document, "request")


_REPLACED = frozenset({"GEM-021"})
"""Rules of Gemini that a rule of Code Assist replaces (GCA-004)."""


def _inside(subject: Subject, document: Any, before: Any = None) -> Iterator[Breach]:
    """The breaches of Gemini's rules in the inner document."""
    inner = Subject(document, subject.kind, subject.model, subject.profile, _HOST, before=before)
    for one in GEMINI:
        if subject.kind in one.kinds and one.id not in _REPLACED:
            for breach in one.check(inner):
                problem = f"{one.id}: {breach.message}"
                yield Breach(breach.at, problem, breach.fix, breach.severity or one.severity)


@rule("GCA-001", "error")
def envelope(subject: Subject) -> Iterator[Breach]:
    """The envelope has `model` and `request.contents`, and no field of the payload beside them.

    Why: a bare Gemini body is not understood here: everything but the model, project and ids belongs into `request`.

    Good: `{"model": "gemini-3-pro", "request": {"contents": [...]}}`

    Bad: `{"contents": [...], "generationConfig": {...}}`

    Source: Gemini-cli 0.56, source code for the request envelope (2026-08).
    """
    document = subject.document
    for name in _PAYLOAD:
        if at_key(document, name) is not None:
            yield Breach((key(document, name),), f"{name} is outside of request", "put it into request")
    if not word(document, "model") and not _counts(subject):
        yield Breach(("model",) if "model" in document else (), "the envelope has no model", "add model")
    if not isinstance(document.get("request"), dict):
        problem = f"request is {kind_of(document.get('request'))}, not an object"
        yield Breach(("request",) if "request" in document else (), problem, "put the Gemini request there")
    elif not isinstance(sub(document, "request").get("contents"), list):
        yield Breach(("request",), "the request has no contents", "add contents")


@rule("GCA-002", "warning")
def spelling(subject: Subject) -> Iterator[Breach]:
    """Keys of the envelope are snake_case, keys of the request inside camelCase.

    Why: that is how the only known client writes them; `user_prompt_id`, `session_id` and `enabled_credit_types` are
    the only ones with underscores. Nothing shows that other spellings are read.

    Good: `{"user_prompt_id": "p1", "request": {"generationConfig": {}, "session_id": "s1"}}`

    Bad: `{"userPromptId": "p1", "request": {"generation_config": {}, "sessionId": "s1"}}`

    Source: Gemini-cli 0.56, source code for the request envelope (2026-08).
    """
    for name in given(subject.document, *_ENVELOPE):
        yield Breach((name,), f"the envelope has another spelling of {name}", f"write {_ENVELOPE[name]}")
    inner = sub(subject.document, "request")
    if "sessionId" in inner:
        yield Breach(("request", "sessionId"), "sessionId has another spelling here", "write session_id")
    for at, holder in [(("request",), inner), (("request", "generationConfig"), sub(inner, "generationConfig"))]:
        for name in holder:
            if "_" in name and name != "session_id":
                yield Breach((*at, name), f"{name} is in snake_case", "write it in camelCase")


@rule("GCA-003", "error")
def model_name(subject: Subject) -> Iterator[Breach]:
    """`model` is a bare name, but for countTokens, where it is in `request` with `models/` before it.

    Why: each method takes one form only.

    Good: `{"model": "gemini-3-pro", "request": {...}}`

    Bad: `{"model": "models/gemini-3-pro", "request": {...}}`

    Source: Gemini-cli 0.56, source code for the request envelope (2026-08).
    """
    if word(subject.document, "model").startswith(_PREFIX):
        yield Breach(("model",), f"the model's name begins with {_PREFIX}", "leave that out")
    if _counts(subject) and not word(sub(subject.document, "request"), "model").startswith(_PREFIX):
        yield Breach(("request", "model"), f"to count tokens the model is named with {_PREFIX}", f"add {_PREFIX}")


@rule("GCA-004", "error")
def system_content(subject: Subject) -> Iterator[Breach]:
    """`systemInstruction` is a Content with parts.

    Why: the SDK takes a string or a Part alone, but sends a Content.

    Good: `{"systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]}}`

    Bad: `{"systemInstruction": {"text": "Be brief."}}`

    Source: Gemini-cli 0.56, source code for the request envelope (2026-08).
    """
    inner = sub(subject.document, "request")
    value = at_key(inner, "systemInstruction")
    if value is not None and not isinstance(value.get("parts") if isinstance(value, dict) else None, list | dict):
        problem = "systemInstruction is not a Content with parts"
        yield Breach(("request", key(inner, "systemInstruction")), problem, 'write {"role": "user", "parts": [...]}')


@rule("GCA-005", "warning")
def config_keys(subject: Subject) -> Iterator[Breach]:
    """`generationConfig` has only fields that clients copy into the envelope.

    Why: nothing else is known to be forwarded.

    Good: `{"generationConfig": {"temperature": 0}}`

    Bad: `{"generationConfig": {"imageConfig": {}}}`

    Source: Gemini-cli 0.56, source code for the request envelope (2026-08).
    """
    spelled = CONFIG | {snake(name) for name in CONFIG}
    for name in sub(sub(subject.document, "request"), "generationConfig"):
        if name not in spelled:
            yield Breach(("request", "generationConfig", name), f"{name} is not forwarded", "leave it out")


@rule("GCA-006", "warning")
def no_thoughts(subject: Subject) -> Iterator[Breach]:
    """No part of the history has `thought: true`.

    Why: the client takes the flag off parts that carry data and folds other thoughts into text, since the upstream does
    not take thoughts back.

    Good: `{"functionCall": {...}, "thoughtSignature": "c2ln"}`

    Bad: `{"text": "Need f", "thought": true}`

    Source: Gemini-cli 0.56, source code for the request envelope (2026-08).
    """
    for at, content in items(sub(subject.document, "request"), "contents", ("request",)):
        for place, part in items(content, "parts", at):
            if part.get("thought") is True:
                yield Breach((*place, "thought"), "a thought is in the history", "leave the part out, or the flag")


@rule("GCA-007", "error", "request", "tools")
def gemini_inside(subject: Subject) -> Iterator[Breach]:
    """The request inside keeps Gemini's rules, in Vertex's flavour.

    Why: it is a generateContent request. Each finding names the rule that is broken.

    Good: `{"model": "gemini-3-pro", "request": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}}`

    Bad: `{"model": "gemini-3-pro", "request": {"contents": [{"role": "assistant", "parts": [{"text": "Hi"}]}]}}`

    Source: Gemini-cli 0.56, source code for the request envelope (2026-08), types of the google-genai SDK 3.1.0 for
    contents and parts (2026-11).
    """
    if subject.kind == "tools":
        yield from _inside(subject, subject.document)
        return
    document = subject.document.get("request")
    if isinstance(document, dict):
        for breach in _inside(subject, document, sub(subject.before, "response")):
            yield Breach(("request", *breach.at), breach.message, breach.fix, breach.severity)


@rule("GCA-S01", "error", "stream")
def wrapped_chunks(subject: Subject) -> Iterator[Breach]:
    """Every object of a stream has `response`, and what is inside keeps Gemini's rules about streams.

    Why: clients read `response` alone; an object without it has no content for them (warning), a bare Gemini
    chunk is lost.

    Good: `{"response": {"candidates": [...]}, "traceId": "t1"}`

    Bad: `{"candidates": [...]}`

    Source: Gemini-cli 0.56, source code for the response envelope (2026-08).
    """
    chunks: list[Any] = [None] * len(subject.document)
    for i, frame in frames(subject):
        if "error" in frame:
            chunks[i] = {"error": frame["error"]}
        elif isinstance(frame.get("response"), dict):
            chunks[i] = frame["response"]
        else:
            misplaced = given(frame, "candidates", "promptFeedback", "usageMetadata")
            problem = (
                f"{misplaced[0]} outside of response"
                if misplaced
                else f"a chunk without response: {quoted(', '.join(frame))}"
            )
            yield Breach((i,), problem, "wrap it" if misplaced else "", None if misplaced else "warning")
    for breach in _inside(subject, chunks):
        number, *rest = breach.at or (0,)
        yield Breach((number, "response", *rest) if rest else (number,), breach.message, breach.fix, breach.severity)


RULES = rules_of(globals())
