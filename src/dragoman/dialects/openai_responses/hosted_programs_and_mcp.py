"""Owns the programs that Responses ran (`code_interpreter_call`, `shell_call` in a container) and the MCP tools that it
called (`mcp_call`).

Uses of other dialects are written for clients only. In a request they become text (`codec/hosted_calls_as_text.py`): an
item of a run names its container, which the server looks up. Every recorded `mcp_call` that a server accepted had an id
from the same server. Nothing shows that a server accepts other items.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import ELSEWHERE, HostedCall, HostedResult, Media, Opaque, Part, Path, Text
from ...canon.request import Request
from ...canon.tools import HostedTool
from ...codec import json_text
from ...codec.hosted_calls import (
    OTHER,
    arguments,
    arguments_object,
    foreign_id,
    generic_id,
    is_other,
    members,
    numbered_objects,
    objects,
    own_id,
    report_mapped_use,
    use_id,
    word,
)
from ...codec.hosted_calls_as_text import files, join_on_lines, output, program, stdout, text_of_result
from ...context import Context
from . import wire

RUN = "code_interpreter_call"
MCP = "mcp_call"
LISTING = "mcp_list_tools"
SHELL = "shell_call"
SHELL_OUTPUT = "shell_call_output"
_RUN_PREFIX = "ci_"
_MCP_PREFIX = "mcp_"
_CALL_PREFIX, _SHELL_PREFIX, _SHELL_OUTPUT_PREFIX = "call_", "sh_", "sho_"
STEPPED = frozenset({RUN, MCP, SHELL, SHELL_OUTPUT})
"""Items that a stream sends in several events."""

_TEXTS = {RUN: (f"response.{RUN}_code", "code"), MCP: (f"response.{MCP}_arguments", "arguments")}
"""The text that a stream sends in pieces: the first letters of the event names, and the field of the item."""
STREAM_EVENTS = frozenset(
    {
        f"response.{RUN}.in_progress",
        f"response.{RUN}.interpreting",
        f"response.{RUN}.completed",
        f"response.{RUN}_code.delta",
        f"response.{RUN}_code.done",
        f"response.{MCP}.in_progress",
        f"response.{MCP}.completed",
        f"response.{MCP}.failed",
        f"response.{MCP}_arguments.delta",
        f"response.{MCP}_arguments.done",
        f"response.{LISTING}.in_progress",
        f"response.{LISTING}.completed",
        f"response.{LISTING}.failed",
    }
)
"""Events between the beginning and the end of an item. The whole item comes at its end."""


def opening_item(item: dict[str, Raw], kind: str) -> dict[str, Any]:
    """An item as a stream begins it."""
    if kind == SHELL_OUTPUT:
        return {**item, "output": []}
    if kind == SHELL:
        return {**item, "action": {**json_text.plain(item["action"]), "commands": []}, "status": "in_progress"}
    # output_item.added has the item without its content; the content follows in deltas (openai 3.49.0, 2026-11).
    emptied = {"code": "", "outputs": None} if kind == RUN else {"arguments": "", "output": None, "error": None}
    return {**item, **emptied, "status": "in_progress"}


def stream_steps(item: dict[str, Raw], kind: str, where: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The events between the beginning and the end of an item: names and members."""
    if kind in (SHELL, SHELL_OUTPUT):
        return _shell_steps(json_text.plain(json_text.raw(item)), kind, where)
    name, field = _TEXTS[kind]
    text = json_text.plain(item[field])
    failed = kind == MCP and json_text.plain(item["status"]) == "failed"
    steps = [
        (f"response.{kind}.in_progress", where),
        (f"{name}.delta", {**where, "delta": text}),
        (f"{name}.done", {**where, field: text}),
    ]
    if kind == RUN:
        steps.append((f"response.{RUN}.interpreting", where))
    steps.append((f"response.{kind}.{'failed' if failed else 'completed'}", where))
    return steps


