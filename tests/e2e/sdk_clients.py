"""Owns the official SDKs as clients of a gateway: a conversation with tools, a refused request, an abandoned stream.

The module works with the SDKs of any environment, also as a program: `python sdk_clients.py CLIENT ADDRESS VERB MODEL
[VERB MODEL]...` prints one line of JSON for each VERB. So the module imports nothing of this project, and it imports an
SDK only when its client is used.
"""

from __future__ import annotations

import base64
import inspect
import json
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ")
"""The head of a PNG. Both alphabets of base64 encode it to the same text."""
PICTURE = base64.b64encode(PIXEL).decode()
ASKED = "Is Paris warmer than Rome?"
RESULT = "18 degrees"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
PAIR = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
TOOLS = {"weather": CITY, "compare": PAIR}
MOST = 6
"""The most steps of a conversation."""

Received = dict[str, Any]


# The construction of an SDK's client is slow, so there is one client for each gateway.


@cache
def _openai(base: str) -> Any:
    import openai

    return openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0)


@cache
def _anthropic(base: str) -> Any:
    import anthropic

    return anthropic.Anthropic(base_url=base, api_key="k", max_retries=0)


@cache
def _google(base: str) -> Any:
    from google import genai

    return genai.Client(api_key="k", http_options=genai.types.HttpOptions(base_url=base))


@cache
def _ollama(base: str) -> Any:
    import ollama

    return ollama.Client(host=base)


class Client:
    """A client with one SDK. `ask` returns the calls and the text. The next `ask` sends the results of the calls."""

    errors: type[Exception] = Exception
    """The SDK's exception for a fault."""

    def __init__(self, base: str, model: str) -> None:
        self.model = model

    def ask(self, stream: bool) -> tuple[list[str], str]:
        raise NotImplementedError

    def first(self) -> None:
        """Open a stream, read its beginning, and close it."""
        raise NotImplementedError


class Chat(Client):
    def __init__(self, base: str, model: str) -> None:
        import openai

        super().__init__(base, model)
        self.errors = openai.APIStatusError
        self._client = _openai(base)
        self._messages: list[Any] = [{"role": "user", "content": ASKED}]
        self._tools: list[Any] = [
            {"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in TOOLS.items()
        ]

    def ask(self, stream: bool) -> tuple[list[str], str]:
        create: Any = self._client.chat.completions.create
        parameters = {"model": self.model, "messages": self._messages, "tools": self._tools}
        if not stream:
            message = create(**parameters).choices[0].message
            calls = [(call.id, call.function.name) for call in message.tool_calls or ()]
            text = message.content or ""
        else:
            message, calls = self._gathered(create(**parameters, stream=True))
            text = message["content"] or ""
        self._messages.append(message)
        self._messages += [{"role": "tool", "tool_call_id": name, "content": RESULT} for name, _ in calls]
        return [name for _, name in calls], text

    def _gathered(self, stream: Any) -> tuple[Any, list[tuple[str, str]]]:
        """Collect a stream as the documentation shows: join texts, join calls by index, drop other fields."""
        text = ""
        calls: dict[int, Any] = {}
        for chunk in stream:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for piece in choice.delta.tool_calls or ():
                    call = calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
                    call["id"] += piece.id or ""
                    call["name"] += piece.function.name or ""
                    call["arguments"] += piece.function.arguments or ""
        received = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
            for call in calls.values()
        ]
        message = {"role": "assistant", "content": text or None, **({"tool_calls": received} if received else {})}
        return message, [(call["id"], call["name"]) for call in calls.values()]

    def first(self) -> None:
        stream: Any = self._client.chat.completions.create(model=self.model, messages=self._messages, stream=True)
        next(iter(stream))
        stream.close()


class Responses(Client):
    def __init__(self, base: str, model: str) -> None:
        import openai

        super().__init__(base, model)
        self.errors = openai.APIStatusError
        self._client = _openai(base)
        self._items: list[Any] = [{"role": "user", "content": ASKED}]
        self._tools: list[Any] = [
            {"type": "function", "name": name, "parameters": schema, "strict": False} for name, schema in TOOLS.items()
        ]

    def ask(self, stream: bool) -> tuple[list[str], str]:
        create: Any = self._client.responses.create
        parameters = {
            "model": self.model,
            "input": self._items,
            "tools": self._tools,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "low", "summary": "auto"},
        }
        response = create(**parameters) if not stream else list(create(**parameters, stream=True))[-1].response
        self._items += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        output = [
            {"type": "input_text", "text": RESULT},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}", "detail": "auto"},
        ]
        self._items += [{"type": "function_call_output", "call_id": call.call_id, "output": output} for call in calls]
        return [call.name for call in calls], response.output_text

    def first(self) -> None:
        stream: Any = self._client.responses.create(model=self.model, input=ASKED, stream=True)
        next(iter(stream))
        stream.close()


class Messages(Client):
    def __init__(self, base: str, model: str) -> None:
        import anthropic

        super().__init__(base, model)
        self.errors = anthropic.APIStatusError
        self._client = _anthropic(base)
        self._messages: list[Any] = [{"role": "user", "content": ASKED}]
        self._tools: list[Any] = [{"name": name, "input_schema": schema} for name, schema in TOOLS.items()]

    def ask(self, stream: bool) -> tuple[list[str], str]:
        parameters: Any = {
            "model": self.model,
            "max_tokens": 4000,
            "messages": self._messages,
            "tools": self._tools,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
        }
        if not stream:
            message = self._client.messages.create(**parameters)
        else:
            with self._client.messages.stream(**parameters) as events:
                message = events.get_final_message()
        self._messages.append({"role": "assistant", "content": message.content})
        calls = [block for block in message.content if block.type == "tool_use"]
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
        content = [{"type": "text", "text": RESULT}, picture]
        if calls:
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": content} for call in calls]
            self._messages.append({"role": "user", "content": results})
        text = "".join([block.text for block in message.content if block.type == "text"])
        return [call.name for call in calls], text

    def first(self) -> None:
        parameters: Any = {"model": self.model, "max_tokens": 100, "messages": self._messages}
        with self._client.messages.stream(**parameters) as events:
            next(iter(events))


