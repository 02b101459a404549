"""Owns the rules for Gemini conversations: contents, parts, calls and their results, signatures."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from ...codec import packed_seals
from ...rules.helpers import Object, given, items, listed, quoted, sub, word
from ...rules.rule import Breach, Subject, rule, rules_of
from .lint_rules_helpers import at_key, contents, data_objects, inner, is_user, key, parts, snake

_DATA = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
_BESIDE = (
    "thought",
    "thoughtSignature",
    "mediaResolution",
    "videoMetadata",
    "mediaProcessing",
    "partMetadata",
)
_KNOWN = frozenset([form for name in (*_DATA, *_BESIDE) for form in (name, snake(name))])
# The documentation names these types for media inside a functionResponse (2026-10).
_NESTED = ("image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain")
# Both dummies are documented; gemini-cli sends the first (sources, 2026-08).
_DUMMIES = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")


@rule("GEM-001", "error")
def roles(subject: Subject) -> Iterator[Breach]:
    """`contents` is not empty, and every Content has the role user or model.

    Why: other roles are refused ("Please use a valid role: user, model"). The old roles function and tool, and no role
    at all, are taken by some servers only (warning).

    Good: {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}

    Bad: {"contents": [{"role": "assistant", "parts": [{"text": "Hi"}]}]}

    Source: Types of the google-genai SDK 3.1.0 for contents and parts (2026-11); recorded 400 for an unknown role.
    """
    found = listed(subject.document, "contents")
    # `messages` and `input` are the lists of Chat, Anthropic and Responses: the request went to the wrong endpoint.
    if not found:
        wrong = given(subject.document, "messages", "input")
        fix = f"write contents[] with parts, not {wrong[0]}" if wrong else "begin with a user's Content"
        yield Breach(("contents",) if "contents" in subject.document else (), "there are no contents", fix)
    for i, content in enumerate(found):
        at = ("contents", i)
        role = content.get("role") if isinstance(content, dict) else content
        if not isinstance(content, dict):
            yield Breach(at, "a Content is not an object", "write {role, parts}")
        elif role in ("function", "tool"):
            yield Breach((*at, "role"), f"the role {role} is an old spelling", "write user", "warning")
        elif role is None or role == "":
            # A single Content without a role was answered with 200 (recorded).
            if len(found) > 1:
                yield Breach(at, "a Content has no role", "write user or model", "warning")
        elif role not in ("user", "model"):
            yield Breach((*at, "role"), f"role {quoted(role)} is not user or model", "write user or model")


@rule("GEM-002", "error", "request")
def one_field(subject: Subject) -> Iterator[Breach]:
    """Each part has exactly one data field.

    Why: the data is a union in the API; a part with none or several of its members is refused. A part with only a
    signature or only `videoMetadata` was accepted in recorded requests, so the finding is a warning.

    Good: [{"text": "Look:"}, {"inlineData": {"mimeType": "image/png", "data": "..."}}]

    Bad: [{"text": "Look:", "inlineData": {"mimeType": "image/png", "data": "..."}}]

    Source: Types of the google-genai SDK 3.1.0 for contents and parts (2026-11).
    """
    for at, content in contents(subject):
        for place, part in parts(content, at):
            data = [name for name in _DATA if at_key(part, name) is not None]
            if len(data) > 1:
                yield Breach(place, f"a part with {' and '.join(data)}", "make a part of each")
            # Only parts of known fields are judged: an unknown field may be a new kind of data.
            elif not data and _KNOWN.issuperset(part):
                problem = "a part without data"
                yield Breach(place, problem, "leave the part out", "warning" if part else None)


@rule("GEM-006", "warning")
def calls_answered(subject: Subject) -> Iterator[Breach]:
    """A model's Content with calls is followed by one user Content with as many results.

    Why: the documentation demands one Content right after the calls. Warning only: recorded answers of 2.5 and 3 show
    results split over several Contents being taken.

    Good: model: [functionCall a, functionCall b], user: [functionResponse a, functionResponse b]

    Bad: model: [functionCall a, functionCall b], user: [functionResponse a]

    Source: The google-genai SDK 3.1.0, source code for contents and parts (2026-11), recorded, 2026-11.
    """
    history = contents(subject)
    for i, (at, content) in enumerate(history):
        calls = [] if is_user(content) else data_objects(parts(content, at), "functionCall")
        if not calls:
            continue
        after = history[i + 1] if i + 1 < len(history) else None
        answers = data_objects(parts(after[1], after[0]), "functionResponse") if after and is_user(after[1]) else []
        if len(answers) != len(calls):
            problem = f"{len(calls)} calls are followed by {len(answers)} results"
            yield Breach(at, problem, "answer every call in the next Content")


@rule("GEM-007", "error")
def results_known(subject: Subject) -> Iterator[Breach]:
    """Every `functionResponse` is in a user's Content, names a call before it, and its `response` is an object.

    Why: results are matched by name and, where calls have one, by id; text or a list as `response` is refused.

    Good: {"functionResponse": {"id": "a1", "name": "f", "response": {"output": "42"}}}

    Bad: {"functionResponse": {"id": "a1", "name": "f", "response": "42"}}

    Source: Types of the google-genai SDK 3.1.0 for function calling (2026-11); a wrong id is a warning,
    after one user's report.
    """
    call_ids: dict[str, set[str]] = {}  # name of a call -> its ids
    after_user = True
    for at, content in contents(subject):
        found = parts(content, at)
        answers = data_objects(found, "functionResponse")
        if not is_user(content):
            for place, _ in answers:
                yield Breach(place, "a result is in the model's Content", "put it into a user's Content")
            if after_user:
                call_ids = {}
            # One user Content may answer the calls of several neighbouring model Contents (recorded).
            for _, call in data_objects(found, "functionCall"):
                ids = call_ids.setdefault(word(call, "name"), set())
                if word(call, "id"):
                    ids.add(word(call, "id"))
            after_user = False
            continue
        after_user = True
        for place, answer in answers:
            yield from _result(place, answer, call_ids)


def _result(at: tuple[str | int, ...], answer: Object, call_ids: dict[str, set[str]]) -> Iterator[Breach]:
    name = answer.get("name")
    if not isinstance(answer.get("response"), dict):
        yield Breach(at, "the response of a result is not an object", 'write {"output": ...} or {"error": ...}')
    if not word(answer, "name"):
        yield Breach(at, "a result has no name of a function", "name the function that was called")
        return
    if word(answer, "name") not in call_ids:
        yield Breach((*at, "name"), f"a result of {quoted(name)}, which was not called before it", "write it as text")
        return
    ids = call_ids[word(answer, "name")]
    if ids and answer.get("id") and word(answer, "id") not in ids:
        problem = f"the id {quoted(answer['id'])} is of no call of {quoted(name)}"
        yield Breach((*at, "id"), problem, "send the id of the call", "warning")


@rule("GEM-008", "error")
def signed_calls(subject: Subject) -> Iterator[Breach]:
    """Gemini 3 and later: the first call of each step of the turn under way has its `thoughtSignature`.

    Why: it is refused otherwise ("Function call is missing a thought_signature"). The turn begins at the last user
    Content that is more than results.

    Good: {"functionCall": {"id": "a1", "name": "f", "args": {}}, "thoughtSignature": "c2ln"}

    Bad: {"functionCall": {"id": "a1", "name": "f", "args": {}}}

    Source: Gemini's documentation for thought signatures (2026-10).
    """
    if not subject.profile.seals:
        return
    history = contents(subject)
    start = 0
    for i, (at, content) in enumerate(history):
        found = parts(content, at)
        if is_user(content) and len(data_objects(found, "functionResponse")) < len(found):
            start = i
    for at, content in history[start:]:
        calls = [(place, part) for place, part in parts(content, at) if at_key(part, "functionCall") is not None]
        if calls and not is_user(content) and not at_key(calls[0][1], "thoughtSignature"):
            fix = "send the signature it came with, or the documented dummy"
            yield Breach(calls[0][0], "the first call of the step has no thoughtSignature", fix)


@rule("GEM-009", "error")
def signatures_stay(subject: Subject) -> Iterator[Breach]:
    """A signature is on the part it came with, and that part is unchanged.

    Why: the signature covers the part; on an edited, merged or other part it is refused as corrupted. If the previous
    answer is known, the parts are compared with it. A signature of another upstream is always found.

    Good: {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "c2ln"} as it came

    Bad: {"functionCall": {"name": "f", "args": {"x": 2}}, "thoughtSignature": "c2ln"} after x was 1

    Source: Gemini's documentation for thought signatures (2026-10).
    """
    came: dict[str, Object] = {}
    for at, candidate in items(subject.before, "candidates"):
        for _, part in parts(sub(candidate, "content"), at):
            came[word(part, "thoughtSignature")] = part
    came.pop("", None)
    for at, content in contents(subject):
        for place, part in parts(content, at):
            name = key(part, "thoughtSignature")
            seal = part.get(name)
            if seal is None or (isinstance(seal, str) and seal in _DUMMIES):
                continue
            if not isinstance(seal, str) or (seal and not _BASE64.fullmatch(seal)):
                yield Breach((*place, name), "a signature is not base64", "send it as it came")
            elif seal.startswith(packed_seals.MARK):
                yield Breach((*place, name), "the signature is another upstream's", "write the documented dummy")
            elif seal in came and not _same(came[seal], part):
                yield Breach(place, "the signed part was changed", "send it unchanged")


def _same(one: Object, other: Object) -> bool:
    for name in _DATA:
        first, second = at_key(one, name), at_key(other, name)
        if name == "functionCall" and isinstance(first, dict) and isinstance(second, dict):
            # Gemini 2.5 sends calls without an id (recorded traffic, 2026-11), so a client may have given the call its
            # own id.
            pairs = [(word(call, "name"), call.get("args") or {}) for call in (first, second)]
            if pairs[0] != pairs[1]:
                return False
        elif (first or None) != (second or None):
            return False
    return True


@rule("GEM-010", "warning")
def alternation(subject: Subject) -> Iterator[Breach]:
    """The first and the last turn are the user's, and roles alternate.

    Why: some models and servers refuse or misread other histories.

    Good: user, model, user

    Bad: model, user, user, model

    Source: The google-genai SDK 3.1.0, source code for limits (2026-11).
    """
    history = contents(subject)
    if not history:
        return
    if not is_user(history[0][1]):
        yield Breach(history[0][0], "the first turn is the model's", "begin with a user's Content")
    for (_, before), (at, content) in itertools.pairwise(history):
        if is_user(before) == is_user(content):
            yield Breach(at, f"two Contents of the {'user' if is_user(content) else 'model'} in a row", "join them")
    if not is_user(history[-1][1]):
        yield Breach(history[-1][0], "the last turn is the model's", "end with a user's Content")


@rule("GEM-014", "error")
def nested_media(subject: Subject) -> Iterator[Breach]:
    """Media inside a result: Gemini 3 and later only, of types that may be there.

    Why: older models refuse `functionResponse.parts`; audio, video and other types are refused there always.

    Good: {"functionResponse": {..., "parts": [{"inlineData": {"mimeType": "image/png", "data": "..."}}]}}

    Bad: {"functionResponse": {..., "parts": [{"inlineData": {"mimeType": "audio/wav", "data": "..."}}]}}

    Source: Gemini's documentation for function calling (2026-10).
    """
    for at, content in contents(subject):
        for place, answer in data_objects(parts(content, at), "functionResponse"):
            media = parts(answer, place)
            if media and not subject.profile.nested_media:
                yield Breach((*place, "parts"), "this model takes no media inside a result", "put it beside the result")
                continue
            for spot, blob in [*data_objects(media, "inlineData"), *data_objects(media, "fileData")]:
                kind = at_key(blob, "mimeType")
                if kind not in _NESTED:
                    path = (*spot, key(blob, "mimeType"))
                    yield Breach(path, f"{quoted(kind)} may not be inside a result", "put it beside the result")


@rule("GEM-019", "error")
def system_text(subject: Subject) -> Iterator[Breach]:
    """`systemInstruction` is a Content that holds text only.

    Why: other parts are refused there.

    Good: {"systemInstruction": {"parts": [{"text": "Be brief."}]}}

    Bad: {"systemInstruction": {"parts": [{"inlineData": {"mimeType": "image/png", "data": "..."}}]}}

    Source: The google-genai SDK 3.1.0, source code for request fields (2026-11).
    """
    at, content = inner(subject.document, "systemInstruction")
    for place, part in parts(content, at):
        other = [name for name in _DATA if name != "text" and at_key(part, name) is not None]
        if other:
            yield Breach(place, f"{other[0]} in the system instruction", "move it into a user's Content")


RULES = rules_of(globals())
