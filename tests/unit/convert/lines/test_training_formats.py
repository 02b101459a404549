"""Fine-tuning sets of OpenAI, Claude on Bedrock, Gemini on Vertex, Hugging Face chat and ShareGPT; logs become sets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.convert import LineConverter
from dragoman.convert.lines.formats import detect_format, get, names
from dragoman.errors import ConfigError, WireError

SETS = ("anthropic-finetune", "gemini-finetune", "huggingface", "openai-finetune", "sharegpt")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CONVERSATION: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is it raining in Paris?"},
        {
            "role": "assistant",
            "tool_calls": [{"type": "function", "function": {"name": "weather", "arguments": {"city": "Paris"}}}],
        },
        {"role": "tool", "name": "weather", "content": "rain"},
        {"role": "assistant", "content": "Yes."},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "description": "w", "parameters": SCHEMA}}],
}
PLAIN = {"messages": [CONVERSATION["messages"][0], CONVERSATION["messages"][1], CONVERSATION["messages"][4]]}


def convert(source: str, target: str, line: Any, **more: Any) -> tuple[Any, list[str]]:
    done = LineConverter(source=source, target=target, **more)(json.dumps(line).encode())
    return json.loads(done.line), [f"{loss.severity} {loss.code} {loss.path}" for loss in done.losses]


def test_every_format_names_its_source_and_date() -> None:
    for name in names():
        form = get(name)
        assert form.name == name
        assert form.source.startswith("https://")
        assert len(form.date) == len("2026-11-18")


@pytest.mark.parametrize("name", SETS)
def test_a_plain_conversation_comes_back_from_every_set(name: str) -> None:
    there, losses = convert("huggingface", name, PLAIN)
    assert losses == []
    assert convert(name, "huggingface", there) == (PLAIN, [])


@pytest.mark.parametrize("name", SETS)
def test_written_sets_are_detected(name: str) -> None:
    there, _ = convert("huggingface", name, CONVERSATION)
    assert detect_format([there])[0] == name


def test_a_tool_cycle_is_written_in_sharegpt() -> None:
    line, losses = convert("huggingface", "sharegpt", CONVERSATION)
    assert json.loads(line.pop("tools")) == [{"name": "weather", "description": "w", "parameters": SCHEMA}]
    assert json.loads(line["conversations"][1].pop("value")) == {"name": "weather", "arguments": {"city": "Paris"}}
    assert line == {
        "conversations": [
            {"from": "human", "value": "Is it raining in Paris?"},
            {"from": "function_call"},
            {"from": "observation", "value": "rain"},
            {"from": "gpt", "value": "Yes."},
        ],
        "system": "Be brief.",
    }
    assert losses == ["info call.id.invented /messages/2/tool_calls/0"]


@pytest.mark.parametrize("name", ["gemini-finetune", "openai-finetune", "sharegpt", "huggingface"])
def test_a_tool_cycle_comes_back(name: str) -> None:
    there, _ = convert("huggingface", name, CONVERSATION)
    back, _ = convert(name, "huggingface", there)
    call = back["messages"][2]["tool_calls"][0]
    result = back["messages"][3]
    assert call["function"] == {"name": "weather", "arguments": {"city": "Paris"}}
    assert call.pop("id", None) == result.pop("tool_call_id", None)
    assert back == CONVERSATION


def test_paths_of_losses_lie_in_the_sharegpt_line() -> None:
    line = {
        "system": "s",
        "conversations": [
            {"from": "human", "value": "q"},
            {"from": "function_call", "value": '{"name": "f", "arguments": {}}'},
        ],
        "score": 3,
    }
    _, losses = convert("sharegpt", "anthropic", line, model="m")
    assert "info call.id.invented /conversations/1/tool_calls/0" in losses
    assert "warning field.dropped /score" in losses


def test_sharegpt_holds_one_observation_for_several_results() -> None:
    conversation = json.loads(json.dumps(CONVERSATION))
    conversation["messages"][2]["tool_calls"] *= 2
    conversation["messages"].insert(3, conversation["messages"][3])
    line, losses = convert("huggingface", "sharegpt", conversation)
    assert [entry["from"] for entry in line["conversations"]] == ["human", "function_call", "observation", "gpt"]
    assert "warning result.texts.joined /messages/3" in losses


def test_calls_in_a_set_without_tools_are_losses_of_severity_error() -> None:
    line, losses = convert("huggingface", "anthropic-finetune", CONVERSATION)
    assert line == {
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Is it raining in Paris?"}, {"role": "assistant", "content": "Yes."}],
    }
    assert {
        "error field.dropped /tools/0",
        "error part.dropped /messages/2/tool_calls/0",
        "error part.dropped /messages/3",
    } <= set(losses)


def test_settings_have_no_place_in_a_set_and_are_reported() -> None:
    request = {"model": "gpt-4.1", "temperature": 0.5, "logit_bias": {"1": 1}, "tool_choice": "auto", **PLAIN}
    for name in SETS:
        line, losses = convert("openai-chat", name, request)
        assert not {"model", "temperature", "logit_bias", "max_tokens", "generationConfig"} & line.keys()
        assert any(loss.endswith("/temperature") for loss in losses), name
        assert any(loss.endswith("/logit_bias") for loss in losses), name
        assert any(loss.endswith("/tool_choice") for loss in losses), name


def test_weights_of_openai_stay_within_openai() -> None:
    conversation = json.loads(json.dumps(PLAIN))
    conversation["messages"][2]["weight"] = 0
    assert convert("openai-finetune", "openai-finetune", conversation) == (conversation, [])
    _, losses = convert("openai-finetune", "sharegpt", conversation)
    assert losses == ["warning field.dropped /messages/2/weight"]


def test_a_set_becomes_requests_with_a_model_and_a_limit() -> None:
    line, losses = convert(
        "anthropic-finetune", "anthropic", {"system": "s", "messages": PLAIN["messages"][1:]}, model="m"
    )
    assert (line["model"], line["max_tokens"]) == ("m", 8192)
    assert losses == ["info limit.invented "]
    _, losses = convert("openai-finetune", "openai-chat", PLAIN)
    assert losses == ["error model.invented "]


def test_tools_may_be_json_text_in_hugging_face_sets() -> None:
    there, _ = convert("huggingface", "openai-finetune", {**CONVERSATION, "tools": json.dumps(CONVERSATION["tools"])})
    assert there["tools"] == CONVERSATION["tools"]
    with pytest.raises(WireError, match="/tools"):
        convert("huggingface", "openai-finetune", {**CONVERSATION, "tools": "none"})


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ({"conversations": {}}, "/conversations"),
        ({"conversations": [{"from": "nobody", "value": ""}]}, "/conversations/0/from"),
        ({"conversations": [{"from": "function_call", "value": "weather()"}]}, "/conversations/0/value"),
        ({"conversations": [{"from": "human", "value": "q"}], "tools": "weather"}, "/tools"),
    ],
)
def test_errors_in_sharegpt_name_the_place(line: Any, path: str) -> None:
    with pytest.raises(WireError) as raised:
        convert("sharegpt", "openai-chat", line)
    assert raised.value.path == path


EXCHANGE: dict[str, Any] = {
    "request": {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}], "temperature": 1},
    "response": {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4.1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}],
    },
    "seconds": 3,
}


@pytest.mark.parametrize("name", SETS)
def test_a_log_of_exchanges_becomes_a_set(name: str) -> None:
    assert detect_format([EXCHANGE])[0] == "exchange"
    there, losses = convert("exchange", name, EXCHANGE)
    back, _ = convert(name, "huggingface", there)
    assert back == {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}
    assert {"info field.dropped /request/temperature", "info field.dropped /seconds"} <= set(losses)


def test_a_log_of_exchanges_becomes_requests_or_answers() -> None:
    request, losses = convert("exchange", "anthropic", EXCHANGE)
    assert request["messages"] == [{"role": "user", "content": "hi"}]
    assert "info field.dropped /response" in losses
    answer, losses = convert("exchange", "anthropic", EXCHANGE, kind="response")
    assert answer["content"][0]["text"] == "hello"
    assert "info field.dropped /request" in losses
    with pytest.raises(ConfigError, match="not written"):
        convert("openai-chat", "exchange", PLAIN)


def test_the_answer_of_a_log_decides_the_dialect() -> None:
    answer = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}],
        "stop_reason": "end_turn",
    }
    line = {"request": {"messages": [{"role": "user", "content": "q"}]}, "response": answer}
    assert convert("exchange", "sharegpt", line)[0]["conversations"][1] == {"from": "gpt", "value": "a"}
    with pytest.raises(WireError):
        convert("exchange", "sharegpt", {"request": {"messages": []}, "response": {"error": {"message": "no"}}})


def test_an_answer_cannot_become_a_conversation() -> None:
    with pytest.raises(ConfigError, match="the line holds an answer"):
        convert("openai-chat", "sharegpt", EXCHANGE["response"], kind="response")
