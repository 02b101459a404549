"""Owns the tools that OpenAI defines and the client runs (local shell, shell, apply patch). They become functions for
other dialects.

In Responses their calls and outputs are separate items. For another dialect a declaration becomes a function with the
arguments written out, a call becomes a call of that function, and an output becomes its result. In an answer for a
client that declared such a tool, a call of the function becomes the item again. A shell in a container
(`environment.type` other than `local`) is run by the upstream, and is not handled here.

Sources: types of openai 3.49.0 and OpenAI's guides to these tools (2026-11).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Path, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.tools import HostedTool, Tool
from ...codec import json_text
from ...codec.call_ids import send as send_id
from ...codec.hosted_tools import HostedToolRow, kinds
from ...context import Context
from . import wire
from .client_tool_search import is_search, search_item
from .tools import IDS

_KNOWN = frozenset({"type", "call_id", "status", "output"})
_TEXT = {"type": "string"}
_LOCAL = {"type": "local"}
SHELL = "shell"


class ClientTool(Struct, frozen=True):
    """One such tool. Its type word is also the name of the function."""

    name: str
    holder: str
    """The member of a call that holds the arguments."""
    description: str
    properties: dict[str, Any]
    required: tuple[str, ...]
    prefix: str
    """The prefix of the ids of its calls."""
    fixed: dict[str, Any]
    """Members of every written holder."""
    beside: dict[str, Any] = {}
    """Members of every written call."""

    @property
    def call(self) -> str:
        """The type of its call items."""
        return f"{self.name}_call"

    @property
    def output(self) -> str:
        """The type of its output items."""
        return f"{self.name}_call_output"

    def function(self) -> Tool:
        """The declaration for another dialect."""
        schema = {"type": "object", "properties": self.properties, "required": self.required}
        return Tool(self.name, self.description, json_text.encode(schema).decode())


_TOOLS = (
    ClientTool(
        "local_shell",
        "action",
        "Runs a command on the user's machine and returns what the command wrote.",
        {
            "command": {"type": "array", "items": _TEXT, "description": "The program and its arguments."},
            "working_directory": _TEXT,
            "timeout_ms": {"type": "integer"},
            "env": {
                "type": "object",
                "description": "Environment variables to set.",
                "properties": {},
                "additionalProperties": _TEXT,
            },
            "user": {"type": "string", "description": "The user to run the command as."},
        },
        ("command",),
        "lsh_",
        {"type": "exec", "command": (), "env": {}},
    ),
    ClientTool(
        SHELL,
        "action",
        "Runs shell commands on the user's machine and returns what each of them wrote, with its exit code.",
        {
            "commands": {"type": "array", "items": _TEXT, "description": "Shell commands."},
            "timeout_ms": {"type": "integer"},
            "max_output_length": {"type": "integer", "description": "The most characters of output to return."},
        },
        ("commands",),
        "sh_",
        {"commands": (), "timeout_ms": None, "max_output_length": None},
        {"environment": _LOCAL},
    ),
    ClientTool(
        "apply_patch",
        "operation",
        "Creates, changes or deletes one file.",
        {
            "type": {"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
            "path": _TEXT,
            "diff": {
                "type": "string",
                "description": "For create_file and update_file: the patch in the V4A format. Lines begin with a blank "
                "(kept), - (removed) or + (added); @@ and a line of the file say where a hunk stands.",
            },
        },
        ("type", "path"),
        "apc_",
        {},
    ),
)
_BY_NAME = {tool.name: tool for tool in _TOOLS}
_BY_CALL = {tool.call: tool for tool in _TOOLS}
_BY_OUTPUT = {tool.output: tool for tool in _TOOLS}
KINDS = frozenset((*_BY_CALL, *_BY_OUTPUT))
"""The types of their items."""
PROGRESS = (
    "response.apply_patch_call_operation_diff.delta",
    "response.apply_patch_call_operation_diff.done",
    "response.shell_call_command.added",
    "response.shell_call_command.delta",
    "response.shell_call_command.done",
    "response.shell_call_output_content.delta",
    "response.shell_call_output_content.done",
)
"""Stream events with pieces of an item. The whole item follows."""


def _is_local(value: Any) -> bool:
    """Whether the client runs the tool: the declaration or the call has no environment, or a local one."""
    if not isinstance(value, dict):
        return False
    environment = value.get("environment")
    return environment is None or (isinstance(environment, dict) and environment.get("type") == "local")


def _as_function(tool: ClientTool) -> Callable[[Any], Tool | None]:
    return lambda value: tool.function() if _is_local(value) else None


ROWS = tuple(
    [
        HostedToolRow(
            wire.NAME, tool.name, tool.name, kinds(tool.name), function=_as_function(tool), quiet=frozenset({"type"})
        )
        for tool in _TOOLS
        # The type `shell` means two tools: the client's own shell, and a shell in a container (OpenAI's guide,
        # 2026-11). It has its own row below.
        if tool.name != SHELL
    ]
)
"""The declarations as rows of `codec/hosted_tools.py`."""

SHELL_ROW = HostedToolRow(
    wire.NAME,
    "code_execution",
    SHELL,
    kinds(SHELL),
    fixed={"type": SHELL, "environment": {"type": "container_auto"}},
    force={"type": SHELL},
    function=_as_function(_BY_NAME[SHELL]),
    quiet=frozenset({"type"}),
    needs="hosted_shell",
    source_types=kinds(r"code_execution_(?!20250522)\d{8}"),
)
"""The shell: the client's own, or a shell in a container. Anthropic's code execution is similar since the version
20250825 (bash and files; the version before ran Python only).
"""


class ClientItems:
    """Reads the calls and outputs of one document for another dialect. An output is paired with its call by the call's
    id, or by the id of the call's item, as older clients write it.
    """

    __slots__ = ("_calls", "_context", "_elsewhere")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._calls: dict[str, str] = {}
        self._elsewhere: set[str] = set()
        """Calls that the upstream runs."""

    def read(self, item: wire.Item, at: Path) -> ToolCall | ToolResult | None:
        """The call or the result of an item; None for any other item."""
        kind = json_text.kind(item.strange) if item.strange else item.type
        if kind in _BY_CALL:
            return self._read_call(_BY_CALL[kind], item.strange or json_text.raw(item), at)
        if kind in _BY_OUTPUT:
            return self._read_output(_BY_OUTPUT[kind], item.strange or json_text.raw(item), at)
        return None

    def _read_call(self, tool: ClientTool, raw: Raw, at: Path) -> ToolCall | None:
        fields, value = json_text.fields(raw), json_text.plain(raw)
        call_id = value.get("call_id") or value.get("id")
        if not isinstance(call_id, str) or not isinstance(value.get(tool.holder), dict):
            return None
        if not _is_local(value):
            self._elsewhere.add(call_id)
            return None
        if isinstance(value.get("id"), str):
            self._calls[value["id"]] = call_id
        self._keep(fields, {tool.holder, "environment"}, at)
        if value.get("environment") is not None:
            self._keep(json_text.fields(fields["environment"]), set(), (*at, "environment"))
        self._context.lose("tool.hosted.as_function", at, f"{tool.call} is sent as a call", "info")
        arguments: dict[str, Any] = dict(json_text.fields(fields[tool.holder]))
        # `type` of the action has one value, so it is not an argument for a model.
        if tool.fixed.get("type") is not None:
            arguments.pop("type", None)
        return ToolCall(call_id, tool.name, json_text.encode(arguments).decode(), at=at)

    def _read_output(self, tool: ClientTool, raw: Raw, at: Path) -> ToolResult | None:
        fields, value = json_text.fields(raw), json_text.plain(raw)
        call_id = value.get("call_id") or value.get("id")
        if not isinstance(call_id, str) or call_id in self._elsewhere:
            return None
        self._keep(fields, set(), at)
        output = value.get("output")
        there: Path = (*at, "output")
        if output is None:
            # `output` of apply_patch is optional; `status` is then all that the client reports (openai 3.49.0,
            # 2026-11).
            output = str(value.get("status") or "")
        elif not isinstance(output, str):
            self._context.lose("result.structured.as_text", there, tool.output)
            output = json_text.text(fields["output"])
        call_id = self._calls.get(call_id, call_id)
        # apply_patch alone has a status for a failure; a shell has exit codes in its output (openai 3.49.0, 2026-11).
        failed = value.get("status") == "failed"
        return ToolResult(call_id, (Text(output, at=there),), tool.name, failed, at=at)

    def _keep(self, fields: dict[str, Raw], known: set[str], at: Path) -> None:
        rest = {name: value for name, value in fields.items() if name not in _KNOWN and name not in known}
        if rest:
            self._context.keep(at, rest)


def read_answer_call(item: wire.Item, at: Path, context: Context) -> ToolCall | None:
    """The call of an answer's item, for another dialect; None for any other item."""
    if context.target == wire.NAME or (json_text.kind(item.strange) if item.strange else item.type) not in _BY_CALL:
        return None
    found = ClientItems(context).read(item, at)
    return found if type(found) is ToolCall else None


