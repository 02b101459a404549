"""Owns handwritten requests with all fields that coding agents send in the middle of a session.

The shapes are those of Claude Code 2.1.197, Codex 0.166, Gemini CLI 0.61, opencode 1.18 and pi 0.73 (2026-11). The
texts are invented.
"""

from __future__ import annotations

from typing import Any

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PROMPT = "Look at notes.txt and picture.png, change beta to gamma, and count the lines."
PATCH = "*** Begin Patch\n*** Update File: notes.txt\n@@\n alpha\n-beta\n+gamma\n*** End Patch\n"
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string"}


def _schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _zod(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"$schema": _DRAFT, **_schema(required, **properties)}


def claude_code() -> dict[str, Any]:
    """Claude Code: adaptive thinking, a system turn after the prompt, cache marks on the last result."""
    status = {"anyOf": [{"type": "string", "enum": ["pending", "completed"]}, {"type": "string", "const": "deleted"}]}
    metadata = {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {}}
    limit = {"type": "integer", "exclusiveMinimum": 0, "maximum": 9007199254740991}
    tools = [
        {"name": "Read", "description": "Reads.", "input_schema": _zod(["file_path"], file_path=_TEXT, limit=limit)},
        {"name": "Bash", "description": "Runs.", "input_schema": _zod(["command"], command=_TEXT)},
        {"name": "TaskList", "description": "Lists.", "input_schema": _zod([])},
        {
            "name": "TaskUpdate",
            "description": "Changes.",
            "input_schema": _zod(["taskId"], taskId=_TEXT, status=status, metadata=metadata),
        },
    ]
    picture = {"type": "image", "source": {"type": "base64", "data": DOT, "media_type": "image/png"}}
    reminder = "<system-reminder>\nToday is a day.\n</system-reminder>\n\n"
    messages = [
        {"role": "user", "content": [{"type": "text", "text": reminder}, {"type": "text", "text": PROMPT}]},
        {"role": "system", "content": "Agents that there are:\n- Explore: looks around."},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "toolu_01A", "name": "Read", "input": {"file_path": "/w/notes.txt"}},
                {"type": "tool_use", "id": "toolu_01B", "name": "Read", "input": {"file_path": "/w/picture.png"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"tool_use_id": "toolu_01A", "type": "tool_result", "content": "1\talpha\n2\tbeta\n"},
                {"tool_use_id": "toolu_01B", "type": "tool_result", "content": [picture]},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Now I count."},
                {"type": "tool_use", "id": "toolu_01C", "name": "Bash", "input": {"command": "wc -l notes.txt"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "tool_use_id": "toolu_01C",
                    "type": "tool_result",
                    "content": "2",
                    "is_error": False,
                    "cache_control": {"type": "ephemeral"},
                }
            ],
        },
    ]
    mark = {"cache_control": {"type": "ephemeral"}}
    return {
        "model": "claude-opus-4-8",
        "messages": messages,
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=sdk-cli;"},
            {"type": "text", "text": "You are an agent.", **mark},
            {"type": "text", "text": "You help with software.", **mark},
        ],
        "tools": tools,
        "metadata": {"user_id": '{"device_id":"' + "0" * 64 + '","account_uuid":"","session_id":"s"}'},
        "max_tokens": 64000,
        "thinking": {"type": "adaptive"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "high"},
        "stream": True,
    }


def _item(name: str, role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "id": name, "role": role, "content": [{"type": "input_text", "text": text}]}


def _codex(**fields: Any) -> dict[str, Any]:
    return {
        "stream": True,
        "tool_choice": "auto",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "0199-thread",
        "text": {"verbosity": "low"},
        "client_metadata": {"session_id": "0199", "turn_id": "0200", "x-codex-turn-metadata": '{"sandbox":"none"}'},
        **fields,
    }


