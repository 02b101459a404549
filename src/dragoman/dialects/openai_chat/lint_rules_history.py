"""Owns the rules for messages of Chat Completions: content of each role, and pairs of calls and results."""

from __future__ import annotations

from collections.abc import Iterator

from ...canon.parts import Path
from ...rules.helpers import Object, Place, arguments, given, items, listed, no_image, quoted, sub, twice, word
from ...rules.rule import Breach, Level, Subject, rule

LONG_ID, LONGEST_ID = 40, 64
_ROLES = ("developer", "system", "user", "assistant", "tool", "function")
_PARTS = {
    "text": "text",
    "image_url": "image_url",
    "input_audio": "input_audio",
    "file": "file",
    "refusal": "refusal",
}


def messages(subject: Subject) -> list[Place]:
    """The messages of a request, or the messages in a response's choices."""
    if subject.kind == "request":
        return items(subject.document, "messages")
    choices = items(subject.document, "choices")
    return [((*at, "message"), sub(choice, "message")) for at, choice in choices]


def calls(subject: Subject) -> list[tuple[Path, list[Place]]]:
    """The messages with calls, each with its calls."""
    found = [(at, items(message, "tool_calls", at)) for at, message in messages(subject)]
    return [(at, own) for at, own in found if own]


@rule("OAC-001", "error")
def needs_messages_and_model(subject: Subject) -> Iterator[Breach]:
    """`messages` and `model` are present, and there is at least one message.

    Why: both are required; the server answers 400 before it looks at anything else.

    Good: `{"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}`

    Bad: `{"model": "gpt-5.2", "messages": []}`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11).
    """
    if not listed(subject.document, "messages"):
        yield Breach(("messages",), "a request needs at least one message")
    if not subject.model:
        yield Breach(("model",), "the request names no model", "add model")


@rule("OAC-004", "error")
def calls_are_answered_at_once(subject: Subject) -> Iterator[Breach]:
    """Every assistant message with `tool_calls` is followed at once by one `tool` message per call.

    Why: the server refuses a conversation in which a call has no answer, or in which something is between a call
    and its answers ("An assistant message with 'tool_calls' must be followed by tool messages").

    Good: assistant (calls a, b), tool (a), tool (b), user

    Bad: assistant (calls a, b), tool (a), user

    Source: Error texts that several users reported (2026-11).
    """
    open_calls: list[tuple[Path, str]] = []
    answered: set[str] = set()
    end: Place = ((), {})
    for at, message in [*messages(subject), end]:
        name = word(message, "tool_call_id")
        if word(message, "role") == "tool":
            if open_calls and name and name in answered:
                yield Breach(at, f"call {quoted(name)} is answered a second time", "drop one of the answers")
            answered.add(name)
            continue
        for here, open_call in open_calls:
            if open_call not in answered:
                problem = f"call {quoted(open_call)} is not answered by the tool messages after it"
                yield Breach(here, problem, "answer it")
        open_calls = [(here, word(call, "id")) for here, call in items(message, "tool_calls", at)]
        answered = set()


@rule("OAC-005", "error")
def results_have_their_call(subject: Subject) -> Iterator[Breach]:
    """Every `tool` message has the `tool_call_id` of a call in the nearest assistant message before it.

    Why: a result without its call is refused ("messages with role 'tool' must be a response to a preceding message
    with 'tool_calls'").

    Good: assistant (call a), tool (tool_call_id a)

    Bad: user, tool (tool_call_id a)

    Source: Types of the openai SDK 3.49.0 for messages (2026-11); error texts that several users reported (2026-11).
    """
    call_ids: set[str] = set()
    for at, message in messages(subject):
        if word(message, "role") == "tool":
            name = word(message, "tool_call_id")
            if not name:
                yield Breach(at, "the tool message has no tool_call_id", "name the call it answers")
            elif name not in call_ids:
                yield Breach((*at, "tool_call_id"), f"the assistant message before has no call {quoted(name)}")
        elif word(message, "role") == "assistant":
            call_ids = {word(call, "id") for _, call in items(message, "tool_calls")}
        else:
            call_ids = set()


