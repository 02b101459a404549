"""Owns the verdict on a request as a conversation: pairing, order, alternation and other rules that no schema can
state.

The rules are the lint rules of each dialect, under their ids (docs/reference/rules.md), written a second time from the
providers' documentation. Each finding has a topic, the same in every dialect. So a translation can be excused for a
breach that its source already has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.oracles import ollama

Json = Any


class Finding(NamedTuple):
    """One breach. Topics: pairing, order, roles, empty, ids, names, choice, limits, seals, end."""

    rule: str
    topic: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule} {self.where}: {self.text}"


def check_conversation(dialect: str, body: Json, *, model: str = "") -> list[Finding]:
    """Return every breach in a decoded request. `model` is needed if the URL names the model."""
    checks: dict[str, Callable[[Json], Iterator[Finding]]] = {
        "openai-chat": _chat,
        "openai-responses": _responses,
        "anthropic": _anthropic,
        "gemini": lambda value: _gemini(value, model),
        "openrouter": _openrouter,
        "ollama": lambda value: (Finding(*found) for found in ollama.check_conversation(value)),
        "code-assist": lambda value: _gemini(value["request"], model),
    }
    return list(checks[dialect](body))


# openrouter


def _openrouter(body: Json) -> Iterator[Finding]:
    """As openai-chat, except for media in results, sampling, and the model, which may be in `models` only. An
    assistant's message may hold only images: `content` may be null beside `images` (schema, 2026-11)."""
    shown = {f"/messages/{i}" for i, one in enumerate(body.get("messages") or ()) if one.get("images")}
    named = {**body, "model": body.get("model") or body.get("models")}
    for found in _chat(named):
        if found.rule == "OAC-009" and found.where in shown:
            continue
        if found.rule not in ("OAC-008", "OAC-014", "OAC-015", "OAC-016"):
            yield found
    for i, tool in enumerate(body.get("tools") or ()):
        if tool.get("type") == "custom":
            yield Finding("ORT-002", "choice", f"/tools/{i}", "a custom tool")
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        yield Finding("ORT-002", "choice", "/tool_choice", "a choice of allowed_tools")


# openai-chat


def _chat(body: Json) -> Iterator[Finding]:
    messages = body.get("messages") or []
    if not messages or not body.get("model"):
        yield Finding("OAC-001", "empty", "", "messages and model are required")
    yield from _chat_pairing(messages)
    for i, message in enumerate(messages):
        where = f"/messages/{i}"
        ids = [call.get("id") for call in message.get("tool_calls") or ()]
        if len(set(ids)) != len(ids) or any(not one or len(one) > 64 for one in ids):
            yield Finding("OAC-006", "ids", where, f"call ids {ids}")
        if message["role"] == "tool" and isinstance(message.get("content"), list):
            if any(part["type"] != "text" for part in message["content"]):
                yield Finding("OAC-008", "order", where, "a result holds only text")
        said = message.get("content") or ids or message.get("refusal") or message.get("audio")
        if message["role"] == "assistant" and not said and "function_call" not in message:
            yield Finding("OAC-009", "empty", where, "an assistant message without content, calls or refusal")
    if messages and messages[-1]["role"] == "assistant":
        yield Finding("-", "end", f"/messages/{len(messages) - 1}", "ends with the assistant (legal here)")
    names = [(tool.get("function") or tool.get("custom") or {}).get("name") for tool in body.get("tools") or ()]
    yield from _unique("OAC-003", names)
    yield from _chat_choice(body, names)
    if isinstance(body.get("stop"), list) and len(body["stop"]) > 4:
        yield Finding("OAC-012", "limits", "/stop", "more than four stop strings")
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        yield Finding("OAC-012", "limits", "/top_logprobs", "top_logprobs without logprobs")
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        yield Finding("OAC-013", "limits", "/max_tokens", "two limits")
    if body.get("stream_options") is not None and not body.get("stream"):
        yield Finding("OAC-016", "limits", "/stream_options", "without stream")


