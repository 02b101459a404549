"""A to B to A equals A minus the reported losses, for every recorded request, answer and stream. A second trip is
stable."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from dragoman import Loss
from dragoman.canon import (
    Fault,
    HostedCall,
    Media,
    Part,
    Reasoning,
    Request,
    Response,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from dragoman.canon.fold_and_unfold import fold
from dragoman.codec.failure_sentence_in_answer import with_fitting_stop
from dragoman.codec.hosted_calls import cross_answer
from dragoman.dialects import get
from dragoman.errors import FaultError
from dragoman.seals.answer_seals_to_client import place_seals
from dragoman.seals.strategy import plan_for_answer
from tests.laws import round_trip
from tests.laws.round_trip import BROKEN, answer, read, request_there_and_back, stream
from tests.recorded.recorded_bodies import DIALECTS, PAIRS, cases, context, events, settle
from tests.recorded.round_trip_comparison import request_differences, response_differences


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_requests_come_back_except_for_losses_and_are_stable_after_one_trip(source: str, target: str) -> None:
    changed: dict[str, str] = {}
    unsettled: dict[str, str] = {}
    for case in cases(source, "request"):
        trip = request_there_and_back(case, target)
        for law, failures in ((round_trip.request, changed), (round_trip.request_again, unsettled)):
            wrong = law(case, target, trip)
            if wrong:
                failures[case.id] = "; ".join(wrong[:3])
    settle(f"round trip request {source} by {target}", changed)
    settle(f"settles request {source} by {target}", unsettled)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_responses_come_back_except_for_losses(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "response"):
        wrong = round_trip.response(case, target)
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"round trip response {source} by {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_streams_come_back_except_for_losses(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "stream"):
        wrong = round_trip.answer_in_pieces(case, target)
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"round trip stream {source} by {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_stream_and_its_whole_answer_translate_to_the_same(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "stream"):
        reader = get(source).reader(context(source, target))
        told = fold([*reader.feed(case.body), *reader.close()])
        if isinstance(told, Fault):
            continue
        streamed = fold(events(target, stream(source, target, case.body)[0]))
        if isinstance(streamed, Fault) and told.stop.reason in BROKEN:
            continue
        under = context(source, target)
        plan = plan_for_answer("auto", None, get(source), get(target), "", wanted=get(source).unsealed_thoughts)
        try:
            told = with_fitting_stop(told, under, get(target).broken_calls)
        except FaultError:
            assert isinstance(streamed, Fault), case.id
            continue
        writer = get(target)
        if writer.write_hosted is not None:
            told = cross_answer(told, writer.write_hosted, frozenset((target, writer.origin)), under)
        carried = place_seals(told, plan, under) if plan is not None else told
        whole = answer(target, get(target).write_response(carried, under))
        assert isinstance(streamed, Response), case.id
        if target == "anthropic" and "call.truncated" in [loss.code for loss in under.losses.all()]:
            continue  # a stream has already sent the start of the call; a whole answer leaves the call out
        # A stream can keep an order that a whole answer cannot express.
        order = [loss for loss in under.losses.all() if loss.code == "order.approximated"]
        whole, streamed = carriers_first(whole), carriers_first(streamed)
        wrong = response_differences(whole, whole, streamed, order, ())
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"stream as whole {source} to {target}", failures)


def carriers_first(response: Response) -> Response:
    """Move the parts to the front that only carry seals, which the client sends back. A stream writes such a part when
    its text is complete; a whole answer writes it in a list. The place of the part has no meaning."""
    carriers = [part for part in response.parts if _is_carrier(part)]
    others = [part for part in response.parts if not _is_carrier(part)]
    return msgspec.structs.replace(response, parts=(*carriers, *others))


def _is_carrier(part: Part) -> bool:
    return isinstance(part, Reasoning) and not part.text and part.seal is not None and part.seal.dialect == "dragoman"


# The comparison itself must be able to fail. The tests below do not depend on records.

SAMPLE_REQUEST = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "text", "text": "Twice."}]},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "a", "n": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "seen"},
        {"role": "user", "content": "Go on."},
    ],
    "model": "m",
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Looks.",
                "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
            },
        }
    ],
    "tool_choice": "required",
    "temperature": 0.5,
    "stop": ["END"],
    "parallel_tool_calls": False,
}


def _swap(body: bytes, old: str, new: str) -> bytes:
    text = body.decode()
    assert old in text, old
    return text.replace(old, new).encode()


MUTATIONS = {
    "a text of another spelling": ("Go on.", "Go on"),
    "a system text": ("Be brief.", "Be long."),
    "an argument": ('\\"n\\": 1', '\\"n\\": 2'),
    "a name of a call": ('"name":"look","arguments"', '"name":"seek","arguments"'),
    "an id": ("call_1", "call_2"),
    "a result": ('"seen"', '"unseen"'),
    "a description": ("Looks.", "Looks"),
    "a schema": ('"string"', '"number"'),
    "a choice": ('"required"', '"auto"'),
    "a setting": ("0.5", "0.6"),
    "a list in the settings": ('"END"', '"FIN"'),
    "parallel calls": ('"parallel_tool_calls":false', '"parallel_tool_calls":true'),
    "the model": ('"model":"m"', '"model":"n"'),
    "a new turn": ('"Go on."}', '"Go on."},{"role":"system","content":"x"}'),
    "a turn that is gone": (',{"role":"user","content":"Go on."}', ""),
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_the_comparison_finds_each_change(what: str) -> None:
    body = msgspec.json.encode(SAMPLE_REQUEST)
    first = read("openai-chat", body)
    assert request_differences(first, first, read("openai-chat", body), (), ()) == []
    changed = read("openai-chat", _swap(body, *MUTATIONS[what]))
    assert request_differences(first, first, changed, (), ())


def test_a_loss_explains_only_its_own_kind_at_its_own_place() -> None:
    body = msgspec.json.encode(SAMPLE_REQUEST)
    first = read("openai-chat", body)
    changed = read("openai-chat", _swap(body, '"seen"', '"Error: seen"'))
    right = Loss("result.error.as_text", "approximated", "warning", "/messages/3")
    assert request_differences(first, first, changed, (right,), ()) == []
    assert request_differences(first, first, changed, (), (right,)) == []
    for wrong in (
        Loss("result.error.as_text", "approximated", "warning", "/messages/2"),
        Loss("cache.dropped", "dropped", "info", "/messages/3"),
        Loss("field.dropped", "dropped", "info", "/messages/3/x"),
    ):
        assert request_differences(first, first, changed, (wrong,), ())


def test_a_mapped_use_of_a_hosted_tool_explains_no_new_part() -> None:
    use = HostedCall("anthropic", "server_tool_use", Raw(b'{"id":"srvtoolu_1"}'), "web_search", at=("content", 0))
    other = HostedCall("anthropic", "server_tool_use", Raw(b'{"id":"srvtoolu_2"}'), "web_search")
    first = Response((use, Text("blue", at=("content", 1))), Stop("stop"))
    mapped = (Loss("hosted.mapped", "approximated", "info", "/content/0"),)
    changed = Response((other, *first.parts[1:]), Stop("stop"))
    assert response_differences(first, first, changed, mapped, ()) == []
    assert response_differences(first, first, changed, (), ())
    more = Response((other, *first.parts[1:], Text("grey"), ToolCall("call_1", "look", "{}")), Stop("stop"))
    assert response_differences(first, first, more, mapped, ())


def _result(*parts: Text | Media) -> Request:
    asked = Turn("assistant", (ToolCall("call_1", "look", "{}"),))
    return Request((asked, Turn("tool", (ToolResult("call_1", parts, "look"),))))


def test_a_placeholder_for_media_is_no_difference_but_other_text_is() -> None:
    media = Media("image", "image/png", data="AAAA")
    first, words = _result(media), "Binary content of type image/png was processed."
    assert request_differences(first, first, _result(Text(words), media), (), ()) == []
    for other in (_result(Text(words)), _result(Text(words + " Twice."), media), _result(media, media)):
        assert request_differences(first, first, other, (), ())


def test_items_of_the_clients_own_tools_are_compared_as_calls_and_results() -> None:
    call = {"type": "local_shell_call", "id": "l", "call_id": "call_1", "action": {"type": "exec", "command": ["ls"]}}
    output = {"type": "local_shell_call_output", "id": "l", "output": "a.txt"}
    first = read("openai-responses", msgspec.json.encode({"model": "m", "input": [call, output]}))

    def back(command: str, seen: str) -> Request:
        called = ToolCall("call_1", "local_shell", f'{{"command":["{command}"]}}')
        return Request((Turn("assistant", (called,)), Turn("tool", (ToolResult("call_1", (Text(seen),)),))), "m")

    assert request_differences(first, first, back("ls", "a.txt"), (), ()) == []
    assert request_differences(first, first, back("rm", "a.txt"), (), ())
    assert request_differences(first, first, back("ls", "b.txt"), (), ())


def test_every_dialect_is_in_some_round_trip() -> None:
    assert {source for source, _ in PAIRS} == (set(DIALECTS) if len(DIALECTS) > 1 else set())