@rule("OAC-006", "error", "request", "response")
def call_ids_fit(subject: Subject) -> Iterator[Breach]:
    """`tool_calls[].id` is there, unique in its message and at most 64 characters long; over 40 is a warning.

    Why: results find their call by the id; older models refuse ids over 40 characters, newer ones over 64.

    Good: `{"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{}"}}`

    Bad: two calls with the id `call_a` in one message

    Source: Error texts that several users reported (2026-11).
    """
    for _, own in calls(subject):
        yield from twice([((*at, "id"), call.get("id")) for at, call in own], "call id")
        for at, call in own:
            name = word(call, "id")
            if not name:
                yield Breach(at, "the call has no id", "give it one")
            elif len(name) > LONGEST_ID:
                yield Breach((*at, "id"), f"a call id of {len(name)} characters; {LONGEST_ID} are taken", "shorten it")
            elif len(name) > LONG_ID:
                problem = f"a call id of {len(name)} characters; older models take {LONG_ID}"
                yield Breach((*at, "id"), problem, "shorten it", "warning")


@rule("OAC-007", "error", "request", "response")
def arguments_are_text(subject: Subject) -> Iterator[Breach]:
    """`function.arguments` is JSON text; text that is not a JSON object is a warning.

    Why: an object where text is expected is a type error for the server and for every SDK. Text that is not an object
    is legal, since models write such, but no tool can be called with it.

    Good: `"arguments": "{\\"city\\": \\"Rome\\"}"`

    Bad: `"arguments": {"city": "Rome"}`

    Source: Types of the openai SDK 3.49.0 for tools (2026-11).
    """
    for _, own in calls(subject):
        for at, call in own:
            if "function" in call:
                yield from arguments((*at, "function", "arguments"), sub(call, "function").get("arguments"))


_OPENAI_MODELS = ("gpt-", "chatgpt-", "o1", "o3", "o4")
"""Prefixes of the names of OpenAI's own models (2026-11)."""


@rule("OAC-008", "error")
def results_hold_text(subject: Subject) -> Iterator[Breach]:
    """The content of a `tool` message is a text, or a list of `text` parts.

    Why: OpenAI refuses images, audio and files there; they can follow in a user message after the last result. Some
    compatible hosts take them, so for models of other providers the finding is a warning.

    Good: `{"role": "tool", "tool_call_id": "a", "content": "12 degrees"}`

    Bad: `{"role": "tool", "tool_call_id": "a", "content": [{"type": "image_url", "image_url": {"url": "..."}}]}`

    Source: Types of the openai SDK 3.49.0 for messages (2026-11); a recorded answer 200 of llama.cpp to an
    image.
    """
    severity: Level | None = None if subject.model.startswith(_OPENAI_MODELS) else "warning"
    for at, message in messages(subject):
        if word(message, "role") != "tool":
            continue
        content = message.get("content")
        for here, part in items(message, "content", at):
            if word(part, "type") != "text":
                problem = f"a result holds only text, not {quoted(part.get('type'))}"
                yield Breach(here, problem, "move it to a user message", severity)
        if content is not None and not isinstance(content, str | list):
            yield Breach((*at, "content"), "the content of a result must be a text or text parts", "encode it as text")


@rule("OAC-009", "error")
def assistant_says_something(subject: Subject) -> Iterator[Breach]:
    """An assistant message without content has `tool_calls`, a `refusal` or `audio`.

    Why: the server refuses a message without content ("Invalid value for 'content': expected a string, got null").
    An empty text passes, so it is a warning.

    Good: `{"role": "assistant", "content": null, "tool_calls": [...]}`

    Bad: `{"role": "assistant", "content": null}`

    Source: Types of the openai SDK 3.49.0 for messages (2026-11).
    """
    for at, message in messages(subject):
        if word(message, "role") != "assistant" or listed(message, "tool_calls"):
            continue
        if message.get("content") or given(message, "refusal", "audio", "function_call"):
            continue
        problem = "an assistant message without content, calls, refusal or audio"
        yield Breach(at, problem, "leave it out", None if message.get("content") is None else "warning")


@rule("OAC-018", "warning")
def nothing_legacy(subject: Subject) -> Iterator[Breach]:
    """Legacy `functions`, `function_call` and messages with the role `function` are not used any more.

    Why: they are deprecated since tools exist, know no ids and no parallel calls, and newer models refuse them.

    Good: `"tools": [{"type": "function", "function": {"name": "f"}}]`

    Bad: `"functions": [{"name": "f"}]`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11).
    """
    for key in given(subject.document, "functions", "function_call"):
        yield Breach((key,), f"{key} is deprecated", "use tools and tool_choice")
    for at, message in messages(subject):
        if word(message, "role") == "function":
            yield Breach((*at, "role"), "the role function is deprecated", "use the role tool")
        if given(message, "function_call"):
            yield Breach((*at, "function_call"), "function_call is deprecated", "use tool_calls")


