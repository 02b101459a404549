"""Hosted tools: options are read, moved and reported by tables. Also: tools without a counterpart, and secrets."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon.losses import Loss
from dragoman.canon.tools import HostedTool, Tool
from dragoman.codec.hosted_tools import (
    FORMS,
    STAND_INS,
    HostedToolRow,
    Option,
    kinds,
    location,
    plain_options,
    translate_hosted_tools,
)
from dragoman.context import Context
from dragoman.dialects import get, names
from dragoman.facts.profile import DEFAULT_PROFILE, Profile

AT = ("tools", 1)
SEARCH = HostedToolRow(
    "here",
    "web_search",
    "search",
    kinds("search|old_search"),
    options={
        **plain_options({"max_uses": "limit", "allowed_domains": "filter/only", "approval": "approve"}),
        **location("place"),
    },
    implied={"approval": "always"},
)
THERE = HostedToolRow(
    "there",
    "web_search",
    "find",
    kinds("find"),
    options={"allowed_domains": Option(("domains",), write=lambda sent: ",".join(sent)), **location("spot")},
    fixed={"type": "find", "spot": {"kind": "rough"}},
    beside={"spot": {"type": "approximate"}},
)
SERVER = HostedToolRow(
    "here", "mcp", "server", kinds("server"), options=plain_options({"label": "name", "url": "url", "headers": "h"})
)
SERVER_THERE = HostedToolRow(
    "there",
    "mcp",
    "mcp",
    kinds("mcp"),
    options=plain_options({"label": "label", "url": "address", "token": "token"}),
    wants=frozenset({"label", "url"}),
)


def _tool(value: Any, kind: str = "search") -> HostedTool:
    return HostedTool("here", kind, Raw(msgspec.json.encode(value)), AT)


def _translated(
    *tools: Tool | HostedTool,
    target: tuple[HostedToolRow, ...] = (THERE,),
    profile: Profile | None = None,
    stand_ins: bool = False,
) -> tuple[tuple[Tool | HostedTool, ...], list[tuple[str, str]], Context]:
    context = Context("here", "there", profile=profile or DEFAULT_PROFILE, stands=stand_ins)
    made = translate_hosted_tools(tools, (SEARCH, SERVER), target, context)
    return made, [(loss.code, loss.path) for loss in context.losses.all()], context


def _value(tool: Tool | HostedTool) -> Any:
    assert isinstance(tool, HostedTool)
    return msgspec.json.decode(tool.value)


def test_options_move_to_their_places() -> None:
    sent = {"filter": {"only": ["a", "b"]}, "place": {"city": "Rome", "type": "approximate"}, "approve": "never"}
    (made,), lost, _ = _translated(_tool(sent))
    assert (made.dialect, made.kind, made.at) == ("there", "find", AT)  # type: ignore[union-attr]
    assert _value(made) == {
        "type": "find",
        "spot": {"type": "approximate", "kind": "rough", "city": "Rome"},
        "domains": "a,b",
    }
    assert lost == [("tool.hosted.mapped", "/tools/1")]


@pytest.mark.parametrize(
    ("sent", "paths"),
    [
        ({"limit": 3}, ["/tools/1", "/tools/1/limit"]),
        ({"approve": "never", "limit": "three"}, ["/tools/1/limit"]),
        ({"approve": "never", "filter": {"only": "a", "not": []}}, ["/tools/1/filter/only", "/tools/1/filter/not"]),
        ({"approve": {"always": ["x"]}}, ["/tools/1/approve"]),
        ({"approve": "never", "new": {"deep": {"er": 1}}, "null": None, "empty": {}}, ["/tools/1/new/deep/er"]),
        ({"approve": "never", "place": {"city": None}, "type": "search", "name": "s"}, []),
    ],
)
def test_options_without_a_place_are_reported(sent: Any, paths: list[str]) -> None:
    _, lost, _ = _translated(_tool(sent, "old_search"))
    assert [path for code, path in lost if code == "tool.hosted.option.dropped"] == paths


def test_a_token_in_the_headers_is_moved_and_no_secret_is_reported() -> None:
    sent = {"name": "wiki", "url": "https://x.example", "h": {"authorization": "Bearer s3cr3t", "X-Key": "0th3r"}}
    context = Context("here", "there")
    (made,) = translate_hosted_tools((_tool(sent, "server"),), (SERVER,), (SERVER_THERE,), context)
    assert _value(made) == {"label": "wiki", "address": "https://x.example", "token": "s3cr3t"}
    assert Loss("tool.hosted.option.dropped", "dropped", "warning", "/tools/1/h", "headers") in context.losses.all()
    assert not [loss for loss in context.losses.all() if "s3cr3t" in str(loss) or "0th3r" in str(loss)]
    back = Context("there", "here")
    (made,) = translate_hosted_tools((HostedTool("there", "mcp", made.value, AT),), (SERVER_THERE,), (SERVER,), back)  # type: ignore[union-attr]
    assert _value(made) == {"name": "wiki", "url": "https://x.example", "h": {"Authorization": "Bearer s3cr3t"}}


def test_a_tool_that_cannot_be_written_completely_is_dropped() -> None:
    made, lost, _ = _translated(_tool({"name": "wiki"}, "server"), target=(SERVER_THERE,))
    assert made == () and lost == [("tool.hosted.dropped", "/tools/1")]
    made, lost, _ = _translated(_tool({}, "robot"))
    assert made == () and lost == [("tool.hosted.dropped", "/tools/1")]


def test_a_stand_in_is_made_once_and_never_replaces_a_tool_of_the_client() -> None:
    made, lost, context = _translated(
        _tool({"approve": "never"}), _tool({"approve": "never"}), target=(), stand_ins=True
    )
    assert [tool.name for tool in made if isinstance(tool, Tool)] == ["google_web_search"]
    assert [code for code, _ in lost] == ["tool.hosted.as_function", "tool.hosted.dropped"]
    assert context.stand_ins == {"google_web_search": "web_search"}
    own = Tool("google_web_search")
    made, lost, context = _translated(own, _tool({}), target=(), stand_ins=True)
    assert made == (own,) and [code for code, _ in lost] == ["tool.hosted.dropped"] and context.stand_ins == {}


def test_a_hosted_tool_is_offered_once_and_not_beside_a_function_of_its_name() -> None:
    made, lost, _ = _translated(_tool({"approve": "never"}), _tool({"approve": "never"}, "old_search"))
    assert [tool.kind for tool in made if isinstance(tool, HostedTool)] == ["find"]
    assert [code for code, _ in lost] == ["tool.hosted.mapped", "tool.hosted.dropped"]
    named = msgspec.structs.replace(THERE, fixed={"type": "find", "name": "find"})
    own = Tool("find")
    assert _translated(own, _tool({}), target=(named,))[0] == (own,)


def test_a_row_can_require_a_feature_of_the_model() -> None:
    row = msgspec.structs.replace(THERE, needs="web_search_options")
    none, lost, _ = _translated(_tool({"approve": "never"}), target=(row,))
    assert none == () and lost == [("tool.hosted.dropped", "/tools/1")]
    (made,), _, _ = _translated(_tool({"approve": "never"}), target=(row,), profile=Profile(web_search_options=True))
    assert isinstance(made, HostedTool)


def test_models_that_take_one_kind_of_tools_keep_the_functions() -> None:
    alone = Profile(hosted_beside_functions=False)
    own = HostedTool("there", "find", Raw(b"{}"), AT)
    function = Tool("f")
    assert _translated(own, profile=alone)[0] == (own,)
    assert _translated(own, function)[0] == (own, function)
    context = Context("there", "there", profile=alone)
    assert translate_hosted_tools((own, function), (THERE,), (THERE,), context) == (function,)
    assert [loss.code for loss in context.losses.all()] == ["tool.hosted.dropped"]


def test_deferred_tools_stay_deferred_only_beside_a_search() -> None:
    search = HostedToolRow("there", "tool_search", "look", kinds("look"))
    later = Tool("f", deferred=True, at=("tools", 0))
    made, lost, _ = _translated(later, target=(search,))
    assert made == (Tool("f", at=("tools", 0)),) and lost == [("tool.deferred.expanded", "/tools/0")]
    looked = HostedTool("there", "look", Raw(b"{}"), AT)
    assert _translated(later, looked, target=(search,))[0] == (later, looked)
    assert _translated(later, target=())[0] == (later,)  # the writer of such a target expands it


def test_tools_are_unchanged_if_none_is_hosted() -> None:
    tools = (Tool("f"), Tool("g"))
    assert _translated(*tools)[0] == tools


@pytest.mark.parametrize("name", names())
def test_the_tables_use_common_names_only(name: str) -> None:
    for row in get(name).hosted:
        assert row.options.keys() <= FORMS.keys() and row.implied.keys() <= FORMS.keys()
        assert row.wants <= row.options.keys()
        assert not row.needs or isinstance(getattr(Profile(), row.needs), bool)


@pytest.mark.parametrize(("family", "argument"), [("web_search", "query"), ("web_fetch", "prompt")])
def test_stand_ins_have_the_arguments_that_clients_expect(family: str, argument: str) -> None:
    schema = msgspec.json.decode(STAND_INS[family].schema or "")
    assert list(schema["properties"]) == schema["required"] == [argument]


class _CountedMoves(dict[Any, Any]):
    """Moved fields that count how often they are all iterated."""

    def __init__(self) -> None:
        super().__init__()
        self.passes = 0

    def items(self) -> Any:
        self.passes += 1
        return super().items()


def test_many_dropped_tools_are_compared_with_all_others_once() -> None:
    """A request can have thousands of hosted tools. The work for each tool must not grow with their number."""
    context = Context("here", "there")
    context.moved = _CountedMoves()
    context.moved["tools", 50, "max_uses"] = ("max_tool_calls",)
    tools = tuple(
        [msgspec.structs.replace(_tool({"url": "https://x.example"}, "server"), at=("tools", i)) for i in range(50)]
    )
    translate_hosted_tools(tools, (SERVER, SEARCH), (THERE,), context)
    assert [loss.code for loss in context.losses.all()].count("tool.hosted.dropped") == 50
    assert context.moved.passes == 1
