"""Hosted tools over all pairs: mapped where the target runs its own, a function or a loss where it does not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.canon import HostedTool, Tool, ToolCall
from dragoman.dialects import get
from tests.pairs.helpers import (
    DIALECTS,
    MODELS,
    PAIRS,
    answer,
    calls_of,
    codes,
    losses_of,
    read,
    read_answer,
    streamed,
    to,
)

GEMINIS = ("gemini", "code-assist")
SECRET = "s3cr3t-t0k3n"
OTHER_SECRET = "an0th3r-0n3"

# family -> dialect -> a declaration with options, as a client of that dialect sends it
DECLARED: dict[str, dict[str, Any]] = {
    "web_search": {
        "anthropic": {
            "type": "web_search_20260209",
            "name": "web_search",
            "max_uses": 3,
            "allowed_domains": ["a.example"],
            "user_location": {"type": "approximate", "city": "Rome", "country": "IT"},
        },
        "openai-responses": {
            "type": "web_search",
            "filters": {"allowed_domains": ["a.example"]},
            "search_context_size": "high",
            "user_location": {"type": "approximate", "city": "Rome", "country": "IT"},
        },
        "gemini": {"googleSearch": {"excludeDomains": ["b.example"]}},
        "code-assist": {"googleSearch": {"excludeDomains": ["b.example"]}},
        "openrouter": {
            "type": "openrouter:web_search",
            "parameters": {"max_uses": 3, "allowed_domains": ["a.example"], "engine": "exa"},
        },
    },
    "web_fetch": {
        "anthropic": {"type": "web_fetch_20250910", "name": "web_fetch", "max_uses": 2, "max_content_tokens": 900},
        "gemini": {"urlContext": {}},
        "code-assist": {"url_context": {}},
        "openrouter": {"type": "openrouter:web_fetch", "parameters": {"max_uses": 2}},
    },
    "code_execution": {
        "anthropic": {"type": "code_execution_20250825", "name": "code_execution"},
        "openai-responses": {"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file-1"]}},
        "gemini": {"codeExecution": {}},
        "code-assist": {"codeExecution": {}},
    },
    "mcp": {
        "anthropic": {"type": "mcp_toolset", "mcp_server_name": "wiki"},
        "openai-responses": {
            "type": "mcp",
            "server_label": "wiki",
            "server_url": "https://mcp.example/mcp",
            "headers": {"authorization": f"Bearer {SECRET}", "X-Key": OTHER_SECRET},
            "allowed_tools": {"tool_names": ["ask"]},
        },
        "gemini": {
            "mcpServers": [
                {
                    "name": "wiki",
                    "streamableHttpTransport": {
                        "url": "https://mcp.example/mcp",
                        "headers": {"Authorization": f"Bearer {SECRET}"},
                    },
                }
            ]
        },
    },
}

# what the target writes for a family; the target does not run a family that is missing here
KINDS = {
    "anthropic": {
        "web_search": "web_search_20250305",
        "web_fetch": "web_fetch_20250910",
        "code_execution": "code_execution_20250825",
        "mcp": "mcp_toolset",
    },
    "openai-responses": {"web_search": "web_search", "code_execution": "code_interpreter", "mcp": "mcp"},
    "gemini": {
        "web_search": "googleSearch",
        "web_fetch": "urlContext",
        "code_execution": "codeExecution",
        "mcp": "mcpServers",
    },
    "code-assist": {"web_search": "googleSearch", "web_fetch": "urlContext", "code_execution": "codeExecution"},
    "openrouter": {"web_search": "openrouter:web_search", "web_fetch": "openrouter:web_fetch"},
    "openai-chat": {},
    "ollama": {},
}
FUNCTIONS = {"web_search": ("google_web_search", "query"), "web_fetch": ("web_fetch", "prompt")}

CASES = [
    (family, source, target)
    for family, declared in DECLARED.items()
    for source, target in PAIRS
    if source in declared and {source, target} != set(GEMINIS)
]


def _request(source: str, *tools: Any, mcp: bool = False) -> dict[str, Any]:
    """Return a small request of this dialect with these tools."""
    if source in GEMINIS:
        inner = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "tools": list(tools)}
        return inner if source == "gemini" else {"model": "gemini-3-flash", "request": inner}
    body: dict[str, Any] = {"model": MODELS[source], "tools": list(tools)}
    if source == "openai-responses":
        return {**body, "input": "Hi"}
    body["messages"] = [{"role": "user", "content": "Hi"}]
    if source == "anthropic":
        body["max_tokens"] = 64
        if mcp:
            server = {"type": "url", "name": "wiki", "url": "https://mcp.example/mcp", "authorization_token": SECRET}
            body["mcp_servers"] = [server]
    return body


@pytest.mark.parametrize(("family", "source", "target"), CASES)
def test_a_hosted_tool_becomes_the_targets_own(family: str, source: str, target: str) -> None:
    done = to(target, _request(source, DECLARED[family][source], mcp=family == "mcp"), source)
    tools = read(done.body, target).tools
    kind = KINDS[target].get(family)
    if (family, source, target) == ("code_execution", "anthropic", "openai-responses"):
        kind = "shell"  # since 20250825 the tool is a shell
    if kind is not None:
        assert [tool.kind for tool in tools if isinstance(tool, HostedTool)] == [kind]
        assert "tool.hosted.mapped" in codes(done)
    else:
        assert tools == () and done.stand_ins == {}
        assert "tool.hosted.dropped" in codes(done)
    assert not [loss for loss in done.losses if SECRET in str(loss) or OTHER_SECRET in str(loss)]


@pytest.mark.parametrize(("family", "source", "target"), [case for case in CASES if case[0] in FUNCTIONS])
def test_a_caller_that_runs_a_tool_itself_may_request_a_function(family: str, source: str, target: str) -> None:
    request = _request(source, DECLARED[family][source])
    done = to(target, request, source, stand_ins=True)
    if family in KINDS[target]:
        assert done.stand_ins == {}
        return
    name, argument = FUNCTIONS[family]
    (tool,) = read(done.body, target).tools
    assert isinstance(tool, Tool) and tool.name == name and f'"{argument}"' in str(tool.schema)
    assert "tool.hosted.as_function" in codes(done)
    assert done.stand_ins == {name: family}


@pytest.mark.parametrize("stand_ins", [False, True])
def test_translate_tools_makes_a_stand_in_function_only_on_request(stand_ins: bool) -> None:
    tools = [DECLARED["web_search"]["anthropic"]]
    kept = dragoman.translate_tools(tools, source="anthropic", target="openai-chat", stand_ins=stand_ins)
    assert [tool["function"]["name"] for tool in kept.json()] == (["google_web_search"] if stand_ins else [])
    assert ("tool.hosted.dropped" in codes(kept)) is not stand_ins
    by_default = dragoman.translate_tools(tools, source="anthropic", target="openai-chat")
    assert by_default.json() == []


@pytest.mark.parametrize(("family", "source", "target"), CASES)
def test_every_option_is_translated_or_reported(family: str, source: str, target: str) -> None:
    """Each scalar of the declaration is in the body, or a loss names its place or a place above it."""
    declared = DECLARED[family][source]
    done = to(target, _request(source, declared, mcp=family == "mcp"), source)
    reported = [
        path for code, path in losses_of(done) if code.startswith("tool.hosted") and code != "tool.hosted.mapped"
    ]
    text = done.body.decode()
    for path, value in _leaves(declared):
        if path[-1] in ("type", "name", "mcp_server_name", "server_label") or value in ({}, []):
            continue
        in_text = f'"{value}"' in text if isinstance(value, str) else f":{value}" in text
        assert in_text or SECRET in str(value) or any(_is_above(one, path) for one in reported), (path, reported, text)
    if family == "mcp" and KINDS[target].get("mcp"):
        assert SECRET in text


def _leaves(value: Any, above: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict) and value:
        return [leaf for name, inner in value.items() for leaf in _leaves(inner, (*above, name))]
    if isinstance(value, list) and value:
        return [leaf for i, inner in enumerate(value) for leaf in _leaves(inner, (*above, str(i)))]
    return [(above, value)]


def _is_above(loss: str, path: tuple[str, ...]) -> bool:
    """Whether a loss is at the tool, at the option or above the option."""
    steps = tuple(loss.split("/")[1:])
    inside = steps[steps.index("tools") + 2 :] if "tools" in steps else steps
    return path[: len(inside)] == inside


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openai-chat"])
def test_the_search_of_chat_is_a_field(target: str) -> None:
    options = {"search_context_size": "low", "user_location": {"type": "approximate", "approximate": {"city": "Rome"}}}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "web_search_options": options}
    done = to(target, body, "openai-chat")
    tools = read(done.body, target).tools
    kinds = [tool.kind for tool in tools if isinstance(tool, HostedTool)]
    assert len(kinds) == len(tools) and kinds == (
        [KINDS[target]["web_search"]] if "web_search" in KINDS[target] else []
    )


def test_only_search_models_get_a_search_over_chat() -> None:
    tool = {"type": "web_search", "user_location": {"type": "approximate", "city": "Rome"}}
    request = _request("openai-responses", tool)
    done = to("openai-chat", request, "openai-responses", model="gpt-4o-search-preview")
    place = {"type": "approximate", "approximate": {"city": "Rome"}}
    assert done.json()["web_search_options"] == {"user_location": place}
    assert "tools" not in done.json()
    assert "web_search_options" not in to("openai-chat", request, "openai-responses").json()


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openrouter"])
def test_plugins_that_search_are_hosted_tools(target: str) -> None:
    plugins = [{"id": "web", "max_results": 3}, {"id": "file-parser"}, {"id": "web-fetch", "enabled": False}]
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "plugins": plugins}
    done = to(target, body, "openrouter")
    kinds = [tool.kind for tool in read(done.body, target).tools if isinstance(tool, HostedTool)]
    assert kinds == ([KINDS[target]["web_search"]] if "web_search" in KINDS[target] else [])
    assert ("field.dropped", "/plugins/1") in losses_of(done)  # the file parser


@pytest.mark.parametrize(
    ("source", "target"),
    [(source, target) for source, target in PAIRS if source in DECLARED["web_search"] and target in GEMINIS],
)
def test_gemini_2_gets_functions_or_hosted_tools_but_not_both(source: str, target: str) -> None:
    function: Any = {"name": "f", "input_schema": {"type": "object", "properties": {}}}
    if source in GEMINIS:
        function = {"functionDeclarations": [{"name": "f"}]}
    elif source != "anthropic":
        function = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
        if source == "openrouter":
            function = {"type": "function", "function": {"name": "f"}}
    request = _request(source, DECLARED["web_search"][source], function)
    old = to(target, request, source, model="gemini-2.5-flash")
    assert [tool.name for tool in read(old.body, target).tools if isinstance(tool, Tool)] == ["f"]
    assert "tool.hosted.dropped" in codes(old)
    new = to(target, request, source, model="gemini-3-flash").json()
    new = new.get("request", new)
    assert [list(tool) for tool in sorted(new["tools"], key=str)] == [["functionDeclarations"], ["googleSearch"]]
    switch = new.get("toolConfig", {}).get("includeServerSideToolInvocations")
    assert switch is (True if target == "gemini" else None)


def test_a_function_of_the_client_is_not_declared_twice() -> None:
    mine = {"name": "google_web_search", "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}}}
    request = _request("anthropic", DECLARED["web_search"]["anthropic"], mine)
    done = to("ollama", request, "anthropic", stand_ins=True)
    assert len(done.json()["tools"]) == 1
    assert "tool.hosted.dropped" in codes(done) and done.stand_ins == {}


def test_the_calls_of_a_stand_in_come_back_as_calls() -> None:
    done = to("ollama", _request("anthropic", DECLARED["web_search"]["anthropic"]), "anthropic", stand_ins=True)
    call = ToolCall("call_1", "google_web_search", '{"query":"x"}')
    back = dragoman.translate_response(answer("ollama", call), source="ollama", target="anthropic", answers=done)
    assert [(one.name, one.input) for one in calls_of(read_answer(back.body, "anthropic"))] == [
        ("google_web_search", {"query": "x"})
    ]
    assert done.stand_ins == {"google_web_search": "web_search"}


@pytest.mark.parametrize("toolset", [(), (DECLARED["mcp"]["anthropic"],)])
def test_losses_of_an_mcp_server_name_the_place_of_the_option(toolset: tuple[Any, ...]) -> None:
    body = _request("anthropic", *toolset, mcp=True)
    body["mcp_servers"][0]["tool_configuration"] = {"enabled": False, "allowed_tools": ["ask"]}
    body["mcp_servers"][0]["later"] = {"more": 1}
    for target in ("gemini", "openai-responses"):
        found = {
            path for code, path in losses_of(to(target, body, "anthropic")) if code == "tool.hosted.option.dropped"
        }
        server = "/mcp_servers/0"
        narrowed = {f"{server}/tool_configuration/allowed_tools"} if target == "gemini" else set()
        assert found == {f"{server}/tool_configuration/enabled", f"{server}/later/more", *narrowed}


def test_an_mcp_server_is_a_server_and_a_toolset_to_messages() -> None:
    done = to("anthropic", _request("openai-responses", DECLARED["mcp"]["openai-responses"]), "openai-responses")
    body = done.json()
    assert body["mcp_servers"] == [
        {"type": "url", "name": "wiki", "url": "https://mcp.example/mcp", "authorization_token": SECRET}
    ]
    assert body["tools"] == [
        {
            "type": "mcp_toolset",
            "mcp_server_name": "wiki",
            "default_config": {"enabled": False},
            "configs": {"ask": {"enabled": True}},
        }
    ]
    # Messages has no approval of calls, and only one token instead of headers.
    assert {path for code, path in losses_of(done) if code == "tool.hosted.option.dropped"} == {
        "/tools/0",
        "/tools/0/headers",
    }


def test_a_server_of_the_first_beta_needs_no_toolset() -> None:
    body = _request("anthropic", mcp=True)
    body["mcp_servers"][0]["tool_configuration"] = {"enabled": True, "allowed_tools": ["ask"]}
    del body["tools"]
    done = to("openai-responses", body, "anthropic")
    assert done.json()["tools"] == [
        {
            "type": "mcp",
            "require_approval": "never",
            "server_label": "wiki",
            "server_url": "https://mcp.example/mcp",
            "authorization": SECRET,
            "allowed_tools": ["ask"],
        }
    ]


@pytest.mark.parametrize("name", DIALECTS)
def test_each_table_of_hosted_tools_reads_the_types_that_it_writes(name: str) -> None:
    for row in get(name).hosted:
        assert row.kinds.fullmatch(row.kind), row.kind


STANDARD = [
    ({"type": "bash_20250124", "name": "bash"}, {"command": "ls"}),
    (
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 900},
        {"command": "view", "path": "/a"},
    ),
    ({"type": "memory_20250818", "name": "memory"}, {"command": "view", "path": "/memories"}),
]


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "anthropic"])
@pytest.mark.parametrize(("tool", "arguments"), STANDARD)
def test_tools_that_the_client_runs_are_functions_for_any_model(target: str, tool: Any, arguments: Any) -> None:
    body = _request("anthropic", tool)
    used = {"type": "tool_use", "id": "toolu_1", "name": tool["name"], "input": arguments}
    body["messages"] += [
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}]},
    ]
    done = to(target, body, "anthropic")
    there = read(done.body, target)
    (offered,) = there.tools
    assert isinstance(offered, Tool) and offered.name == tool["name"]
    assert all(f'"{name}"' in str(offered.schema) for name in arguments)
    assert done.stand_ins == {}
    (call,) = [part for turn in there.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert (call.name, call.input) == (tool["name"], arguments)
    assert ("/tools/0/max_characters" in {path for _, path in losses_of(done)}) is ("max_characters" in tool)
    call_again = ToolCall("call_2", tool["name"], msgspec.json.encode(arguments).decode())
    back = dragoman.translate_response(answer(target, call_again), source=target, target="anthropic", answers=done)
    assert [(one.name, one.input) for one in calls_of(read_answer(back.body, "anthropic"))] == [
        (tool["name"], arguments)
    ]


# a hosted tool that is forced

FORCED: dict[str, Any] = {
    "anthropic": {"type": "tool", "name": "web_search"},
    "openai-responses": {"type": "web_search_preview"},
    "openrouter": {"type": "openrouter:web_search"},
}
SENT: dict[str, Any] = {
    "anthropic": {"type": "tool", "name": "web_search"},
    "openai-responses": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}]},
    "openrouter": {"type": "openrouter:web_search"},
}


def _function(source: str, name: str) -> Any:
    schema = {"type": "object", "properties": {}}
    if source == "anthropic":
        return {"name": name, "input_schema": schema}
    if source == "openai-responses":
        return {"type": "function", "name": name, "parameters": schema, "strict": False}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[0] in FORCED])
def test_a_forced_hosted_tool_is_forced_where_the_target_can(source: str, target: str) -> None:
    body = {
        **_request(source, DECLARED["web_search"][source], _function(source, "f")),
        "tool_choice": FORCED[source],
    }
    done = to(target, body, source)
    choice = done.json().get("tool_choice")
    if target in SENT:
        assert choice == SENT[target]
        assert not [code for code in codes(done) if code.startswith("choice.")]
    else:
        assert choice is None
        assert ("choice.dropped", "/tool_choice") in losses_of(done)


@pytest.mark.parametrize("target", ["openai-responses", "openrouter"])
def test_a_forced_hosted_tool_without_other_tools_is_required(target: str) -> None:
    body = {**_request("anthropic", DECLARED["web_search"]["anthropic"]), "tool_choice": FORCED["anthropic"]}
    assert to(target, body, "anthropic").json()["tool_choice"] == "required"


def test_a_function_with_the_name_of_a_forced_hosted_tool_is_not_forced() -> None:
    mine = _function("openai-responses", "web_search_preview")
    tool = DECLARED["web_search"]["openai-responses"]
    body = {**_request("openai-responses", tool, mine), "tool_choice": FORCED["openai-responses"]}
    assert to("anthropic", body, "openai-responses").json()["tool_choice"] == SENT["anthropic"]
    done = to("gemini", body, "openai-responses", model="gemini-3-flash")
    assert ("choice.dropped", "/tool_choice") in losses_of(done)
    assert "functionCallingConfig" not in done.json().get("toolConfig", {})


def test_a_model_without_forced_choice_gets_the_request_as_text() -> None:
    tool = DECLARED["web_search"]["openai-responses"]
    body = {
        **_request("openai-responses", tool, _function("openai-responses", "f")),
        "tool_choice": FORCED["openai-responses"],
    }
    done = to("anthropic", body, "openai-responses", model="claude-fable-5-1")
    assert done.json()["tool_choice"] == {"type": "auto"}
    assert "`web_search`" in str(done.json()["system"])
    assert ("choice.weakened", "/tool_choice") in losses_of(done)


# calls of functions that stand for hosted tools


@pytest.mark.parametrize("source", ["anthropic", "openai-responses", "gemini"])
def test_the_call_of_a_stand_in_is_reported(source: str) -> None:
    done = to("openai-chat", _request(source, DECLARED["web_search"][source]), source, stand_ins=True)
    call = ToolCall("call_1", "google_web_search", '{"query":"x"}')
    whole = dragoman.translate_response(answer("openai-chat", call), source="openai-chat", target=source, answers=done)
    stream = dragoman.StreamTranslator(source="openai-chat", target=source, answers=done)
    stream.feed(streamed("openai-chat", call, ['{"query":', '"x"}']))
    stream.close()
    for losses in (whole.losses, stream.losses):
        assert [(one.severity, one.detail) for one in losses if one.code == "call.stand_in"] == [
            ("warning", "google_web_search stands for web_search")
        ]
    other = ToolCall("call_1", "f", "{}")
    plain = dragoman.translate_response(answer("openai-chat", other), source="openai-chat", target=source, answers=done)
    assert "call.stand_in" not in codes(plain)


@pytest.mark.parametrize("target", ["openai-chat", "ollama"])
def test_a_search_without_a_runner_is_left_out(target: str) -> None:
    body = {
        "model": "m",
        "input": "hi",
        "tools": [{"type": "web_search"}, {"type": "function", "name": "f", "parameters": {"type": "object"}}],
    }
    done = dragoman.translate_request(body, source="openai-responses", target=target)
    assert done.stand_ins == {}
    assert [tool["function"]["name"] for tool in done.json()["tools"]] == ["f"]
    assert [(loss.code, loss.path) for loss in done.losses if loss.severity != "info"] == [
        ("tool.hosted.dropped", "/tools/0")
    ]


def test_image_generation_is_translated_between_responses_and_openrouter() -> None:
    options = {"quality": "low", "size": "1024x1024", "output_format": "jpeg", "output_compression": 90}
    body = {"model": "m", "input": "draw", "tools": [{"type": "image_generation", "partial_images": 2, **options}]}
    there = to("openrouter", body, "openai-responses", model="openai/gpt-5")
    assert there.json()["tools"] == [{"type": "openrouter:image_generation", "parameters": options}]
    assert [(loss.code, loss.path) for loss in there.losses] == [
        ("tool.hosted.option.dropped", "/tools/0/partial_images"),
        ("tool.hosted.mapped", "/tools/0"),
    ]
    back = to("openai-responses", there.json(), "openrouter", model="gpt-5")
    assert back.json()["tools"] == [{"type": "image_generation", **options}]


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5.6-sol", "claude-sonnet-4-6"])
def test_image_generation_is_sent_only_to_models_known_to_accept_it(model: str) -> None:
    tools = [{"type": "openrouter:image_generation"}]
    body = {"model": "m", "messages": [{"role": "user", "content": "draw"}], "tools": tools}
    done = to("openai-responses", body, "openrouter", model=model)
    assert "tools" not in done.json() and "tool.hosted.dropped" in {loss.code for loss in done.losses}


@pytest.mark.parametrize(("callers", "reported"), [(["direct"], False), (["code_execution_20260120"], True)])
def test_direct_calls_of_a_hosted_tool_by_the_model_are_no_loss(callers: list[str], reported: bool) -> None:
    tool = {"type": "web_search_20260209", "name": "web_search", "allowed_callers": callers}
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}], "tools": [tool]}
    done = to("openai-responses", body, "anthropic")
    assert ("tool.hosted.option.dropped" in codes(done)) is reported


def test_a_tool_use_in_a_history_that_becomes_text_is_no_warning() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tides"}}
    page = {"type": "web_search_result", "url": "https://a.example", "title": "Tides", "encrypted_content": "e"}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]}
    turns = [{"role": "assistant", "content": [use, found]}, {"role": "user", "content": "and then?"}]
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}, *turns]}
    done = to("openai-chat", body, "anthropic")
    assert b"https://a.example" in done.body
    assert {loss.severity for loss in done.losses if loss.code == "part.as_text"} == {"info"}
