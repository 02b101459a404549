"""Owns the rules for items of Responses: calls and their outputs, replayed reasoning, parts of messages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...canon.parts import Path
from ...rules.helpers import Object, Place, arguments, given, items, listed, no_image, quoted, word
from ...rules.rule import Breach, Level, Subject, rule

CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
OUTPUTS = {output: call for call, output in CALLS.items()}
LONGEST_ID = 64
_ITEM_ID = re.compile(r"(fc|ctc)_[0-9a-f]{20,}")
_INPUT_PARTS = ("input_text", "input_image", "input_file", "input_audio")
_OUTPUT_PARTS = ("output_text", "refusal")
_NO_DOCUMENT = (".mp3", ".wav", ".ogg", ".flac", ".m4a", ".mp4", ".mov", ".webm", ".avi")
_FILES = ("file_data", "file_id", "file_url")


def history(subject: Subject) -> list[Place]:
    """The items of a request's input, or of a response's output."""
    return items(subject.document, "input" if subject.kind == "request" else "output")


def server_holds_history(document: Object) -> bool:
    """Whether the server holds the earlier items. Then the input may lack the call of an output."""
    references = any(word(item, "type") == "item_reference" for _, item in items(document, "input"))
    return bool(references or given(document, "previous_response_id", "conversation", "prompt"))


def _kind(item: Object) -> str:
    return word(item, "type") or ("message" if "role" in item else "")


@rule("OAR-004", "error")
def calls_are_answered_once(subject: Subject) -> Iterator[Breach]:
    """Every `function_call` and `custom_tool_call` has exactly one output with its `call_id` later in the input.

    Why: a call without its output is refused ("No tool output found for function call"). Calls that are `async` may be
    answered in a later request.

    Good: function_call (call_id a), function_call_output (call_id a)

    Bad: function_call (call_id a), user message

    Source: Error texts that several users reported (2026-11).
    """
    open_calls: dict[str, Path] = {}
    answered: set[str] = set()
    for at, item in history(subject):
        kind, name = word(item, "type"), word(item, "call_id")
        if kind in CALLS and item.get("async") is not True:
            open_calls[name] = at
        elif kind in OUTPUTS and name:
            if name in answered:
                yield Breach(at, f"call {quoted(name)} is answered a second time", "drop one of the outputs")
            answered.add(name)
            open_calls.pop(name, None)
    for name, at in open_calls.items():
        yield Breach(at, f"call {quoted(name)} has no output after it", "add its output")


@rule("OAR-005", "error")
def outputs_have_their_call(subject: Subject) -> Iterator[Breach]:
    """Every output refers to a call before it, and its kind fits the call's kind.

    Why: an output without its call is refused ("No tool call found for function call output with call_id"). The server
    may hold the call: with `previous_response_id`, `conversation` or an item reference there is no finding. Other calls
    with a `call_id`, such as a client's tool search, may have a function's output.

    Good: custom_tool_call (call_id a), custom_tool_call_output (call_id a)

    Bad: custom_tool_call (call_id a), function_call_output (call_id a)

    Source: Types of the openai SDK 3.49.0 for items (2026-11); a recorded answer 200 of gpt-5.6 to such an
    output.
    """
    known: dict[str, str] = {}
    elsewhere = server_holds_history(subject.document)
    for at, item in history(subject):
        kind, name = word(item, "type"), word(item, "call_id")
        if kind in CALLS or (kind.endswith("_call") and name):
            known[name] = kind
        elif kind not in OUTPUTS:
            continue
        elif not name:
            message = "an output should name its call_id"
            yield Breach(at, message, "name the call it answers", "warning" if given(item, "name") else None)
        elif name not in known:
            if not elsewhere:
                yield Breach((*at, "call_id"), f"no call {quoted(name)} comes before this output")
        elif known[name] in CALLS and known[name] != OUTPUTS[kind]:
            yield Breach((*at, "type"), f"{kind} answers a {known[name]}", f"write {CALLS[known[name]]}")


@rule("OAR-006", "error", "request", "response")
def call_ids_fit(subject: Subject) -> Iterator[Breach]:
    """`call_id` is there and at most 64 characters long; one that looks like an item's id is a warning.

    Why: a longer one is refused (string_above_max_length). `id` names the item, `call_id` joins call and output: an
    `fc_` id in place of the `call_id` is the commonest mistake.

    Good: `{"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "f", "arguments": "{}"}`

    Bad: a `call_id` of 65 characters

    Source: Error texts that several users reported (2026-11).
    """
    seen: set[str] = set()
    for at, item in history(subject):
        kind, name = word(item, "type"), word(item, "call_id")
        if kind not in CALLS and kind not in OUTPUTS:
            continue
        if not name:
            if kind in CALLS:
                yield Breach(at, "the call has no call_id", "give it one")
        elif len(name) > LONGEST_ID:
            yield Breach((*at, "call_id"), f"a call_id of {len(name)} characters; {LONGEST_ID} are taken", "shorten it")
        elif _ITEM_ID.fullmatch(name):
            message = f"{quoted(name)} looks like the id of an item"
            yield Breach((*at, "call_id"), message, "use the call_id of the call", "warning")
        if kind in CALLS and name in seen:
            yield Breach((*at, "call_id"), f"two calls have the call_id {quoted(name)}", "make it unique")
        if kind in CALLS:
            seen.add(name)


@rule("OAR-007", "error", "request", "response")
def arguments_are_text(subject: Subject) -> Iterator[Breach]:
    """`arguments` of a function call is JSON text, `input` of a custom call is text; no JSON object is a warning.

    Why: an object where text is expected is a type error for the server and for every SDK.

    Good: `"arguments": "{\\"city\\": \\"Rome\\"}"`

    Bad: `"arguments": {"city": "Rome"}`

    Source: Types of the openai SDK 3.49.0 for items (2026-11).
    """
    for at, item in history(subject):
        if word(item, "type") == "function_call":
            ended = word(item, "status") != "incomplete"
            yield from arguments((*at, "arguments"), item.get("arguments"), ended=ended)
        elif word(item, "type") == "custom_tool_call" and not isinstance(item.get("input"), str):
            yield Breach((*at, "input"), "the input of a custom call must be text", "write it as a string")


@rule("OAR-008", "error")
def reasoning_goes_along(subject: Subject) -> Iterator[Breach]:
    """A reasoning item is followed by the item that it led to; a call that keeps its item id keeps its reasoning item.

    Why: the server checks the pairs by their ids ("Item 'rs_...' of type 'reasoning' was provided without its required
    following item", "Item 'fc_...' was provided without its required 'reasoning' item").

    Good: reasoning rs_1, function_call fc_1, function_call_output

    Bad: reasoning rs_1, user message

    Source: Error texts that several users reported (2026-11). The second half needs the response before (a
    conversation).
    """
    turns = history(subject)
    following: Object = {}
    for at, item in reversed(turns):
        if word(item, "type") != "reasoning":
            following = item
        elif not following or word(following, "role") in ("user", "system", "developer"):
            # The server looks a reasoning item up by its id. Without an id it has nothing to look up.
            severity: Level | None = None if word(item, "id") else "warning"
            fix = "remove the reasoning item, or keep the item after it"
            yield Breach(at, "the item that followed from the reasoning is missing", fix, severity)
    ids = {word(item, "id"): at for at, item in turns if word(item, "id")}
    reason = ""
    for _, item in items(subject.before, "output"):
        if word(item, "type") == "reasoning":
            reason = word(item, "id")
        elif reason and word(item, "id") in ids and reason not in ids and not server_holds_history(subject.document):
            message = f"{item['id']} is sent back without its reasoning {reason}"
            yield Breach(ids[item["id"]], message, "send the reasoning item back, or drop the id")


@rule("OAR-009", "error")
def stateless_reasoning_is_encrypted(subject: Subject) -> Iterator[Breach]:
    """With `store: false` on a reasoning model every replayed reasoning item has `encrypted_content`.

    Why: the server kept nothing, so an id alone leads nowhere ("Item with id 'rs_...' not found").

    Good: `{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}`

    Bad: `{"type": "reasoning", "id": "rs_1", "summary": []}` with `store: false`

    Source: Types of the openai SDK 3.49.0 for state and reasoning (2026-11); error texts that several users reported
    (2026-11).
    """
    if subject.document.get("store") is not False or not subject.profile.reasoning:
        return
    for at, item in history(subject):
        if word(item, "type") == "reasoning" and not given(item, "encrypted_content") and word(item, "id"):
            yield Breach(at, "replayed reasoning without encrypted_content, and nothing is stored", "ask for it")


@rule("OAR-014", "error")
def parts_fit_their_role(subject: Subject) -> Iterator[Breach]:
    """Messages of user, system and developer hold `input_*` parts, those of the assistant `output_text` and `refusal`.

    Why: the other kind is refused ("Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'").

    Good: `{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}`

    Bad: `{"role": "user", "content": [{"type": "text", "text": "Hi"}]}`

    Source: Types of the openai SDK 3.49.0 for items (2026-11).
    """
    for i, item in enumerate(listed(subject.document, "input")):
        if not isinstance(item, dict):
            yield Breach(("input", i), "an item of the input must be an object")
    for at, item in history(subject):
        if _kind(item) != "message":
            continue
        role = word(item, "role")
        if role in ("tool", "function"):
            continue  # rule SEED-012 reports these roles
        legal = _OUTPUT_PARTS if role == "assistant" else _INPUT_PARTS
        if role not in ("user", "system", "developer", "assistant"):
            yield Breach((*at, "role"), f"no message has the role {quoted(role)}")
            continue
        for here, part in items(item, "content", at):
            if word(part, "type") not in legal:
                message = f"a part of type {quoted(part.get('type'))} in a message of {role}"
                yield Breach((*here, "type"), message, f"use {legal[0]}")


def _parts(subject: Subject) -> list[Place]:
    """The parts of messages and of outputs."""
    found: list[Place] = []
    for at, item in history(subject):
        found += items(item, "content", at) + items(item, "output", at)
    return found


@rule("OAR-015", "error")
def media_is_there(subject: Subject) -> Iterator[Breach]:
    """`input_image` has `image_url` or `file_id`; `input_file` has data, id or address, and a filename with its data.

    Why: the server has nothing to look at otherwise, and refuses.

    Good: `{"type": "input_file", "file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}`

    Bad: `{"type": "input_image"}`

    Source: Types of the openai SDK 3.49.0 for items (2026-11).
    """
    for at, part in _parts(subject):
        kind = word(part, "type")
        if kind == "input_image" and not given(part, "image_url", "file_id"):
            yield Breach(at, "an image needs image_url or file_id")
        elif kind == "input_file":
            if not given(part, *_FILES):
                yield Breach(at, "a file needs file_data, file_id or file_url")
            elif given(part, "file_data") and not given(part, "filename"):
                yield Breach(at, "file_data needs a filename", "name the file")


@rule("OAR-016", "error")
def compaction_comes_last(subject: Subject) -> Iterator[Breach]:
    """A `compaction_trigger` is the last item.

    Why: the trigger asks for a compaction of all earlier items. No item may follow.

    Good: user message, compaction_trigger

    Bad: compaction_trigger, user message

    Source: Types of the openai SDK 3.49.0 for items (2026-11).
    """
    for at, item in history(subject)[:-1]:
        if word(item, "type") == "compaction_trigger":
            yield Breach(at, "compaction_trigger is not the last item", "move it to the end")


@rule("OAR-018", "warning")
def phase_is_kept(subject: Subject) -> Iterator[Breach]:
    """An assistant message that had a `phase` keeps it when it is sent back.

    Why: newer models distinguish commentary from the final answer by `phase`. Without `phase` their answers are worse.

    Good: `{"role": "assistant", "phase": "commentary", "content": [...]}`

    Bad: some assistant messages of the input have a phase and others have none

    Source: Types of the openai SDK 3.49.0 for items (2026-11).
    """
    messages = [(at, item) for at, item in history(subject) if word(item, "role") == "assistant"]
    phases = {word(item, "id"): word(item, "phase") for _, item in items(subject.before, "output")}
    mixed = any(given(item, "phase") for _, item in messages)
    for at, item in messages:
        if not given(item, "phase") and (mixed or phases.get(word(item, "id"))):
            yield Breach(at, "an assistant message has lost its phase", "send it back as it came")


@rule("OAR-021", "error")
def files_can_be_read(subject: Subject) -> Iterator[Breach]:
    """`file_data` is a data URL of a document, and `file_url` leads to one: no audio, video or image.

    Why: the server reads documents from files ("Expected a base64-encoded data URL with a valid file MIME type", "The
    file type you uploaded is not supported").

    Good: `"file_data": "data:application/pdf;base64,AAAA"`

    Bad: `"file_data": "data:audio/mpeg;base64,AAAA"`

    Source: recorded 400 of gpt-5-mini, for audio as `file_data` and as `file_url`.
    """
    for at, part in _parts(subject):
        if word(part, "type") != "input_file":
            continue
        data = word(part, "file_data")
        if word(part, "file_url").lower().endswith(_NO_DOCUMENT):
            yield Breach((*at, "file_url"), "the address leads to audio or video, which is refused")
        if data:
            kind = data[5:].partition(";")[0] if data.startswith("data:") else ""
            if not kind:
                yield Breach((*at, "file_data"), "file_data is not a data URL", "write data:TYPE;base64,...", "warning")
            elif kind.startswith(("audio/", "video/", "image/")):
                yield Breach((*at, "file_data"), f"files of type {kind} are refused")


@rule("OAR-022", "error")
def images_are_images(subject: Subject) -> Iterator[Breach]:
    """The data URL of an image holds the base64 of a PNG, JPEG, GIF or WebP image.

    Why: the server looks at the bytes, not at the declared type ("You uploaded an unsupported image").

    Good: `{"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="}`

    Bad: `{"type": "input_image", "image_url": "data:image/png;base64,PGh0bWw+"}`

    Source: the same refusal in Chat Completions: recorded 400 of gpt-4o-mini.
    """
    for at, part in _parts(subject):
        yield from no_image((*at, "image_url"), word(part, "image_url"))


def tool_items(subject: Subject) -> list[Place]:
    """The tool declarations in items of the input."""
    found: list[Place] = []
    for at, item in history(subject) if subject.kind == "request" else ():
        if word(item, "type") in ("additional_tools", "tool_search_output"):
            found += items(item, "tools", at)
    return found
