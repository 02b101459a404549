"""Messages requests are written from other dialects: the result is always legal, and every change is reported."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon.parts import Citation, Media, Opaque, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Format, Request, Settings
from dragoman.canon.tools import Tool
from dragoman.canon.turns import Turn
from dragoman.codec.packed_seals import pack
from dragoman.facts.profile import Profile
from tests.unit.dialects.anthropic.helpers import MESSAGES, write
from tests.unit.dialects.documents_and_losses import Losses

_HI = Turn("user", (Text("hi"),))


def _messages(*turns: Turn, **options: Any) -> tuple[list[Any], Losses]:
    out, lost = write(Request(turns, settings=Settings(max_tokens=9)), **options)
    return out["messages"], lost


def _content_of(part: Part, role: Any = "user", **options: Any) -> tuple[Any, Losses]:
    """The content that one part becomes in the second turn."""
    messages, lost = _messages(_HI, Turn("assistant", (Text("yes"),)), Turn(role, (part, Text("."))), **options)
    return messages[-1]["content"], lost


def _step(*parts: Part) -> Turn:
    return Turn("assistant", parts, at=("a",))


def _results(*results: ToolResult) -> Turn:
    return Turn("tool", results, at=("t",))


def _call(call_id: str = "c1", arguments: str = '{"a":1}', **fields: Any) -> ToolCall:
    return ToolCall(call_id, "f", arguments, at=("call", call_id), **fields)


def _use(call_id: str, **arguments: Any) -> Any:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": arguments}


# turns


def test_system_turns_at_the_start_are_the_system_prompt() -> None:
    turns = (Turn("system", (Text("a"),)), Turn("developer", (Text("b", cache="30m", at=("s",)),)), _HI)
    out, lost = write(Request(turns, settings=Settings(max_tokens=9)))
    assert out == {
        "model": "m",
        "max_tokens": 9,
        "system": [
            {"type": "text", "text": "a"},
            {"type": "text", "text": "b", "cache_control": {"type": "ephemeral", "ttl": "5m"}},
        ],
        "messages": [{"role": "user", "content": "hi"}],
    }
    assert lost == [("cache.approximated", "/s")]


def test_the_name_on_a_system_turn_is_lost() -> None:
    named = Turn("system", (Text("Be brief."),), "ops", at=("messages", 0))
    out, lost = write(Request((named, _HI), settings=Settings(max_tokens=9)))
    assert out["system"] == "Be brief."
    assert lost == [("name.dropped", "/messages/0")]


def test_media_in_the_system_prompt_is_lost() -> None:
    turns = (Turn("system", (Media("image", "image/png", "AA==", at=("s",)),)), _HI)
    out, lost = write(Request(turns, settings=Settings(max_tokens=9)))
    assert "system" not in out
    assert lost == [("system.media.dropped", "/s")]


def test_a_later_system_turn_becomes_a_marked_user_text() -> None:
    messages, lost = _messages(_HI, Turn("system", (Text("in French"),), at=("m", 1)))
    assert messages == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "text", "text": "[system]\nin French"}]}
    ]
    assert lost == [("system.demoted", "/m/1")]


def test_a_later_system_turn_is_kept_if_the_model_accepts_it() -> None:
    profile = Profile(system_turns=True)
    system = Turn("developer", (Text("in French"),), at=("s",))
    answer = Turn("assistant", (Text("oui"),))
    messages, lost = _messages(_HI, system, answer, _HI, profile=profile)
    assert [message["role"] for message in messages] == ["user", "system", "assistant", "user"]
    assert lost == []
    messages, lost = _messages(_HI, answer, system, _HI, profile=profile)
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert lost == [("system.demoted", "/s")]


def test_a_history_begins_with_the_user() -> None:
    assert _messages(Turn("assistant", (Text("hello"),))) == (
        [{"role": "user", "content": "Begin."}, {"role": "assistant", "content": "hello"}],
        [("turn.invented", "")],
    )
    assert _messages() == ([{"role": "user", "content": "Begin."}], [("turn.invented", "")])


def test_a_history_ends_with_the_user_if_the_model_requires_it() -> None:
    turns = (_HI, Turn("assistant", (Text("{"),), at=("m", 1)))
    assert _messages(*turns)[0][-1] == {"role": "assistant", "content": "{"}
    messages, lost = _messages(*turns, profile=Profile(prefill=False))
    assert messages[-1] == {"role": "user", "content": "Continue."}
    assert lost == [("turn.invented", "/m/1")]


def test_turns_of_one_role_are_one_message() -> None:
    messages, lost = _messages(
        _HI, Turn("user", (Text("there"),), "ann", at=("m", 1)), _step(Text("a")), _step(_call())
    )
    assert messages[:2] == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "text", "text": "there"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, _use("c1", a=1)]},
    ]
    assert lost == [("name.dropped", "/m/1"), ("result.invented", "/a")]


def test_a_turn_that_becomes_empty_is_dropped() -> None:
    blank = Turn("user", (Text("", at=("b", 0)), Text(" \n", at=("b", 1))), at=("b",))
    messages, lost = _messages(_HI, blank)
    assert messages == [{"role": "user", "content": "hi"}]
    assert lost == [("part.dropped", "/b/1"), ("turn.dropped", "/b")]


# calls and results


def test_results_are_written_first_and_together() -> None:
    messages, lost = _messages(
        _HI,
        _step(Text("let me see"), _call("c1"), _call("c2", "")),
        _results(ToolResult("c1", (Text("one"),)), ToolResult("c2", (Text("bad"),), is_error=True)),
        Turn("user", (Text("well?"),)),
    )
    assert messages[1:] == [
        {"role": "assistant", "content": [{"type": "text", "text": "let me see"}, _use("c1", a=1), _use("c2")]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "bad", "is_error": True},
                {"type": "text", "text": "well?"},
            ],
        },
    ]
    assert lost == []


def test_a_call_without_a_result_gets_one() -> None:
    messages, lost = _messages(_HI, _step(_call("c1"), _call("c2")), _results(ToolResult("c2", (Text("two"),))))
    assert messages[-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "c2", "content": "two"},
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": "No result was recorded for this call.",
            "is_error": True,
        },
    ]
    assert lost == [("result.invented", "/a")]


def test_a_result_without_its_call_becomes_a_marked_text() -> None:
    orphan = ToolResult("gone", (Text("42"),), "f", at=("t", 0))
    media = ToolResult("", (Media("image", "image/png", "AA=="),), is_error=True, at=("t", 1))
    messages, lost = _messages(_HI, _results(orphan, media))
    assert messages == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "hi"},
                {"type": "text", "text": "[result of f, call gone]\n42"},
                {"type": "text", "text": "[error]"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
            ],
        }
    ]
    assert lost == [("result.orphaned", "/t/0"), ("result.orphaned", "/t/1")]


def test_a_second_result_for_one_call_is_dropped() -> None:
    messages, lost = _messages(
        _HI, _step(_call()), _results(ToolResult("c1", (Text("one"),)), ToolResult("c1", (Text("two"),), at=("t", 1)))
    )
    assert messages[-1]["content"] == [{"type": "tool_result", "tool_use_id": "c1", "content": "one"}]
    assert lost == [("result.duplicate", "/t/1")]


def test_call_ids_are_unique_and_legal() -> None:
    result = ToolResult("fc.1:2", (Text("x"),), at=("t", 0))
    turns = (
        _HI,
        _step(_call("fc.1:2")),
        _results(result),
        _step(_call("fc.1:2"), _call("fc.1:2")),
        _results(result, result),
    )
    messages, lost = _messages(*turns)
    calls = [block["id"] for message in messages[1::2] for block in message["content"]]
    answers = [block["tool_use_id"] for message in messages[2::2] for block in message["content"]]
    assert len(set(calls)) == 3
    assert calls == answers
    assert {code for code, _ in lost} == {"call.id.rewritten"}


def test_arguments_that_are_no_object_are_written_under_raw() -> None:
    messages, lost = _messages(_HI, _step(_call(arguments='{"a": ')), _results(ToolResult("c1")))
    assert messages[1]["content"] == [_use("c1", __raw='{"a": ')]
    assert messages[2]["content"] == [{"type": "tool_result", "tool_use_id": "c1"}]
    assert lost == [("arguments.invalid", "/call/c1")]


def test_a_free_text_call_is_wrapped() -> None:
    messages, lost = _messages(_HI, _step(_call(arguments="+x", custom=True)), _results(ToolResult("c1", custom=True)))
    assert messages[1]["content"] == [_use("c1", input="+x")]
    assert lost == [("call.custom.wrapped", "/call/c1")]


def test_a_structured_result_is_its_json_text() -> None:
    result = ToolResult("c1", (Text('{"n":1}'),), structured=True, at=("t", 0))
    messages, lost = _messages(_HI, _step(_call()), _results(result))
    assert messages[-1]["content"] == [{"type": "tool_result", "tool_use_id": "c1", "content": '{"n":1}'}]
    assert lost == [("result.structured.as_text", "/t/0")]


@pytest.mark.parametrize(
    ("binary", "content", "lost"),
    [
        (
            "native",
            [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}],
            [],
        ),
        (
            "summarise",
            [{"type": "text", "text": "Binary content of type image/png was processed."}],
            [("media.summarised", "/t/0/0")],
        ),
    ],
)
def test_media_in_results(binary: str, content: Any, lost: Losses) -> None:
    result = ToolResult("c1", (Media("image", "image/png", "AA==", at=("t", 0, 0)),))
    messages, found = _messages(_HI, _step(_call()), _results(result), binary=binary)
    assert messages[-1]["content"] == [{"type": "tool_result", "tool_use_id": "c1", "content": content}]
    assert found == lost


def test_a_failed_result_is_never_empty() -> None:
    messages, _ = _messages(_HI, _step(_call()), _results(ToolResult("c1", is_error=True)))
    assert messages[-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "Error", "is_error": True}
    ]


# parts


_B64 = base64.b64encode(b"a;b").decode()


@pytest.mark.parametrize(
    ("media", "block", "lost"),
    [
        (
            Media("image", "image/jpg", "AA==", detail="low", at=("p",)),
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AA=="}},
            [("media.detail.dropped", "/p")],
        ),
        (
            Media("image", "image/png", "AA==", name="a.png", at=("p",)),
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
            [("media.name.dropped", "/p")],
        ),
        (
            Media("image", url="https://x.test/a", at=("p",)),
            {"type": "image", "source": {"type": "url", "url": "https://x.test/a"}},
            [],
        ),
        (
            Media("document", "application/pdf", "JVBE", name="s.pdf", at=("p",)),
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
                "title": "s.pdf",
            },
            [],
        ),
        (
            Media("document", "text/csv", _B64, at=("p",)),
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a;b"}},
            [("media.retyped", "/p")],
        ),
        (
            Media("image", "image/heic", "AA==", at=("p",)),
            {"type": "text", "text": "[image/heic attached here could not be sent]"},
            [("media.dropped", "/p")],
        ),
        (
            Media("audio", "audio/wav", "AA==", at=("p",)),
            {"type": "text", "text": "[audio/wav attached here could not be sent]"},
            [("media.dropped", "/p")],
        ),
        (
            Media("document", file="file-1", at=("p",)),
            {"type": "text", "text": "[document attached here could not be sent]"},
            [("media.dropped", "/p")],
        ),
        (
            Media("image", "image/png", url="gs://b/a.png", at=("p",)),
            {"type": "text", "text": "[image/png attached here could not be sent: gs://b/a.png]"},
            [("media.dropped", "/p")],
        ),
    ],
)
def test_media(media: Media, block: Any, lost: Losses) -> None:
    assert _content_of(media) == ([block, {"type": "text", "text": "."}], lost)


def test_media_of_the_assistant_become_a_note() -> None:
    content, lost = _content_of(Media("image", "image/png", "AA==", at=("p",)), "assistant")
    assert content[1] == {"type": "text", "text": "[image/png attached here could not be sent]"}
    assert lost == [("media.dropped", "/p")]


def test_thoughts_are_sent_to_their_origin_only() -> None:
    thoughts = (
        Reasoning("mine", seal=Seal(MESSAGES, "sig"), at=("p", 0)),
        Reasoning("", seal=Seal(MESSAGES, "blob", "redacted"), at=("p", 1)),
        Reasoning("theirs", seal=Seal("gemini", "g"), at=("p", 2)),
        Reasoning("shown once", seal=Seal("openai-chat", ""), at=("p", 3)),
        Reasoning("bare", at=("p", 4)),
        Text("so"),
    )
    messages, lost = _messages(_HI, Turn("assistant", thoughts))
    assert messages[-1]["content"] == [
        {"type": "thinking", "thinking": "mine", "signature": "sig"},
        {"type": "redacted_thinking", "data": "blob"},
        {"type": "text", "text": "so"},
    ]
    assert lost == [
        ("seal.dropped", "/p/2"),
        ("reasoning.dropped", "/p/2"),
        ("reasoning.dropped", "/p/3"),
        ("reasoning.dropped", "/p/4"),
    ]


def test_lost_fields_of_foreign_parts_are_reported() -> None:
    text = Text("no", True, (Citation("https://x.test"),), seal=Seal("gemini", "g"), at=("p",))
    content, lost = _content_of(text, "assistant")
    assert content[1] == {"type": "text", "text": "no"}
    assert lost == [("seal.dropped", "/p"), ("refusal.as_text", "/p"), ("citation.dropped", "/p")]
    hosted = Opaque("openai-responses", "web_search_call", Raw(b"{}"), at=("p",))
    assert _content_of(hosted, "assistant")[1] == [("hosted.dropped", "/p")]
    assert _content_of(hosted, "user")[1] == [("part.dropped", "/p")]
    call = ToolCall("c", "f", "{}", seal=Seal("gemini", "g"), at=("p",))
    assert ("seal.dropped", "/p") in _content_of(call, "assistant")[1]


def test_a_citation_that_the_library_invented_is_not_sent_back() -> None:
    fields = {
        "type": Raw(b'"web_search_result_location"'),
        "encrypted_index": Raw(f'"{pack(Seal("gemini", ""))}"'.encode()),
    }
    text = Text("t", citations=(Citation("https://x.test", extra={MESSAGES: fields}),), at=("p",))
    content, lost = _content_of(text, "assistant", source=MESSAGES)
    assert content[-2:] == [{"type": "text", "text": "t"}, {"type": "text", "text": "."}]
    assert lost == [("citation.dropped", "/p")]


# cache marks


def test_the_first_cache_marks_are_dropped_if_there_are_too_many() -> None:
    tools = (Tool("f", cache="", at=("tools", 0)),)
    turns = (
        Turn("system", (Text("s", cache="12h", at=("s",)),)),
        *[Turn("user", (Text(str(i), cache="", at=(i,)),)) for i in range(3)],
    )
    out, lost = write(Request(turns, "m", tools, settings=Settings(max_tokens=9)))
    assert "cache_control" not in out["tools"][0]
    assert out["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert [block.get("cache_control") for block in out["messages"][0]["content"]] == [{"type": "ephemeral"}] * 3
    assert lost == [("cache.approximated", "/s"), ("cache.dropped", "/tools/0")]


def test_the_automatic_cache_mark_counts() -> None:
    turns = tuple([Turn("user", (Text(str(i), cache="", at=(i,)),)) for i in range(4)])
    out, lost = write(Request(turns, settings=Settings(max_tokens=9, cache="1h")))
    assert out["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in out["messages"][0]["content"][0]
    assert lost == [("cache.dropped", "/0")]


# settings


def _set(profile: Profile | None = None, turns: tuple[Turn, ...] = (_HI,), **settings: Any) -> tuple[Any, Losses]:
    at = {name: (name,) for name in settings}
    out, lost = write(Request(turns, settings=Settings(**settings, at=at)), profile=profile)
    del out["model"], out["messages"]
    return out, lost


def test_a_token_limit_is_always_written() -> None:
    assert _set() == ({"max_tokens": 8192}, [("limit.invented", "")])
    assert _set(Profile(max_tokens=4096)) == ({"max_tokens": 4096}, [("limit.invented", "")])
    assert _set(max_tokens=0) == ({"max_tokens": 0}, [])


def test_sampling_is_clamped_or_left_out() -> None:
    wanted = {"max_tokens": 9, "temperature": 1.7, "top_p": 0.5, "top_k": 40.0}
    assert _set(**wanted) == (
        {"max_tokens": 9, "temperature": 1.0, "top_p": 0.5, "top_k": 40},
        [("sampling.clamped", "/temperature")],
    )
    assert _set(Profile(sampling=False), **wanted) == (
        {"max_tokens": 9},
        [("sampling.dropped", f"/{name}") for name in ("temperature", "top_p", "top_k")],
    )


def test_settings_without_a_place_are_reported() -> None:
    out, lost = _set(
        max_tokens=9,
        seed=0,
        presence_penalty=0.5,
        frequency_penalty=0.0,
        logprobs=True,
        verbosity="low",
        metadata={"a": "b"},
        cache_key="k",
        n=2,
        stream_usage=True,
    )
    assert out == {"max_tokens": 9}
    assert lost == [
        ("sampling.dropped", "/seed"),
        ("sampling.dropped", "/presence_penalty"),
        ("logprobs.dropped", "/logprobs"),
        ("verbosity.dropped", "/verbosity"),
        ("metadata.dropped", "/metadata"),
        ("cache.dropped", "/cache_key"),
        ("n.dropped", "/n"),
    ]


def test_user_tier_and_stop() -> None:
    assert _set(max_tokens=9, user="u", tier="default", stop=("END", "\n")) == (
        {
            "max_tokens": 9,
            "stop_sequences": ["END"],
            "metadata": {"user_id": "u"},
            "service_tier": "standard_only",
        },
        [("stop.dropped", "/stop")],
    )
    assert _set(max_tokens=9, user="u" * 513, tier="flex") == (
        {"max_tokens": 9},
        [("user.dropped", "/user"), ("tier.dropped", "/tier")],
    )


_ADAPTIVE = Profile(thinking=("adaptive", "disabled"), efforts=("low", "medium", "high"))
_ALWAYS = Profile(thinking=("adaptive",))
_BETWEEN = Profile(thinking=("adaptive", "between_tools"))
_MANUAL = Profile(thinking=("enabled", "disabled"))


@pytest.mark.parametrize(
    ("profile", "settings", "thinking", "effort", "lost"),
    [
        (None, {"effort": "high"}, {"type": "adaptive"}, "high", []),
        (None, {"effort": "none"}, {"type": "disabled"}, None, []),
        (None, {"budget": -1}, {"type": "adaptive"}, None, []),
        (_ADAPTIVE, {"effort": "xhigh"}, {"type": "adaptive"}, "high", [("effort.approximated", "/effort")]),
        (_ADAPTIVE, {"effort": "minimal"}, {"type": "adaptive"}, "low", [("effort.approximated", "/effort")]),
        (_ADAPTIVE, {"budget": 8192}, {"type": "adaptive"}, "medium", [("effort.approximated", "/budget")]),
        (_ALWAYS, {"budget": 0}, {"type": "adaptive"}, "low", [("effort.approximated", "/budget")]),
        (_BETWEEN, {"effort": "none"}, {"type": "between_tools"}, "low", [("effort.approximated", "/effort")]),
        (_MANUAL, {"budget": 2048}, {"type": "enabled", "budget_tokens": 2048}, None, []),
        (
            _MANUAL,
            {"budget": 512},
            {"type": "enabled", "budget_tokens": 1024},
            None,
            [("effort.approximated", "/budget")],
        ),
        (
            _MANUAL,
            {"effort": "low"},
            {"type": "enabled", "budget_tokens": 2048},
            None,
            [("effort.approximated", "/effort")],
        ),
        (Profile(thinks=False), {"effort": "low"}, None, None, [("effort.dropped", "/effort")]),
        (Profile(thinks=False), {"effort": "none"}, None, None, []),
        (Profile(thinking=("disabled",)), {"effort": "low"}, None, None, [("effort.dropped", "/effort")]),
    ],
)
def test_thinking(profile: Profile | None, settings: Any, thinking: Any, effort: str | None, lost: Losses) -> None:
    out, found = _set(profile, max_tokens=4000, **settings)
    assert out.get("thinking") == thinking
    assert out.get("output_config", {}).get("effort") == effort
    assert found == lost


def test_a_budget_fits_under_the_limit() -> None:
    out, lost = _set(_MANUAL, max_tokens=1000, budget=2048)
    assert (out["max_tokens"], out["thinking"]["budget_tokens"]) == (3048, 2048)
    assert lost == [("limit.raised", "/max_tokens")]


def test_sampling_is_off_while_the_model_thinks() -> None:
    out, lost = _set(_MANUAL, max_tokens=9000, budget=2048, temperature=0.2, top_k=3)
    assert "temperature" not in out and "top_k" not in out
    assert lost == [("sampling.dropped", "/temperature"), ("sampling.dropped", "/top_k")]
    assert _set(_MANUAL, max_tokens=9000, budget=2048, temperature=1.0)[1] == []


def test_a_step_without_thoughts_of_this_model_gets_no_thinking_budget() -> None:
    open_step = (_HI, _step(_call()), _results(ToolResult("c1", (Text("x"),))))
    out, lost = _set(_MANUAL, open_step, max_tokens=9, budget=2048)
    assert (out, lost) == ({"max_tokens": 9}, [("effort.dropped", "/budget")])
    sealed = _step(Reasoning("hm", seal=Seal(MESSAGES, "sig")), _call())
    out, lost = _set(_MANUAL, (_HI, sealed, open_step[2]), max_tokens=9000, budget=2048)
    assert out["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert lost == []


@pytest.mark.parametrize("settings", [{"budget": 2048}, {"effort": "high"}])
@pytest.mark.parametrize(
    "turns",
    [
        (_HI, _step(_call()), _results(ToolResult("c1", (Text("x"),))), Turn("user", (Text("Stop."),))),
        (_HI, _step(_call())),
        (_HI, _step(_call()), _step(Text("On it."))),
        (_HI, _step(_call()), _results(ToolResult("c1", (Text("x"),))), _step(Reasoning("hm")), _HI),
        (_HI, _step(Reasoning("hm", seal=Seal("gemini", "s")), Text("Now."), _call())),
        (_HI, _step(Reasoning("hm"), _call()), Turn("system", (Text("Be brief."),))),
    ],
)
def test_calls_without_thoughts_prevent_a_budget_whatever_follows(turns: Any, settings: Any) -> None:
    out, lost = _set(_MANUAL, turns, max_tokens=9, **settings)
    assert "thinking" not in out and out["max_tokens"] == 9
    # No budget was sent. Exactly one loss reports the dropped setting.
    assert [code for code, _ in lost if code.startswith("effort.")] == ["effort.dropped"]


@pytest.mark.parametrize(
    "turns",
    [
        (_HI, _step(_call()), _results(ToolResult("c1", (Text("x"),))), _step(Text("Done.")), _HI),
        (_HI, _step(Reasoning("hm", seal=Seal(MESSAGES, "sig")), _call()), _HI),
        (_HI, _step(Reasoning("shown"), Reasoning("", seal=Seal(MESSAGES, "sig", "redacted")), _call()), _HI),
    ],
)
def test_a_budget_is_kept_if_the_last_message_has_no_calls_or_has_thoughts(turns: Any) -> None:
    out, lost = _set(_MANUAL, turns, max_tokens=9000, budget=2048)
    assert out["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert not [code for code, _ in lost if code.startswith("effort.")]


def test_an_unknown_effort_is_left_out() -> None:
    out, lost = _set(max_tokens=9, effort="turbo")
    assert (out, lost) == ({"max_tokens": 9, "thinking": {"type": "adaptive"}}, [("effort.dropped", "/effort")])


def test_the_setting_to_show_thoughts() -> None:
    assert _set(max_tokens=9, effort="high", thoughts=True)[0]["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
    }
    assert _set(_ADAPTIVE, max_tokens=9, thoughts=True)[0]["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert _set(max_tokens=9, thoughts=True) == ({"max_tokens": 9}, [("thoughts.dropped", "/thoughts")])
    assert _set(max_tokens=9, thoughts=False) == ({"max_tokens": 9}, [("thoughts.dropped", "/thoughts")])
    assert _set(Profile(thinks=False), max_tokens=9, thoughts=False) == ({"max_tokens": 9}, [])


def test_structured_output() -> None:
    shape = Format("schema", '{"type":"object","properties":{"n":{"type":"integer","maximum":9}}}', "figure")
    out, lost = _set(max_tokens=9, format=shape, effort="low")
    assert out["output_config"]["effort"] == "low"
    assert out["output_config"]["format"]["type"] == "json_schema"
    assert out["output_config"]["format"]["schema"]["additionalProperties"] is False
    assert out["output_config"]["format"]["schema"]["title"] == "figure"
    assert ("format.detail.dropped", "/format") not in lost
    assert ("schema.keyword.dropped", "/format/properties/n/maximum") in lost
    assert _set(max_tokens=9, format=Format("json")) == (
        {"max_tokens": 9, "system": "Answer with one valid JSON object and nothing else."},
        [("format.as_text", "/format")],
    )


def test_a_model_is_always_written_and_stream_is_kept() -> None:
    out, lost = write(Request((_HI,), settings=Settings(max_tokens=9), stream=True), model="")
    assert (out["model"], out["stream"], lost) == ("unspecified", True, [("model.invented", "")])


# malformed histories


def test_a_call_without_a_result_gets_one_before_the_text_of_the_user() -> None:
    messages, lost = _messages(_HI, _step(_call()), Turn("user", (Text("stop"),)))
    assert [block["type"] for block in messages[-1]["content"]] == ["tool_result", "text"]
    assert lost == [("result.invented", "/a")]


def test_parts_in_the_wrong_turn_are_dropped() -> None:
    call = ToolCall("c", "f", "{}", at=("p",))
    assert _content_of(call, "user")[1] == [("part.dropped", "/p")]
    messages, lost = _messages(_HI, _step(_call()), Turn("tool", (Text("x", at=("p",)), ToolResult("c1"))))
    assert messages[-1]["content"] == [{"type": "tool_result", "tool_use_id": "c1"}]
    assert lost == [("part.dropped", "/p")]


def test_system_turns_in_a_row_are_one_message() -> None:
    system = Turn("system", (Text("s"),))
    messages, lost = _messages(_HI, system, system, profile=Profile(system_turns=True))
    text = {"type": "text", "text": "s"}
    assert messages[1:] == [{"role": "system", "content": [text, text]}]
    assert lost == []


def test_media_in_a_later_system_turn_are_written_with_the_text() -> None:
    system = Turn("system", (Text("look"), Media("image", url="https://x.test/a")), at=("s",))
    messages, lost = _messages(_HI, system)
    assert [block["type"] for block in messages[0]["content"]] == ["text", "text", "image"]
    assert lost == [("system.demoted", "/s")]


def test_an_empty_turn_is_not_written() -> None:
    assert _messages(_HI, Turn("user", ())) == ([{"role": "user", "content": "hi"}], [])


def test_cache_marks_and_seals_at_illegal_places() -> None:
    seal = Seal("gemini", "g")
    image = Media("image", "image/png", "AA==", cache="", seal=seal, at=("p", 0))
    content, lost = _content_of(image)
    assert content[0]["cache_control"] == {"type": "ephemeral"}
    assert lost == [("seal.dropped", "/p/0")]
    assert _content_of(Text("", cache="", at=("p", 1)))[1] == [("cache.dropped", "/p/1")]
    assert _content_of(Reasoning("", cache="", seal=seal, at=("p", 2)), "assistant")[1] == [
        ("cache.dropped", "/p/2"),
        ("seal.dropped", "/p/2"),
    ]
    result = ToolResult("c1", (Text("x", cache="", at=("x",)),), seal=seal, cache="5m", at=("t",))
    messages, lost = _messages(_HI, _step(_call(cache="1h")), _results(result))
    assert messages[1]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert messages[2]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": "x",
            "cache_control": {"type": "ephemeral", "ttl": "5m"},
        }
    ]
    assert lost == [("cache.approximated", "/x"), ("seal.dropped", "/t")]
    orphan = ToolResult("gone", (), cache="", at=("t",))
    assert _messages(_HI, _results(orphan))[1] == [("result.orphaned", "/t"), ("cache.dropped", "/t")]


@pytest.mark.parametrize(
    "media",
    [
        Media("document", "application/zip", "UEs=", at=("p",)),
        Media("document", "text/plain", "%%%", at=("p",)),
        Media("document", "text/plain", base64.b64encode(b"\xff").decode(), at=("p",)),
        Media("document", "text/html", url="https://x.test/a.html", at=("p",)),
    ],
)
def test_documents_that_the_upstream_cannot_read(media: Media) -> None:
    content, lost = _content_of(media)
    assert content[0]["text"].startswith(f"[{media.mime} attached here could not be sent")
    assert lost == [("media.dropped", "/p")]


def test_an_answered_call_and_another_of_the_same_id() -> None:
    turns = (_HI, _step(_call("x"), _call("x")), _results(ToolResult("x", (Text("1"),)), ToolResult("y", at=("t", 1))))
    messages, lost = _messages(*turns)
    assert [block["type"] for block in messages[-1]["content"]] == ["tool_result", "tool_result", "text"]
    assert [code for code, _ in lost] == ["call.id.rewritten", "result.orphaned", "result.invented"]
