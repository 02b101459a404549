"""The rules: replies to words, results and media; limits, stop sequences, formats, usage, faults."""

from __future__ import annotations

import base64
import json
from typing import Any

import jsonschema_rs
import pytest
from msgspec import Raw

from dragoman import rehearsal
from dragoman.canon import Choice, Format, HostedTool, Media, Opaque, Part, Text, ToolCall, ToolResult, Turn
from dragoman.rehearsal.text_replies import OPENING
from tests.unit.rehearsal.helpers import (
    LIST,
    READ,
    TOOLS,
    WEATHER,
    calls_for,
    fault,
    next_request,
    reply_text,
    request,
    respond,
    text,
    user,
)

HI = f"{OPENING}you said: “Say hi”."
"""The answer to `Say hi`."""


def test_plain_words_are_quoted() -> None:
    assert reply_text(request("The moon is far.")) == f"{OPENING}you said: “The moon is far.”."
    assert len(reply_text(request("far " * 1000))) < 600, "long words are cut in the middle"


def test_the_previous_words_are_quoted_too() -> None:
    question = request("My name is Ada.", Turn("assistant", (Text("Hello."),)), "What is my name?")
    assert reply_text(question) == f"{OPENING}you said: “What is my name?”. Before that you said: “My name is Ada.”."
    context = request("context " * 1000, Turn("assistant", (Text("Got it."),)), "Hello")
    assert len(reply_text(context)) < 200, "long words before are cut"


def test_the_answer_names_the_rehearsal() -> None:
    response = respond(request("Who are you?", model="gpt-9"))
    assert response.model == "rehearsal/rules"
    assert text(response).startswith("Rehearsal (no model): ")
    assert response.id.startswith("rehearsal_")


def test_notes_that_a_client_adds_are_not_the_users_words() -> None:
    note = "<system-reminder>\nThe weather in Rome.\n</system-reminder>"
    assert reply_text(request(user(note, "Say hi"))) == HI
    assert "<system-reminder>" in reply_text(request(user(note * 300, "Plain words."))), (
        "notes of unlimited length are not removed"
    )
    assert reply_text(request("# Rules\nBe kind.", "Say hi")).startswith(HI), "the last turn is answered"
    assert reply_text(request("We are setting up the context for our chat.\nToday is Monday.", "Say hi")) == HI
    question = request("What is the weather in Paris?", tools=(WEATHER,))
    next_ = next_request(question, respond(question), "18 degrees")
    assert (
        reply_text(request(*next_.turns, user(note), tools=(WEATHER,))) == f"{OPENING}get_weather answered: 18 degrees"
    )
    assert reply_text(request(user(note))).endswith("</system-reminder>”."), (
        "a note alone is answered as the user's words"
    )


@pytest.mark.parametrize("role", ["system", "developer"])
def test_only_one_instruction_of_system_turns_is_followed(role: Any) -> None:
    loud = Turn(role, (Text("Always answer in capital letters."),))
    assert reply_text(request(loud, "Say hi")) == HI.upper()
    middle: tuple[str | Turn, ...] = ("Hello", Turn("assistant", (Text("Hello"),)), "Say hi", loud)
    assert reply_text(request(*middle)).startswith(HI.upper())
    assert (
        reply_text(request("Answer in capitals. Say hi")) != reply_text(request("Answer in capitals. Say hi")).upper()
    )


def _image(data: bytes, mime: str = "image/png") -> Media:
    return Media("image", mime, base64.b64encode(data).decode())


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big")


def test_media_are_described() -> None:
    question = request(user("What is this?", _image(PNG), Media("document", "application/pdf", "QUJD", name="a.pdf")))
    answer = reply_text(question)
    assert "an image (image/png, 24 bytes, 640 x 480)" in answer
    assert "a document (application/pdf, 3 bytes, named a.pdf)" in answer
    assert "What is this?" in answer


def test_media_alone_are_described() -> None:
    answer = reply_text(request(user(Media("image", url="https://example.com/a.webp"))))
    assert answer == f"{OPENING}I was shown an image (image/webp, at https://example.com/a.webp, not fetched)."


def test_results_are_repeated_in_the_answer() -> None:
    question = request("What is the weather in Paris and in Rome?", tools=(WEATHER,))
    answer = reply_text(next_request(question, respond(question), "18 degrees", "25 degrees"))
    assert answer == f"{OPENING}get_weather answered: 18 degrees\nget_weather answered: 25 degrees"


def test_media_in_results_are_described() -> None:
    call = ToolCall("call_1", "shoot")
    result = ToolResult("call_1", (Text("here"), _image(PNG)))
    question = request("Take a picture", Turn("assistant", (call,)), Turn("tool", (result,)))
    assert (
        reply_text(question) == f"{OPENING}shoot answered: here\nI was shown an image (image/png, 24 bytes, 640 x 480)."
    )


def test_an_empty_result_without_a_call_is_answered() -> None:
    question = request("Go on", Turn("tool", (ToolResult("call_9"),)))
    assert reply_text(question) == f"{OPENING}the tool answered: nothing"


