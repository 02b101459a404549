"""The data file of host facts: valid rows about declared hosts, and only facts that the code uses."""

from __future__ import annotations

import re

import msgspec
import pytest

from dragoman.dialects import names as dialects
from dragoman.dialects.openai_chat import wire
from dragoman.dialects.openai_responses.wire import ResponsesRequest
from dragoman.errors import ConfigError
from dragoman.facts import hosts
from dragoman.facts.host import Host

DECLARED = {row.names[0]: row for row in hosts.rows() if row.names}
PLACES = {
    "messages[]": {"name", "refusal", "annotations", "audio", "reasoning_details"},
    "tools[]": {"custom", "strict"},
    "tool_calls[]": {"extra_content"},
    "content[]": {"image_url", "input_audio", "file", "video_url", "cache_control", "prompt_cache_breakpoint"},
    "response_format": {"json_schema", "json_schema.strict"},
    "tool_choice": {"allowed_tools"},
    "reasoning": {"summary"},
}
"""The nested places of a request in which the writers read facts."""


def test_every_row_is_valid_and_states_its_source() -> None:
    assert len(DECLARED) > 15
    for row in hosts.rows():
        assert bool(row.names) != bool(row.of), row
        assert row.facts and row.source, row
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", row.date), row
        assert set(row.dialects) <= set(dialects()), row
        assert set(row.of) <= set(DECLARED), row
        assert row.match == () or row.names, row
        assert row.models == () or row.of, row
        msgspec.convert(row.facts, Host)


def test_every_fact_is_a_field_of_a_host() -> None:
    known = {field.name for field in msgspec.structs.fields(Host)} - {"name"}
    for row in hosts.rows():
        assert set(row.facts) <= known, row


def test_every_field_is_a_field_of_the_writers() -> None:
    top = {field.encode_name for field in msgspec.structs.fields(wire.ChatRequest)}
    responses = {field.encode_name for field in msgspec.structs.fields(ResponsesRequest)}
    for row in hosts.rows():
        for name in row.facts.get("fields", {}):
            place, dot, last = name.partition(".")
            if dot:
                assert last in PLACES[place], (row.source, name)
            else:
                assert name in (top if row.dialects == ("openai-chat",) else responses), (row.source, name)


def test_no_name_is_declared_twice() -> None:
    found = [name for row in hosts.rows() for name in row.names]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("name", DECLARED)
def test_a_host_is_found_by_its_names_and_its_addresses(name: str) -> None:
    row = DECLARED[name]
    dialect = row.dialects[0]
    facts = hosts.lookup(name, dialect)
    assert facts is not None and facts.name == name
    for other in (*row.names, *[pattern.replace("*", "x") for pattern in row.match]):
        assert hosts.lookup(other, dialect) is facts, other
        assert hosts.lookup(other.upper(), dialect) is facts, other
        assert hosts.lookup(f"https://{other}/v1", dialect) is facts, other
        assert hosts.origin_name(other) == name


def test_an_unknown_host_has_no_facts_and_its_own_name() -> None:
    assert hosts.lookup("llm.example.com", "openai-chat") is None
    assert hosts.lookup("mistral", "anthropic") is None
    assert hosts.origin_name("https://LLM.example.com:8080/v1") == "llm.example.com:8080"
    assert hosts.origin_name(None) == ""


def test_every_row_has_an_effect_that_no_later_row_removes() -> None:
    for row in hosts.rows():
        for name in row.of or row.names[:1]:
            model = row.models[0].replace("*", "") if row.models else ""
            facts = msgspec.to_builtins(hosts.lookup(name, row.dialects[0], model))
            effective = [fact for fact, value in row.facts.items() if _has_effect(facts[fact], value)]
            assert effective, (name, row.source)


def _has_effect(known: object, stated: object) -> bool:
    if isinstance(stated, dict) and isinstance(known, dict):
        return any(known.get(key) == value for key, value in stated.items())
    return known == stated


def test_rows_can_be_loaded_and_removed() -> None:
    own_row = {
        "names": ["house"],
        "match": ["llm.house.example"],
        "facts": {"fields": {"seed": False}, "null_content": False},
        "source": "our own server",
        "date": "2026-11",
    }
    more = {"of": ["mistral"], "facts": {"fields": {"seed": True}}, "source": "tried", "date": "2026-11"}
    with hosts.load([own_row, more]):
        found = hosts.lookup("llm.house.example", "openai-chat")
        assert found == Host("house", {"seed": False}, null_content=False)
        mistral = hosts.lookup("mistral", "openai-chat")
        assert mistral is not None and mistral.fields["seed"] is True and mistral.fields["user"] is False
    assert hosts.lookup("llm.house.example", "openai-chat") is None
    mistral = hosts.lookup("mistral", "openai-chat")
    assert mistral is not None and mistral.fields["seed"] == "random_seed"


@pytest.mark.parametrize("facts", [{"feilds": {}}, {"echo": "yes"}])
def test_invalid_rows_are_refused(facts: dict[str, object]) -> None:
    before = hosts.rows()
    with pytest.raises(ConfigError):
        hosts.load([{"names": ["house"], "facts": facts, "source": "s", "date": "2026-11"}])
    assert hosts.rows() == before
