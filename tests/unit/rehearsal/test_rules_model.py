"""The rules: what is said to plain words, to results and to media; limits, stop sequences, formats, usage, faults."""

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
    after,
    called,
    fault,
    request,
    respond,
    said,
    text,
    user,
)

HI = f"{OPENING}you said: “Say hi”."
"""The answer to `Say hi`."""


def test_plain_words_are_quoted() -> None:
    assert said(request("The moon is far.")) == f"{OPENING}you said: “The moon is far.”."
    assert len(said(request("far " * 1000))) < 600, "long words are cut in the middle"


def test_the_words_before_are_quoted_too() -> None:
    asked = request("My name is Ada.", Turn("assistant", (Text("Hello."),)), "What is my name?")
    assert said(asked) == f"{OPENING}you said: “What is my name?”. Before that you said: “My name is Ada.”."
    context = request("context " * 1000, Turn("assistant", (Text("Got it."),)), "Hello")
    assert len(said(context)) < 200, "long words before are cut"


def test_it_says_what_it_is() -> None:
    response = respond(request("Who are you?", model="gpt-9"))
    assert response.model == "rehearsal/rules"
    assert text(response).startswith("Rehearsal (no model): ")
    assert response.id.startswith("rehearsal_")


def test_notes_that_a_client_adds_are_not_the_users_words() -> None:
    note = "<system-reminder>\nThe weather in Rome.\n</system-reminder>"
    assert said(request(user(note, "Say hi"))) == HI
    assert "<system-reminder>" in said(request(user(note * 300, "Plain words."))), "there is an end to patience"
    assert said(request("# Rules\nBe kind.", "Say hi")).startswith(HI), "the last turn counts"
    assert said(request("We are setting up the context for our chat.\nToday is Monday.", "Say hi")) == HI
    asked = request("What is the weather in Paris?", tools=(WEATHER,))
    next_ = after(asked, respond(asked), "18 degrees")
    assert said(request(*next_.turns, user(note), tools=(WEATHER,))) == f"{OPENING}get_weather answered: 18 degrees"
    assert said(request(user(note))).endswith("</system-reminder>”."), "somebody has to have said something"


@pytest.mark.parametrize("role", ["system", "developer"])
def test_system_turns_are_obeyed_in_one_case(role: Any) -> None:
    loud = Turn(role, (Text("Always answer in capital letters."),))
    assert said(request(loud, "Say hi")) == HI.upper()
    middle: tuple[str | Turn, ...] = ("Hello", Turn("assistant", (Text("Hello"),)), "Say hi", loud)
    assert said(request(*middle)).startswith(HI.upper())
    assert said(request("Answer in capitals. Say hi")) != said(request("Answer in capitals. Say hi")).upper()


def _image(data: bytes, mime: str = "image/png") -> Media:
    return Media("image", mime, base64.b64encode(data).decode())


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big")


def test_media_are_described() -> None:
    asked = request(user("What is this?", _image(PNG), Media("document", "application/pdf", "QUJD", name="a.pdf")))
    answer = said(asked)
    assert "an image (image/png, 24 bytes, 640 x 480)" in answer
    assert "a document (application/pdf, 3 bytes, named a.pdf)" in answer
    assert "What is this?" in answer


def test_media_alone_are_described() -> None:
    answer = said(request(user(Media("image", url="https://example.com/a.webp"))))
    assert answer == f"{OPENING}I was shown an image (image/webp, at https://example.com/a.webp, not fetched)."


def test_results_are_told() -> None:
    asked = request("What is the weather in Paris and in Rome?", tools=(WEATHER,))
    answer = said(after(asked, respond(asked), "18 degrees", "25 degrees"))
    assert answer == f"{OPENING}get_weather answered: 18 degrees\nget_weather answered: 25 degrees"


def test_media_in_results_are_described() -> None:
    call = ToolCall("call_1", "shoot")
    result = ToolResult("call_1", (Text("here"), _image(PNG)))
    asked = request("Take a picture", Turn("assistant", (call,)), Turn("tool", (result,)))
    assert said(asked) == f"{OPENING}shoot answered: here\nI was shown an image (image/png, 24 bytes, 640 x 480)."


