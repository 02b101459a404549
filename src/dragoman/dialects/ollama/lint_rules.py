"""Owns all rules for Ollama's /api/chat (OLL-...)."""

from __future__ import annotations

from collections.abc import Iterator

from ...rules.helpers import (
    Object,
    Place,
    beyond,
    declarations,
    frames,
    given,
    items,
    kind_of,
    listed,
    quoted,
    schemas,
    sub,
    word,
)
from ...rules.rule import Breach, Subject, rule, rules_of

_ROOT_WORDS = frozenset({"type", "$defs", "items", "required", "properties"})
_PROPERTY_WORDS = frozenset({"anyOf", "type", "items", "description", "enum", "properties", "required"})
_OPTIONS = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "typical_p",
    "seed",
    "num_predict",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "repeat_penalty",
    "repeat_last_n",
    "num_ctx",
)
_IGNORED = ("tool_choice", "parallel_tool_calls", "n", "response_format")
_THINK = (True, False, "low", "medium", "high", "max")


def _messages(subject: Subject) -> list[Place]:
    if subject.kind == "stream":
        return [((i, "message"), sub(frame, "message")) for i, frame in frames(subject)]
    if subject.kind == "response":
        return [(("message",), sub(subject.document, "message"))]
    return items(subject.document, "messages")


def _schemas(subject: Subject) -> Iterator[tuple[Place, bool]]:
    """Every schema of every tool, with a flag for the root schema."""
    for at, tool in declarations(subject):
        root = (*at, "function", "parameters")
        for place, schema in schemas(sub(tool, "function").get("parameters"), root):
            yield (place, schema), place == root


@rule("OLL-001", "error")
def texts_are_strings(subject: Subject) -> Iterator[Breach]:
    """`model` is there, and the content of a message is a string.

    Why: the server decodes `content` into a string and answers 400 for lists of parts; images have a field of their
    own.

    Good: `{"role": "user", "content": "What is this?", "images": ["iVBORw0..."]}`

    Bad: `{"role": "user", "content": [{"type": "text", "text": "What is this?"}]}`

    Source: Ollama's server, source code for request fields and messages (2026-08).
    """
    if not subject.model and not word(subject.document, "model"):
        yield Breach(("model",) if "model" in subject.document else (), "the request names no model", "add model")
    for at, message in _messages(subject):
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            yield Breach((*at, "content"), f"content is {kind_of(content)}, not a string", "join the texts")


@rule("OLL-002", "error", "request", "response", "stream")
def arguments_are_objects(subject: Subject) -> Iterator[Breach]:
    """The `arguments` of a call are an object.

    Why: JSON text is the shape of Chat Completions; the server cannot decode it here.

    Good: `{"function": {"name": "f", "arguments": {"x": 1}}}`

    Bad: `{"function": {"name": "f", "arguments": "{\\"x\\": 1}"}}`

    Source: Ollama's server, source code for messages (2026-08).
    """
    for at, message in _messages(subject):
        for place, call in items(message, "tool_calls", at):
            value = sub(call, "function").get("arguments")
            if value is not None and not isinstance(value, dict):
                here = (*place, "function", "arguments")
                yield Breach(here, f"arguments are {kind_of(value)}, not an object", "decode them")


@rule("OLL-003", "warning")
def results_are_named(subject: Subject) -> Iterator[Breach]:
    """A tool message names its tool in `tool_name`.

    Why: templates match results by name and order; without the name the model may not know what was answered. The
    server does not check it.

    Good: `{"role": "tool", "tool_name": "f", "content": "42"}`

    Bad: `{"role": "tool", "content": "42"}`

    Source: Ollama's server, source code for tools and messages (2026-08).
    """
    for at, message in _messages(subject):
        if message.get("role") == "tool" and not word(message, "tool_name"):
            yield Breach(at, "the tool message has no tool_name", "name the tool that was called")


@rule("OLL-004", "warning", "request", "tools")
def kept_keywords(subject: Subject) -> Iterator[Breach]:
    """Tool schemas use only keywords the server keeps.

    Why: all others are dropped before the template is rendered, so the model never sees them.

    Good: `{"type": "object", "properties": {"x": {"type": "integer", "description": "0 to 9"}}}`

    Bad: `{"type": "object", "properties": {"x": {"type": "integer", "maximum": 9}}}`

    Source: Ollama's server, source code for tools (2026-08).
    """
    for (at, schema), root in _schemas(subject):
        for name in schema:
            if name not in (_ROOT_WORDS if root else _PROPERTY_WORDS) and name != "$ref":
                yield Breach((*at, name), f"{name} is dropped by the server", "write it into the description")


@rule("OLL-005", "error", "request", "tools")
def references(subject: Subject) -> Iterator[Breach]:
    """No `$ref` in a property.

    Why: the keyword is dropped and leaves an empty schema: the model does not learn what the parameter is.

    Good: `{"properties": {"a": {"type": "object", "properties": {"x": {"type": "integer"}}}}}`

    Bad: `{"properties": {"a": {"$ref": "#/$defs/A"}}}`

    Source: Ollama's server, source code for tools (2026-08).
    """
    for (at, schema), _ in _schemas(subject):
        if "$ref" in schema:
            yield Breach((*at, "$ref"), "$ref is dropped by the server", "inline what it refers to")