class Generate(Client):
    def __init__(self, base: str, model: str) -> None:
        from google.genai import errors, types

        super().__init__(base, model)
        self.errors = errors.APIError
        self._types = types
        self._client = _google(base)
        self._contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=ASKED)])]
        functions = [
            types.FunctionDeclaration(name=name, parameters_json_schema=schema) for name, schema in TOOLS.items()
        ]
        self._config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=functions)],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            thinking_config=types.ThinkingConfig(include_thoughts=True),
        )

    def ask(self, stream: bool) -> tuple[list[str], str]:
        parameters: Any = {"model": self.model, "contents": self._contents, "config": self._config}
        models = self._client.models
        answers = (
            list(models.generate_content_stream(**parameters)) if stream else [models.generate_content(**parameters)]
        )
        found = [answer.candidates[0].content for answer in answers if answer.candidates]
        parts = [part for content in found if content is not None for part in content.parts or ()]
        types = self._types
        self._contents.append(types.Content(role="model", parts=parts))
        calls = [part.function_call for part in parts if part.function_call is not None]
        if calls:
            self._contents.append(types.Content(role="user", parts=[self._result(call) for call in calls]))
        text = "".join([part.text or "" for part in parts if not part.thought])
        return [call.name or "" for call in calls], text

    def _result(self, call: Any) -> Any:
        types = self._types
        blob = types.FunctionResponseBlob(mime_type="image/png", data=PIXEL)
        result = types.FunctionResponse(
            id=call.id,
            name=call.name,
            response={"output": RESULT},
            parts=[types.FunctionResponsePart(inline_data=blob)],
        )
        return types.Part(function_response=result)

    def first(self) -> None:
        stream: Any = self._client.models.generate_content_stream(model=self.model, contents=self._contents)
        next(stream)
        stream.close()


class Local(Client):
    def __init__(self, base: str, model: str) -> None:
        import ollama

        super().__init__(base, model)
        self.errors = ollama.ResponseError
        self._message = ollama.Message
        self._client = _ollama(base)
        self._messages: list[Any] = [{"role": "user", "content": ASKED}]
        self._tools: list[Any] = [
            {"type": "function", "function": {"name": name, "description": "", "parameters": schema}}
            for name, schema in TOOLS.items()
        ]
        # Older clients have no field for thinking.
        thinks = "think" in inspect.signature(ollama.Client.chat).parameters
        self._more: dict[str, Any] = {"think": True} if thinks else {}

    def ask(self, stream: bool) -> tuple[list[str], str]:
        parameters: Any = {"model": self.model, "messages": self._messages, "tools": self._tools, **self._more}
        if not stream:
            message = self._client.chat(**parameters).message
        else:
            parts = [chunk.message for chunk in self._client.chat(**parameters, stream=True)]
            calls = [call for part in parts for call in part.tool_calls or ()]
            text = "".join([part.content or "" for part in parts])
            thought = "".join([getattr(part, "thinking", None) or "" for part in parts])
            fields: dict[str, Any] = {"thinking": thought} if self._more and thought else {}
            message = self._message(role="assistant", content=text, tool_calls=calls or None, **fields)
        self._messages.append(message)
        calls = list(message.tool_calls or ())
        self._messages += [
            {"role": "tool", "content": RESULT, "tool_name": call.function.name, "images": [PIXEL]} for call in calls
        ]
        return [call.function.name for call in calls], message.content or ""

    def first(self) -> None:
        stream: Any = self._client.chat(model=self.model, messages=self._messages, stream=True)
        next(stream)
        stream.close()


CLIENTS: dict[str, type[Client]] = {
    "openai-chat": Chat,
    "openai-responses": Responses,
    "anthropic": Messages,
    "gemini": Generate,
    "ollama": Local,
}


def converse(client: Client, *, stream: bool) -> Received:
    """Send requests and results of calls until the answer is a text."""
    steps: list[list[str]] = []
    text = ""
    while len(steps) < MOST:
        calls, text = client.ask(stream)
        steps.append(calls)
        if not calls:
            break
    return {"steps": steps, "text": text}


def whole(client: Client) -> Received:
    return converse(client, stream=False)


def streamed(client: Client) -> Received:
    return converse(client, stream=True)


def refused(client: Client) -> Received:
    """The SDK's exception for a fault."""
    try:
        client.ask(False)
    except client.errors as error:
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        return {"error": type(error).__name__, "status": status, "words": str(error)}
    return {}


def left(client: Client) -> Received:
    client.first()
    return {"left": True}


VERBS: dict[str, Callable[[Client], Received]] = {
    "whole": whole,
    "streamed": streamed,
    "refused": refused,
    "left": left,
}


def run(name: str, base: str, verb: str, model: str) -> Received:
    return VERBS[verb](CLIENTS[name](base, model))


if __name__ == "__main__":
    name, address, *jobs = sys.argv[1:]
    for verb, model in zip(jobs[::2], jobs[1::2], strict=True):
        print(json.dumps(run(name, address, verb, model)), flush=True)
