"""The types that a caller sees. Two type checkers read this file (`make types`), and pytest runs it.

`assert_type` does nothing at run time. A checker fails when the type of the expression is another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, assert_type

import pytest

import dragoman
from dragoman import (
    FaultTranslation,
    Finding,
    Loss,
    MemoryVault,
    Repair,
    Repaired,
    StreamTranslator,
    ToolCall,
    ToolResult,
    Translation,
    Vault,
    WireError,
)

ASKED: Mapping[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
ANSWER = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls",'
    b'"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",'
    b'"function":{"name":"clock","arguments":"{}"}}]}}]}'
)


def test_a_request_takes_bytes_text_and_mappings_and_gives_bytes_and_losses() -> None:
    for body in (ASKED, '{"model": "m", "messages": []}', b'{"model": "m", "messages": []}'):
        done = dragoman.translate_request(body, source="openai-chat", target="anthropic", tolerance="warning")
        assert_type(done, Translation)
        assert_type(done.body, bytes)
        assert_type(done.losses, tuple[Loss, ...])
        assert_type(done.repairs, tuple[Repair, ...])
        assert isinstance(done.json(), dict)


def test_a_loss_has_a_code_an_effect_a_severity_and_a_path() -> None:
    request = {**ASKED, "seed": 1}
    (loss,) = [
        loss
        for loss in dragoman.translate_request(request, source="openai-chat", target="anthropic").losses
        if loss.path == "/seed"
    ]
    assert_type(loss.code, str)
    assert_type(loss.effect, Literal["dropped", "approximated", "invented"])
    assert_type(loss.severity, Literal["info", "warning", "error"])
    assert_type(loss.path, str)
    assert loss.effect == "dropped"


def test_answers_faults_tools_and_streams_have_the_same_kind_of_result() -> None:
    sent = dragoman.translate_request(ASKED, source="anthropic", target="openai-chat")
    answer = dragoman.translate_response(ANSWER, source="openai-chat", target="anthropic", answers=sent)
    assert_type(answer, Translation)
    fault = dragoman.translate_fault(b"{}", status=429, source="openai-chat", target="anthropic")
    assert_type(fault, FaultTranslation)
    assert_type(fault.status, int)
    assert_type(fault.headers, dict[str, str])
    tools = dragoman.translate_tools([], source="openai-chat", target="anthropic")
    assert_type(tools, Translation)
    stream = StreamTranslator(source="openai-chat", target="anthropic", answers=sent)
    assert_type(stream.feed(b""), bytes)
    assert_type(stream.close(), bytes)
    assert_type(stream.losses, tuple[Loss, ...])
    assert answer.json()["stop_reason"] == "tool_use" and fault.status == 429


def test_a_tool_loop_is_typed() -> None:
    calls = dragoman.tool_calls(ANSWER, dialect="openai-chat")
    assert_type(calls, list[ToolCall])
    assert_type(calls[0].id, str)
    assert_type(calls[0].arguments, str)
    assert_type(calls[0].complete, bool)
    more = dragoman.tool_results(calls, [ToolResult("call_1", (dragoman.Text("noon"),))], dialect="openai-chat")
    assert_type(more, list[Any])
    assert more[-1] == {"role": "tool", "tool_call_id": "call_1", "content": "noon"}


def test_lint_repair_and_detect_are_typed() -> None:
    assert_type(dragoman.lint(ASKED, dialect="openai-chat"), list[Finding])
    assert_type(dragoman.lint_conversation([("request", ASKED)], dialect="openai-chat"), list[Finding])
    done = dragoman.repair(ASKED, dialect="openai-chat")
    assert_type(done, Repaired)
    assert_type(done.repairs, tuple[Repair, ...])
    assert_type(dragoman.detect(b"{}"), tuple[str, tuple[str, ...]])
    assert done.repairs == ()


def test_a_custom_vault_is_accepted() -> None:
    class Own:
        def get(self, key: str) -> str | None:
            return None

        def put(self, key: str, value: str) -> None:
            raise AssertionError("nothing is sealed here")

    vault_of_caller: Vault = Own()
    # `get` of a dict accepts its key only by position, `get` of the protocol also by name. So pyright refuses a dict.
    memory: Vault = MemoryVault()
    for vault in (vault_of_caller, memory):
        done = dragoman.translate_request(ASKED, source="openai-chat", target="gemini", seals="vault", vault=vault)
        assert_type(done.headers, dict[str, str])


def test_all_errors_have_one_base_class() -> None:
    with pytest.raises(dragoman.DragomanError) as caught:
        dragoman.translate_request(b"[", source="openai-chat", target="gemini")
    assert isinstance(caught.value, WireError)
    assert_type(caught.value.dialect, str)
    assert_type(caught.value.path, str)


def test_dialects_of_other_packages_type_check_too() -> None:
    """Editors offer the built-in names. Any other text is accepted too."""

    def translate(name: str) -> Translation:
        return dragoman.translate_request(ASKED, source=name, target="anthropic")

    assert_type(translate("openai-chat"), Translation)
