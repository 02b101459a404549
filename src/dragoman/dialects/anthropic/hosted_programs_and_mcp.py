"""Owns the programs that Messages ran (`code_execution` and similar) and the MCP tools that it called.

Uses of other dialects are written for clients only. In a request they become text (`codec/hosted_calls_as_text.py`):
nothing shows that Anthropic accepts a run or an MCP call that it did not make.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...canon.parts import HostedCall, HostedResult, Media, Part, Path, Text
from ...codec import json_text
from ...codec.hosted_calls import arguments, arguments_object, members, numbered_objects, word
from ...codec.hosted_calls_as_text import files, program, stdout, text_of_result
from ...context import Context

_PYTHON, _BASH, _EDITOR = "code_execution", "bash_code_execution", "text_editor_code_execution"


def read_program(name: str, text: str) -> str:
    """The input of a run in the common form: the code and its language."""
    fields = members(text)
    if name == _BASH:
        return arguments(code=word(fields, "command") or text, language="bash")
    if name == _EDITOR:
        return arguments(code=text, language="text_editor")
    return arguments(code=word(fields, "code") or text, language="python")


class ProgramOutput(NamedTuple):
    """The result of a run."""

    parts: tuple[Part, ...] = ()
    failed: bool = False
    stderr: str = ""
    exit_code: int | None = None


def read_output(content: Any, at: Path) -> ProgramOutput:
    """The result of a run. Encrypted output (`encrypted_stdout`) is left out: other upstreams cannot read it."""
    if not isinstance(content, dict):
        return ProgramOutput()
    kind = word(content, "type")
    if kind.endswith("_error"):
        message = ": ".join([words for words in (word(content, "error_code"), word(content, "error_message")) if words])
        return ProgramOutput((Text(message, at=(*at, "error_code")),), True)
    # Python and bash have the same members: stdout, stderr, return_code and made files (anthropic 2.8.0, 2026-11).
    if "return_code" in content:
        output, code = word(content, "stdout"), content["return_code"]
        parts: list[Part] = [Text(output, at=(*at, "stdout"))] if output else []
        for i, one in numbered_objects(content.get("content")):
            parts.append(Media("document", file=word(one, "file_id"), at=(*at, "content", i, "file_id")))
        return ProgramOutput(tuple(parts), code != 0, word(content, "stderr"), code if type(code) is int else None)
    if kind.endswith("_view_result") and isinstance(content.get("content"), str):
        # The other members, such as line numbers, follow the text of the file.
        counted = ((name, value) for name, value in sorted(content.items()) if name not in ("type", "content"))
        shown = {name: value for name, value in counted if value and value != "text"}
        rest = (Text(json_text.encode(shown).decode(), at=at),) if shown else ()
        return ProgramOutput((Text(content["content"], at=(*at, "content")), *rest))
    # Sorted, because the SDK changes the order of the members in a streamed block.
    others = {name: value for name, value in sorted(content.items()) if name != "type"}
    return ProgramOutput((Text(json_text.encode(others).decode(), at=at),)) if others else ProgramOutput()


def read_mcp_content(content: Any, at: Path) -> tuple[Part, ...]:
    """The result of an MCP tool."""
    if isinstance(content, str):
        return (Text(content, at=at),) if content else ()
    found = [(i, word(block, "text")) for i, block in numbered_objects(content)]
    return tuple([Text(words, at=(*at, i, "text")) for i, words in found if words])


Written = tuple[dict[str, Any], dict[str, Any], str]
"""The members of the call's block, the members of the result's block, and the part of the source's result that both
blocks cannot hold.
"""


def write_run(call: HostedCall, result: HostedResult | None, context: Context) -> Written:
    """The blocks of a run, without ids."""
    code, language = program(call)
    # Since code_execution_20250825 the tool runs bash as well as Python, each with its own block types (anthropic
    # 2.8.0, 2026-11).
    name = _BASH if language == "bash" else _PYTHON
    tool_input = {"command": code} if name == _BASH else {"code": code}
    failed = result is not None and result.is_error
    output, errors = stdout(result), result.stderr if result is not None else ""
    exit_code = result.exit_code if result is not None else None
    if failed and not errors and exit_code is None:  # the source has only one text for a failed run
        output, errors = "", output
    content = {
        "type": f"{name}_result",
        "stdout": output,
        "stderr": errors,
        "return_code": int(failed) if exit_code is None else exit_code,
        "content": [],
    }
    left = "the files of the program have no place" if files(result) else ""
    use = {"type": "server_tool_use", "name": name, "input": tool_input, "caller": {"type": "direct"}}
    return use, {"type": f"{name}_tool_result", "content": content}, left


def write_mcp(call: HostedCall, result: HostedResult | None, context: Context) -> Written:
    """The blocks of a call of an MCP server's tool, without their ids. A tool that only another dialect has is written
    as the tool of a server with that dialect's name: `mcp_tool_use` takes any name, `server_tool_use` only
    seven (anthropic 2.10.0, 2026-11)."""
    words = text_of_result(result)
    server = call.server or ("" if call.family else call.dialect)
    use = {
        "type": "mcp_tool_use",
        "name": call.name or call.kind,
        "server_name": server,
        "input": arguments_object(call),
    }
    blocks = [{"type": "text", "text": words, "citations": None}] if words else []
    gave = {"type": "mcp_tool_result", "is_error": result is not None and result.is_error, "content": blocks}
    return use, gave, "the media that the tool gave back have no place" if files(result) else ""
