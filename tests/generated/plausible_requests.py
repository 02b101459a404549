"""Owns the changes that make a generated request one that a server accepts.

Calls are paired with results, turns have a legal order, choices name a declared tool, and of fields that exclude each
other one stays. All other values stay as generated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Json = Any
GO_ON = "Go on."


def arranged(dialect: str, body: Json) -> Json:
    """Turn the generated request into a conversation."""
    ARRANGED[dialect](body)
    return body


def _either(body: Json, *names: str) -> None:
    """Keep only the first of fields that exclude each other."""
    for name in [name for name in names if name in body][1:]:
        del body[name]


# openai-chat and openrouter


def _chat(body: Json) -> None:
    body["messages"] = _chat_turns(body["messages"])
    for message in body["messages"]:
        if isinstance(message.get("content"), list):
            message["content"] = _chat_parts(message["content"])
            if any(part.get("type") == "refusal" for part in message["content"]):
                message.pop("refusal", None)
    _either(body, "tools", "functions")
    if "functions" in body:
        body.pop("tool_choice", None)
    elif body.pop("function_call", None):
        body["tool_choice"] = "auto"
    if isinstance(body.get("function_call"), dict):
        body["function_call"]["name"] = body["functions"][0]["name"]
    if "functions" not in body and "parallel_tool_calls" in body:
        body.setdefault("tool_choice", "auto")
    _either(body, "max_completion_tokens", "max_tokens")
    body.setdefault("model", "some-model")
    if body.get("top_logprobs") is not None:
        body |= {"logprobs": True, "top_logprobs": body["top_logprobs"] % 20}
    if body.get("stream_options"):
        body["stream"] = True
    _chat_choice(body)


def _chat_turns(messages: Json) -> list[Json]:
    """Put the result of each call directly after it, and keep only results that belong to a call."""
    results = [message for message in messages if message["role"] == "tool"]
    out: list[Json] = []
    for message in messages:
        if message["role"] == "tool":
            continue
        if message["role"] == "function":
            call = {"name": message["name"], "arguments": "{}"}
            out.append({"role": "assistant", "content": None, "function_call": call})
        if message["role"] == "assistant" and out and out[-1]["role"] == "assistant":
            out.append({"role": "user", "content": GO_ON})
        out.append(message)
        if message["role"] != "assistant":
            continue
        if not (message.get("content") or message.get("tool_calls") or message.get("refusal")):
            message["content"] = GO_ON
        for call in message.get("tool_calls") or ():
            result = results.pop(0) if results else {"role": "tool", "content": GO_ON}
            out.append({**result, "tool_call_id": call["id"]})
        if message.get("function_call"):
            out.append({"role": "function", "name": message["function_call"]["name"], "content": GO_ON})
    for i, result in enumerate(results):
        call = {"id": f"call_{i}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        out.append({"role": "assistant", "content": None, "tool_calls": [call]})
        out.append({**result, "tool_call_id": call["id"]})
    if not out or out[-1]["role"] == "assistant" or all(one["role"] in ("system", "developer") for one in out):
        out.append({"role": "user", "content": GO_ON})
    return out


def _chat_parts(parts: list[Json]) -> list[Json]:
    """Keep texts, or exactly one refusal. A file has data or an id. Only one form of cache mark stays."""
    for part in parts:
        _either(part, "cache_control", "prompt_cache_breakpoint")
        if part.get("type") == "file":
            _either(part["file"], "file_data", "file_id")
            if "file_data" in part["file"]:
                part["file"].setdefault("filename", "a.pdf")
            elif "file_id" not in part["file"]:
                part["file"] = {"file_id": "file_1"}
    refusals = [part for part in parts if part.get("type") == "refusal"]
    return refusals[:1] or parts


def _chat_choice(body: Json) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    tools = body.setdefault("tools", [])
    functions = [tool for tool in tools if tool.get("type") == "function"]
    if not functions:
        functions = [{"type": "function", "function": {"name": "look"}}]
        tools += functions
    if not isinstance(choice, dict):
        return
    name = functions[0]["function"]["name"]
    if "allowed_tools" in choice:
        choice["allowed_tools"]["tools"] = [{"type": "function", "function": {"name": name}}]
    elif "custom" in choice:
        custom = [tool for tool in tools if tool.get("type") == "custom"]
        if not custom:
            custom = [{"type": "custom", "custom": {"name": "write"}}]
            tools += custom
        choice["custom"]["name"] = custom[0]["custom"]["name"]
    elif "function" in choice:
        choice["function"]["name"] = name


# openai-responses

# The smallest legal result for each kind of call.
_ANSWERS: dict[str, Json] = {
    "function_call": {"type": "function_call_output", "output": GO_ON},
    "custom_tool_call": {"type": "custom_tool_call_output", "output": GO_ON},
    "computer_call": {
        "type": "computer_call_output",
        "output": {"type": "computer_screenshot", "image_url": "https://example.com/a.png"},
    },
    "shell_call": {"type": "shell_call_output", "output": []},
    "apply_patch_call": {"type": "apply_patch_call_output", "status": "completed"},
    "tool_search_call": {"type": "tool_search_output", "tools": []},
    "program": {"type": "program_output", "id": "prog_1", "result": GO_ON, "status": "completed"},
}
_CALLS: dict[str, Json] = {
    "function_call_output": {"type": "function_call", "name": "look", "arguments": "{}"},
    "custom_tool_call_output": {"type": "custom_tool_call", "name": "write", "input": GO_ON},
    "computer_call_output": {
        "type": "computer_call",
        "id": "cu_1",
        "pending_safety_checks": [],
        "status": "completed",
        "action": {"type": "screenshot"},
    },
    "shell_call_output": {"type": "shell_call", "action": {"commands": ["ls"]}},
    "apply_patch_call_output": {
        "type": "apply_patch_call",
        "status": "completed",
        "operation": {"type": "delete_file", "path": "a"},
    },
    "tool_search_output": {"type": "tool_search_call", "arguments": {}},
    "program_output": {"type": "program", "id": "prog_1", "code": "1", "fingerprint": "f"},
}


_SHELL = {"type": "local_shell_call", "status": "completed", "action": {"type": "exec", "command": ["ls"], "env": {}}}


def _responses(body: Json) -> None:
    body.setdefault("model", "some-model")
    _either(body, "previous_response_id", "conversation")
    if body.get("stream_options"):
        body["stream"] = True
    if body.get("top_logprobs") is not None:
        body["top_logprobs"] %= 20
    if body.get("input") is None or body["input"] == []:
        body["input"] = GO_ON
    if isinstance(body["input"], list):
        body["input"] = _items(body["input"])
    _responses_choice(body)


def _items(items: Json) -> list[Json]:
    out: list[Json] = []
    for i, item in enumerate(items):
        kind = item.get("type", "message")
        call_id = item.get("call_id") or f"call_{i}"
        if kind in _ANSWERS:
            item["call_id"] = call_id
            out += [item, {**_ANSWERS[kind], "call_id": call_id}]
        elif kind in _CALLS:
            item["call_id"] = call_id
            if "name" in item:
                item["name"] = "look"
            out += [{**_CALLS[kind], "call_id": call_id}, item]
        elif kind == "local_shell_call":  # the result has another key for the id
            out += [item, {"type": "local_shell_call_output", "id": item["call_id"], "output": GO_ON}]
        elif kind == "local_shell_call_output":
            out += [{**_SHELL, "id": f"lsh_{i}", "call_id": item["id"]}, item]
        elif kind == "reasoning":
            out += [item, {"type": "message", "role": "assistant", "content": GO_ON}]
        elif kind == "mcp_approval_response":
            asks = {"type": "mcp_approval_request", "id": item["approval_request_id"], "name": "look"}
            out += [{**asks, "server_label": "here", "arguments": "{}"}, item]
        else:
            out.append(item)
    for item in out:
        for name in ("content", "output"):
            for part in item.get(name) or () if isinstance(item.get(name), list) else ():
                _media(part)
            if name == "content" and item.get("role") == "assistant" and "input_" in str(item[name]):
                item["role"] = "user"
        if isinstance(item.get("content"), list):  # a refusal is the last part
            item["content"].sort(key=lambda part: part.get("type") == "refusal")
    return [*out, {"role": "user", "content": GO_ON}]


def _media(part: Json) -> None:
    """Give media exactly one content: data with a name, a URL, or a file of the server."""
    if part.get("type") == "input_image":
        _either(part, "image_url", "file_id")
    if part.get("type") == "input_image" and not (part.get("image_url") or part.get("file_id")):
        part["image_url"] = "https://example.com/a.png"
    if part.get("type") == "input_file":
        _either(part, "file_data", "file_url", "file_id")
        if not (part.get("file_data") or part.get("file_url") or part.get("file_id")):
            part["file_url"] = "https://example.com/a.pdf"
        if part.get("file_data"):
            part.setdefault("filename", "a.pdf")


def _responses_choice(body: Json) -> None:
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        if choice is not None or body.get("parallel_tool_calls") is not None:
            tools = body["tools"] = body.get("tools") or []
            tools.append({"type": "function", "name": "look", "parameters": {}, "strict": False})
        return
    tools = body.setdefault("tools", [])
    kind = "custom" if choice["type"] == "custom" else "function"
    named = [tool for tool in tools if tool["type"] == kind]
    if not named:
        named = [{"type": kind, "name": "look"} | ({"parameters": {}, "strict": False} if kind == "function" else {})]
        tools += named
    if choice["type"] == "allowed_tools":
        tools[:] = [tool for tool in tools if tool["type"] != "namespace"]
        choice["tools"] = [{"type": kind, "name": named[0]["name"]}]
    elif choice["type"] in ("function", "custom"):
        choice["name"] = named[0]["name"]


# anthropic

_USER_BLOCKS = frozenset(["tool_result", "image", "document", "search_result", "container_upload"])
_BLOCKS_OF_BOTH_ROLES = frozenset(["text"])
_SERVED = {
    "web_search_tool_result": "web_search",
    "web_fetch_tool_result": "web_fetch",
    "code_execution_tool_result": "code_execution",
    "bash_code_execution_tool_result": "bash_code_execution",
    "text_editor_code_execution_tool_result": "text_editor_code_execution",
    "tool_search_tool_result": "tool_search_tool_regex",
    "advisor_tool_result": "advisor",
}


def _anthropic(body: Json) -> None:
    body["messages"] = _anthropic_turns(body["messages"])
    body["max_tokens"] = body["max_tokens"] or 1
    thinking = body.get("thinking") or {}  # the limit includes the budget
    if "budget_tokens" in thinking:
        body["max_tokens"] = thinking["budget_tokens"] + 1000
    for tool in body.get("tools") or ():
        if tool.get("defer_loading"):  # a tool that is not sent has no cache mark
            tool.pop("cache_control", None)
    _marks(body, [0])
    choice = body.get("tool_choice")
    if choice is None:
        return
    tools = body.setdefault("tools", [])
    named = [tool for tool in tools if tool.get("type", "custom") in ("custom", None)]
    if not named:
        named = [{"name": "look", "input_schema": {"type": "object"}}]
        tools += named
    if choice["type"] == "tool":
        choice["name"] = named[0]["name"]


def _anthropic_turns(messages: Json) -> list[Json]:
    """Put each block into a turn of a role that may send it. Results are first in the turn after their calls."""
    out: list[Json] = [{"role": "user", "content": GO_ON}]
    for message in messages:
        if isinstance(message["content"], str):
            out.append(message)
            continue
        model_parts: list[Json] = []
        results: list[Json] = []
        user_parts: list[Json] = []
        for block in message["content"]:
            kind = block["type"]
            if kind == "tool_result":
                model_parts.append({"type": "tool_use", "id": block["tool_use_id"], "name": "look", "input": {}})
                results.append(block)
            elif kind in _USER_BLOCKS or (kind in _BLOCKS_OF_BOTH_ROLES and message["role"] == "user"):
                user_parts.append(block)
            else:
                model_parts += _with_its_call(block)
                if kind == "tool_use":
                    results.append({"type": "tool_result", "tool_use_id": block["id"], "content": GO_ON})
        if model_parts:
            out.append({"role": "assistant", "content": model_parts})
        if user_parts and not any(block["type"] == "text" for block in user_parts):
            user_parts.append({"type": "text", "text": GO_ON})
        if results or user_parts:
            out.append({"role": "user", "content": results + user_parts})
    if out[-1]["role"] == "assistant":
        out.append({"role": "user", "content": GO_ON})
    return out


def _with_its_call(block: Json) -> list[Json]:
    """Return a block of the assistant. Before a result of the server, add its call."""
    kind = block["type"]
    if kind in _SERVED:
        return [{"type": "server_tool_use", "id": block["tool_use_id"], "name": _SERVED[kind], "input": {}}, block]
    if kind == "mcp_tool_result":
        call = {"type": "mcp_tool_use", "id": block["tool_use_id"], "name": "look", "server_name": "here", "input": {}}
        return [call, block]
    return [block]


def _marks(value: Json, count: list[int]) -> None:
    """Keep at most four cache marks."""
    if isinstance(value, dict):
        if value.get("cache_control"):
            count[0] += 1
            if count[0] > 4:
                del value["cache_control"]
        for name, item in value.items():
            if name not in ("input", "input_schema", "schema"):
                _marks(item, count)
    elif isinstance(value, list):
        for item in value:
            _marks(item, count)


# gemini

_DATA = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
]
_MODEL_PARTS = frozenset(["functionCall", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"])


def _gemini(body: Json) -> None:
    contents: list[Json] = [{"role": "user", "parts": [{"text": GO_ON}]}]
    for content in body.get("contents") or ():
        contents += _gemini_turns(content)
    if contents[-1]["role"] == "model":
        contents.append({"role": "user", "parts": [{"text": GO_ON}]})
    body["contents"] = _alternating(contents)
    if "systemInstruction" in body:
        texts = [part for part in body["systemInstruction"].get("parts") or () if "text" in part]
        parts = [_only(part, "text") for part in texts] or [{"text": GO_ON}]
        body["systemInstruction"]["parts"] = parts
    names: list[str] = []
    for tool in body.get("tools") or ():
        for declared in tool.get("functionDeclarations") or ():
            names.append(declared.setdefault("name", f"look_{len(names)}"))
            _either(declared, "parameters", "parametersJsonSchema")
            _either(declared, "response", "responseJsonSchema")
    calling = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
    if "allowedFunctionNames" in calling:
        if not names:
            body.setdefault("tools", []).append({"functionDeclarations": [{"name": "look"}]})
        calling |= {"mode": "ANY", "allowedFunctionNames": [*names, "look"][:1]}
    config = body.get("generationConfig") or {}
    _either(config.get("thinkingConfig") or {}, "thinkingLevel", "thinkingBudget")
    if "logprobs" in config:
        config |= {"responseLogprobs": True, "logprobs": config["logprobs"] % 20}
    _either(config, "responseSchema", "responseJsonSchema", "_responseJsonSchema", "responseFormat")
    if {"responseSchema", "responseJsonSchema", "_responseJsonSchema"} & config.keys():
        config["responseMimeType"] = "application/json"


def _alternating(contents: list[Json]) -> list[Json]:
    """Make the roles alternate."""
    out: list[Json] = []
    for content in contents:
        if out and out[-1]["role"] == content["role"]:
            other = "model" if content["role"] == "user" else "user"
            out.append({"role": other, "parts": [{"text": GO_ON}]})
        out.append(content)
    return out


def gemini_parts(content: Json) -> list[Json]:
    """Split each part so that it has only one data field."""
    out: list[Json] = []
    for part in content.get("parts") or ():
        names = [name for name in _DATA if name in part] or ["text"]
        part.setdefault("text", GO_ON) if names == ["text"] else None
        out += [_only(part, name) for name in names]
    for part in out:
        for name, least in (("functionCall", {"name": "look"}), ("functionResponse", {"name": "look", "response": {}})):
            if name in part:
                part[name] = {**least, **part[name]}
        if "executableCode" in part:
            part["executableCode"] = {"language": "PYTHON", "code": "1", **part["executableCode"]}
        if "functionResponse" in part:
            part.pop("thoughtSignature", None)  # only parts of the model have seals
        if "text" not in part and "inlineData" not in part:
            part.pop("thought", None)
        for name in ("partialArgs", "willContinue"):  # pieces occur only in a stream
            part.get("functionCall", {}).pop(name, None)
        for media in (part, *part.get("functionResponse", {}).get("parts", ())):
            _either(media, "inlineData", "fileData")
            if "inlineData" in media:
                media["inlineData"] = {"mimeType": "image/png", "data": "aaaa", **media["inlineData"]}
            if "fileData" in media:
                media["fileData"] = {"fileUri": "https://example.com/a.png", **media["fileData"]}
    return out


def _only(part: Json, name: str) -> Json:
    return {key: value for key, value in part.items() if key not in _DATA or key == name}


def _gemini_turns(content: Json) -> list[Json]:
    model_parts: list[Json] = []
    results: list[Json] = []
    user_parts: list[Json] = []
    for part in gemini_parts(content):
        if "functionResponse" in part:
            given = part["functionResponse"]
            model_parts.append(
                {"functionCall": {key: given[key] for key in ("id", "name") if key in given} | {"args": {}}}
            )
            results.append(part)
        elif "functionCall" in part:
            call = part["functionCall"]
            given = {key: call[key] for key in ("id", "name") if key in call}
            model_parts.append(part)
            results.append({"functionResponse": {**given, "response": {"output": GO_ON}}})
        elif content.get("role") == "model" or part.get("thought") or not _MODEL_PARTS.isdisjoint(part):
            model_parts.append(part)
        else:
            user_parts.append(part)
    if results:
        results, user_parts = results + user_parts, []
    if model_parts and all("toolCall" in part or "toolResponse" in part for part in model_parts):
        model_parts.append({"text": GO_ON})  # a turn of tool calls only needs a text
    turns = [("model", model_parts), ("user", results), ("user", user_parts)]
    return [{"role": role, "parts": parts} for role, parts in turns if parts]


# ollama


def _ollama(body: Json) -> None:
    out: list[Json] = []
    for message in body["messages"]:
        message.setdefault("content", "")
        for call in message.get("tool_calls") or ():
            call["function"] = {"name": "look", "arguments": {}, **call.get("function", {})}
        calls = message.pop("tool_calls", None)
        if message["role"] == "tool":
            call = {"function": {"name": "look", "arguments": {}}}
            out += [{"role": "assistant", "content": "", "tool_calls": [call]}, {**message, "tool_name": "look"}]
        elif calls:
            out.append({**message, "role": "assistant", "tool_calls": calls})
            out += [{"role": "tool", "content": GO_ON, "tool_name": call["function"]["name"]} for call in calls]
        else:
            out.append(message)
    out.append({"role": "user", "content": GO_ON})
    body["messages"] = out
    if "top_logprobs" in body:
        body["top_logprobs"] %= 20


ARRANGED: dict[str, Callable[[Json], None]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _ollama,
    "openrouter": _chat,
}