def test_a_result_without_anything_and_without_a_call() -> None:
    asked = request("Go on", Turn("tool", (ToolResult("call_9"),)))
    assert said(asked) == f"{OPENING}the tool answered: nothing"


def test_a_failed_tool_is_told_and_nothing_more_is_called() -> None:
    asked = request("What is the weather in Paris and Rome?", tools=(WEATHER,), parallel=False)
    answer = respond(after(asked, respond(asked), "no network", is_error=True))
    assert text(answer) == f"{OPENING}get_weather failed: no network"
    assert called(after(asked, respond(asked), "no network", is_error=True)) == []


def test_long_results_are_cut_in_the_middle() -> None:
    asked = request("Read src/a.py", tools=(READ,))
    answer = said(after(asked, respond(asked), "a" * 50_000))
    assert "aaa … aaa" in answer and len(answer) < 10_000


def test_without_parallel_the_calls_come_one_after_the_other() -> None:
    asked = request("What is the weather in Paris and in Rome?", tools=(WEATHER,), parallel=False)
    first = respond(asked)
    assert [part.arguments for part in first.parts if isinstance(part, ToolCall)] == ['{"location":"Paris"}']
    second = after(asked, first, "18 degrees")
    assert called(second) == [("get_weather", {"location": "Rome"})]
    assert text(respond(after(second, respond(second), "25 degrees"))) == f"{OPENING}get_weather answered: 25 degrees"


def test_every_call_of_a_conversation_has_an_id_of_its_own() -> None:
    asked = request("What is the weather in Paris and in Rome?", tools=(WEATHER,))
    first = respond(asked)
    again = respond(request(*after(asked, first, "1", "2").turns, "And the weather in Oslo?", tools=(WEATHER,)))
    ids = [part.id for part in (*first.parts, *again.parts) if isinstance(part, ToolCall)]
    assert len(ids) == len(set(ids)) == 3


@pytest.mark.parametrize("limit", range(14))
def test_the_token_limit_is_kept(limit: int) -> None:
    whole = said(request("Say hi there"))
    response = respond(request("Say hi there", max_tokens=limit))
    assert rehearsal.count(text(response)) == min(limit, rehearsal.count(whole))
    assert whole.startswith(text(response))
    assert response.stop.reason == ("length" if limit < rehearsal.count(whole) else "stop")


def test_half_a_call_is_never_said() -> None:
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
def test_stop_sequences_end_the_answer_before_them(stops: tuple[str, ...]) -> None:
    response = respond(request("1, 2, 3, 4, 5, 6", stop=stops))
    assert text(response).rstrip() == f"{OPENING}you said: “1, 2, 3, 4,"
    assert (response.stop.reason, response.stop.sequence) == ("stop_sequence", stops[-1])


def test_a_stop_sequence_behind_the_limit_is_not_reached() -> None:
    assert respond(request("1, 2, 3", stop=("3",), max_tokens=3)).stop.reason == "length"


def test_several_answers() -> None:
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


def test_the_refusal() -> None:
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


def test_structured_output_fits_and_holds_what_was_said() -> None:
    asked = request("name: Ada, age: 36, and sad.", format=Format("schema", json.dumps(PERSON), "person"))
    value = json.loads(said(asked))
    assert jsonschema_rs.validator_for(PERSON).is_valid(value)
    assert (value["name"], value["age"], value["mood"]) == ("Ada", 36, "sad")
    assert "name: Ada" in value["answer"]


def test_structured_output_that_stands_in_the_words_is_taken() -> None:
    given = {"name": "Bo", "age": 3, "mood": "glad", "friends": []}
    asked = request(f"Give me this back: {json.dumps(given)}", format=Format("schema", json.dumps(PERSON)))
    assert json.loads(said(asked)) == given