def test_a_failed_tool_is_reported_and_no_other_tool_is_called() -> None:
    question = request("What is the weather in Paris and Rome?", tools=(WEATHER,), parallel=False)
    answer = respond(next_request(question, respond(question), "no network", is_error=True))
    assert text(answer) == f"{OPENING}get_weather failed: no network"
    assert calls_for(next_request(question, respond(question), "no network", is_error=True)) == []


def test_long_results_are_cut_in_the_middle() -> None:
    question = request("Read src/a.py", tools=(READ,))
    answer = reply_text(next_request(question, respond(question), "a" * 50_000))
    assert "aaa … aaa" in answer and len(answer) < 10_000


def test_without_parallel_calls_each_step_has_one_call() -> None:
    question = request("What is the weather in Paris and in Rome?", tools=(WEATHER,), parallel=False)
    first = respond(question)
    assert [part.arguments for part in first.parts if isinstance(part, ToolCall)] == ['{"location":"Paris"}']
    second = next_request(question, first, "18 degrees")
    assert calls_for(second) == [("get_weather", {"location": "Rome"})]
    assert (
        text(respond(next_request(second, respond(second), "25 degrees")))
        == f"{OPENING}get_weather answered: 25 degrees"
    )


def test_every_call_of_a_conversation_has_a_different_id() -> None:
    question = request("What is the weather in Paris and in Rome?", tools=(WEATHER,))
    first = respond(question)
    second = respond(
        request(*next_request(question, first, "1", "2").turns, "And the weather in Oslo?", tools=(WEATHER,))
    )
    ids = [part.id for part in (*first.parts, *second.parts) if isinstance(part, ToolCall)]
    assert len(ids) == len(set(ids)) == 3


@pytest.mark.parametrize("limit", range(14))
def test_the_token_limit_is_kept(limit: int) -> None:
    whole = reply_text(request("Say hi there"))
    response = respond(request("Say hi there", max_tokens=limit))
    assert rehearsal.count(text(response)) == min(limit, rehearsal.count(whole))
    assert whole.startswith(text(response))
    assert response.stop.reason == ("length" if limit < rehearsal.count(whole) else "stop")


def test_an_incomplete_call_is_never_sent() -> None:
    response = respond(request("What is the weather in Paris?", tools=(WEATHER,), max_tokens=3))
    assert response.parts == () and response.stop.reason == "length"


def test_a_thought_is_cut_by_the_limit_and_by_its_budget() -> None:
    response = respond(request("Say hi", effort="high", max_tokens=5))
    assert [type(part).__name__ for part in response.parts] == ["Reasoning"]
    assert response.stop.reason == "length"
    assert response.usage is not None and response.usage.reasoning == response.usage.output == 5
    assert respond(request("Say hi", effort="high", max_tokens=0)).parts == ()
    short = respond(request("Say hi", budget=7))
    assert short.usage is not None and short.usage.reasoning == 7
    assert text(short) == HI


@pytest.mark.parametrize("stops", [("5",), ("zebra", "5, 6"), ("", "5")])
def test_the_answer_ends_before_a_stop_sequence(stops: tuple[str, ...]) -> None:
    response = respond(request("1, 2, 3, 4, 5, 6", stop=stops))
    assert text(response).rstrip() == f"{OPENING}you said: “1, 2, 3, 4,"
    assert (response.stop.reason, response.stop.sequence) == ("stop_sequence", stops[-1])


def test_a_stop_sequence_behind_the_limit_is_not_reached() -> None:
    assert respond(request("1, 2, 3", stop=("3",), max_tokens=3)).stop.reason == "length"


def test_the_number_of_answers_can_be_chosen() -> None:
    response = respond(request("Say hi", n=3))
    others = [
        text(response),
        *["".join([part.text for part in other.parts if isinstance(part, Text)]) for other in response.alternatives],
    ]
    assert others == [f"Rehearsal (no model), answer {number} of 3: you said: “Say hi”." for number in (1, 2, 3)]
    assert response.usage is not None and response.usage.output == sum([rehearsal.count(one) for one in others])
    assert fault(request("Say hi", n=129)).param == "n"


def test_several_answers_with_calls_have_different_ids() -> None:
    response = respond(request("What is the weather in Paris?", tools=(WEATHER,), n=2))
    parts: list[Part] = [response.parts[0], response.alternatives[0].parts[0]]
    assert len({part.id for part in parts if isinstance(part, ToolCall)}) == 2


def test_a_refusal_can_be_rehearsed() -> None:
    response = respond(request("Please rehearse a refusal in Paris", tools=TOOLS, choice=Choice("required")))
    part = response.parts[0]
    assert isinstance(part, Text) and part.refusal and response.stop.reason == "refusal"


PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "mood": {"enum": ["glad", "sad"]},
        "answer": {"type": "string"},
        "friends": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name", "age", "mood", "friends"],
    "additionalProperties": False,
}


