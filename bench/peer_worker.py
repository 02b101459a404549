"""Owns the measurement of one peer library, in its own environment and on the same payloads.

    python -m bench.peer_worker llm-rosetta

Exchanges lines with `bench.peers`: sends the list of its cases, runs one round for each line "round", and ends with its
numbers. Must not import dragoman. Peers get orjson for the step between bytes and dict, which is faster than the JSON
library that they use.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from bench import payloads
from bench.clock import Case, Key, same
from bench.floors import floor_cases
from bench.streams import datas, frames

# (kind, source, target) -> (call on the input, input)
Work = tuple[Key, Callable[[Any], Any], Any]

# Exceptions of a peer for a payload that it does not support. Other exceptions end the worker, which is reported.
REFUSALS = (TypeError, ValueError, LookupError, AttributeError, NotImplementedError, RuntimeError)


def llm_rosetta() -> Iterator[Work]:
    """Every pair. A pipeline serves one exchange: as its documentation requires, it is made for each request and kept
    for the answer."""
    orjson: Any = importlib.import_module("orjson")
    pipeline: Any = importlib.import_module("llm_rosetta").ConversionPipeline
    loads, dumps = orjson.loads, orjson.dumps
    theirs = {
        "openai-chat": "openai_chat",
        "openai-responses": "openai_responses",
        "anthropic": "anthropic",
        "gemini": "google",
    }

    def works(client: str, upstream: str) -> Iterator[Work]:
        a, b = theirs[client], theirs[upstream]
        exchange = pipeline(a, b)
        exchange.convert_request(loads(payloads.request(client)))

        def stream(events: list[bytes]) -> int:
            processor, size = exchange.create_stream_processor(), 0
            for event in events:
                for chunk in processor.process_chunk(loads(event)):
                    size += len(dumps(chunk))
            return size

        body = payloads.request(client)
        yield (("request", client, upstream), lambda x: dumps(pipeline(a, b).convert_request(loads(x))), body)
        back = lambda x: dumps(exchange.convert_response(loads(x)))  # noqa: E731 (three calls side by side)
        yield (("response", upstream, client), back, payloads.response(upstream))
        yield (("stream", upstream, client), stream, datas(frames(upstream)))

    for client in theirs:
        for upstream in theirs:
            if client != upstream:
                yield from works(client, upstream)


def litellm() -> Iterator[Work]:
    """The conversions that LiteLLM has as separate functions: Chat to and from Messages, Chat to Gemini."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    orjson: Any = importlib.import_module("orjson")
    loads, dumps = orjson.loads, orjson.dumps
    importlib.import_module("litellm")
    types: Any = importlib.import_module("litellm.types.utils")
    folder = "litellm.llms.anthropic"
    config: Any = importlib.import_module(f"{folder}.chat.transformation").AnthropicConfig()
    reader: Any = importlib.import_module(f"{folder}.chat.handler").ModelResponseIterator
    adapters = f"{folder}.pass_through.adapters"
    adapter: Any = importlib.import_module(f"{adapters}.transformation").AnthropicAdapter()
    wrapper: Any = importlib.import_module(f"{adapters}.streaming_iterator").AnthropicStreamWrapper
    gemini: Any = importlib.import_module("litellm.llms.vertex_ai.gemini.transformation")
    studio: Any = importlib.import_module("litellm.llms.gemini.chat.transformation").GoogleAIStudioGeminiConfig()
    http: Any = importlib.import_module("httpx")

    def settings(body: bytes, owner: Any, model: str) -> tuple[Any, Any]:
        value = loads(body)
        value.pop("model")
        messages = value.pop("messages")
        options = owner.map_openai_params(non_default_params=value, optional_params={}, model=model, drop_params=False)
        return messages, options

    def chat_to_messages(body: bytes) -> Any:
        model = payloads.MODELS["anthropic"]
        messages, options = settings(body, config, model)
        return dumps(
            config.transform_request(
                model=model, messages=messages, optional_params=options, litellm_params={}, headers={}
            )
        )

    def chat_to_gemini(body: bytes) -> Any:
        model = payloads.MODELS["gemini"]
        messages, options = settings(body, studio, model)
        return dumps(gemini.transform_request_body(messages, model, options, "gemini", {}, None))

    def messages_to_chat(body: bytes) -> Any:
        return dumps(dict(adapter.translate_completion_input_params(loads(body))))

    raw = http.Response(200, content=payloads.response("anthropic"), headers={"content-type": "application/json"})

    def response_to_chat(body: bytes) -> Any:
        answer = config.transform_parsed_response(
            completion_response=loads(body), raw_response=raw, model_response=types.ModelResponse()
        )
        return answer.model_dump_json(exclude_none=True)

    def response_to_messages(body: bytes) -> Any:
        return dumps(dict(adapter.translate_completion_output_params(types.ModelResponse(**loads(body)))))

    def stream_to_chat(events: list[bytes]) -> int:
        parser = reader(None, sync_stream=True)
        return sum(len(parser.chunk_parser(loads(event)).model_dump_json(exclude_none=True)) for event in events)

    def stream_to_messages(events: list[bytes]) -> int:
        source = iter([types.ModelResponseStream(**loads(event)) for event in events])
        return sum(map(len, wrapper(source, model=payloads.MODELS["openai-chat"]).anthropic_sse_wrapper()))

    chat, messages = "openai-chat", "anthropic"
    yield ("request", chat, messages), chat_to_messages, payloads.request(chat)
    yield ("request", chat, "gemini"), chat_to_gemini, payloads.request(chat)
    yield ("request", messages, chat), messages_to_chat, payloads.request(messages)
    yield ("response", messages, chat), response_to_chat, payloads.response(messages)
    yield ("response", chat, messages), response_to_messages, payloads.response(chat)
    yield ("stream", messages, chat), stream_to_chat, datas(frames(messages))
    yield ("stream", chat, messages), stream_to_messages, datas(frames(chat))


PEERS: dict[str, Callable[[], Iterator[Work]]] = {"llm-rosetta": llm_rosetta, "litellm": litellm}


def size_of(result: Any) -> int:
    """Bytes that a call returned. A peer that leaves values out is faster, so the report shows the size."""
    return result if isinstance(result, int) else len(result)


def main(name: str, seconds: float) -> None:
    # Peers may print other text, so only the protocol gets the pipe.
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    floors = {case.key[1:3]: case for case in floor_cases(payloads.names(), ["orjson"])}
    cases: list[Case] = []
    sizes: dict[str, int] = {}
    refused: dict[str, str] = {}
    for key, call, item in PEERS[name]():
        label = " ".join(key)
        try:
            sizes[label] = size_of(call(item))
        except REFUSALS as error:
            refused[label] = f"{type(error).__name__}: {error}"[:200]
            continue
        cases.append(Case(key, call, same(item), floors[key[:2]]))
    for case in cases:
        case.settle(seconds)
    print(json.dumps({"peer": name, "version": importlib.metadata.version(name)}), file=pipe)
    for line in sys.stdin:
        if line.strip() != "round":
            break
        for case in cases:
            case.round()
        print("{}", file=pipe)
    measured = {
        " ".join(case.key): {"us": case.best, "ratio": case.ratio, "bytes_out": sizes[" ".join(case.key)]}
        for case in cases
        if case.batches
    }
    print(json.dumps({"measured": measured, "refused": refused}), file=pipe)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
