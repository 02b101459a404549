"""Settings of Gemini requests: read, written for each family of models, and reported if they have no place."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.canon import Choice, Format, Request, Settings, Text, Tool, Turn
from dragoman.facts.profile import Profile
from tests.unit.dialects.gemini.helpers import GEMINI_3, GEMINI_25, read, round_trip, write

HI = [{"role": "user", "parts": [{"text": "Hi"}]}]
TURNS = (Turn("user", (Text("Hi"),)),)


def config(settings: Settings, **options: Any) -> tuple[Any, list[tuple[str, str]]]:
    body, lost = write(Request(TURNS, settings=settings), **options)
    return body.get("generationConfig"), lost


def test_every_common_setting_is_read_and_written() -> None:
    body = {
        "contents": HI,
        "generationConfig": {
            "maxOutputTokens": 9,
            "temperature": 0.5,
            "topP": 0.25,
            "topK": 40,
            "seed": 1,
            "presencePenalty": 0.5,
            "frequencyPenalty": 0.25,
            "candidateCount": 2,
            "responseLogprobs": True,
            "logprobs": 3,
            "stopSequences": ["a", "b", "c", "d", "e"],
            "thinkingConfig": {"thinkingBudget": 1024, "includeThoughts": True},
            "responseMimeType": "application/json",
        },
        "serviceTier": "flex",
        "labels": {"team": "x"},
    }
    request, lost = read(body)
    settings = request.settings
    assert settings == Settings(
        9,
        0.5,
        0.25,
        40,
        ("a", "b", "c", "d", "e"),
        1,
        0.5,
        0.25,
        2,
        True,
        3,
        None,
        None,
        1024,
        True,
        format=Format("json"),
        metadata={"team": "x"},
        tier="flex",
        at=settings.at,
    )
    assert lost == []
    assert round_trip(body) == body
    written, lost = write(request)
    assert written == {key: value for key, value in body.items() if key != "labels"}
    assert lost == [("metadata.dropped", "/labels")]


@pytest.mark.parametrize(
    "body",
    [
        {"generationConfig": {}},
        {"generationConfig": {"responseMimeType": "text/plain", "responseModalities": ["TEXT"]}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}},
        {"serviceTier": "unspecified"},
        {"serviceTier": "standard"},
        {"labels": {}, "model": "models/gemini-3"},
    ],
)
def test_settings_with_default_values_are_no_loss_and_survive_a_round_trip(body: Any) -> None:
    body = {"contents": HI, **body}
    assert read(body)[1] == []
    assert round_trip(body) == body


def test_settings_that_only_gemini_has_are_kept_and_reported() -> None:
    body = {
        "contents": HI,
        "generationConfig": {
            "responseModalities": ["IMAGE"],
            "speechConfig": {},
            "responseMimeType": "text/x.enum",
            "responseSchema": {"type": "STRING", "enum": ["a"]},
            "thinkingConfig": {"thinkingLevel": "ULTRA"},
        },
        "toolConfig": {
            "retrievalConfig": {},
            "includeServerSideToolInvocations": True,
            "functionCallingConfig": {"mode": "VALIDATED", "streamFunctionCallArguments": True},
        },
        "safetySettings": [{"category": "X"}],
        "cachedContent": "cachedContents/a",
        "continuationToken": "t",
        "store": False,
    }
    request, lost = read(body)
    assert request.settings.format is None
    assert sorted(lost) == [
        ("field.dropped", "/generationConfig/responseMimeType"),
        ("field.dropped", "/generationConfig/responseModalities"),
        ("field.dropped", "/generationConfig/responseSchema"),
        ("field.dropped", "/generationConfig/speechConfig"),
        ("field.dropped", "/generationConfig/thinkingConfig/thinkingLevel"),
        ("field.dropped", "/safetySettings"),
        ("field.dropped", "/store"),
        ("field.dropped", "/toolConfig/functionCallingConfig/mode"),
        ("field.dropped", "/toolConfig/functionCallingConfig/streamFunctionCallArguments"),
        ("field.dropped", "/toolConfig/includeServerSideToolInvocations"),
        ("field.dropped", "/toolConfig/retrievalConfig"),
        ("state.dropped", "/cachedContent"),
        ("state.dropped", "/continuationToken"),
    ]
    assert round_trip(body) == body


def test_structured_output() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for key, at in (("responseJsonSchema", "responseJsonSchema"), ("responseSchema", "responseSchema")):
        body = {"contents": HI, "generationConfig": {"responseMimeType": "application/json", key: schema}}
        settings = read(body)[0].settings
        assert settings.format is not None
        assert settings.format.schema == '{"type":"object","properties":{"a":{"type":"integer"}}}'
        assert settings.at["format"] == ("generationConfig", at)
        assert round_trip(body) == body
    older = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}, "propertyOrdering": ["b"]}
    body = {"contents": HI, "generationConfig": {"responseMimeType": "application/json", "responseSchema": older}}
    assert read(body)[0].settings.format.schema == (  # type: ignore[union-attr]
        '{"type":"object","properties":{"a":{"type":["string","null"]}}}'
    )
    assert round_trip(body) == body
    both = {"responseSchema": older, "responseJsonSchema": schema, "responseMimeType": "application/json"}
    assert round_trip({"contents": HI, "generationConfig": both})["generationConfig"] == both


def test_a_change_to_the_older_notation_is_reported() -> None:
    shape = {"type": "OBJECT", "propertyOrdering": ["a"]}
    body = {"contents": HI, "generationConfig": {"responseMimeType": "application/json", "responseSchema": shape}}
    assert read(body)[1] == [("schema.keyword.dropped", "/generationConfig/responseSchema/propertyOrdering")]


def test_a_schema_is_fitted_and_its_name_is_its_title() -> None:
    shape = Format("schema", '{"const": 1}', "one", "what to say")
    written, lost = config(Settings(format=shape, at={"format": ("response_format",)}))
    schema = {"title": "one", "description": "what to say", "enum": [1]}
    assert written == {"responseMimeType": "application/json", "responseJsonSchema": schema}
    assert lost == [("schema.rewritten", "/response_format"), ("schema.rewritten", "/response_format/const")]
    assert config(Settings(format=Format("json"))) == ({"responseMimeType": "application/json"}, [])


@pytest.mark.parametrize(
    ("settings", "profile", "thinking", "codes"),
    [
        (Settings(effort="low"), None, {"thinkingLevel": "LOW"}, []),
        (Settings(effort="max"), None, {"thinkingLevel": "HIGH"}, ["effort.approximated"]),
        (Settings(effort="none"), None, {"thinkingBudget": 0}, []),
        (Settings(effort="none"), GEMINI_3, {"thinkingLevel": "MINIMAL"}, ["effort.approximated"]),
        (
            Settings(effort="minimal"),
            Profile(thinking_levels=("LOW",)),
            {"thinkingLevel": "LOW"},
            ["effort.approximated"],
        ),
        (Settings(effort="turbo"), GEMINI_3, None, ["effort.dropped"]),
        (Settings(budget=9000), None, {"thinkingBudget": 9000}, []),
        (Settings(budget=9000), GEMINI_3, {"thinkingLevel": "MEDIUM"}, ["effort.approximated"]),
        (Settings(budget=-1), GEMINI_3, None, ["effort.approximated"]),
        (Settings(budget=9000), GEMINI_25, {"thinkingBudget": 9000}, []),
        (Settings(budget=0), GEMINI_25, {"thinkingBudget": 128}, ["effort.approximated"]),
        (Settings(budget=-1), GEMINI_25, {"thinkingBudget": -1}, []),
        (Settings(effort="low"), GEMINI_25, {"thinkingBudget": 1024}, ["effort.approximated"]),
        (Settings(effort="max"), GEMINI_25, {"thinkingBudget": 24576}, ["effort.approximated"]),
        (Settings(effort="turbo"), GEMINI_25, {"thinkingBudget": -1}, ["effort.approximated"]),
        (Settings(effort="low"), Profile(thinks=False), None, ["effort.dropped"]),
        (Settings(effort="none"), Profile(thinks=False), None, []),
        (Settings(thoughts=True), Profile(thinks=False), None, ["thoughts.dropped"]),
        (Settings(thoughts=False), Profile(thinks=False), None, []),
        (Settings(effort="high", thoughts=True), None, {"thinkingLevel": "HIGH", "includeThoughts": True}, []),
    ],
)
def test_thinking(settings: Settings, profile: Profile | None, thinking: Any, codes: list[str]) -> None:
    written, lost = config(settings, profile=profile)
    assert (written or {}).get("thinkingConfig") == thinking
    assert [code for code, _ in lost] == codes


def test_both_thinking_controls_survive_a_round_trip() -> None:
    body = {"contents": HI, "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 5}}}
    assert round_trip(body) == body


def test_sampling_by_model() -> None:
    settings = Settings(temperature=1.0, top_p=0.5, top_k=7, at={"temperature": ("temperature",)})
    assert config(settings) == ({"temperature": 1, "topP": 0.5, "topK": 7}, [])
    assert config(settings, profile=Profile(sampling=False)) == (
        None,
        [("sampling.dropped", "/temperature"), ("sampling.dropped", "")],
    )


def test_five_stop_sequences() -> None:
    written, lost = config(Settings(stop=tuple("abcdef"), at={"stop": ("stop",)}))
    assert written == {"stopSequences": list("abcde")}
    assert lost == [("stop.truncated", "/stop")]


@pytest.mark.parametrize(
    ("tier", "written", "codes"),
    [
        ("default", "standard", []),
        ("priority", "priority", []),
        ("auto", None, []),
        ("scale", None, ["tier.dropped"]),
    ],
)
def test_tiers(tier: str, written: str | None, codes: list[str]) -> None:
    body, lost = write(Request(TURNS, settings=Settings(tier=tier)))
    assert body.get("serviceTier") == written
    assert [code for code, _ in lost] == codes


def test_settings_without_a_place() -> None:
    settings = Settings(
        parallel=False, verbosity="low", user="u", metadata={"a": 1}, cache_key="k", cache="5m", stream_usage=True
    )
    body, lost = write(Request(TURNS, tools=(Tool("f"),), settings=settings))
    assert set(body) == {"contents", "tools"}
    assert [code for code, _ in lost] == [
        "metadata.dropped",
        "parallel.unenforced",
        "verbosity.dropped",
        "user.dropped",
        "cache.dropped",
    ]
    assert write(Request(TURNS, settings=Settings(parallel=False, metadata={})))[1] == [("parallel.unenforced", "")]


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        (Choice("auto"), {"mode": "AUTO"}),
        (Choice("none"), {"mode": "NONE"}),
        (Choice("required"), {"mode": "ANY"}),
        (Choice("one", ("f",)), {"mode": "ANY", "allowedFunctionNames": ["f"]}),
        (Choice("required", ("f", "g")), {"mode": "ANY", "allowedFunctionNames": ["f", "ns__g"]}),
        (Choice("auto", ("f",)), {"mode": "VALIDATED", "allowedFunctionNames": ["f"]}),
    ],
)
def test_choices(choice: Choice, written: Any) -> None:
    body, _ = write(Request(TURNS, tools=(Tool("f"), Tool("g", namespace="ns")), choice=choice))
    assert body["toolConfig"] == {"functionCallingConfig": written}


def test_a_choice_without_functions() -> None:
    assert write(Request(TURNS, choice=Choice("required", at=("tool_choice",)))) == (
        {"contents": HI},
        [("choice.dropped", "/tool_choice")],
    )
    assert write(Request(TURNS, choice=Choice("auto"))) == ({"contents": HI}, [])