@rule("OLL-006", "error")
def options(subject: Subject) -> Iterator[Breach]:
    """Sampling settings are in `options`.

    Why: at the top level they are ignored, and the model's defaults hold.

    Good: `{"options": {"temperature": 0, "num_predict": 100}}`

    Bad: `{"temperature": 0, "max_tokens": 100}`

    Source: Ollama's server, source code for request fields (2026-08).
    """
    other = {"max_tokens": "num_predict", "max_completion_tokens": "num_predict"}
    for name in given(subject.document, *_OPTIONS):
        yield Breach((name,), f"{name} is ignored at the top level", f"write options.{other.get(name, name)}")


@rule("OLL-007", "warning")
def ignored_fields(subject: Subject) -> Iterator[Breach]:
    """No fields of Chat Completions that have no meaning here.

    Why: `tool_choice`, `parallel_tool_calls`, `n` and `response_format` are ignored without a word.

    Good: `{"format": "json"}`

    Bad: `{"response_format": {"type": "json_object"}}`

    Source: Ollama's server, source code for request fields (2026-08).
    """
    for name in given(subject.document, *_IGNORED):
        fix = "write format" if name == "response_format" else "leave it out"
        yield Breach((name,), f"{name} is ignored", fix)


@rule("OLL-008", "error")
def images(subject: Subject) -> Iterator[Breach]:
    """Images are bare base64.

    Why: the server decodes the text unchanged; a data URL or an address is an "illegal base64 data" error.

    Good: `"images": ["iVBORw0KGgo..."]`

    Bad: `"images": ["data:image/png;base64,iVBORw0KGgo..."]`

    Source: Ollama's server, source code for messages (2026-08).
    """
    for at, message in _messages(subject):
        for i, image in enumerate(listed(message, "images")):
            if not isinstance(image, str):
                yield Breach((*at, "images", i), f"an image is {kind_of(image)}, not base64 text")
            elif image[:5].lower() == "data:" or "://" in image[:32]:
                yield Breach(
                    (*at, "images", i), "an image is an address, not bare base64", "send the bytes in base64 alone"
                )


@rule("OLL-009", "error")
def think(subject: Subject) -> Iterator[Breach]:
    """`think` is true, false, or one of low, medium, high, max.

    Why: the server refuses other values.

    Good: `{"think": "low"}`

    Bad: `{"think": "minimal"}`

    Source: Ollama's server, source code for request fields (2026-08).
    """
    value = subject.document.get("think")
    allowed = [one for one in _THINK if type(one) is type(value) and one == value]
    if value is not None and not allowed:
        yield Breach(("think",), f"think is {quoted(value)}", "true, false, low, medium, high or max")


@rule("OLL-010", "error")
def logprobs(subject: Subject) -> Iterator[Breach]:
    """`top_logprobs` is between 0 and 20.

    Why: the server refuses other numbers.

    Good: `{"logprobs": true, "top_logprobs": 5}`

    Bad: `{"logprobs": true, "top_logprobs": 50}`

    Source: Ollama's server, source code for request fields (2026-08).
    """
    yield from beyond(subject.document, {"top_logprobs": (0.0, 20.0)})


@rule("OLL-011", "warning")
def order_of_results(subject: Subject) -> Iterator[Breach]:
    """Tool results come in the order of the calls.

    Why: ids are not checked; templates show results by their place, so the model takes one for the other.

    Good: assistant (calls f, g), tool (f), tool (g)

    Bad: assistant (calls f, g), tool (g), tool (f)

    Source: Ollama's server, source code for call ids (2026-08).
    """
    messages = _messages(subject)
    for i, (_, message) in enumerate(messages):
        calls = [call for _, call in items(message, "tool_calls")]
        ids = {word(call, "id") for call in calls}
        names = {word(sub(call, "function"), "name") for call in calls}
        for (at, answer), call in zip(messages[i + 1 : i + 1 + len(calls)], calls, strict=False):
            if answer.get("role") != "tool":
                break
            if _elsewhere(answer, call, ids, names):
                yield Breach(at, "the result is at the place of another call", "put results in the order of calls")


def _elsewhere(answer: Object, call: Object, ids: set[str], names: set[str]) -> bool:
    """True if a result belongs to another call of the same step. The step's calls have these ids and names."""
    own, name = word(answer, "tool_call_id"), word(answer, "tool_name")
    if own and word(call, "id"):
        return own != word(call, "id") and own in ids
    return bool(name) and name != word(sub(call, "function"), "name") and name in names


@rule("OLL-S01", "error", "stream")
def done_last(subject: Subject) -> Iterator[Breach]:
    """A stream has exactly one line with `done: true`, its last, unless an error line ends it.

    Why: the last line carries the reason and the counters; clients stop reading there.

    Good: {..., "done": false}, {..., "done": true, "done_reason": "stop"}

    Bad: {..., "done": false}

    Source: Ollama's server, source code for streaming (2026-08).
    """
    lines = frames(subject)
    ends = [place for place, (_, line) in enumerate(lines) if line.get("done") is True or "error" in line]
    if not ends:
        yield Breach((lines[-1][0],) if lines else (), "the stream ends without done: true and without an error")
    elif ends[0] != len(lines) - 1:
        yield Breach((lines[ends[0] + 1][0],), "a line comes after the end of the stream")


RULES = rules_of(globals())