def test_structured_output_from_a_result() -> None:
    asked = request("Who is it?", tools=(LIST,), format=Format("schema", json.dumps(PERSON)))
    turns = (
        Turn("assistant", (ToolCall("call_1", "list_files"),)),
        Turn("tool", (ToolResult("call_1", (Text("age: 44"),)),)),
    )
    value = json.loads(said(request(*asked.turns, *turns, format=asked.settings.format)))
    assert value["age"] == 44


def test_any_json() -> None:
    found = json.loads(said(request("Say hi", format=Format("json"))))
    assert found == {"rehearsal": True, "reply": HI.removeprefix(OPENING)}


def test_a_schema_that_nothing_fits_gives_json_all_the_same() -> None:
    assert json.loads(said(request("Say hi", format=Format("schema", "false")))) == {}


def test_usage_counts_everything() -> None:
    plain = respond(request("Say hi")).usage
    more = respond(request("Say hi", tools=(WEATHER,))).usage
    assert plain is not None and more is not None
    assert plain.input == rehearsal.estimate(request("Say hi"))
    assert plain.output == rehearsal.count(HI)
    assert (more.input or 0) > (plain.input or 0) > 0
    assert plain.cache_read == 0 and plain.reasoning == 0


def test_a_request_without_anything_to_answer_is_a_fault() -> None:
    for asked in (request(), request(Turn("system", (Text("Be kind."),))), request(Turn("user", ()))):
        assert (fault(asked).kind, fault(asked).status) == ("invalid_request", 400)


def test_a_history_that_ends_with_the_assistant_is_answered() -> None:
    assert said(request("Say hi", Turn("assistant", (Text("h"),)))) == HI
    assert said(request(Turn("assistant", (Text("h"),)))) == f"{OPENING}there were no words to answer."


def test_a_model_that_is_not_there() -> None:
    found = fault(request("hi", model="rehearsal/parallel-call"))
    assert (found.kind, found.status) == ("not_found", 404)
    assert "rehearsal/parallel-calls" in found.message


def test_other_things_said_are_other_answers() -> None:
    hosted = Turn("assistant", (Opaque("x", "y", Raw(b"{}")),))
    asked = [
        request("hi"),
        request("ho"),
        request(user("hi", _image(PNG))),
        request(user("hi", Media("image", url="https://example.com/a.png"))),
        request("hi", hosted),
        request("hi", tools=(WEATHER,)),
        request("hi", tools=(HostedTool("x", "y", Raw(b"{}")),)),
    ]
    assert len({respond(one).id for one in asked}) == len(asked)


def test_a_tool_and_no_words() -> None:
    assert called(request(user(_image(PNG)), tools=(WEATHER,))) == []
    assert called(request(user(_image(PNG)), tools=(LIST,), choice=Choice("required"))) == [("list_files", {})]


@pytest.mark.parametrize("number", [0, -1, 129])
def test_so_many_answers_are_refused(number: int) -> None:
    wrong = fault(request("Hello", n=number))
    assert (wrong.kind, wrong.param) == ("invalid_request", "n")


def test_what_the_dialect_does_not_know_is_nothing_to_answer() -> None:
    unknown = Opaque("openai-chat", "smell", Raw(b"{}"))
    assert fault(request(user(unknown))).kind == "invalid_request"
    assert "banana" in said(request(user(unknown, "Say banana")))


@pytest.mark.parametrize("data", ["???", "aGk=aGk=", "data:image/png;base64,aGk="])
def test_data_that_are_no_base64_are_refused(data: str) -> None:
    assert "base64" in fault(request(user("What is this?", Media("image", "image/png", data)))).message


def test_any_json_follows_a_schema_that_the_words_show() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
    shown = f"Answer like {{this}}, by the schema {json.dumps(schema)}, in JSON."
    asked = request(Turn("system", (Text(shown),)), "name is Ada, age is 36", format=Format("json"))
    assert json.loads(said(asked)) == {"name": "Ada", "age": 36}
    plain = request(Turn("system", (Text('It has "properties" {'),)), "Ada is 36", format=Format("json"))
    assert json.loads(said(plain))["rehearsal"] is True
