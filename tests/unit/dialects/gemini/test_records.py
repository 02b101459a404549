"""Every recorded exchange of this dialect survives a round trip, and its streams equal the reference answers.

Each test checks all exchanges, so a clone without the recordings has the same tests.
"""

from __future__ import annotations

import random
from typing import Any

import msgspec

from dragoman.canon import Fault
from dragoman.canon.events import Event
from dragoman.canon.fold_and_unfold import fold
from dragoman.context import Context
from dragoman.dialects.gemini import DIALECT
from tests.oracles.exchanges import base_id, records
from tests.oracles.gemini import camel_cased
from tests.oracles.sdk_folding import gemini as reference

RECORDS = records("gemini")
REQUESTS = [record for record in RECORDS if record.request is not None]
ANSWERS = [record for record in RECORDS if isinstance(record.response, dict) and "error" not in record.response]
FAULTS = [record for record in RECORDS if isinstance(record.response, dict) and "error" in record.response]
STREAMS = [record for record in RECORDS if record.stream is not None or isinstance(record.response, list)]

# The answer is incomplete: the recording was cut by hand.
CUT = {"gemini-7d45418d4aba"}
# One of the parts is {}. The empty part is left out.
EMPTY_PART = {"gemini-8665f8fbbd7e"}


def plain(value: Any, key: str = "") -> Any:
    """One spelling for values with several spellings: nulls and empty containers are left out, and a single part
    becomes a list of parts. Names that users chose are unchanged."""
    if isinstance(value, dict):
        if key in ("args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema"):
            return value
        if key == "parts":
            return [plain(value)]
        out = {name: plain(item, name) for name, item in value.items()}
        if out.get("thought") is True and "thoughtSignature" in out:
            out.setdefault("text", "")
        return {name: item for name, item in out.items() if item is not None and item not in ([], {})}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def camel_case(request: Any) -> Any:
    return plain(camel_cased(request, "GenerateContentRequest")[0])


def test_a_request_survives_a_round_trip() -> None:
    for record in REQUESTS:
        context = Context("gemini", "gemini")
        request = DIALECT.read_request(msgspec.json.encode(record.request), context)
        written = msgspec.json.decode(DIALECT.write_request(request, context))
        assert camel_case(written) == camel_case(record.request), record.id
        assert context.losses.all() == (), record.id


def test_an_answer_survives_a_round_trip() -> None:
    for record in ANSWERS:
        context = Context("gemini", "gemini")
        response = DIALECT.read_response(msgspec.json.encode(record.response), context)
        written = plain(msgspec.json.decode(DIALECT.write_response(response, context)))
        expected = plain(record.response)
        for candidate in expected.get("candidates", ()):
            if base_id(record.id) in EMPTY_PART:
                candidate["content"]["parts"] = [part for part in candidate["content"]["parts"] if part]
            if "content" in candidate:
                candidate["content"].setdefault("role", "model")
        for candidate in written.get("candidates", ()):
            if candidate.get("content") == {"role": "model"} and "content" not in expected["candidates"][0]:
                del candidate["content"]
        assert written == expected, record.id
        assert context.losses.all() == (), record.id


def test_a_fault_survives_a_round_trip() -> None:
    for record in FAULTS:
        fault = DIALECT.read_fault(msgspec.json.encode(record.response), record.status or 0, {})
        assert msgspec.json.decode(DIALECT.write_fault(fault)[0]) == record.response, record.id


def events_of(stream: bytes, cuts: list[int]) -> list[Event]:
    reader = DIALECT.reader(Context("gemini", "openai-chat"))
    found: list[Event] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += reader.feed(stream[start:end])
    return found + reader.close()


def test_a_stream_equals_the_reference_however_it_is_cut() -> None:
    for record in STREAMS:
        stream = record.raw if record.stream is not None else msgspec.json.encode(record.response)
        found = events_of(stream, [])
        dice = random.Random(record.id)
        for pieces in (1, 5, 50):
            assert events_of(stream, sorted(dice.sample(range(len(stream)), pieces))) == found, record.id
        if len(stream) < 20_000:
            assert events_of(stream, list(range(1, len(stream)))) == found, record.id
        answer = fold(found)
        if base_id(record.id) in CUT:
            assert isinstance(answer, Fault), record.id
            continue
        assert not isinstance(answer, Fault), record.id
        assert msgspec.json.decode(DIALECT.write_response(answer, Context("gemini", "gemini"))) == reference(stream), (
            record.id
        )