def _chat_pairing(messages: Json) -> Iterator[Finding]:
    open_ids: list[str] = []
    calls_before: set[str] = set()
    for i, message in enumerate(messages):
        where = f"/messages/{i}"
        if message["role"] == "tool":
            if message.get("tool_call_id") not in calls_before:
                yield Finding(
                    "OAC-005", "pairing", where, f"answers {message.get('tool_call_id')}, which is no open call"
                )
            elif message["tool_call_id"] not in open_ids:
                yield Finding("OAC-004", "pairing", where, "a second answer, or one that comes too late")
            else:
                open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            yield Finding("OAC-004", "pairing", where, f"calls {open_ids} are not answered at once")
        calls_before = {call.get("id") for call in message.get("tool_calls") or ()}
        open_ids = list(calls_before)
    if open_ids:
        yield Finding("OAC-004", "pairing", "", f"calls {open_ids} are never answered")


def _chat_choice(body: Json, names: list[Json]) -> Iterator[Finding]:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not names:
        yield Finding("OAC-010", "choice", "/tool_choice", "without tools")
    if isinstance(choice, dict):
        inner = choice.get("allowed_tools")
        entries = inner["tools"] if inner else [choice]
        for entry in entries:
            name = (entry.get("function") or entry.get("custom") or {}).get("name")
            if name not in names:
                yield Finding("OAC-010", "choice", "/tool_choice", f"{name} is not declared")


# openai-responses

_CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
_OUTPUTS = {output: call for call, output in _CALLS.items()}


def _responses(body: Json) -> Iterator[Finding]:
    sources = ("input", "prompt", "previous_response_id", "conversation")
    if not body.get("model") or not any(body.get(name) for name in sources):
        yield Finding("OAR-001", "empty", "", "model and some input are required")
    items = body["input"] if isinstance(body.get("input"), list) else []
    held = bool(body.get("previous_response_id") or body.get("conversation"))
    if held:
        yield Finding("-", "pairing", "", "the server holds what came before (legal here)")
    yield from _responses_pairing(items, held)
    for i, item in enumerate(items):
        yield from _responses_item(item, f"/input/{i}")
        if item.get("type") == "reasoning":
            following = items[i + 1] if i + 1 < len(items) else {}
            if not following or following.get("role") in ("user", "system", "developer"):
                yield Finding("OAR-008", "order", f"/input/{i}", "reasoning without what it led to")
    if items and (items[-1].get("role") == "assistant" or items[-1].get("type") == "reasoning"):
        yield Finding("-", "end", f"/input/{len(items) - 1}", "ends with the assistant (legal here)")
    declared = list(_declared(body.get("tools") or ()))
    yield from _unique("OAR-003", declared)
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        entries = choice["tools"] if choice.get("type") == "allowed_tools" else [choice]
        for entry in entries:
            if entry.get("type") in ("function", "custom") and entry.get("name") not in [n for _, n in declared]:
                yield Finding("OAR-019", "choice", "/tool_choice", f"{entry.get('name')} is not declared")


def _declared(tools: Json, namespace: str = "") -> Iterator[tuple[str, str]]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _declared(tool["tools"], tool["name"])
        elif tool.get("type") in ("function", "custom"):
            yield namespace, tool["name"]


def _responses_pairing(items: Json, held: bool) -> Iterator[Finding]:
    open_calls: dict[str, str] = {}
    known: dict[str, str] = {}
    for i, item in enumerate(items):
        kind, call_id = item.get("type"), item.get("call_id")
        where = f"/input/{i}"
        if kind in _CALLS:
            if call_id in known or not call_id or len(call_id) > 64:
                yield Finding("OAR-006", "ids", where, f"call_id {call_id}")
            known[call_id] = kind
            if not item.get("async"):
                open_calls[call_id] = where
        elif kind in _OUTPUTS:
            if call_id not in known:
                if not held:
                    yield Finding("OAR-005", "pairing", where, f"answers {call_id}, which is no call")
            elif known[call_id] != _OUTPUTS[kind]:
                yield Finding("OAR-005", "pairing", where, f"{kind} answers a {known[call_id]}")
            elif open_calls.pop(call_id, None) is None:
                yield Finding("OAR-004", "pairing", where, f"a second answer to {call_id}")
    for call_id, where in open_calls.items():
        yield Finding("OAR-004", "pairing", where, f"call {call_id} is never answered")


