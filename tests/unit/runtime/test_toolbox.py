"""The steps of a call: validate, confirm, run, result. Every error becomes a result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.canon.parts import Media, Part, Text, ToolCall
from dragoman.errors import ConfigError, TransportError
from dragoman.runtime import builtin_tools
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import Confirmation, Failure, Kind, Outcome, Tool, ToolEnvironment, ToolError
from dragoman.runtime.toolbox import Toolbox, as_result
from tests.unit.runtime.helpers import call, environment_for, failure, run, text_of

IMAGE = Media("image", "image/png", "AAAA")


class FixedTool(Tool):
    """A tool that returns or raises a fixed outcome."""

    name = "made"
    description = "For tests."
    kind: Kind = "other"

    def __init__(self, gives: Outcome | BaseException, schema: Mapping[str, Any] | None = None) -> None:
        self.gives = gives
        self.schema = schema or {"type": "object", "properties": {"n": {"type": "integer"}}}
        self.ran = 0

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        self.ran += 1
        await asyncio.sleep(0)
        if isinstance(self.gives, BaseException):
            raise self.gives
        return self.gives


@pytest.mark.parametrize(
    ("outcome", "parts", "is_error"),
    [
        (Outcome("text"), (Text("text"),), False),
        (Outcome(""), (Text(""),), False),
        (Outcome((Text("one"),)), (Text("one"),), False),
        (Outcome((IMAGE,)), (Text("Binary content of type image/png was processed."), IMAGE), False),
        (Outcome((Text("a"), IMAGE)), (Text("Tool execution succeeded."), Text("a"), IMAGE), False),
        (Outcome("no", failure=Failure("no", "x")), (Text("no"),), True),
        (Outcome((Text("a"), IMAGE), failure=Failure("no", "x")), (Text("a"), IMAGE), True),
        (Outcome(()), (Text("Tool execution succeeded."),), False),
    ],
    ids=range(8),
)
def test_an_outcome_becomes_the_parts_for_the_model(outcome: Outcome, parts: tuple[Part, ...], is_error: bool) -> None:
    result = as_result(ToolCall("id 1", "name"), outcome)
    assert (result.call_id, result.name, result.parts, result.is_error) == ("id 1", "name", parts, is_error)


@pytest.mark.parametrize("dialect", ["gemini", "anthropic", "openai-chat", "openai-responses", "ollama"])
def test_an_image_is_written_in_every_dialect(tmp_path: Path, dialect: str) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\0")
    wanted = call("read_file", {"absolute_path": f"{tmp_path}/a.png"}, "call_png")
    done = asyncio.run(Toolbox(builtin_tools.tools()).run(wanted, environment_for(tmp_path), Policy()))
    written = str(dragoman.tool_results([wanted], [done.result], dialect=dialect))
    assert "Binary content of type image/png was processed." in written
    assert ("iVBORwA=" in written) or ("iVBORw" in written)


def test_gemini_gets_the_status_and_the_image_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\0")
    wanted = call("read_file", {"absolute_path": f"{tmp_path}/a.png"}, "fc1")
    done = asyncio.run(Toolbox(builtin_tools.tools()).run(wanted, environment_for(tmp_path), Policy()))
    turn = dragoman.tool_results([wanted], [done.result], dialect="gemini")[-1]
    assert turn["role"] == "user"
    first = turn["parts"][0]["functionResponse"]
    assert first["response"] == {"output": "Binary content of type image/png was processed."}
    assert (first["id"], first["name"]) == ("fc1", "read_file")
    assert "inlineData" in str(turn["parts"])


def test_tool_names_are_unique() -> None:
    box = Toolbox([FixedTool(Outcome(""))])
    with pytest.raises(ConfigError, match="made"):
        box.add(FixedTool(Outcome("")))
    box.remove("made")
    assert len(box) == 0 and "made" not in box
    box.add(FixedTool(Outcome("")))


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"$ref": "http://127.0.0.1:9/x"}, {"$ref": "#/$defs/none"}, {"pattern": "["}]
)
def test_an_invalid_schema_is_refused_and_no_reference_is_fetched(schema: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="schema of the tool 'made'"):
        Toolbox([FixedTool(Outcome(""), schema)])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ('{"n": "x"}', "n: "),
        ('{"n": 1', "not JSON"),
        ("[1]", "not a JSON object"),
        ('"x"', "not a JSON object"),
        ("[" * 100_000, "not JSON"),
    ],
    ids=range(5),
)
def test_arguments_are_validated_before_the_confirmation(tmp_path: Path, arguments: str, complaint: str) -> None:
    tool = FixedTool(Outcome("fine"))

    async def approve(confirmation: Confirmation) -> Any:
        raise AssertionError("no approval may be requested")

    done = run("made", arguments, tmp_path, tool=tool, approve=approve, policy=Policy())
    assert failure(done) == "invalid_tool_params" and complaint in text_of(done)
    assert tool.ran == 0 and done.decision is None


@pytest.mark.parametrize("arguments", ["", "  ", "{}"])
def test_blank_arguments_are_an_empty_object(tmp_path: Path, arguments: str) -> None:
    assert text_of(run("made", arguments, tmp_path, tool=FixedTool(Outcome("fine")))) == "fine"


def test_a_call_of_an_unknown_tool_is_an_error_result(tmp_path: Path) -> None:
    done = run("nothing", {}, tmp_path)
    assert failure(done) == "tool_not_registered"
    assert 'Tool "nothing" not found' in text_of(done) and "read_file" in text_of(done)


@pytest.mark.parametrize(
    ("raised", "kind", "text"),
    [
        (ToolError("my_kind", "my words"), "my_kind", "my words"),
        (TransportError("connect", "no way"), "execution_failed", "no way"),
        (KeyError("k"), "execution_failed", "KeyError: 'k'"),
        (OSError(2, "gone"), "execution_failed", "FileNotFoundError: [Errno 2] gone"),
        (asyncio.CancelledError(), "cancelled", "The tool was cancelled."),
    ],
    ids=["tool", "transport", "key", "os", "cancelled"],
)
def test_every_exception_of_a_tool_becomes_a_result(
    tmp_path: Path, raised: BaseException, kind: str, text: str
) -> None:
    done = run("made", {}, tmp_path, tool=FixedTool(raised))
    assert failure(done) == kind and text_of(done) == text


def test_a_cancellation_reaches_the_tool_and_the_caller(tmp_path: Path) -> None:
    ended: list[str] = []

    class Slow(FixedTool):
        async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append("tool")
            raise AssertionError

    async def work() -> None:
        task = asyncio.ensure_future(
            Toolbox([Slow(Outcome(""))]).run(call("made", {}), environment_for(tmp_path), Policy("all"))
        )
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert ended == ["tool"]


def test_an_exception_in_confirm_becomes_a_result(tmp_path: Path) -> None:
    class Picky(FixedTool):
        async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
            raise ToolError("picky", "cannot say what would happen")

    assert failure(run("made", {}, tmp_path, tool=Picky(Outcome("x")))) == "picky"


def test_an_exception_in_check_becomes_a_result(tmp_path: Path) -> None:
    class Broken(FixedTool):
        def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
            raise KeyError("x")

    assert failure(run("made", {}, tmp_path, tool=Broken(Outcome("x")))) == "execution_failed"


def test_decisions() -> None:
    done = run("made", {}, Path("/"), tool=FixedTool(Outcome("x")))
    assert done.decision == "auto_accept" and done.seconds >= 0
