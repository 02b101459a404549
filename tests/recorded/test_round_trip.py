"""A to B to A equals A minus the reported losses, for every recorded request, answer and stream; and it settles."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

import dragoman
from dragoman import Loss, Translation
from dragoman.canon import Fault, HostedCall, Media, Part, Request, Response, Stop, Text, ToolCall, ToolResult, Turn
from dragoman.canon.fold import fold, unfold
from dragoman.codec.call_ids import from_chat_client
from dragoman.codec.failed_answers import ended
from dragoman.codec.hosted_calls import cross_answer
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.dialects.openai_chat.thinking_switches import SWITCHES
from dragoman.errors import FaultError
from dragoman.seals.outbound import place_seals
from dragoman.seals.strategy import plan_for_answer, restore_in_request
from tests.recorded.cases import CREATED, DIALECTS, PAIRS, Case, cases, context, events, settle
from tests.recorded.roundtrip import request_differences, response_differences

BROKEN = ("bad_tool_call", "error")


def request_there_and_back(case: Case, other: str) -> tuple[Translation, Translation]:
    model = case.model or "some-model"
    there = dragoman.translate_request(case.body, source=case.dialect, target=other, model=model)
    back = dragoman.translate_request(there.body, source=other, target=case.dialect, model=there.model)
    return there, back


def read(dialect: str, body: bytes) -> Request:
    return get(dialect).read_request(
        body, context(dialect, "anthropic" if _has_host_fields(dialect, body) else dialect)
    )


def _has_host_fields(dialect: str, body: bytes) -> bool:
    """Whether a request has what Chat's reader reads for other dialects alone: Mistral's document_url, cache marks on
    whole messages and on calls, and the switches by which hosts turn thinking on and off. Within the dialect they are
    kept whole."""
    if b'"document_url"' in body or (dialect in ("openai-chat", "openrouter") and _has_marked_messages(body)):
        return True
    return dialect == "openai-chat" and not SWITCHES.isdisjoint(msgspec.json.decode(body, type=dict[str, msgspec.Raw]))


def _has_marked_messages(body: bytes) -> bool:
    said = msgspec.json.decode(body)["messages"] if b'"cache_control"' in body else ()
    return any("cache_control" in one for message in said for one in (message, *(message.get("tool_calls") or ())))


def _marked_place(loss: Loss) -> str:
    """Where a loss is: that of a cache mark at what the mark is on, which may be a message."""
    return loss.path.removesuffix("/cache_control") if loss.code.startswith("cache.") else loss.path


def answer(dialect: str, body: bytes, target: str = "") -> Response:
    """What it says; with `target` to somebody of that dialect, who does not know the words that only its hosts use."""
    return get(dialect).read_response(body, context(dialect, target or dialect))


def own_ids(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts with the upstream's ids, as a request reader makes them of those that Chat clients bring back. A way by
    two dialects of the Chat family marks an id twice."""
    out = list(parts)
    for i, part in enumerate(out):
        while isinstance(part, ToolCall) and (own := from_chat_client(part.id)) != part.id:
            out[i] = part = msgspec.structs.replace(part, id=own)
    return tuple(out)


def unloaded(response: Response, origin: str, under: Context) -> Response:
    """An answer as its upstream gets it back from the client: the seals where they belong, out of what carried them."""
    turns = tuple(
        [Turn("assistant", own_ids(parts)) for parts in (response.parts, *[one.parts for one in response.alternatives])]
    )
    first, *others = restore_in_request(Request(turns), "auto", None, get(origin), get(origin), "", under).turns
    alternatives = [
        msgspec.structs.replace(old, parts=new.parts) for old, new in zip(response.alternatives, others, strict=True)
    ]
    return msgspec.structs.replace(response, parts=first.parts, alternatives=tuple(alternatives))


def sent_back(response: Response, source: str, target: str, under: Context) -> Response:
    """The same, written and read in the dialect it came from, with the losses in `under`."""
    last = answer(target, get(target).write_response(unloaded(response, target, under), under), source)
    if source not in get(target).kin:
        under.settle(get(source).noise)
    return last


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_requests_come_back_but_for_the_losses(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "request"):
        there, back = request_there_and_back(case, target)
        lost = tuple([msgspec.structs.replace(loss, path=_marked_place(loss)) for loss in there.losses])
        wrong = request_differences(
            read(source, case.body), read(target, there.body), read(source, back.body), lost, back.losses
        )
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"round trip request {source} by {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_responses_come_back_but_for_the_losses(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "response"):
        there = dragoman.translate_response(case.body, source=source, target=target, created=CREATED)
        under = context(target, source)
        came = get(target).read_response(there.body, under)
        last = sent_back(came, target, source, under)
        middle = unloaded(came, source, context(target, source))
        wrong = response_differences(answer(source, case.body, target), middle, last, there.losses, under.losses.all())
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"round trip response {source} by {target}", failures)