def called_tool(name: str, answers: Request | None) -> ClientTool | None:
    """The tool that a call in an answer names, if the client declared it."""
    tool = _BY_NAME.get(name)
    if tool is None or answers is None:
        return None
    return tool if any(_is_declared(tool, one) for one in answers.tools) else None


def _is_declared(tool: ClientTool, declared: Tool | HostedTool) -> bool:
    return type(declared) is HostedTool and declared.kind == tool.name and _is_local(json_text.plain(declared.value))


def has_own_item(call: ToolCall, context: Context) -> bool:
    """Whether a call in an answer belongs to a tool that the client declared by its type, including the tool search.
    The client expects an item of that type.
    """
    return is_search(call, context) or called_tool(call.name, context.answers) is not None


def own_item(call: ToolCall, text: str, name_item: Callable[[str], str], context: Context) -> dict[str, Any]:
    """The item for such a call with these arguments. `name_item` makes the id of the item from a prefix."""
    tool = called_tool(call.name, context.answers)
    if tool is None:
        return search_item(call, name_item("tsc_"), text, context)
    return _call_item(tool, call, name_item(tool.prefix), text, context)


def _call_item(tool: ClientTool, call: ToolCall, item_id: str, text: str, context: Context) -> dict[str, Any]:
    status = "completed"
    arguments: dict[str, Any] = {}
    try:
        arguments = dict(json_text.fields(text)) if text.strip() else {}
    except (msgspec.DecodeError, RecursionError):
        context.lose("arguments.invalid", call.at)
        # A call that was cut must not look complete: the client would run it.
        arguments, status = {"__raw": text}, "incomplete"
    if call.seal is not None:
        context.lose("seal.dropped", call.at)
    return {
        "id": item_id,
        "type": tool.call,
        "call_id": send_id(call.id, IDS, context, call.at),
        tool.holder: {**tool.fixed, **arguments},
        "status": status,
        **tool.beside,
    }
