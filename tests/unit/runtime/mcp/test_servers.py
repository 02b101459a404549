"""Tools of several servers in one toolbox: names, skipped tools, changes, trust. No server is connected."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dragoman.errors import ConfigError
from dragoman.runtime.mcp.client import OfferedTool, SkippedTool
from dragoman.runtime.mcp.config import ServerConfig
from dragoman.runtime.mcp.servers import Servers
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import Confirmation, ToolEnvironment
from dragoman.runtime.toolbox import PlannedCall, Toolbox
from tests.unit.runtime.helpers import call

NOTHING = {"type": "object", "properties": {}}
UNTYPED = {"type": "object", "properties": {"x": {}}}


def offered(*names: str, schema: Any = NOTHING) -> tuple[OfferedTool, ...]:
    return tuple([OfferedTool(name, f"does {name}", schema) for name in names])


def join_servers(tools: dict[str, tuple[OfferedTool, ...]], toolbox: Toolbox, **config: Any) -> Servers:
    servers = Servers({name: ServerConfig(command="never", **config) for name in tools})
    for name, some in tools.items():
        servers[name].tools = some
    servers.join(toolbox)
    return servers


def names(toolbox: Toolbox) -> list[str]:
    return [tool.name for tool in toolbox]


def test_a_tool_name_of_the_second_server_is_qualified() -> None:
    toolbox = Toolbox()
    servers = join_servers({"a": offered("read", "only a"), "b": offered("read")}, toolbox)
    assert names(toolbox) == ["read", "only_a", "b__read"]
    assert [[tool.key for tool in status.tools] for status in servers.status()] == [
        [("a", "read"), ("a", "only a")],
        [("b", "read")],
    ]


def test_an_earlier_tool_keeps_its_name() -> None:
    toolbox = Toolbox()
    join_servers({"first": offered("read")}, toolbox)
    join_servers({"second": offered("read")}, toolbox)
    assert names(toolbox) == ["read", "second__read"]


def test_skipped_tools_have_a_reason() -> None:
    tools = (
        *offered("", "in", "in", "out", "other"),
        *offered("loose", schema=UNTYPED),
        *offered("bad", schema={"type": 1}),
    )
    toolbox = Toolbox()
    servers = join_servers({"s": tools}, toolbox, include_tools=("in", "out", "loose", "bad"), exclude_tools=("out",))
    assert names(toolbox) == ["in"]
    (status,) = servers.status()
    assert [(one.name, one.why.partition(";")[0]) for one in status.skipped[:5]] == [
        ("", "it has no name"),
        ("in", "another tool of the server has the same name"),
        ("out", "excluded by the configuration (excludeTools)"),
        ("other", "not included by the configuration (includeTools)"),
        ("loose", "its schema has no type at /properties/x"),
    ]
    assert [one.name for one in status.skipped if one.by_choice] == ["out", "other"]
    assert status.skipped[5].name == "bad" and status.skipped[5].why.startswith(
        "its schema is not valid: 1 is not valid"
    )


def test_tools_that_break_the_protocol_are_listed_as_skipped() -> None:
    servers = join_servers({"s": offered("a")}, Toolbox())
    servers["s"].refused = (SkippedTool("h", "x-mcp-header: not a string"),)
    servers["s"].changed()
    assert servers.status()[0].skipped == (SkippedTool("h", "x-mcp-header: not a string"),)


@pytest.mark.parametrize(
    ("gate", "notes"), [("warn", ("loose: its schema has no type at /properties/x",)), ("off", ())]
)
def test_the_schema_gate_can_be_switched_off(gate: str, notes: tuple[str, ...]) -> None:
    toolbox = Toolbox()
    servers = join_servers({"s": offered("loose", schema=UNTYPED)}, toolbox, schema_gate=gate)
    assert names(toolbox) == ["loose"]
    assert servers.status()[0].notes == notes


def test_tools_keep_their_names_when_other_tools_change() -> None:
    toolbox = Toolbox()
    servers = join_servers({"a": offered("read"), "b": offered("read", "write")}, toolbox)
    servers["a"].tools = ()
    servers["b"].tools = offered("read", "new")
    servers["b"].changed()
    assert names(toolbox) == ["b__read", "new"]
    servers["a"].tools = offered("read")
    servers["a"].changed()
    assert names(toolbox) == ["b__read", "new", "read"]


def test_a_tool_keeps_a_name_that_became_free_before() -> None:
    toolbox = Toolbox()
    servers = join_servers({"a": offered("read"), "b": ()}, toolbox)
    servers["a"].tools = ()
    servers["b"].tools = offered("read")
    servers["b"].changed()
    servers["a"].tools = offered("read")
    servers["a"].changed()
    assert {tool.name: tool.key for status in servers.status() for tool in status.tools} == {
        "read": ("b", "read"),
        "a__read": ("a", "read"),
    }


def test_a_changed_tool_gets_a_new_declaration() -> None:
    toolbox = Toolbox()
    servers = join_servers({"a": offered("read")}, toolbox)
    before = toolbox["read"]
    servers["a"].changed()
    assert toolbox["read"] is before
    servers["a"].tools = (OfferedTool("read", "reads better", NOTHING),)
    servers["a"].changed()
    assert [tool.description for tool in toolbox] == ["reads better"]


def test_joining_another_toolbox_removes_the_tools_from_the_first() -> None:
    first, second = Toolbox(), Toolbox()
    servers = join_servers({"a": offered("read")}, first)
    servers.join(second)
    assert (names(first), names(second)) == ([], ["read"])


def test_a_disabled_server_does_not_exist() -> None:
    servers = Servers({"a": ServerConfig(command="x", disabled=True)})
    assert servers.status() == ()
    with pytest.raises(ConfigError, match="'a'"):
        servers["a"]


def decision_on_call(policy: Policy, trust: bool) -> tuple[str, Confirmation | None]:
    toolbox = Toolbox()
    join_servers({"files": offered("wipe")}, toolbox, trust=trust)
    plan = asyncio.run(toolbox.plan(call("wipe", {}), ToolEnvironment(()), policy))
    assert isinstance(plan, PlannedCall)
    return plan.verdict.word, plan.asked


def test_a_confirmation_names_the_server_and_the_tool() -> None:
    word, confirmation = decision_on_call(Policy(), trust=False)
    assert word == "ask"
    assert confirmation == Confirmation(
        "Run wipe of the MCP server files", "other", server="files", tool="wipe", display="wipe"
    )


def test_a_confirmation_shows_the_complete_arguments() -> None:
    toolbox = Toolbox()
    join_servers({"files": offered("wipe")}, toolbox)
    arguments = {"path": "/" + "a" * 500}
    confirmation = asyncio.run(toolbox["wipe"].confirm(arguments, ToolEnvironment(())))
    assert confirmation is not None and confirmation.title.endswith(f'server files with {{"path":"/{"a" * 500}"}}')


def test_a_tool_of_a_server_is_never_treated_as_an_edit() -> None:
    assert decision_on_call(Policy(mode="edits"), trust=False)[0] == "ask"


def test_tools_of_a_trusted_server_run_unless_they_are_denied() -> None:
    assert decision_on_call(Policy(), trust=True)[0] == "run"
    assert decision_on_call(Policy(deny=["files/wipe"]), trust=True)[0] == "refuse"
    assert decision_on_call(Policy(deny=["files/*"]), trust=True)[0] == "refuse"


def test_always_can_allow_all_tools_of_a_server() -> None:
    policy = Policy()
    _, confirmation = decision_on_call(policy, trust=False)
    assert confirmation is not None
    policy.remember("wipe", confirmation, "always_server")
    assert policy.allow == ["files/*"]
    assert decision_on_call(policy, trust=False)[0] == "run"