def _responses_item(item: Json, where: str) -> Iterator[Finding]:
    content = item.get("content")
    if item.get("type", "message") != "message" or not isinstance(content, list):
        return
    if not content:
        yield Finding("OAR-014", "empty", where, "a message without content")
    legal = (
        ("output_text", "refusal") if item.get("role") == "assistant" else ("input_text", "input_image", "input_file")
    )
    for part in content:
        kind = part.get("type")
        if kind not in legal:
            yield Finding("OAR-014", "roles", where, f"{kind} in a message of {item.get('role')}")
        if kind == "input_image" and not (part.get("image_url") or part.get("file_id")):
            yield Finding("OAR-015", "empty", where, "an image without address or file")
        if kind == "input_file":
            if not (part.get("file_data") or part.get("file_id") or part.get("file_url")):
                yield Finding("OAR-015", "empty", where, "a file without data, id or address")
            if part.get("file_data") and not part.get("filename"):
                yield Finding("OAR-015", "empty", where, "file data without a name")


# anthropic

_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")


def _anthropic(body: Json) -> Iterator[Finding]:
    if not isinstance(body.get("max_tokens"), int):
        yield Finding("ANT-001", "limits", "/max_tokens", "required")
    messages = body.get("messages") or []
    if not messages:
        yield Finding("ANT-017", "empty", "/messages", "empty")
    yield from _anthropic_pairing(messages)
    seen: set[str] = set()
    for i, message in enumerate(messages):
        where = f"/messages/{i}"
        if message["role"] not in ("user", "assistant", "system"):
            yield Finding("ANT-025", "roles", where, f"role {message['role']}")
        yield from _anthropic_system(messages, i)
        if not message["content"] and i != len(messages) - 1:
            yield Finding("ANT-017", "empty", where, "no content")
        for block in _blocks(message):
            yield from _anthropic_block(block, where, seen)
    if messages and messages[-1]["role"] == "assistant":
        yield Finding("-", "end", f"/messages/{len(messages) - 1}", "ends with the assistant (legal on older models)")
    for block in body["system"] if isinstance(body.get("system"), list) else ():
        if block.get("text") == "":
            yield Finding("ANT-017", "empty", "/system", "an empty text block")
    if _marks(body) > 4:
        yield Finding("ANT-016", "limits", "", f"{_marks(body)} cache marks")
    yield from _anthropic_tools(body)


def _anthropic_system(messages: Json, i: int) -> Iterator[Finding]:
    if messages[i]["role"] != "system":
        return
    before = messages[i - 1]["role"] if i else ""
    after = messages[i + 1]["role"] if i + 1 < len(messages) else "assistant"
    if before not in ("user", "system") or after not in ("assistant", "system"):
        yield Finding(
            "ANT-015", "order", f"/messages/{i}", f"a system message between {before or 'nothing'} and {after}"
        )


def _anthropic_block(block: Json, where: str, seen: set[str]) -> Iterator[Finding]:
    kind = block.get("type")
    if kind == "text" and block["text"] == "":
        yield Finding("ANT-017", "empty", where, "an empty text block")
    if kind == "tool_use":
        if not _TOOL_ID.fullmatch(block["id"]) or block["id"] in seen:
            yield Finding("ANT-008", "ids", where, f"call id {block['id']!r}")
        seen.add(block["id"])
        if not isinstance(block.get("input"), dict):
            yield Finding("ANT-009", "ids", where, "input is no object")
    if kind == "thinking" and not block.get("signature"):
        yield Finding("ANT-012", "seals", where, "a thinking block without signature")
    if kind == "tool_result":
        for inner in _blocks(block):
            if inner.get("type") == "text" and inner["text"] == "":
                yield Finding("ANT-017", "empty", where, "an empty text block in a result")