def codex() -> dict[str, Any]:
    """Codex with a model that has its tools in `tools`: a free-text tool, a search by the client, a hosted search."""
    command = _schema(["cmd"], cmd=_TEXT, max_output_tokens={"type": "number"})
    image = _schema(["path"], detail={"type": "string", "enum": ["high", "original"]}, path=_TEXT)
    grammar = {"type": "grammar", "syntax": "lark", "definition": 'start: "*** Begin Patch" LF /(.+)/\nLF: /\\n/'}
    search = _schema(["query"], limit={"type": "number"}, query=_TEXT)
    tools = [
        {"type": "function", "name": "exec_command", "description": "Runs.", "strict": False, "parameters": command},
        {"type": "custom", "name": "apply_patch", "description": "Edits.", "format": grammar},
        {"type": "function", "name": "view_image", "description": "Shows.", "strict": False, "parameters": image},
        {"type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": search},
        {"type": "web_search", "external_web_access": True},
    ]
    shown = {"type": "input_image", "image_url": f"data:image/png;base64,{DOT}", "detail": "high"}
    return _codex(
        model="gpt-5.5",
        parallel_tool_calls=True,
        reasoning={"effort": "medium"},
        tools=tools,
        input=[
            _item("msg_1", "developer", "You are an agent."),
            _item("msg_2", "user", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"),
            _item("msg_3", "user", PROMPT),
            {
                "type": "function_call",
                "id": "fc_1",
                "name": "exec_command",
                "arguments": '{"cmd":"cat notes.txt"}',
                "call_id": "call_1",
            },
            {
                "type": "function_call",
                "id": "fc_2",
                "name": "view_image",
                "arguments": '{"path":"/w/picture.png"}',
                "call_id": "call_2",
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "alpha\nbeta\n"},
            {"type": "function_call_output", "call_id": "call_2", "output": [shown]},
            {
                "type": "custom_tool_call",
                "status": "completed",
                "id": "ctc_1",
                "call_id": "call_3",
                "name": "apply_patch",
                "input": PATCH,
            },
            {"type": "custom_tool_call_output", "call_id": "call_3", "output": "Success."},
        ],
    )


def codex_programs() -> dict[str, Any]:
    """Codex with a newer model: an item that adds tools in namespaces, no parallel calls, outputs as lists."""
    program = {"type": "custom", "name": "exec", "description": "Runs JavaScript.", "format": {"type": "text"}}
    sleep = {"type": "function", "name": "sleep", "description": "Waits.", "strict": False}
    message = {"type": "string", "description": "What to say.", "encrypted": True}
    send = {"type": "function", "name": "send_message", "description": "Sends.", "strict": False}
    tools = [
        {"type": "namespace", "name": "functions", "description": "", "tools": [program]},
        {
            "type": "namespace",
            "name": "clock",
            "description": "Tools for time.",
            "tools": [{**sleep, "parameters": _schema(["duration_ms"], duration_ms={"type": "number"})}],
        },
        {
            "type": "namespace",
            "name": "collaboration",
            "description": "Tools for other agents.",
            "tools": [{**send, "parameters": _schema(["target", "message"], target=_TEXT, message=message)}],
        },
    ]
    shown = {"type": "input_image", "image_url": f"data:image/png;base64,{DOT}"}
    return _codex(
        model="gpt-6.1-sol",
        parallel_tool_calls=False,
        reasoning={"effort": "low", "context": "all_turns"},
        input=[
            {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": tools},
            _item("msg_1", "developer", "You are an agent."),
            _item("msg_2", "user", PROMPT),
            {
                "type": "custom_tool_call",
                "status": "completed",
                "id": "ctc_1",
                "call_id": "call_1",
                "namespace": "functions",
                "name": "exec",
                "input": "text(await tools.exec_command({cmd: 'cat notes.txt'}))",
            },
            {
                "type": "custom_tool_call_output",
                "id": "ctco_1",
                "call_id": "call_1",
                "output": [{"type": "input_text", "text": "Script completed\n"}, shown],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_2",
                "namespace": "clock",
                "name": "sleep",
                "arguments": '{"duration_ms":1}',
            },
            {"type": "function_call_output", "id": "fco_1", "call_id": "call_2", "output": "Sleep completed."},
        ],
    )


def gemini_cli() -> dict[str, Any]:
    """Gemini CLI: schemas as JSON Schema, ids made by the client, images inside the result."""
    declared = [
        {"name": "read_file", "description": "Reads.", "parametersJsonSchema": _schema(["file_path"], file_path=_TEXT)},
        {
            "name": "run_shell_command",
            "description": "Runs.",
            "parametersJsonSchema": _schema(["command"], command=_TEXT, delay_ms={"type": "integer", "minimum": 0}),
        },
        {"name": "list_background_processes", "description": "Lists.", "parametersJsonSchema": _schema([])},
    ]

    def call(name: str, key: str, path: str) -> dict[str, Any]:
        return {"functionCall": {"id": key, "name": name, "args": {"file_path": path}}}

    def result(name: str, key: str, text: str) -> dict[str, Any]:
        return {"functionResponse": {"id": key, "name": name, "response": {"output": text}}}

    first, second = "read_file__call_1", "read_file__call_2"
    seen = result("read_file", second, "Read image file: picture.png")
    seen["functionResponse"]["parts"] = [{"inlineData": {"data": DOT, "mimeType": "image/png"}}]
    skip = {"thoughtSignature": "skip_thought_signature_validator"}
    calls = [{**call("read_file", first, "notes.txt"), **skip}, call("read_file", second, "picture.png")]
    context = "<session_context>\nThis is the Gemini CLI.\n</session_context>"
    return {
        "contents": [
            {"role": "user", "parts": [{"text": context}, {"text": PROMPT}]},
            {"role": "model", "parts": calls},
            {"role": "user", "parts": [result("read_file", first, "alpha\nbeta\n"), seen]},
        ],
        "systemInstruction": {"role": "user", "parts": [{"text": "You are an agent."}]},
        "tools": [{"functionDeclarations": declared}],
        "generationConfig": {
            "temperature": 1,
            "topP": 0.95,
            "topK": 64,
            "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 8192},
        },
    }


def gemini_login() -> dict[str, Any]:
    """Gemini CLI in the envelope of Code Assist, which has no separate field for a JSON Schema."""
    inner = gemini_cli() | {"session_id": "5a0e"}
    return {"model": "gemini-2.5-pro", "project": "p", "user_prompt_id": "5a0e########0", "request": inner}


def opencode() -> dict[str, Any]:
    """opencode with the Chat dialect: the image is in a user turn after the results."""
    read = {"$schema": _DRAFT, **_schema(["filePath"], filePath=_TEXT, limit={"type": "integer", "minimum": 1})}
    calls = [
        {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"filePath":"/w/notes.txt"}'}},
        {"id": "call_2", "type": "function", "function": {"name": "read", "arguments": '{"filePath":"/w/p.png"}'}},
    ]
    shown = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DOT}"}}
    return {
        "model": "some-model",
        "max_tokens": 32000,
        "messages": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": PROMPT},
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "call_1", "content": "<file>\nalpha\nbeta\n</file>"},
            {"role": "tool", "tool_call_id": "call_2", "content": "Image read successfully"},
            {"role": "user", "content": [{"type": "text", "text": "Attached image(s) from tool result:"}, shown]},
        ],
        "tools": [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": read}}],
        "tool_choice": "auto",
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def pi() -> dict[str, Any]:
    """pi with the Messages dialect: a budget, and tools with fine-grained streaming of their input."""
    read = {"name": "read", "description": "Reads.", "eager_input_streaming": True}
    mark = {"cache_control": {"type": "ephemeral"}}
    called = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "notes.txt"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "alpha\nbeta\n", "is_error": False, **mark}
    return {
        "model": "some-model",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": PROMPT}]},
            {"role": "assistant", "content": [called]},
            {"role": "user", "content": [result]},
        ],
        "max_tokens": 16384,
        "stream": True,
        "system": [{"type": "text", "text": "You are an agent.", **mark}],
        "tools": [{**read, "input_schema": _schema(["path"], path=_TEXT)}],
        "thinking": {"type": "enabled", "budget_tokens": 8192, "display": "summarized"},
    }


BODIES = {
    "claude-code": ("anthropic", claude_code),
    "codex": ("openai-responses", codex),
    "codex-programs": ("openai-responses", codex_programs),
    "gemini-cli": ("gemini", gemini_cli),
    "gemini-login": ("code-assist", gemini_login),
    "opencode": ("openai-chat", opencode),
    "pi": ("anthropic", pi),
}