def stream(source: str, target: str, raw: bytes) -> tuple[bytes, tuple[Loss, ...]]:
    translator = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
    out = translator.feed(raw) + translator.close()
    return out, translator.losses


def streamed_back(first: Response, source: str, target: str, there: bytes, losses: tuple[Loss, ...]) -> list[str]:
    """What differs in a streamed answer that came to the client as `there`, and was sent back to its upstream."""
    under = context(target, source)
    reader, writer = get(target).reader(under), get(source).writer(under)
    middle = fold([*reader.feed(there), *reader.close()])
    if plan_for_answer("auto", None, get(source), get(target), "") is None or isinstance(middle, Fault):
        back, back_losses = stream(target, source, there)  # nothing was loaded
    else:
        middle = unloaded(middle, source, under)
        back = b"".join([*[writer.send(event) for event in unfold(middle)], writer.close()])
        if target not in get(source).kin:
            under.settle(get(target).noise)
        back_losses = under.losses.all()
    last = fold(events(source, back, target=target))
    if isinstance(middle, Fault) or isinstance(last, Fault):
        # An answer that broke down in the middle is a fault where no word for it exists.
        return [] if first.stop.reason in BROKEN else [f"became a fault: {middle}, {last}"]
    return response_differences(first, middle, last, losses, back_losses)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_streams_come_back_but_for_the_losses(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "stream"):
        there, out_losses = stream(source, target, case.body)
        first = fold(events(source, case.body, target=target))
        if isinstance(first, Fault):
            last = fold(events(source, stream(target, source, there)[0]))
            wrong = [] if isinstance(last, Fault) and last.message == first.message else [f"{first} became {last}"]
        else:
            wrong = streamed_back(first, source, target, there, out_losses)
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
            told = ended(told, under, get(target).broken_calls)
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
            continue  # a stream has begun the call by then and ends in it; a whole answer leaves the call out
        # A stream can keep an order that a whole answer has no place for.
        order = [loss for loss in under.losses.all() if loss.code == "order.approximated"]
        wrong = response_differences(whole, whole, streamed, order, ())
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"stream as whole {source} to {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_requests_settle_after_one_hop(source: str, target: str) -> None:
    """After A to B to A nothing changes any more: the next journey comes back with the same request.

    The wish to think may follow the thoughts that the first way back lost: a budget of Claude's needs them.
    """
    failures: dict[str, str] = {}
    for case in cases(source, "request"):
        there, back = request_there_and_back(case, target)
        model = there.model
        again = dragoman.translate_request(back.body, source=source, target=target, model=model)
        last = dragoman.translate_request(again.body, source=target, target=source, model=model)
        middle = read(target, again.body)
        thoughtless = any(loss.code == "reasoning.dropped" for loss in back.losses)
        lost = [loss for loss in again.losses if thoughtless and loss.code == "effort.dropped"]
        wrong = request_differences(read(source, back.body), middle, read(source, last.body), lost, ())
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"settles request {source} by {target}", failures)


# The comparison itself must be able to fail: nothing below depends on records.

LONG_WAY = {
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
def test_the_comparison_sees(what: str) -> None:
    body = msgspec.json.encode(LONG_WAY)
    first = read("openai-chat", body)
    assert request_differences(first, first, read("openai-chat", body), (), ()) == []
    changed = read("openai-chat", _swap(body, *MUTATIONS[what]))
    assert request_differences(first, first, changed, (), ())


def test_a_loss_explains_only_its_own_kind_at_its_own_place() -> None:
    body = msgspec.json.encode(LONG_WAY)
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


def test_words_for_media_are_no_difference_and_other_words_are() -> None:
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


def test_every_dialect_is_on_some_journey() -> None:
    assert {source for source, _ in PAIRS} == (set(DIALECTS) if len(DIALECTS) > 1 else set())
