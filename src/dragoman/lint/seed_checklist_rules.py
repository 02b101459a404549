"""Owns the Do/Don't checklists of a reference document as rules, for the four dialects in them.

The project began with five reference documents about tool calling, called seeds here and numbered 000 to 004. They are
not in the repository. Seed 000 has a checklist for each of four dialects: things that a request should do, and
things that it must not do. The list below repeats every line of these checklists in short, so the document itself is
not needed. The page "Where we differ from the seed documents" of the documentation describes all five.

The rules for each line of the checklists (A Anthropic, R Responses, C Chat Completions, G Gemini, in their order):

A1 tools as `{name, input_schema}`, right parameter names: SEED-001, SEED-005
A2 results in a new user message: SEED-002
A3 ids match: ANT-007
A4 instructions in `system`: SEED-003
A5 results are text, binaries summarised: SEED-004
A6 no results in assistant messages: SEED-002
A7 `absolute_path` for `read_file`: SEED-005
A8 no `tool` role: ANT-025
R1 calls as `function_call` items: SEED-011, OAR-007
R2 results as `function_call_output` items: SEED-012, OAR-005
R3 function and hosted tools in `tools[]`: SEED-013
R4 `instructions` is a string: SEED-014
R5 no `tool` role messages: SEED-012
R6 no binaries in outputs: SEED-015
R7 no nested `function` object: OAR-002
C1 tools as `{type, function}`: SEED-021
C2 calls in `tool_calls[]`, results as `tool` messages: SEED-022, OAC-005
C3 arguments as a JSON string: OAC-007
C4 system content as a message: SEED-023
C5 no `input[]`, no items: SEED-024
C6 function tools only: SEED-025
C7 no binaries in tool messages: OAC-008, SEED-026
G1 tools as `functionDeclarations`: SEED-031
G3 results from the user with the call's id: SEED-032, GEM-007
G4 binaries beside the result: SEED-033
G5 `systemInstruction`: SEED-034
G6 no results in model parts: SEED-032
G7 no `messages[]` or `input[]`: SEED-035
G8 right parameter names: SEED-036

Parameter names in declarations: SEED-041 (`own_tool_parameter_name_rules.py`, rule set `seeds`). The rule
is off by default, because a client may name the parameters of its own tools as it likes.

The translation checklist (schema fields, ids on the return path, binary returns) has the same points: SEED-001, 013,
021, 031; ANT-007, OAR-005, OAC-005, GEM-007; SEED-004, 015, 026, 033. The guidance "preserve the call id", "keep
outputs text", "send reasoning items back" is OAC-005, OAR-005, ANT-007; OAC-008; OAR-008 and OAR-009.

Two lines are not about a payload and have no rule: G2 (how a client reads calls from parts), and the part of R3 about
enabling a hosted tool.

The seeds are older than today's protocols. Today's protocols allow media in results, custom tools in Chat Completions,
and system turns in mid-conversation. So these rules report only what is still a mistake in November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..canon.parts import Path
from ..rules.helpers import (
    Place,
    binary_text,
    declarations,
    given,
    items,
    listed,
    quoted,
    renamed_parameters,
    sub,
    texts,
    word,
)
from ..rules.rule import Breach, Rule, Subject, rule

_INSTRUCTIONS = ("system", "instructions", "systemInstruction", "system_instruction")


# Anthropic


@rule("SEED-001", "error", "request", "tools")
def anthropic_tool_shape(subject: Subject) -> Iterator[Breach]:
    """Anthropic: a tool of one's own is `{name, input_schema}`, not the shape of another dialect.

    Why: the server refuses a tool without them ("tools.0.custom.input_schema: Field required").

    Good: `{"name": "read_file", "input_schema": {"type": "object", "properties": {}}}`

    Bad: `{"type": "function", "function": {"name": "read_file", "parameters": {}}}`

    Source: Types of the anthropic SDK 2.8.0 for tools (2026-11).
    """
    for at, tool in declarations(subject):
        # Tools of other types are Anthropic's own, and have no input_schema.
        if tool.get("type") is None or word(tool, "type") in ("custom", "function"):
            for key in ("name", "input_schema"):
                if key not in tool:
                    yield Breach(at, f"a tool of one's own has {key}", "write {name, description, input_schema}")


def _anthropic_blocks(subject: Subject, kind: str) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    for at, message in items(subject.document, "messages"):
        for here, block in items(message, "content", at):
            if word(block, "type") == kind:
                yield word(message, "role"), here, block


@rule("SEED-002", "error")
def anthropic_results_come_from_the_user(subject: Subject) -> Iterator[Breach]:
    """Anthropic: tool results are in a user message of their own, never in the assistant's.

    Why: an assistant message with `tool_result` is refused; there the result would count as text of the model.

    Good: `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}`

    Bad: `{"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}`

    Source: Types of the anthropic SDK 2.8.0 for messages and blocks (2026-11).
    """
    for role, at, _ in _anthropic_blocks(subject, "tool_result"):
        if role != "user":
            yield Breach(at, f"a tool_result is in a message of {role or 'nobody'}", "move it to a user message")


@rule("SEED-003", "warning")
def anthropic_instructions(subject: Subject) -> Iterator[Breach]:
    """Anthropic: global instructions are in `system`, not in a first message with the role system or developer.

    Why: Messages has no system message at the start; newer models take system turns only in mid-conversation.

    Good: `{"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]}`

    Bad: `{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}`

    Source: Types of the anthropic SDK 2.8.0 for messages and blocks (2026-11).
    """
    for at, message in items(subject.document, "messages")[:1]:
        if word(message, "role") in ("system", "developer"):
            yield Breach((*at, "role"), "the instructions are the first message", "move them to system")
    for key in given(subject.document, *_INSTRUCTIONS[1:]):
        yield Breach((key,), f"{key} is a field of another dialect", "move it to system")


@rule("SEED-004", "warning")
def anthropic_binary_results(subject: Subject) -> Iterator[Breach]:
    """Anthropic: the text of a tool result holds no binary data.

    Why: base64 as text costs tokens and has no meaning for the model. Describe the content in words, or
    send the bytes in an image or document block.

    Good: `"content": "Binary content of type image/png was processed."`

    Bad: `"content": "data:image/png;base64,iVBORw0..."`

    Source: Types of the anthropic SDK 2.8.0 for messages and blocks (2026-11).
    """
    for _, at, block in _anthropic_blocks(subject, "tool_result"):
        yield from binary_text([((*at, "content"), text) for text in texts(block.get("content"), "text")])


@rule("SEED-005", "warning")
def anthropic_parameter_names(subject: Subject) -> Iterator[Breach]:
    """Anthropic: a call uses the parameter names that its tool declares (`read_file` has `absolute_path`).

    Why: a call with renamed parameters shows the model names that the tool does not know.

    Good: `{"type": "tool_use", "id": "t1", "name": "read_file", "input": {"absolute_path": "/a"}}`

    Bad: `{"type": "tool_use", "id": "t1", "name": "read_file", "input": {"file_path": "/a"}}`

    Source: The declaration of the tool in the same document. For a call without a declaration, the parameter names of
    dragoman's own tools.
    """
    schemas = {word(tool, "name"): tool.get("input_schema") for _, tool in declarations(subject)}
    found = _anthropic_blocks(subject, "tool_use")
    calls = [((*at, "input"), word(block, "name"), block.get("input")) for _, at, block in found]
    yield from renamed_parameters(calls, schemas)


# OpenAI Responses


@rule("SEED-011", "error")
def responses_calls_are_items(subject: Subject) -> Iterator[Breach]:
    """Responses: calls are items `{type: "function_call", call_id, name, arguments}`, not `tool_calls` of a message.

    Why: `tool_calls` is the shape of Chat Completions; the server refuses it as an unknown parameter.

    Good: `{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}`

    Bad: `{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}`

    Source: Types of the openai SDK 3.49.0 for items (2026-11).
    """
    for at, item in items(subject.document, "input"):
        if given(item, "tool_calls"):
            yield Breach((*at, "tool_calls"), "calls are inside a message", "write each as a function_call item")


@rule("SEED-012", "error")
def responses_results_are_items(subject: Subject) -> Iterator[Breach]:
    """Responses: results are items `{type: "function_call_output", call_id, output}`, not messages of the role tool.

    Why: the role does not exist here; the server refuses it.

    Good: `{"type": "function_call_output", "call_id": "a", "output": "ok"}`

    Bad: `{"role": "tool", "tool_call_id": "a", "content": "ok"}`

    Source: Types of the openai SDK 3.49.0 for items (2026-11).
    """
    for at, item in items(subject.document, "input"):
        if word(item, "role") in ("tool", "function"):
            yield Breach((*at, "role"), "a result is a message", "write a function_call_output item")


@rule("SEED-013", "error", "request", "tools")
def responses_tools_have_a_type(subject: Subject) -> Iterator[Breach]:
    """Responses: every tool has a type: function, custom, or a hosted one such as web_search or local_shell.

    Why: the server recognises the tool by its type; without a type the request is refused.

    Good: `[{"type": "function", "name": "f", "parameters": {"type": "object"}}, {"type": "web_search"}]`

    Bad: `[{"name": "f", "parameters": {"type": "object", "properties": {}}}]`

    Source: Types of the openai SDK 3.49.0 for tools (2026-11).
    """
    for at, tool in declarations(subject):
        if not word(tool, "type"):
            yield Breach(at, "the tool has no type", "add type function")


@rule("SEED-014", "error")
def responses_instructions(subject: Subject) -> Iterator[Breach]:
    """Responses: `instructions` is a string, and the instructions of other dialects are not sent.

    Why: lists of blocks and fields such as `system` belong to other dialects and are refused.

    Good: `"instructions": "Be brief."`

    Bad: `"instructions": [{"type": "text", "text": "Be brief."}]`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11).
    """
    if not isinstance(subject.document.get("instructions"), str | None):
        yield Breach(("instructions",), "instructions must be a string", "join its texts")
    for key in given(subject.document, "system", "systemInstruction", "system_instruction"):
        yield Breach((key,), f"{key} is a field of another dialect", "move it to instructions")


@rule("SEED-015", "warning")
def responses_binary_outputs(subject: Subject) -> Iterator[Breach]:
    """Responses: the text of an output holds no binary data.

    Why: base64 as text costs tokens and has no meaning for the model. Describe the content in words, or
    send the bytes in an `input_image` or `input_file` part.

    Good: `"output": "Binary content of type image/png was processed."`

    Bad: `"output": "data:image/png;base64,iVBORw0..."`

    Source: Types of the openai SDK 3.49.0 for items (2026-11).
    """
    for at, item in items(subject.document, "input"):
        if word(item, "type") in ("function_call_output", "custom_tool_call_output"):
            yield from binary_text([((*at, "output"), text) for text in texts(item.get("output"), "input_text")])


# OpenAI Chat Completions


@rule("SEED-021", "error", "request", "tools")
def chat_tool_shape(subject: Subject) -> Iterator[Breach]:
    """Chat: a tool is `{type: "function", function: {name, parameters}}`, not the flat shape of other dialects.

    Why: the server looks for the inner object and refuses ("Missing required parameter: 'tools[0].function'").

    Good: `{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}`

    Bad: `{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}`

    Source: Types of the openai SDK 3.49.0 for tools (2026-11).
    """
    for at, tool in declarations(subject):
        kind = word(tool, "type")
        if kind in ("function", "custom") and not isinstance(tool.get(kind), dict):
            yield Breach(at, f"a {kind} tool has its declaration in {kind}", f"nest it under {kind}")
        elif not kind and any(key in tool for key in ("name", "input_schema", "functionDeclarations")):
            yield Breach(at, "a tool has a type, and its declaration in function", "nest it under function")


@rule("SEED-022", "error")
def chat_calls_come_from_the_assistant(subject: Subject) -> Iterator[Breach]:
    """Chat: `tool_calls` is in assistant messages only; results are messages of the role tool.

    Why: a call in a message of another role is refused, and `tool_result` blocks are of another dialect.

    Good: `{"role": "assistant", "tool_calls": [...]}`, `{"role": "tool", "tool_call_id": "a", "content": "ok"}`

    Bad: `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]}`

    Source: Types of the openai SDK 3.49.0 for messages (2026-11).
    """
    for at, message in items(subject.document, "messages"):
        if given(message, "tool_calls") and word(message, "role") != "assistant":
            yield Breach((*at, "tool_calls"), f"calls are in a message of {word(message, 'role') or 'nobody'}")
        for here, part in items(message, "content", at):
            if word(part, "type") in ("tool_use", "tool_result"):
                yield Breach(here, f"{part['type']} is a block of another dialect", "use tool_calls and role tool")


@rule("SEED-023", "error")
def chat_instructions(subject: Subject) -> Iterator[Breach]:
    """Chat: system content is a message `{role: "system"}`, not a field of another dialect.

    Why: unknown parameters are refused; a host that ignores them leaves the model without its instructions.

    Good: `{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}`

    Bad: `{"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]}`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11).
    """
    for key in given(subject.document, *_INSTRUCTIONS):
        yield Breach((key,), f"{key} is a field of another dialect", "make it the first message, role system")


@rule("SEED-024", "error")
def chat_has_no_items(subject: Subject) -> Iterator[Breach]:
    """Chat: neither `input[]` nor the items of Responses are used.

    Why: the server reads `messages` only; an item such as function_call has no role there.

    Good: `{"messages": [{"role": "user", "content": "Hi"}]}`

    Bad: `{"input": [{"role": "user", "content": "Hi"}]}`

    Source: Types of the openai SDK 3.49.0 for request fields (2026-11).
    """
    for key in given(subject.document, "input", "contents"):
        yield Breach((key,), f"{key} is a field of another dialect", "use messages")
    for at, message in items(subject.document, "messages"):
        if "role" not in message and word(message, "type"):
            yield Breach((*at, "type"), f"{quoted(message['type'])} is an item of Responses", "write a message")


@rule("SEED-025", "warning", "request", "tools")
def chat_has_function_tools(subject: Subject) -> Iterator[Breach]:
    """Chat: tools are of type function or custom; hosted tools belong to other endpoints.

    Why: OpenAI refuses others ("Invalid value: 'web_search'. Supported values are: 'function' and 'custom'"). Some
    compatible hosts have tools of their own, so it is a warning.

    Good: `{"type": "function", "function": {"name": "web_fetch"}}`

    Bad: `{"type": "web_search"}`

    Source: Types of the openai SDK 3.49.0 for messages (2026-11).
    """
    for at, tool in declarations(subject):
        if word(tool, "type") not in ("", "function", "custom"):
            yield Breach((*at, "type"), f"no tool of type {quoted(tool['type'])} here", "wrap it as a function tool")


@rule("SEED-026", "warning")
def chat_binary_results(subject: Subject) -> Iterator[Breach]:
    """Chat: the text of a tool message holds no binary data.

    Why: base64 as text costs tokens and has no meaning for the model. Describe the content in words, and
    attach the bytes to a user message.

    Good: `{"role": "tool", "tool_call_id": "a", "content": "Binary content of type image/png was processed."}`

    Bad: `{"role": "tool", "tool_call_id": "a", "content": "data:image/png;base64,iVBORw0..."}`

    Source: Types of the openai SDK 3.49.0 for messages (2026-11).
    """
    for at, message in items(subject.document, "messages"):
        if word(message, "role") == "tool":
            yield from binary_text([((*at, "content"), text) for text in texts(message.get("content"), "text")])


# Gemini


def _one_of(holder: dict[str, Any], *keys: str) -> tuple[str, dict[str, Any]]:
    """The first key of `keys` with an object as its value, and the object."""
    for key in keys:
        if isinstance(holder.get(key), dict):
            return key, holder[key]
    return "", {}


def _gemini_parts(subject: Subject) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    for at, content in items(subject.document, "contents"):
        for here, part in items(content, "parts", at):
            yield word(content, "role"), here, part


def _gemini_functions(subject: Subject) -> list[Place]:
    found: list[Place] = []
    for at, tool in declarations(subject):
        for key in ("functionDeclarations", "function_declarations"):
            found += items(tool, key, at)
    return found


@rule("SEED-031", "error", "request", "tools")
def gemini_tool_shape(subject: Subject) -> Iterator[Breach]:
    """Gemini: functions are declared in `tools: [{functionDeclarations: [...]}]`, not in the shape of another dialect.

    Why: the server refuses unknown fields ("Unknown name \\"function\\" at 'tools[0]'").

    Good: `[{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object"}}]}]`

    Bad: `[{"type": "function", "function": {"name": "f"}}]`

    Source: Types of the google-genai SDK 3.1.0 for function calling (2026-11).
    """
    for at, tool in declarations(subject):
        for key in given(tool, "function", "name", "input_schema"):
            yield Breach((*at, key), f"{key} is not a field of a tool here", "declare it in functionDeclarations")
    for at, function in _gemini_functions(subject):
        if given(function, "input_schema"):
            yield Breach((*at, "input_schema"), "input_schema is Anthropic's name", "use parametersJsonSchema")


@rule("SEED-032", "error")
def gemini_results_come_from_the_user(subject: Subject) -> Iterator[Breach]:
    """Gemini: a `functionResponse` is in a content of the user, never in one of the model.

    Why: results always come from the user's side; in a model's content they would be its own words.

    Good: `{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]}`

    Bad: `{"role": "model", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]}`

    Source: Types of the google-genai SDK 3.1.0 for contents and parts (2026-11).
    """
    for role, at, part in _gemini_parts(subject):
        if role == "model" and _one_of(part, "functionResponse", "function_response")[0]:
            yield Breach(at, "a functionResponse is in the model's content", "move it to a user content")


@rule("SEED-033", "warning")
def gemini_binary_results(subject: Subject) -> Iterator[Breach]:
    """Gemini: binary output is in `inlineData`, beside the `functionResponse` or in its parts, not as text in it.

    Why: base64 as text costs tokens and has no meaning for the model.

    Good: a functionResponse with a short text, followed by `{"inlineData": {"mimeType": "image/png", "data": "..."}}`

    Bad: `{"functionResponse": {"name": "f", "response": {"output": "data:image/png;base64,iVBORw0..."}}}`

    Source: Types of the google-genai SDK 3.1.0 for function calling (2026-11).
    """
    for _, at, part in _gemini_parts(subject):
        key, answer = _one_of(part, "functionResponse", "function_response")
        for name, value in sub(answer, "response").items():
            if isinstance(value, str):
                yield from binary_text([((*at, key, "response", name), value)])


@rule("SEED-034", "error")
def gemini_instructions(subject: Subject) -> Iterator[Breach]:
    """Gemini: system instructions are in `systemInstruction`, not in a content with the role system.

    Why: the server knows no such role ("Please use a valid role: user, model").

    Good: `{"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": [...]}`

    Bad: `{"contents": [{"role": "system", "parts": [{"text": "Be brief."}]}]}`

    Source: Types of the google-genai SDK 3.1.0 for contents and parts (2026-11).
    """
    for at, content in items(subject.document, "contents"):
        if word(content, "role") in ("system", "developer"):
            yield Breach((*at, "role"), "the instructions are a content", "move them to systemInstruction")
    for key in given(subject.document, "system", "instructions"):
        yield Breach((key,), f"{key} is a field of another dialect", "move it to systemInstruction")


@rule("SEED-035", "error")
def gemini_containers(subject: Subject) -> Iterator[Breach]:
    """Gemini: the conversation is in `contents[]` with parts, not in `messages[]` or `input[]`.

    Why: the server refuses unknown fields, and without contents there is nothing to answer.

    Good: `{"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}`

    Bad: `{"messages": [{"role": "user", "content": "Hi"}]}`

    Source: Types of the google-genai SDK 3.1.0 for request fields (2026-11).
    """
    for key in given(subject.document, "messages", "input"):
        yield Breach((key,), f"{key} is a field of another dialect", "use contents")
    for at, content in items(subject.document, "contents"):
        if given(content, "content") and not listed(content, "parts"):
            yield Breach((*at, "content"), "the content has no parts", "use parts")


@rule("SEED-036", "warning")
def gemini_parameter_names(subject: Subject) -> Iterator[Breach]:
    """Gemini: a call uses the parameter names that its function declares (`read_file` has `absolute_path`).

    Why: a call with renamed parameters shows the model names that the function does not know.

    Good: `{"functionCall": {"name": "write_file", "args": {"file_path": "/a", "content": "x"}}}`

    Bad: `{"functionCall": {"name": "read_file", "args": {"file_path": "/a"}}}`

    Source: The declaration of the tool in the same document. For a call without a declaration, the parameter names of
    dragoman's own tools.
    """
    schemas: dict[str, Any] = {}
    for _, function in _gemini_functions(subject):
        schema = function.get("parametersJsonSchema") or function.get("parameters_json_schema")
        schemas[word(function, "name")] = schema or function.get("parameters")
    calls: list[tuple[Path, str, Any]] = []
    for _, at, part in _gemini_parts(subject):
        key, call = _one_of(part, "functionCall", "function_call")
        if key:
            calls.append(((*at, key, "args"), word(call, "name"), call.get("args")))
    yield from renamed_parameters(calls, schemas)


def _numbered(first: int, last: int) -> tuple[Rule, ...]:
    found = [value for value in globals().values() if isinstance(value, Rule)]
    return tuple([one for one in found if first <= int(one.id[5:]) <= last])


RULES: dict[str, tuple[Rule, ...]] = {
    "anthropic": _numbered(1, 9),
    "openai-responses": _numbered(11, 19),
    "openai-chat": _numbered(21, 29),
    "gemini": _numbered(31, 39),
}