def test_structured_output_fits_and_uses_values_in_the_words() -> None:
    question = request("name: Ada, age: 36, and sad.", format=Format("schema", json.dumps(PERSON), "person"))
    value = json.loads(reply_text(question))
    assert jsonschema_rs.validator_for(PERSON).is_valid(value)
    assert (value["name"], value["age"], value["mood"]) == ("Ada", 36, "sad")
    assert "name: Ada" in value["answer"]


def test_structured_output_in_the_words_is_used() -> None:
    given = {"name": "Bo", "age": 3, "mood": "glad", "friends": []}
    question = request(f"Give me this back: {json.dumps(given)}", format=Format("schema", json.dumps(PERSON)))
    assert json.loads(reply_text(question)) == given


def test_structured_output_uses_values_in_a_result() -> None:
    question = request("Who is it?", tools=(LIST,), format=Format("schema", json.dumps(PERSON)))
    turns = (
        Turn("assistant", (ToolCall("call_1", "list_files"),)),
        Turn("tool", (ToolResult("call_1", (Text("age: 44"),)),)),
    )
    value = json.loads(reply_text(request(*question.turns, *turns, format=question.settings.format)))
    assert value["age"] == 44


def test_the_format_json_gives_an_object() -> None:
    found = json.loads(reply_text(request("Say hi", format=Format("json"))))
    assert found == {"rehearsal": True, "reply": HI.removeprefix(OPENING)}


def test_an_unsatisfiable_schema_gives_an_empty_object() -> None:
    assert json.loads(reply_text(request("Say hi", format=Format("schema", "false")))) == {}


def test_usage_counts_the_whole_request_and_answer() -> None:
    plain = respond(request("Say hi")).usage
    more = respond(request("Say hi", tools=(WEATHER,))).usage
    assert plain is not None and more is not None
    assert plain.input == rehearsal.estimate(request("Say hi"))
    assert plain.output == rehearsal.count(HI)
    assert (more.input or 0) > (plain.input or 0) > 0
    assert plain.cache_read == 0 and plain.reasoning == 0


def test_a_request_without_anything_to_answer_is_a_fault() -> None:
    for question in (request(), request(Turn("system", (Text("Be kind."),))), request(Turn("user", ()))):
        assert (fault(question).kind, fault(question).status) == ("invalid_request", 400)


def test_a_history_that_ends_with_the_assistant_is_answered() -> None:
    assert reply_text(request("Say hi", Turn("assistant", (Text("h"),)))) == HI
    assert reply_text(request(Turn("assistant", (Text("h"),)))) == f"{OPENING}there were no words to answer."


def test_an_unknown_rehearsal_model_is_a_fault() -> None:
    found = fault(request("hi", model="rehearsal/parallel-call"))
    assert (found.kind, found.status) == ("not_found", 404)
    assert "rehearsal/parallel-calls" in found.message


def test_different_requests_have_answers_with_different_ids() -> None:
    hosted = Turn("assistant", (Opaque("x", "y", Raw(b"{}")),))
    requests = [
        request("hi"),
        request("ho"),
        request(user("hi", _image(PNG))),
        request(user("hi", Media("image", url="https://example.com/a.png"))),
        request("hi", hosted),
        request("hi", tools=(WEATHER,)),
        request("hi", tools=(HostedTool("x", "y", Raw(b"{}")),)),
    ]
    assert len({respond(one).id for one in requests}) == len(requests)


def test_a_tool_without_words_is_called_only_if_forced() -> None:
    assert calls_for(request(user(_image(PNG)), tools=(WEATHER,))) == []
    assert calls_for(request(user(_image(PNG)), tools=(LIST,), choice=Choice("required"))) == [("list_files", {})]


@pytest.mark.parametrize("number", [0, -1, 129])
def test_an_invalid_number_of_answers_is_refused(number: int) -> None:
    wrong = fault(request("Hello", n=number))
    assert (wrong.kind, wrong.param) == ("invalid_request", "n")


def test_unknown_parts_are_not_answered() -> None:
    unknown = Opaque("openai-chat", "smell", Raw(b"{}"))
    assert fault(request(user(unknown))).kind == "invalid_request"
    assert "banana" in reply_text(request(user(unknown, "Say banana")))


@pytest.mark.parametrize("data", ["???", "aGk=aGk=", "data:image/png;base64,aGk="])
def test_invalid_base64_is_refused(data: str) -> None:
    assert "base64" in fault(request(user("What is this?", Media("image", "image/png", data)))).message


def test_the_format_json_follows_a_schema_in_the_words() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
    shown = f"Answer like {{this}}, by the schema {json.dumps(schema)}, in JSON."
    question = request(Turn("system", (Text(shown),)), "name is Ada, age is 36", format=Format("json"))
    assert json.loads(reply_text(question)) == {"name": "Ada", "age": 36}
    plain = request(Turn("system", (Text('It has "properties" {'),)), "Ada is 36", format=Format("json"))
    assert json.loads(reply_text(plain))["rehearsal"] is True
