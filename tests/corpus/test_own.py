"""Tests of the corpus: it has every key path and enumerated value of the recordings, and none of their texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.corpus import key_paths_and_values, synthetic_exchanges
from tests.corpus.__main__ import cover
from tests.corpus.corpus_files import DATA, DIALECTS, OWN
from tests.corpus.frames import frames
from tests.corpus.key_meanings import MODELS, Region, inside, is_enum, is_name
from tests.corpus.synthetic_streams import pieces
from tests.oracles import exchanges

Json = Any
LONG = 12
"""From this number of characters on, an equal text is not a coincidence."""
LIMIT = 1_500_000
ALLOWED = {"skip_thought_signature_validator", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="}


def own(dialect: str) -> list[Json]:
    return [json.loads(line) for line in (DATA / f"{dialect}.jsonl").read_text(encoding="utf-8").splitlines()]


def recorded(dialect: str) -> list[Json]:
    text = (exchanges.require_shared() / f"{dialect}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line]


def facts_of(documents: list[Json]) -> set[key_paths_and_values.Fact]:
    return set().union(*map(key_paths_and_values.of_exchange, documents))


def texts(exchange: Json) -> Iterator[str]:
    """Return every text that belongs to the user or the model, and not to the protocol."""
    bodies = [exchange["request"], exchange["response"]]
    for body in bodies + [frame.payload for frame in frames(exchange["stream"] or "")]:
        yield from _texts(exchange["dialect"], body, Region.WIRE, "")


def _texts(dialect: str, value: Json, region: Region, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if is_name(region, name):
                yield name
            yield from _texts(
                dialect, item, inside(region, dialect, value, name), "" if is_name(region, name) else name
            )
    elif isinstance(value, list):
        for item in value:
            yield from _texts(dialect, item, region, key)
    elif isinstance(value, str) and not (region is not Region.FREE and (is_enum(key, value) or key in MODELS)):
        try:
            inner = json.loads(value)
        except ValueError:
            yield value
        else:
            yield from _texts(dialect, inner, Region.FREE, "")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_fact_of_the_recordings_is_in_the_corpus(dialect: str) -> None:
    missing = facts_of(recorded(dialect)) - facts_of(own(dialect))
    assert sorted(missing) == [], "new facts in the recordings: run `python -m tests.corpus`"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_text_of_the_recordings_is_in_the_corpus(dialect: str) -> None:
    theirs = {text.strip() for one in recorded(dialect) for text in texts(one) if len(text.strip()) >= LONG}
    ours = {text.strip() for one in own(dialect) for text in texts(one)}
    schemas = {text for text in ours if text.startswith(("http://json-schema.org/", "https://json-schema.org/"))}
    assert sorted(theirs & ours - schemas - ALLOWED) == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_corpus_has_every_kind_of_exchange(dialect: str) -> None:
    assert {fact[0] for fact in facts_of(own(dialect))} >= {"request", "answer", "stream", "error"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_ids_are_synthetic_and_unique(dialect: str) -> None:
    ids = [one["id"] for one in own(dialect)]
    assert len(set(ids)) == len(ids)
    assert [name for name in ids if not name.endswith(OWN)] == []


def test_the_corpus_stays_small() -> None:
    assert sum(path.stat().st_size for path in DATA.glob("*.jsonl")) < LIMIT


def test_a_copy_has_the_facts_of_its_original_and_is_deterministic() -> None:
    for dialect in DIALECTS:
        for one in own(dialect)[::10]:
            copy = synthetic_exchanges.exchange(one)
            assert key_paths_and_values.of_exchange(copy) == key_paths_and_values.of_exchange(one), one["id"]
            assert synthetic_exchanges.exchange(one) == copy


def test_the_chosen_exchanges_have_every_fact_without_repetitions() -> None:
    documents = own("anthropic")[:20]
    chosen = cover(documents + documents)
    assert facts_of(chosen) == facts_of(documents)
    assert len(chosen) <= len(documents)


def test_a_missing_fact_is_found() -> None:
    one = next(one for one in own("anthropic") if one["request"])
    more = {**one, "request": {**one["request"], "new_key": {"type": "new"}}}
    assert key_paths_and_values.of_exchange(more) - key_paths_and_values.of_exchange(one) == {
        ("request", "/new_key", "object"),
        ("request", "/new_key/type", "string"),
        ("request", "/new_key/type", "=new"),
    }


def test_split_frames_join_to_the_same_stream() -> None:
    for text in (
        'event: a\r\ndata: {"a":1}\r\n\r\n: note\r\n\r\ndata: [DONE]\r\n\r\n',
        '{"a":1}\n{"b":2}\n',
        'data: {"a":1}\n\ndata: {"cut',
        '{"error":{"code":1}}',
    ):
        assert "".join(frame.text() for frame in frames(text)) == text


def test_pieces_of_a_text_equal_the_text_in_the_last_event() -> None:
    seen = 0
    for one in own("openai-responses"):
        texts: dict[Any, str] = {}
        for frame in frames(one["stream"] or ""):
            for key, held, name in pieces("openai-responses", frame.payload):
                texts[key[1:4]] = texts.get(key[1:4], "") + held[name]
            if isinstance(frame.payload, dict) and frame.payload.get("type") == "response.function_call_arguments.done":
                key = (frame.payload.get("item_id"), None, None)
                assert frame.payload["arguments"] == texts.get(key, frame.payload["arguments"]), one["id"]
                seen += key in texts
    assert seen > 3