def _anthropic_pairing(messages: Json) -> Iterator[Finding]:
    joined = _joined(messages, "role", "content")
    for i, (role, blocks, place) in enumerate(joined):
        where = f"/messages/{place}"
        answers = [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"]
        previous = joined[i - 1][1] if i and joined[i - 1][0] == "assistant" else []
        calls_before = [block["id"] for block in previous if block.get("type") == "tool_use"]
        if role == "user":
            for one in answers:
                if one not in calls_before:
                    yield Finding("ANT-007", "pairing", where, f"answers {one}, which is no call of the message before")
            if len(set(answers)) != len(answers):
                yield Finding("ANT-005", "pairing", where, "a call is answered twice")
            kinds = [block.get("type") == "tool_result" for block in blocks]
            if kinds != sorted(kinds, reverse=True):
                yield Finding("ANT-006", "order", where, "something stands before a result")
        missing = [one for one in calls_before if one not in answers]
        if missing:
            yield Finding("ANT-005", "pairing", where, f"calls {missing} are not answered at once")
    if joined and joined[-1][0] == "assistant" and any(block.get("type") == "tool_use" for block in joined[-1][1]):
        yield Finding("ANT-005", "pairing", "", "the last calls are never answered")


def _joined(turns: Json, role: str, content: str) -> list[tuple[str, list[Json], int]]:
    """Join neighbouring turns of one role, as the server does."""
    out: list[tuple[str, list[Json], int]] = []
    for i, turn in enumerate(turns):
        if out and out[-1][0] == turn.get(role):
            out[-1][1].extend(_blocks(turn, content))
        else:
            out.append((turn.get(role), list(_blocks(turn, content)), i))
    return out


def _blocks(holder: Json, name: str = "content") -> list[Json]:
    content = holder.get(name)
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content or []


def _marks(body: Json) -> int:
    count = 1 if body.get("cache_control") else 0
    holders = [*(body.get("tools") or ())]
    holders += body["system"] if isinstance(body.get("system"), list) else []
    for message in body.get("messages") or ():
        for block in _blocks(message):
            holders.append(block)
            holders += _blocks(block) if block.get("type") == "tool_result" else []
    return count + sum(1 for holder in holders if holder.get("cache_control"))


def _anthropic_tools(body: Json) -> Iterator[Finding]:
    names = [tool.get("name") for tool in body.get("tools") or () if tool.get("type", "custom") == "custom"]
    every = [tool.get("name") for tool in body.get("tools") or ()]
    yield from _unique("ANT-003", names)
    for i, tool in enumerate(body.get("tools") or ()):
        if "input_schema" in tool and tool["input_schema"].get("type") != "object":
            yield Finding("ANT-004", "names", f"/tools/{i}", "the schema is no object")
    choice = body.get("tool_choice")
    if choice is not None:
        if not every:
            yield Finding("ANT-024", "choice", "/tool_choice", "without tools")
        if choice.get("type") == "tool" and choice.get("name") not in every:
            yield Finding("ANT-024", "choice", "/tool_choice", f"{choice.get('name')} is not declared")
    thinking = body.get("thinking") or {}
    if thinking.get("type") == "enabled":
        budget = thinking.get("budget_tokens", 0)
        if budget < 1024 or budget >= body.get("max_tokens", 0):
            yield Finding("ANT-011", "limits", "/thinking", f"budget {budget} of {body.get('max_tokens')} tokens")


# gemini


def _gemini(body: Json, model: str) -> Iterator[Finding]:
    contents = [_camel(content) for content in body.get("contents") or ()]
    if not contents:
        yield Finding("GEM-001", "empty", "/contents", "empty")
        return
    roles = ["user" if content.get("role") in (None, "function", "tool") else content["role"] for content in contents]
    if roles[0] != "user":
        yield Finding("GEM-010", "roles", "/contents/0", "begins with the model")
    for i in range(1, len(roles)):
        if roles[i] == roles[i - 1]:
            yield Finding("GEM-010", "roles", f"/contents/{i}", f"two turns of {roles[i]} in a row")
    if roles[-1] != "user":
        yield Finding("GEM-010", "end", f"/contents/{len(roles) - 1}", "ends with the model")
    yield from _gemini_pairing(contents, roles)
    if re.search(r"gemini-[3-9]", model):
        yield from _gemini_seals(contents, roles)
    names = [
        declared.get("name")
        for tool in body.get("tools") or ()
        for declared in tool.get("functionDeclarations") or tool.get("function_declarations") or ()
    ]
    yield from _unique("GEM-003", names)
    holder = body.get("toolConfig") or body.get("tool_config") or {}
    config = holder.get("functionCallingConfig") or holder.get("function_calling_config") or {}
    allowed = config.get("allowedFunctionNames") or config.get("allowed_function_names") or []
    if allowed and config.get("mode") not in ("ANY", "VALIDATED"):
        yield Finding("GEM-011", "choice", "/toolConfig", f"allowed names with mode {config.get('mode')}")
    for name in allowed:
        if name not in names:
            yield Finding("GEM-011", "choice", "/toolConfig", f"{name} is not declared")
    yield from _gemini_config(body.get("generationConfig") or body.get("generation_config") or {})


def _gemini_config(config: Json) -> Iterator[Finding]:
    thinking = config.get("thinkingConfig") or {}
    if thinking.get("thinkingBudget") is not None and thinking.get("thinkingLevel") is not None:
        yield Finding("GEM-013", "limits", "/generationConfig/thinkingConfig", "budget and level")
    schemas = [name for name in ("responseSchema", "responseJsonSchema") if config.get(name) is not None]
    if len(schemas) > 1 or (schemas and not config.get("responseMimeType")):
        yield Finding("GEM-016", "limits", "/generationConfig", f"{schemas} with type {config.get('responseMimeType')}")


def _gemini_pairing(contents: Json, roles: list[str]) -> Iterator[Finding]:
    calls_before: list[Json] = []
    for i, content in enumerate(contents):
        where = f"/contents/{i}"
        parts = content.get("parts") or []
        answers = [part["functionResponse"] for part in parts if part.get("functionResponse")]
        calls = [part["functionCall"] for part in parts if part.get("functionCall")]
        if roles[i] == "user":
            if len(answers) != len(calls_before):
                yield Finding("GEM-006", "pairing", where, f"{len(answers)} answers to {len(calls_before)} calls")
            names = [call.get("name") for call in calls_before]
            ids = [call["id"] for call in calls_before if call.get("id")]
            for answer in answers:
                if answer.get("name") not in names or (ids and answer.get("id") and answer["id"] not in ids):
                    yield Finding("GEM-007", "pairing", where, f"answers {answer.get('name')}, which is no open call")
            calls_before = []
        else:
            if calls_before:
                yield Finding("GEM-006", "pairing", where, "the calls before are not answered")
            calls_before = calls
    if calls_before:
        yield Finding("GEM-006", "pairing", "", "the last calls are never answered")


def _gemini_seals(contents: Json, roles: list[str]) -> Iterator[Finding]:
    """In the current turn the first call of each step has a signature."""
    start = 0
    for i, content in enumerate(contents):
        # A text beside results begins a turn too.
        if roles[i] == "user" and any("functionResponse" not in part for part in content.get("parts") or ()):
            start = i
    for i in range(start, len(contents)):
        calls = [part for part in contents[i].get("parts") or () if part.get("functionCall")]
        if calls and not calls[0].get("thoughtSignature"):
            yield Finding("GEM-008", "seals", f"/contents/{i}", "the first call has no signature")


def _camel(content: Json) -> Json:
    """The content with the four important keys in camelCase, because both spellings are legal."""
    spelled = {
        "function_call": "functionCall",
        "function_response": "functionResponse",
        "thought_signature": "thoughtSignature",
    }
    parts = content.get("parts")
    if not isinstance(parts, list):
        return content
    return {**content, "parts": [{spelled.get(key, key): item for key, item in part.items()} for part in parts]}


def _unique(rule: str, names: list[Json]) -> Iterator[Finding]:
    if len(set(names)) != len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        yield Finding(rule, "names", "/tools", f"declared twice: {twice}")
