"""Tools of several servers in one toolbox: names, who is let in, changes, trust. Nothing is connected here."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dragoman.errors import ConfigError
from dragoman.runtime.mcp.client import Offered, Skipped
from dragoman.runtime.mcp.config import ServerConfig
from dragoman.runtime.mcp.servers import Servers
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import Confirmation, ToolEnvironment
from dragoman.runtime.toolbox import Plan, Toolbox
from tests.unit.runtime.helpers import call

NOTHING = {"type": "object", "properties": {}}
UNTYPED = {"type": "object", "properties": {"x": {}}}


def offered(*names: str, schema: Any = NOTHING) -> tuple[Offered, ...]:
    return tuple([Offered(name, f"does {name}", schema) for name in names])


def joined(tools: dict[str, tuple[Offered, ...]], toolbox: Toolbox, **config: Any) -> Servers:
    servers = Servers({name: ServerConfig(command="never", **config) for name in tools})
    for name, some in tools.items():
        servers[name].tools = some
    servers.join(toolbox)
    return servers


def names(toolbox: Toolbox) -> list[str]:
    return [tool.name for tool in toolbox]


def test_the_second_server_with_a_name_has_it_qualified() -> None:
    toolbox = Toolbox()
    servers = joined({"a": offered("read", "only a"), "b": offered("read")}, toolbox)
    assert names(toolbox) == ["read", "only_a", "b__read"]
    assert [[tool.key for tool in status.tools] for status in servers.status()] == [
        [("a", "read"), ("a", "only a")],
        [("b", "read")],
    ]


def test_a_tool_that_was_there_before_keeps_its_name() -> None:
    toolbox = Toolbox()
    joined({"first": offered("read")}, toolbox)
    joined({"second": offered("read")}, toolbox)
    assert names(toolbox) == ["read", "second__read"]


def test_what_is_skipped_and_why() -> None:
    tools = (
        *offered("", "in", "in", "out", "other"),
        *offered("loose", schema=UNTYPED),
        *offered("bad", schema={"type": 1}),
    )
    toolbox = Toolbox()
    servers = joined({"s": tools}, toolbox, include_tools=("in", "out", "loose", "bad"), exclude_tools=("out",))
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
    assert status.skipped[5].name == "bad" and status.skipped[5].why.startswith("its schema is none: 1 is not valid")


def test_tools_that_break_the_protocol_are_told_as_skipped() -> None:
    servers = joined({"s": offered("a")}, Toolbox())
    servers["s"].refused = (Skipped("h", "x-mcp-header: not a string"),)
    servers["s"].changed()
    assert servers.status()[0].skipped == (Skipped("h", "x-mcp-header: not a string"),)


@pytest.mark.parametrize(
    ("gate", "notes"), [("warn", ("loose: its schema has no type at /properties/x",)), ("off", ())]
)
def test_the_gate_can_be_open(gate: str, notes: tuple[str, ...]) -> None:
    toolbox = Toolbox()
    servers = joined({"s": offered("loose", schema=UNTYPED)}, toolbox, schema_gate=gate)
    assert names(toolbox) == ["loose"]
    assert servers.status()[0].notes == notes


def test_tools_come_and_go_and_keep_their_names() -> None:
    toolbox = Toolbox()
    servers = joined({"a": offered("read"), "b": offered("read", "write")}, toolbox)
    servers["a"].tools = ()
    servers["b"].tools = offered("read", "new")
    servers["b"].changed()
    assert names(toolbox) == ["b__read", "new"]
    servers["a"].tools = offered("read")
    servers["a"].changed()
    assert names(toolbox) == ["b__read", "new", "read"]


def test_a_name_that_another_took_meanwhile_is_not_taken_from_it() -> None:
    toolbox = Toolbox()
    servers = joined({"a": offered("read"), "b": ()}, toolbox)
    servers["a"].tools = ()
    servers["b"].tools = offered("read")
    servers["b"].changed()
    servers["a"].tools = offered("read")
    servers["a"].changed()
    assert {tool.name: tool.key for status in servers.status() for tool in status.tools} == {
        "read": ("b", "read"),
        "a__read": ("a", "read"),
    }


def test_a_tool_that_changed_is_declared_anew() -> None:
    toolbox = Toolbox()
    servers = joined({"a": offered("read")}, toolbox)
    before = toolbox["read"]
    servers["a"].changed()
    assert toolbox["read"] is before
    servers["a"].tools = (Offered("read", "reads better", NOTHING),)
    servers["a"].changed()
    assert [tool.description for tool in toolbox] == ["reads better"]


def test_joining_another_toolbox_leaves_the_first() -> None:
    first, second = Toolbox(), Toolbox()
    servers = joined({"a": offered("read")}, first)
    servers.join(second)
    assert (names(first), names(second)) == ([], ["read"])


def test_a_disabled_server_is_none() -> None:
    servers = Servers({"a": ServerConfig(command="x", disabled=True)})
    assert servers.status() == ()
    with pytest.raises(ConfigError, match="'a'"):
        servers["a"]


def judged(policy: Policy, trust: bool) -> tuple[str, Confirmation | None]:
    toolbox = Toolbox()
    joined({"files": offered("wipe")}, toolbox, trust=trust)
    plan = asyncio.run(toolbox.plan(call("wipe", {}), ToolEnvironment(()), policy))
    assert isinstance(plan, Plan)
    return plan.verdict.word, plan.asked


def test_a_person_is_asked_with_the_server_and_the_tool() -> None:
    word, asked = judged(Policy(), trust=False)
    assert word == "ask"
    assert asked == Confirmation(
        "Run wipe of the MCP server files", "other", server="files", tool="wipe", display="wipe"
    )


def test_a_person_is_shown_the_whole_arguments() -> None:
    toolbox = Toolbox()
    joined({"files": offered("wipe")}, toolbox)
    given = {"path": "/" + "a" * 500}
    asked = asyncio.run(toolbox["wipe"].confirm(given, ToolEnvironment(())))
    assert asked is not None and asked.title.endswith(f'server files with {{"path":"/{"a" * 500}"}}')


def test_edits_are_not_what_a_server_says_they_are() -> None:
    assert judged(Policy(mode="edits"), trust=False)[0] == "ask"


def test_a_trusted_server_is_run_unless_it_is_denied() -> None:
    assert judged(Policy(), trust=True)[0] == "run"
    assert judged(Policy(deny=["files/wipe"]), trust=True)[0] == "refuse"
    assert judged(Policy(deny=["files/*"]), trust=True)[0] == "refuse"


def test_what_was_said_for_good_holds_for_a_tool_or_its_server() -> None:
    policy = Policy()
    _, asked = judged(policy, trust=False)
    assert asked is not None
    policy.remember("wipe", asked, "always_server")
    assert policy.allow == ["files/*"]
    assert judged(policy, trust=False)[0] == "run"