@rule("OAC-022", "error")
def messages_have_known_shape(subject: Subject) -> Iterator[Breach]:
    """Every message is an object with a role; every content part is an object with a type and its fields.

    Why: the server names the missing field in its 400 ("Missing required parameter: 'messages[1].content[0].type'").
    Undocumented roles and parts are warnings: compatible hosts have some of their own.

    Good: `{"role": "user", "content": [{"type": "text", "text": "Hi"}]}`

    Bad: `{"role": "user", "content": [{"role": "user", "content": "Hi"}]}`

    Source: Types of the openai SDK 3.49.0 for messages (2026-11); recorded 400 of gpt-4o-mini.
    """
    for i, message in enumerate(listed(subject.document, "messages")):
        at: Path = ("messages", i)
        if not isinstance(message, dict):
            yield Breach(at, "a message must be an object")
            continue
        role = message.get("role")
        if not isinstance(role, str):
            yield Breach((*at, "role"), "the message has no role")
        elif role not in _ROLES:
            yield Breach((*at, "role"), f"no role is called {quoted(role)}", severity="warning")
        if not isinstance(message.get("content"), str | list | None):
            yield Breach((*at, "content"), "content must be a text, a list of parts or null")
        for j, part in enumerate(listed(message, "content")):
            yield from _part((*at, "content", j), part)


@rule("OAC-023", "error")
def images_are_images(subject: Subject) -> Iterator[Breach]:
    """The data URL of an image holds the base64 of a PNG, JPEG, GIF or WebP image.

    Why: the server looks at the bytes, not at the declared type ("You uploaded an unsupported image"). A page that was
    fetched instead of the image is the usual cause.

    Good: `{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="}}`

    Bad: `{"type": "image_url", "image_url": {"url": "data:image/png;base64,PGh0bWw+"}}`

    Source: recorded 400 of gpt-4o-mini, and of llama.cpp: "Failed to load image or audio file".
    """
    for here, message in messages(subject):
        for at, part in items(message, "content", here):
            yield from no_image((*at, "image_url", "url"), word(sub(part, "image_url"), "url"))


@rule("OAC-024", "warning")
def media_the_model_takes(subject: Subject) -> Iterator[Breach]:
    """Media go to models that take their kind: a reasoning model takes no `input_audio`, DeepSeek's take text only.

    Why: they are refused ("Content blocks are expected to be either text or image_url type", "unknown variant
    `image_url`, expected `text`").

    Good: a transcript as text

    Bad: `{"model": "gpt-5-mini", "messages": [{"role": "user", "content": [{"type": "input_audio", ...}]}]}`

    Source: recorded 400 of gpt-5-mini and deepseek-v4-flash. Single models of their families were recorded, so the
    finding is a warning. The kinds of media for each model are rows of `profiles.json`.
    """
    taken = subject.profile.media
    for here, message in messages(subject) if taken is not None else ():
        for at, part in items(message, "content", here):
            kind = _MEDIA.get(word(part, "type"))
            if kind is not None and taken is not None and kind not in taken:
                yield Breach(at, f"{subject.model} takes no {kind}", "write it as text, or use another model")


_MEDIA = {"image_url": "image", "input_audio": "audio", "file": "document", "video_url": "video"}


@rule("OAC-026", "warning")
def models_without_a_system_role(subject: Subject) -> Iterator[Breach]:
    """Models without a system role get no `system` and no `developer` message.

    Why: o1-mini refuses both ("'messages[0].role' does not support 'system' with this model").

    Good: `{"model": "o1-mini", "messages": [{"role": "user", "content": "Be brief. What is 2 + 2?"}]}`

    Bad: `{"model": "o1-mini", "messages": [{"role": "system", "content": "Be brief."}, ...]}`

    Source: recorded 400 of o1-mini for each of the two roles. One model was recorded, so the finding is a warning.
    """
    for here, message in messages(subject) if not subject.profile.system else ():
        if word(message, "role") in ("system", "developer"):
            yield Breach((*here, "role"), f"{subject.model} has no system role", "write it as the user")


def _part(at: Path, part: Object | str) -> Iterator[Breach]:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not isinstance(kind, str):
        yield Breach(at, "a content part must be an object with a type")
    elif kind not in _PARTS:
        yield Breach((*at, "type"), f"no content part is called {quoted(kind)}", severity="warning")
    elif part.get(_PARTS[kind]) is None:
        yield Breach(at, f"a {kind} part needs its {_PARTS[kind]}")
    elif kind == "text" and not isinstance(part["text"], str):
        yield Breach((*at, "text"), "the text of a part must be a string")