def _shell_steps(item: dict[str, Any], kind: str, where: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    steps: list[tuple[str, dict[str, Any]]] = []
    if kind == SHELL:
        for i, command in enumerate(item["action"]["commands"]):
            # The events of commands have no item_id (openai 3.49.0, 2026-11).
            place = {"output_index": where["output_index"], "command_index": i}
            steps += [
                (f"response.{SHELL}_command.added", {**place, "command": ""}),
                (f"response.{SHELL}_command.delta", {**place, "delta": command}),
                (f"response.{SHELL}_command.done", {**place, "command": command}),
            ]
        return steps
    for i, one in enumerate(item["output"]):
        place = {**where, "command_index": i}
        wrote = {name: one[name] for name in ("stdout", "stderr") if one[name]}
        steps.append((f"response.{SHELL_OUTPUT}_content.delta", {**place, "delta": wrote}))
        steps.append((f"response.{SHELL_OUTPUT}_content.done", {**place, "output": [one]}))
    return steps


def read_run(value: Raw, at: Path) -> tuple[Opaque, ...]:
    """A program that was run, and its output (empty if `include` did not ask for it)."""
    item = json_text.plain(value)
    call_id = own_id(_RUN_PREFIX, word(item, "id"))
    code_arguments = arguments(code=word(item, "code"), language="python")
    parts: list[Part] = []
    for i, one in numbered_objects(item.get("outputs")):
        place = (*at, "outputs", i)
        if word(one, "logs"):
            parts.append(Text(word(one, "logs"), at=(*place, "logs")))
        # An output is either `logs` or an image with an address (openai 3.49.0, 2026-11).
        elif word(one, "url"):
            parts.append(Media("image", url=word(one, "url"), at=(*place, "url")))
    failed = word(item, "status") == "failed"
    family = "code_execution"
    call = HostedCall(wire.NAME, RUN, value, family, call_id, family, code_arguments, at=at)
    return call, HostedResult(wire.NAME, RUN, ELSEWHERE, family, call_id, (), tuple(parts), failed, at=at)


def read_shell(kind: str, value: Raw, at: Path) -> Opaque | None:
    """Commands that the server ran in a container, or their output; None for commands that the client shall run."""
    item = json_text.plain(value)
    family, call_id = "code_execution", own_id(_CALL_PREFIX, word(item, "call_id"))
    if kind == SHELL:
        action = item.get("action")
        commands = action.get("commands") if isinstance(action, dict) else None
        # Only a container belongs to the server; with any other environment the client must run the commands (OpenAI's
        # guide to the shell, 2026-11).
        if word(item.get("environment"), "type") != "container_reference" or not isinstance(commands, list):
            return None
        code = "\n".join([one for one in commands if isinstance(one, str)])
        code_arguments = arguments(code=code, language="bash")
        return HostedCall(wire.NAME, kind, value, family, call_id, family, code_arguments, at=at)
    return _read_shell_output(value, item, call_id, at)


def _read_shell_output(value: Raw, item: dict[str, Any], call_id: str, at: Path) -> HostedResult:
    """The output of several commands, joined. The first command that failed gives the exit code."""
    parts: list[Part] = []
    complaints: list[str] = []
    codes: list[int] = []
    timed_out = False
    for i, one in numbered_objects(item.get("output")):
        if word(one, "stdout"):
            parts.append(Text(word(one, "stdout"), at=(*at, "output", i, "stdout")))
        complaints.append(word(one, "stderr"))
        outcome = one.get("outcome")
        timed_out = timed_out or word(outcome, "type") == "timeout"
        code = outcome.get("exit_code") if isinstance(outcome, dict) else None
        if type(code) is int:
            codes.append(code)
    # An outcome is `exit` with a code or `timeout` without one (openai 3.49.0, 2026-11).
    exit_code = next((code for code in codes if code), 0) if codes and not timed_out else None
    found = (tuple(parts), timed_out or any(codes), (), join_on_lines(complaints), exit_code)
    return HostedResult(wire.NAME, SHELL_OUTPUT, value, "code_execution", call_id, (), *found, at=at)


def read_mcp(value: Raw, at: Path) -> tuple[Opaque, ...]:
    """A call of an MCP tool, and its result."""
    item = json_text.plain(value)
    found_id = word(item, "id")
    family, prefix = ("", _MCP_PREFIX + OTHER) if is_other(_MCP_PREFIX, found_id) else ("mcp", _MCP_PREFIX)
    call_id = own_id(prefix, found_id)
    error, words = item.get("error"), word(item, "output")
    parts: tuple[Part, ...] = (Text(words, at=(*at, "output")),) if words else ()
    # A failed tool may have both a result and an error.
    if error is not None:
        parts = (*parts, Text(_error_text(error), at=(*at, "error")))
    call_arguments, name = word(item, "arguments"), word(item, "name")
    server = word(item, "server_label") if family else ""
    call = HostedCall(wire.NAME, MCP, value, family, call_id, name, call_arguments, server, at=at)
    return call, HostedResult(wire.NAME, MCP, ELSEWHERE, family, call_id, (), parts, error is not None, at=at)


_FAILED = "mcp_tool_execution_error"


def _error_text(error: Any) -> str:
    """The text of an error: recorded as a text and as an object {type, code, message}; the published schema (2026-08)
    also has {type, content}, with the content that the tool returned.
    """
    if isinstance(error, str):
        return error
    texts = [word(one, "text") for one in objects(error.get("content"))] if isinstance(error, dict) else []
    message = word(error, "message")
    if message and isinstance(error.get("code"), int):
        message = f"{word(error, 'type') or 'error'} {error['code']}: {message}"
    return message or "\n".join(texts) or json_text.encode(error).decode()


def write_run(call: HostedCall, result: HostedResult | None, context: Context) -> tuple[Part, ...]:
    """The item for a client. `container_id` is required (openai 3.49.0, 2026-11), and names a container
    that only Responses would have.
    """
    code, language = program(call)
    if language == "bash" and _takes_shell(context.answers):
        return _write_shell(call, code, result, context)
    words = output(result)
    images = [{"type": "image", "url": image.url} for image in files(result) if image.kind == "image" and image.url]
    logs = [{"type": "logs", "logs": words}] if words else []
    item: dict[str, Any] = {
        "id": foreign_id(_RUN_PREFIX, use_id(call)),
        "type": RUN,
        "status": "failed" if result is not None and result.is_error else "completed",
        "code": code,
        # An empty id cannot name a container of any account.
        "container_id": "",
        "outputs": [*logs, *images] if result is not None else None,
    }
    left = "the files of the program have no place" if len(files(result)) > len(images) else ""
    if language not in ("python", "") and not left:
        left = f"it is not Python but {language}"
    report_mapped_use(call, result, context, RUN, left, request=False)
    return (Opaque(wire.NAME, RUN, json_text.raw(item), at=call.at),)


def _takes_shell(answers: Request | None) -> bool:
    """Whether a client gets shell commands as such. A client that declared only `code_interpreter` does not."""
    kinds = {tool.kind for tool in answers.tools if type(tool) is HostedTool} if answers is not None else set()
    return "shell" in kinds or "code_interpreter" not in kinds


def _write_shell(call: HostedCall, code: str, result: HostedResult | None, context: Context) -> tuple[Part, ...]:
    """The items of a shell in a container, for a client. The environment shows that the client shall not run the
    commands; its container is one that only Responses would have.
    """
    call_id = foreign_id(_CALL_PREFIX, use_id(call))
    call_item = {
        "id": foreign_id(_SHELL_PREFIX, use_id(call)),
        "type": SHELL,
        "status": "completed",
        "action": {"commands": [code], "max_output_length": None, "timeout_ms": None},
        "call_id": call_id,
        "environment": {"type": "container_reference", "container_id": ""},
    }
    parts: list[Part] = [Opaque(wire.NAME, SHELL, json_text.raw(call_item), at=call.at)]
    left = "the files of the program have no place" if files(result) else ""
    report_mapped_use(call, result, context, f"{SHELL} and {SHELL_OUTPUT}", left, request=False)
    if result is not None:
        exit_code = int(result.is_error) if result.exit_code is None else result.exit_code
        outcome = {"type": "exit", "exit_code": exit_code}
        output_item = {
            "id": foreign_id(_SHELL_OUTPUT_PREFIX, use_id(call)),
            "type": SHELL_OUTPUT,
            "status": "completed",
            "call_id": call_id,
            "max_output_length": None,
            "output": [{"stdout": stdout(result), "stderr": result.stderr, "outcome": outcome}],
        }
        parts.append(Opaque(wire.NAME, SHELL_OUTPUT, json_text.raw(output_item), at=result.at))
    return tuple(parts)


def write_mcp(call: HostedCall, result: HostedResult | None, context: Context) -> tuple[Part, ...]:
    """The item for a client. A tool that only another dialect has is written as the tool of a server with that
    dialect's name: no other item takes any name."""
    words, failed = text_of_result(result), result is not None and result.is_error
    item: dict[str, Any] = {
        "id": generic_id(_MCP_PREFIX, call),
        "type": MCP,
        "status": "failed" if failed else "completed",
        # Other dialects make MCP calls without asking, so no approval came before.
        "approval_request_id": None,
        "arguments": call.arguments if members(call.arguments) else json_text.encode(arguments_object(call)).decode(),
        "error": {"type": _FAILED, "content": [{"type": "text", "text": words}]} if failed else None,
        "name": call.name or call.kind,
        "output": words if result is not None and not failed else None,
        "server_label": call.server or ("" if call.family else call.dialect),
    }
    left = "the media that the tool gave back have no place" if files(result) else ""
    report_mapped_use(call, result, context, MCP, left, request=False)
    return (Opaque(wire.NAME, MCP, json_text.raw(item), at=call.at),)
