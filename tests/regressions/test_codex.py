"""Reported failures of Codex requests: free-text tools, namespaces, additional tools, tool search."""

from __future__ import annotations

import pytest

from tests.regressions.cases import AnswerCase, Anything, Case, RequestCase, StreamCase, params, text_with
from tests.regressions.wire_shapes import (
    DONE,
    calling,
    candidate,
    chunk,
    completion,
    function,
    line,
    message,
    piece,
    use,
)

PATCH = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch\n"
APPLY = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"},
}
GROUP = {
    "type": "namespace",
    "name": "multi_agent_v1",
    "description": "Agents.",
    "tools": [
        {"type": "function", "name": "spawn_agent", "parameters": {"type": "object", "properties": {}}, "strict": False}
    ],
}


def _codex(*tools: object, **more: object) -> dict[str, object]:
    return {"model": "m", "input": [{"role": "user", "content": "Go."}], "tools": list(tools), **more}


def _moved(*tools: object) -> dict[str, object]:
    """Return tools as newer Codex versions send them: as an item of the input."""
    given = {"type": "additional_tools", "role": "developer", "id": "at_1", "tools": list(tools)}
    return {"model": "m", "input": [given, {"role": "user", "content": "Go."}]}


def _named(found: list[dict[str, object]]) -> list[str]:
    return [str(one.get("name") or one.get("function", {}).get("name")) for one in found]  # type: ignore[attr-defined]


CASES: list[Case] = [
    RequestCase(
        source="ardeyouxipianyi/workbuddy2api-intl#12",
        failed="A free-text tool was silently dropped; the model wrote its patch as plain text.",
        given="openai-responses",
        to="gemini",
        body=_codex(APPLY),
        holds={"/tools/0/functionDeclarations/0/name": "apply_patch"},
        losses=["tool.custom.wrapped"],
    ),
    AnswerCase(
        source="antirez/ds4#745",
        failed="The call of a free-text tool came back as a function call; Codex aborted.",
        given="openai-chat",
        to="openai-responses",
        asked=_codex(APPLY),
        body=completion(
            {
                "content": None,
                "tool_calls": [{"id": "call_a", "type": "custom", "custom": {"name": "apply_patch", "input": PATCH}}],
            },
            "tool_calls",
        ),
        holds={"/output/0/type": "custom_tool_call", "/output/0/input": PATCH, "/output/0/name": "apply_patch"},
    ),
    AnswerCase(
        source="caozhiyuan/copilot-api#242",
        failed="The wrapper was never removed: Codex got JSON instead of the patch.",
        given="anthropic",
        to="openai-responses",
        asked=_codex(APPLY),
        body=message(use("toolu_1", "apply_patch", {"input": PATCH})),
        holds={"/output/0/type": "custom_tool_call", "/output/0/input": PATCH, "/output/0/call_id": "toolu_1"},
    ),
    StreamCase(
        source="decolua/9router#1371",
        failed="A streamed call of a free-text tool reached Codex as a function call with empty arguments.",
        given="gemini",
        to="openai-responses",
        asked=_codex(APPLY),
        frames=[candidate(function("apply_patch", {"input": PATCH})), candidate(finish="STOP")],
        holds={"/output/0/type": "custom_tool_call", "/output/0/input": PATCH},
    ),
    StreamCase(
        source="router-for-me/CLIProxyAPI#5753",
        failed="A model that knows the tool from training calls it as a function, with the patch under another key.",
        given="ollama",
        to="openai-responses",
        asked=_codex(APPLY),
        frames=[line(calls=[("apply_patch", {"patch": PATCH})]), line(done=True)],
        holds={"/output/0/type": "custom_tool_call", "/output/0/input": PATCH},
    ),
    RequestCase(
        source="icebear0828/codex-proxy#707",
        failed="A free-text tool of Chat became a function without its grammar on the way to Responses.",
        given="openai-chat",
        to="openai-responses",
        body={
            "model": "m",
            "messages": [{"role": "user", "content": "Go."}],
            "tools": [
                {
                    "type": "custom",
                    "custom": {
                        "name": "ApplyPatch",
                        "description": "Edits files.",
                        "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/s"}},
                    },
                }
            ],
        },
        holds={
            "/tools/0/type": "custom",
            "/tools/0/format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"},
        },
    ),
    RequestCase(
        source="SaladDay/cc-switch-cli#466",
        failed="Tools in an item of the input were all dropped; the model had no tools.",
        given="openai-responses",
        to="openai-chat",
        body=_moved(APPLY, GROUP, {"type": "function", "name": "shell", "parameters": {"type": "object"}}),
        holds={"/tools/#": 3},
    ),
    RequestCase(
        source="10/chatgpt-codex-proxy#9",
        failed="Such an item, with an empty group in it, became a developer message without content.",
        given="openai-responses",
        to="anthropic",
        body=_moved({"type": "namespace", "name": "collaboration", "description": "None.", "tools": []}),
        holds={"/messages/#": 1, "/messages/0/content": "Go."},
    ),
    RequestCase(
        source="JiuliNuoyi/CodexRosetta#11",
        failed="Groups of tools were silently dropped, and with them all MCP tools.",
        given="openai-responses",
        to="anthropic",
        body=_codex(GROUP),
        holds={"/tools": Anything("the tool", lambda found: "spawn_agent" in _named(found)[0])},
        losses=["tool.namespace.prefixed"],
    ),
    AnswerCase(
        source="dwgx/WindsurfAPI#72",
        failed="The call of a tool in a group has to come back with its bare name and its group.",
        given="anthropic",
        to="openai-responses",
        asked=_codex(GROUP),
        body=message(use("toolu_1", "multi_agent_v1__spawn_agent")),
        holds={"/output/0/name": "spawn_agent", "/output/0/namespace": "multi_agent_v1"},
    ),
    RequestCase(
        source="envoyproxy/ai-gateway#2317",
        failed="tool_search and groups made the gateway refuse everything that newer Codex sends.",
        given="openai-responses",
        to="openai-chat",
        body=_codex(GROUP, {"type": "tool_search"}, {"type": "web_search", "external_web_access": True}),
        holds={"/tools": Anything("functions", lambda found: all(one["type"] == "function" for one in found))},
        nowhere=["external_web_access"],
    ),
    StreamCase(
        source="mnfst/llm-gateway#2837",
        failed="Streamed calls were dropped on the way to Codex.",
        given="openai-chat",
        to="openai-responses",
        asked=_codex({"type": "function", "name": "shell", "parameters": {"type": "object"}, "strict": False}),
        frames=[
            chunk({"role": "assistant", "content": None}),
            calling(piece(0, "", id="call_a", name="shell")),
            calling(piece(0, '{"c":"ls"}')),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={"/output/0/call_id": "call_a", "/output/0/arguments": '{"c":"ls"}', "/model": text_with("m")},
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
