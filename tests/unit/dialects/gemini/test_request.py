"""Gemini requests are read: contents, parts, pairing and settings. Round trips within Gemini change nothing."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon import (
    Choice,
    HostedCall,
    HostedResult,
    Media,
    Opaque,
    Reasoning,
    Seal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from dragoman.codec.packed_seals import pack
from dragoman.errors import WireError
from tests.unit.dialects.gemini.helpers import read, read_contents, round_trip

CALL = {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}}


def parts_of(*parts: Any) -> tuple[Any, ...]:
    return read_contents({"role": "model", "parts": list(parts)})[0].turns[0].parts


def result_of(**fields: Any) -> ToolResult:
    found = read_contents({"parts": [{"functionResponse": {"id": "c", "name": "f", **fields}}]})[0].turns[0].parts[0]
    assert isinstance(found, ToolResult)
    return found


def test_a_conversation() -> None:
    request, lost = read(
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}], "role": "user"},
            "contents": [
                {"role": "user", "parts": [{"text": "Hi"}]},
                {"role": "model", "parts": [{"text": "Looking."}, {**CALL, "thoughtSignature": "c2ln"}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": "x"}}}],
                },
            ],
        }
    )
    at = ("contents", 1, "parts")
    assert request.turns == (
        Turn(
            "system",
            (Text("Be brief.", at=("systemInstruction", "parts", 0)),),
            extra={"gemini": {"role": request.turns[0].extra["gemini"]["role"]}},  # type: ignore[index]
            at=("systemInstruction",),
        ),
        Turn("user", (Text("Hi", at=("contents", 0, "parts", 0)),), at=("contents", 0)),
        Turn(
            "assistant",
            (Text("Looking.", at=(*at, 0)), ToolCall("c1", "f", '{"a":1}', seal=Seal("gemini", "c2ln"), at=(*at, 1))),
            at=("contents", 1),
        ),
        Turn(
            "tool",
            (ToolResult("c1", (Text("x", at=("contents", 2, "parts", 0)),), "f", at=("contents", 2, "parts", 0)),),
            at=("contents", 2),
        ),
    )
    assert lost == []


@pytest.mark.parametrize(
    "body",
    [
        {"contents": "Hi"},
        {"contents": {"parts": [{"text": "Hi"}]}},
        {"contents": [{"parts": {"text": "Hi"}}]},
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "systemInstruction": None, "toolConfig": None},
    ],
)
def test_sloppy_forms_of_one_text(body: Any) -> None:
    (turn,) = read(body)[0].turns
    assert (turn.role, turn.parts[0].text) == ("user", "Hi")  # type: ignore[attr-defined]


def test_a_bare_string_as_system_instruction() -> None:
    system = read({"contents": [], "systemInstruction": "Be brief."})[0].turns[0]
    assert system == Turn("system", (Text("Be brief.", at=("systemInstruction",)),), at=("systemInstruction",))


def test_thoughts_and_seals() -> None:
    assert parts_of(
        {"text": "hm", "thought": True},
        {"text": "yes", "thoughtSignature": "c2ln"},
        {"text": "", "thoughtSignature": "ZW5k"},
        {"thought": True, "thoughtSignature": "eA=="},
    ) == (
        Reasoning("hm", at=("contents", 0, "parts", 0)),
        Text("yes", seal=Seal("gemini", "c2ln"), at=("contents", 0, "parts", 1)),
        Text("", seal=Seal("gemini", "ZW5k"), at=("contents", 0, "parts", 2)),
        Reasoning("", seal=Seal("gemini", "eA=="), at=("contents", 0, "parts", 3)),
    )


def test_a_returned_thought_of_another_upstream_is_one_part() -> None:
    seal = Seal("anthropic", "EqQB>>??", "thinking", "claude-opus-5")
    # google-genai decodes the slot and encodes the value in the URL-safe alphabet.
    echoed = pack(seal).replace("+", "-").replace("/", "_")
    (_, thought, call) = parts_of(
        {"text": "So."},
        {"text": "Let me ", "thought": True},
        {"text": "see.", "thought": True},
        {"text": "", "thought": True, "thoughtSignature": echoed},
        CALL,
    )
    assert thought == Reasoning("Let me see.", seal=seal, at=("contents", 0, "parts", 1))
    assert isinstance(call, ToolCall)


@pytest.mark.parametrize("encoded", [False, True])
def test_the_documented_dummy_is_no_seal(encoded: bool) -> None:
    word = "skip_thought_signature_validator"
    slot = base64.b64encode(word.encode()).decode() if encoded else word
    request, lost = read_contents({"role": "model", "parts": [{**CALL, "thoughtSignature": slot}, {"text": "a"}]})
    assert request.turns[0].parts[0].seal is None
    assert lost == []
    body = {"contents": [{"role": "model", "parts": [{**CALL, "thoughtSignature": slot}]}]}
    assert round_trip(body) == body
    text = {"contents": [{"role": "model", "parts": [{"text": "a", "thoughtSignature": slot}]}]}
    assert round_trip(text) == text


def test_media() -> None:
    at = ("contents", 0, "parts")
    assert parts_of(
        {"inlineData": {"mimeType": "image/png", "data": "AAAA", "displayName": "a.png"}},
        {"inlineData": {"mime_type": "audio/wav", "data": "A-_A", "display_name": "b"}},
        {"fileData": {"fileUri": "https://a.example/b.pdf", "mimeType": "application/pdf"}},
        {"fileData": {"file_uri": "gs://bucket/c.mp4", "mime_type": "video/mp4"}},
        {"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/x"}},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"}},
    )[:5] == (
        Media("image", "image/png", "AAAA", name="a.png", at=(*at, 0)),
        Media(
            "audio", "audio/wav", "A+/A", name="b", extra={"gemini": {"dragoman.urlsafe": Raw(b"true")}}, at=(*at, 1)
        ),
        Media("document", "application/pdf", url="https://a.example/b.pdf", at=(*at, 2)),
        Media("video", "video/mp4", file="gs://bucket/c.mp4", at=(*at, 3)),
        Media("document", file="https://generativelanguage.googleapis.com/v1beta/files/x", at=(*at, 4)),
    )


def test_a_resolution_is_a_detail_if_the_canon_has_that_detail() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    request, lost = read_contents(
        {"parts": [{**image, "mediaResolution": {"level": "MEDIA_RESOLUTION_HIGH"}}]},
        {"parts": [{**image, "mediaResolution": {"level": "MEDIA_RESOLUTION_MEDIUM"}}]},
        {"parts": [{**image, "mediaResolution": "x"}, {**image, "videoMetadata": {"fps": 1}}]},
    )
    assert [part.detail for turn in request.turns for part in turn.parts] == ["high", "", "", ""]  # type: ignore[attr-defined]
    assert lost == [
        ("field.dropped", "/contents/1/parts/0/mediaResolution"),
        ("field.dropped", "/contents/2/parts/0/mediaResolution"),
        ("field.dropped", "/contents/2/parts/1/videoMetadata"),
    ]


def test_hosted_parts_are_kept_whole() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "c2ln"}
    assert parts_of(code, {"codeExecutionResult": {"outcome": "OUTCOME_OK"}, "newer": 1}) == (
        HostedCall(
            "gemini",
            "executableCode",
            Raw(b'{"thoughtSignature":"c2ln","executableCode":{"language":"PYTHON","code":"1"}}'),
            "code_execution",
            "",
            "code_execution",
            '{"code":"1","language":"python"}',
            at=("contents", 0, "parts", 0),
        ),
        HostedResult(
            "gemini",
            "codeExecutionResult",
            Raw(b'{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}'),
            "code_execution",
            extra={"gemini": {"newer": Raw(b"1")}},
            at=("contents", 0, "parts", 1),
        ),
    )


def test_a_part_with_several_data_fields_is_several_parts() -> None:
    assert parts_of({"text": "so", **CALL, "thoughtSignature": "c2ln"}, {"text": "", **CALL}) == (
        Text("so", at=("contents", 0, "parts", 0)),
        ToolCall("c1", "f", '{"a":1}', seal=Seal("gemini", "c2ln"), at=("contents", 0, "parts", 0)),
        ToolCall("c1", "f", '{"a":1}', at=("contents", 0, "parts", 1)),
    )
    (text, hosted) = parts_of({"text": "so", "toolCall": {"toolType": "X"}, "thought": False})
    assert text == Text("so", at=("contents", 0, "parts", 0))
    assert bytes(hosted.value) == b'{"thought":false,"toolCall":{"toolType":"X"}}'


def test_empty_parts_and_modifiers_without_a_part() -> None:
    assert parts_of({}, {"videoMetadata": {"fps": 1}}) == (
        Opaque(
            "gemini",
            "videoMetadata",
            Raw(b'{"videoMetadata":{"fps":1}}'),
            extra={"gemini": {"videoMetadata": Raw(b'{"fps":1}')}},
            at=("contents", 0, "parts", 1),
        ),
    )


def test_an_unknown_role_is_kept_whole() -> None:
    body = {"contents": [{"role": "narrator", "parts": [{"text": "Once"}]}, {"role": "user", "parts": [{"text": "a"}]}]}
    turn = read(body)[0].turns[0]
    assert (turn.role, turn.parts[0].kind) == ("user", "narrator")  # type: ignore[attr-defined]
    assert round_trip(body) == body


def test_calls_without_ids_are_paired_by_name_and_order() -> None:
    request, lost = read_contents(
        {"role": "model", "parts": [{"functionCall": {"name": n}} for n in ("f", "g", "f")]},
        {"role": "user", "parts": [{"functionResponse": {"name": n, "response": {"output": n}}} for n in ("g", "f")]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "2"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "h", "response": {"output": "?"}}}]},
    )
    first, second, third = [part.id for part in request.turns[0].parts]  # type: ignore[attr-defined]
    results = request.turns[1].parts
    assert len({first, second, third}) == 3
    assert [part.call_id for part in results][:3] == [second, first, third]  # type: ignore[attr-defined]
    assert results[3].call_id not in {first, second, third}  # type: ignore[attr-defined]
    assert {code for code, _ in lost} == {"call.id.invented"}


def test_a_minted_id_is_the_same_in_the_next_turn_of_the_conversation() -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}
    function_responses = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]}
    earlier = read_contents(call, function_responses)[0].turns[0].parts[0]
    later = read_contents(call, function_responses, call, function_responses)[0].turns
    assert later[0].parts[0] == earlier
    assert later[2].parts[0].id != earlier.id  # type: ignore[attr-defined]


def test_a_result_with_an_id_for_a_call_without_an_id() -> None:
    body = {
        "contents": [
            {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "z", "name": "f", "response": {"output": "x"}}}]},
        ]
    }
    turns = read(body)[0].turns
    assert turns[1].parts[0].call_id == turns[0].parts[0].id  # type: ignore[attr-defined]
    assert round_trip(body) == body


def test_arguments() -> None:
    arguments = [
        part.arguments
        for part in parts_of(
            {"functionCall": {"name": "f"}},
            {"functionCall": {"name": "f", "args": None}},
            {"functionCall": {"name": "f", "args": {"__raw": '{"a": '}}},
            {"functionCall": {"name": "f", "args": {"__raw": 1}}},
        )
    ]
    assert arguments == ["", "", '{"a": ', '{"__raw":1}']


@pytest.mark.parametrize(
    ("response", "text", "is_error", "structured"),
    [
        ({"output": "x"}, "x", False, False),
        ({"error": "no"}, "no", True, False),
        ({"output": [1, 2]}, "[1,2]", False, True),
        ({"output": {"a": 1}}, '{"a":1}', False, True),
        ({"error": {"code": 7}}, '{"code":7}', True, True),
        ({"error": "no", "log": 1}, '{"error":"no","log":1}', True, True),
        ({"error": None, "log": 1}, '{"error":null,"log":1}', False, True),
        ({"result": "x"}, '{"result":"x"}', False, True),
        ({"output": "x", "more": 1}, '{"output":"x","more":1}', False, True),
        ({}, "{}", False, True),
    ],
)
def test_the_two_keys_of_a_response(response: Any, text: str, is_error: bool, structured: bool) -> None:
    result = result_of(response=response)
    assert result.parts == (Text(text, at=("contents", 0, "parts", 0)),)
    assert (result.is_error, result.structured) == (is_error, structured)
    body = {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]}]}
    assert round_trip(body) == body


def test_a_response_that_is_no_object() -> None:
    assert result_of(response="plain").parts == (Text("plain", at=("contents", 0, "parts", 0)),)
    assert result_of(response=[1]).parts == (Text("[1]", at=("contents", 0, "parts", 0)),)
    assert result_of().parts == ()


def test_media_inside_a_result_and_beside_it() -> None:
    blob = {"mimeType": "image/png", "data": "AAAA"}
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "look"}]},
            {"role": "model", "parts": [CALL]},
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "c1",
                            "name": "f",
                            "response": {},
                            "parts": [
                                {"inlineData": blob, "mediaProcessing": "STATIC"},
                                {"fileData": {"fileUri": "https://a.example/b.png"}},
                                {},
                            ],
                            "scheduling": "SILENT",
                        }
                    },
                    {"inlineData": blob},
                    {"text": "see"},
                ],
            },
        ]
    }
    request, lost = read(body)
    at = ("contents", 2, "parts", 0, "functionResponse", "parts")
    tool, user = request.turns[2:]
    assert tool.parts[0].parts == (  # type: ignore[attr-defined]
        Media("image", "image/png", "AAAA", extra={"gemini": {"mediaProcessing": Raw(b'"STATIC"')}}, at=(*at, 0)),
        Media("image", url="https://a.example/b.png", at=(*at, 1)),
        Opaque("gemini", "functionResponse.parts", Raw(b"{}"), at=(*at, 2)),
    )
    assert [type(part).__name__ for part in user.parts] == ["Media", "Text"]
    assert (user.role, user.at) == ("user", tool.at)
    assert lost == [("field.dropped", "/contents/2/parts/0/functionResponse/scheduling")]
    assert round_trip(body) == body


def test_results_between_texts_keep_their_order() -> None:
    function_responses = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "x"}}}
    body = {
        "contents": [
            {"role": "model", "parts": [CALL, {"functionCall": {"id": "c2", "name": "f", "args": {}}}]},
            {"role": "user", "parts": [{"text": "a"}, function_responses, {"text": "b"}]},
            {
                "role": "function",
                "parts": [{"functionResponse": {"id": "c2", "name": "f", "response": {"output": "y"}}}],
            },
        ]
    }
    assert [turn.role for turn in read(body)[0].turns] == ["assistant", "user", "tool", "user", "tool"]
    body["contents"][2]["role"] = "user"
    assert round_trip(body) == body


def test_results_of_one_step_in_several_contents_are_one_turn() -> None:
    function_responses = [
        {"functionResponse": {"id": i, "name": "f", "response": {"output": "x"}}} for i in ("c1", "c2")
    ]
    calls = [CALL, {"functionCall": {"id": "c2", "name": "f", "args": {}}}]
    body = {
        "contents": [
            {"role": "model", "parts": calls},
            {"role": "user", "parts": function_responses[:1]},
            {"role": "user", "parts": function_responses[1:]},
        ]
    }
    assert [(turn.role, len(turn.parts)) for turn in read(body)[0].turns] == [("assistant", 2), ("tool", 2)]
    assert round_trip(body) == body


SNAKE = {
    "contents": [
        {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "AAAA"}}]},
        {
            "role": "model",
            "parts": [{"function_call": {"id": "c1", "name": "f", "args": {}}, "thought_signature": "c2ln"}],
        },
        {"role": "user", "parts": [{"function_response": {"id": "c1", "name": "f", "response": {"output": "x"}}}]},
        {"role": "user", "parts": [{"file_data": {"file_uri": "gs://b/c", "mime_type": "video/mp4"}}]},
    ],
    "system_instruction": {"parts": [{"text": "s"}]},
    "generation_config": {"max_output_tokens": 5, "thinkingConfig": {"thinking_budget": 0, "include_thoughts": False}},
    "safety_settings": [],
}


def test_snake_case_is_read_like_camel_case() -> None:
    assert round_trip(SNAKE) == {
        "contents": [
            {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
            {
                "role": "model",
                "parts": [{"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": "c2ln"}],
            },
            {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": "x"}}}]},
            {"role": "user", "parts": [{"fileData": {"fileUri": "gs://b/c", "mimeType": "video/mp4"}}]},
        ],
        "systemInstruction": {"parts": [{"text": "s"}]},
        "generationConfig": {"maxOutputTokens": 5, "thinkingConfig": {"thinkingBudget": 0, "includeThoughts": False}},
        "safetySettings": [],
    }


def test_losses_name_snake_case_fields_as_they_were_spelled() -> None:
    body = {
        "contents": [
            {"parts": [{"function_response": {"name": "f", "response": {"output": "x"}, "will_continue": True}}]}
        ],
        "generation_config": {"speech_config": {"a": 1}},
        "cached_content": "cachedContents/x",
    }
    assert sorted(read(body)[1]) == [
        ("call.id.invented", "/contents/0/parts/0"),
        ("field.dropped", "/contents/0/parts/0/function_response/will_continue"),
        ("field.dropped", "/generation_config/speech_config"),
        ("state.dropped", "/cached_content"),
    ]


def test_unknown_fields_below_a_snake_case_field_survive_a_round_trip() -> None:
    call = {"id": "c", "name": "f", "args": {}, "newer": 1}
    body = {"contents": [{"role": "model", "parts": [{"function_call": call}]}]}
    assert round_trip(body) == {"contents": [{"role": "model", "parts": [{"functionCall": call}]}]}


@pytest.mark.parametrize(
    "part",
    [
        {"text": "a", "thought": False},
        {"text": "a", "thought": False, "partMetadata": {"x": 1}},
        {"functionCall": {"id": "c", "name": "f", "args": {}}, "thought": True},
        {"functionCall": {"id": "c", "name": "f", "willContinue": True, "partialArgs": [{"jsonPath": "$.a"}]}},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA", "displayName": "a.png"}},
        {"inlineData": {"mimeType": "image/png", "data": "A-_A"}},
        {"inlineData": {"data": "", "mimeType": "image/png"}},
        {"functionCall": {"name": "f", "args": {}, "newer": 1}, "newer": {"a": 1}},
        {"functionResponse": {"name": "f", "response": {"output": "x"}, "parts": [{"newer": {"a": 1}}]}},
    ],
)
def test_odd_parts_survive_a_round_trip(part: Any) -> None:
    body = {"contents": [{"role": "user" if "functionResponse" in part else "model", "parts": [part]}]}
    assert round_trip(body) == body


def test_a_seal_without_a_part() -> None:
    assert parts_of({"thoughtSignature": "c2ln"}) == (
        Text("", seal=Seal("gemini", "c2ln"), at=("contents", 0, "parts", 0)),
    )


def test_results_in_another_order_are_matched_by_id() -> None:
    calls = [{"functionCall": {"id": i, "name": "f", "args": {}}} for i in ("c1", "c2")]
    function_responses = [{"functionResponse": {"id": i, "name": "f", "response": {"output": i}}} for i in ("c2", "c1")]
    body = {"contents": [{"role": "model", "parts": calls}, {"role": "user", "parts": function_responses}]}
    request, lost = read(body)
    assert [part.call_id for part in request.turns[1].parts] == ["c2", "c1"]  # type: ignore[attr-defined]
    assert lost == []
    assert round_trip(body) == body


def test_within_the_dialect_a_partly_answered_step_is_unchanged() -> None:
    calls = [{"functionCall": {"id": i, "name": "f", "args": {}}} for i in ("c1", "c2")]
    function_responses = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "x"}}}
    body = {
        "contents": [
            {"role": "model", "parts": calls},
            {"role": "user", "parts": [function_responses]},
            {"role": "model", "parts": [{"text": "a"}]},
            {"role": "model"},
        ]
    }
    assert round_trip(body)["contents"][:3] == body["contents"][:3]


def test_both_spellings_at_once_lose_nothing() -> None:
    part = {
        "inlineData": {"mimeType": "image/png", "data": "AAAA"},
        "inline_data": {"mime_type": "image/png", "data": "BBBB"},
    }
    request, lost = read_contents({"parts": [part]})
    kept = [getattr(part, "data", "") for part in request.turns[0].parts]
    assert kept == ["AAAA"]
    assert lost == [("field.dropped", "/contents/0/parts/0/inline_data")]


def test_unknown_fields_are_written_back_at_their_place() -> None:
    body = {
        "contents": [
            {
                "role": "user",
                "newer": 1,
                "parts": [
                    {"text": "a", "newer": 2},
                    {"functionResponse": {"name": "f", "response": {"output": "x"}, "newer": 3}},
                    {"inlineData": {"mimeType": "image/png", "data": "AAAA", "newer": 4}},
                ],
            },
            {
                "role": "model",
                "newer": 7,
                "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}, "newer": 5}}],
            },
        ],
        "systemInstruction": {"parts": [{"text": "s"}], "newer": 6},
        "generationConfig": {"newer": 8, "thinkingConfig": {"newer": 9}},
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO", "newer": 10}, "newer": 11},
        "newer": 12,
    }
    lost = read(body)[1]
    assert [path for code, path in lost if code == "field.dropped" and path.endswith("newer")].__len__() == 12
    assert round_trip(body) == body


@pytest.mark.parametrize(
    ("config", "mode", "names"),
    [
        ({"mode": "AUTO"}, "auto", ()),
        ({"mode": "any"}, "required", ()),
        ({"mode": "ANY", "allowedFunctionNames": ["f"]}, "one", ("f",)),
        ({"mode": "ANY", "allowed_function_names": ["f", "g"]}, "required", ("f", "g")),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["f"]}, "auto", ("f",)),
        ({"mode": "VALIDATED"}, "auto", ()),
        ({"mode": "NONE"}, "none", ()),
        ({"mode": "AUTO", "allowedFunctionNames": ["f"]}, "auto", ("f",)),
        ({"mode": 2, "allowedFunctionNames": ["f"]}, "one", ("f",)),
        ({"mode": 3}, "none", ()),
        ({"mode": 9}, "auto", ()),
    ],
)
def test_choices(config: Any, mode: str, names: tuple[str, ...]) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "a"}]}], "toolConfig": {"functionCallingConfig": config}}
    choice = read(body)[0].choice
    assert choice is not None
    assert choice == Choice(mode, names, choice.extra, ("toolConfig", "functionCallingConfig"))  # type: ignore[arg-type]
    expected = {key.replace("allowed_function_names", "allowedFunctionNames"): value for key, value in config.items()}
    assert round_trip(body)["toolConfig"]["functionCallingConfig"] == expected


def test_an_empty_choice_is_none() -> None:
    assert read({"contents": [], "toolConfig": {"functionCallingConfig": {}}})[0].choice is None


def test_errors_of_broken_requests_name_the_mistake() -> None:
    with pytest.raises(WireError, match="not gemini at /contents/0/parts/0/text: expected str"):
        read({"contents": [{"parts": [{"text": 5}]}]})
    with pytest.raises(WireError, match="expected UTF-8"):
        from dragoman.context import Context
        from dragoman.dialects.gemini import DIALECT

        DIALECT.read_request(b'{"contents":[],"labels":{"a":"\xff"}}', Context("gemini", "openai-chat"))
