"""Requests in the form of Google's SDK: every form of a system instruction, `config`, bare contents and tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import translate_request
from dragoman.dialects import names

CONTENTS = [{"role": "user", "parts": [{"text": "hi"}]}]
TOOL = {"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object", "properties": {}}}]}
SYSTEMS: list[dict[str, Any]] = [
    {"systemInstruction": "Be brief."},
    {"systemInstruction": {"text": "Be brief."}},
    {"systemInstruction": {"role": "system", "text": "Be brief."}},
    {"system_instruction": {"text": "Be brief."}},
    {"systemInstruction": {"parts": [{"text": "Be brief."}]}},
    {"systemInstruction": {"parts": {"text": "Be brief."}}},
    {"systemInstruction": {"parts": "Be brief."}},
    {"systemInstruction": {"parts": ["Be brief."]}},
    {"systemInstruction": ["Be brief."]},
    {"systemInstruction": [{"text": "Be brief."}]},
    {"systemInstruction": [{"role": "user", "parts": [{"text": "Be brief."}]}]},
]
FORMS = [*SYSTEMS, *[{"config": form} for form in SYSTEMS]]


def _document(dialect: str, fields: dict[str, Any]) -> dict[str, Any]:
    if dialect == "gemini":
        return {"model": "gemini-2.5-pro", "contents": CONTENTS, **fields}
    return {"model": "gemini-2.5-pro", "project": "p", "request": {"contents": CONTENTS, **fields}}


@pytest.mark.parametrize("form", FORMS, ids=json.dumps)
@pytest.mark.parametrize("source", ["gemini", "code-assist"])
def test_every_form_of_a_system_instruction_is_translated(source: str, form: dict[str, Any]) -> None:
    document = json.dumps(_document(source, form)).encode()
    for target in names():
        out = translate_request(document, source=source, target=target, model="gemini-2.5-pro")
        if target == source:
            assert out.body == document
            continue
        body = out.json()
        assert "Be brief." in json.dumps(body)
        assert not [loss for loss in out.losses if "nstruction" in loss.path]
        if target in ("gemini", "code-assist"):
            written = body.get("request", body)
            assert written["systemInstruction"]["parts"] == [{"text": "Be brief."}]
            assert "config" not in written


def test_config_is_split_into_the_fields_of_the_wire() -> None:
    """The request of a seed: {model, contents, config: {systemInstruction, tools, thinkingConfig}}."""
    config = {
        "systemInstruction": "Be brief.",
        "tools": [TOOL],
        "tool_config": {"functionCallingConfig": {"mode": "ANY"}},
        "thinkingConfig": {"thinkingBudget": -1, "includeThoughts": True},
        "temperature": 0,
        "max_output_tokens": 50,
        "httpOptions": {"timeout": 1},
    }
    out = translate_request(_document("gemini", {"config": config}), source="gemini", target="code-assist")
    written = out.json()["request"]
    assert written["tools"] == [TOOL]
    assert written["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert written["generationConfig"] == {
        "temperature": 0,
        "maxOutputTokens": 50,
        "thinkingConfig": {"thinkingBudget": -1, "includeThoughts": True},
    }
    assert [loss.path for loss in out.losses if loss.code == "field.dropped"] == ["/config/httpOptions"]
    chat = translate_request(_document("gemini", {"config": config}), source="gemini", target="openai-responses")
    assert "/config/thinkingConfig/includeThoughts" in [loss.path for loss in chat.losses]


def test_fields_of_the_request_override_config() -> None:
    fields = {
        "systemInstruction": {"parts": [{"text": "outer"}]},
        "generationConfig": {"temperature": 1},
        "config": {"systemInstruction": "inner", "temperature": 0, "topK": 3},
    }
    out = translate_request(_document("gemini", fields), source="gemini", target="code-assist")
    written = out.json()["request"]
    assert written["systemInstruction"]["parts"] == [{"text": "outer"}]
    assert written["generationConfig"] == {"temperature": 1, "topK": 3}
    lost = [loss.path for loss in out.losses if loss.code == "field.dropped"]
    assert sorted(lost) == ["/config", "/config/temperature"]


@pytest.mark.parametrize(
    ("contents", "written"),
    [
        ("hi", [("user", "hi")]),
        (["hi", "there"], [("user", "hi there")]),
        ({"text": "hi"}, [("user", "hi")]),
        ([{"role": "user", "text": "hi"}], [("user", "hi")]),
        ([{"text": "hi"}, {"role": "model", "parts": [{"text": "yes"}]}, "more"], "user:hi model:yes user:more"),
        ([{"role": "user", "parts": "hi"}], [("user", "hi")]),
        ([{"role": "user", "parts": ["hi", {"text": "there"}]}], [("user", "hi there")]),
    ],
)
def test_contents_of_texts_and_bare_parts(contents: Any, written: Any) -> None:
    document = {"model": "gemini-2.5-pro", "contents": contents}
    out = translate_request(document, source="gemini", target="code-assist")
    found = [
        (content["role"], " ".join(part["text"] for part in content["parts"]))
        for content in out.json()["request"]["contents"]
    ]
    if isinstance(written, str):
        assert " ".join(f"{role}:{text}" for role, text in found) == written
    else:
        assert found == written
    assert not [loss for loss in out.losses if loss.severity != "info"]


@pytest.mark.parametrize("source", ["gemini", "code-assist"])
def test_tools_may_be_one_object(source: str) -> None:
    document = json.dumps(_document(source, {"tools": {**TOOL, "frobnicate": {"x": 1}}})).encode()
    for target in names():
        out = translate_request(document, source=source, target=target, model="gemini-2.5-pro")
        if target == source:
            assert out.body == document
            continue
        assert '"f"' in json.dumps(out.json()["request"]["tools"] if target == "code-assist" else out.json()["tools"])
    within = "/request" if source == "code-assist" else ""
    out = translate_request(document, source=source, target="anthropic", model="m")
    assert f"{within}/tools/frobnicate" in [loss.path for loss in out.losses]
