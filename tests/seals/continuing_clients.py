"""Owns the clients of each dialect: which parts of an answer a client sends back in its next request.

The clients are written from the providers' documentation, without code of the library. A Chat client sends back the
fields of the documentation. A client of Messages or Responses sends back whole blocks and items. A Gemini client sends
back its parts without thoughts, as gemini-cli does. An Ollama client sends back its message with the thinking.
"""

from __future__ import annotations

import json
from typing import Any

from tests.oracles import sdk_folding

Json = Any

_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
_NAMES = ("weather", "compare")
_CHATS = ("openai-chat", "openrouter", "ollama")


class Client:
    """A client of one dialect with its conversation. `whole`: the client keeps every field of an answer."""

    def __init__(self, dialect: str, model: str, *, whole: bool = False) -> None:
        self.dialect = dialect
        self.model = model
        self._whole = whole
        self.turns: list[Json] = []

    def say(self, text: str) -> None:
        if self.dialect in ("gemini", "code-assist"):
            self.turns.append({"role": "user", "parts": [{"text": text}]})
        else:
            self.turns.append({"role": "user", "content": text})

    def gathered(self, raw: bytes, *, streamed: bool) -> Json:
        """The answer as the SDK of the dialect builds it, from a body or from a stream."""
        if not streamed:
            return json.loads(raw)
        fold = "openai_chat" if self.dialect == "openrouter" else self.dialect.replace("-", "_")
        return getattr(sdk_folding, fold)(raw)

    def append_answer(self, answer: Json) -> None:
        """Append an answer and the results of its calls."""
        if self.dialect in _CHATS:
            self._append_chat(answer["message"] if self.dialect == "ollama" else answer["choices"][0]["message"])
        elif self.dialect == "anthropic":
            blocks = answer["content"]
            self.turns.append({"role": "assistant", "content": blocks})
            ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
            results = [{"type": "tool_result", "tool_use_id": call_id, "content": "20"} for call_id in ids]
            if results:
                self.turns.append({"role": "user", "content": results})
        elif self.dialect == "openai-responses":
            self.turns += answer["output"]
            ids = [item["call_id"] for item in answer["output"] if item["type"] == "function_call"]
            self.turns += [{"type": "function_call_output", "call_id": call_id, "output": "20"} for call_id in ids]
        else:
            self._append_gemini(answer["response"] if self.dialect == "code-assist" else answer)

    def _append_chat(self, message: Json) -> None:
        if not self._whole:
            kept = {"role", "content", "tool_calls"}
            kept |= {"openrouter": {"reasoning_details"}, "ollama": {"thinking"}}.get(self.dialect, set())
            message = {name: value for name, value in message.items() if name in kept and value}
            calls = message.get("tool_calls", [])
            message["tool_calls"] = [
                {key: call[key] for key in ("id", "type", "function") if key in call} for call in calls
            ]
            if not calls:
                del message["tool_calls"]
        self.turns.append(message)
        for call in message.get("tool_calls") or ():
            result = {"role": "tool", "tool_call_id": call["id"], "content": "20"}
            if self.dialect == "ollama":
                result["tool_name"] = call["function"]["name"]
            self.turns.append(result)

    def _append_gemini(self, answer: Json) -> None:
        parts = answer["candidates"][0]["content"]["parts"]
        if not self._whole:
            parts = [part for part in parts if not part.get("thought")]
        self.turns.append({"role": "model", "parts": parts})
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        results = [
            {"functionResponse": {**_id_of(call), "name": call["name"], "response": {"output": "20"}}} for call in calls
        ]
        if results:
            self.turns.append({"role": "user", "parts": results})

    def request(self, *, stream: bool) -> Json:
        turns = json.loads(json.dumps(self.turns))
        if self.dialect in ("gemini", "code-assist"):
            declared = [{"name": name, "parametersJsonSchema": _SCHEMA} for name in _NAMES]
            inner = {"contents": turns, "tools": [{"functionDeclarations": declared}]}
            return inner if self.dialect == "gemini" else {"model": self.model, "request": inner}
        out: Json = {"model": self.model, "stream": stream}
        if self.dialect == "anthropic":
            tools: list[Json] = [{"name": name, "input_schema": _SCHEMA} for name in _NAMES]
            return {**out, "max_tokens": 4096, "messages": turns, "tools": tools}
        if self.dialect == "openai-responses":
            tools = [{"type": "function", "name": name, "parameters": _SCHEMA, "strict": False} for name in _NAMES]
            return {**out, "input": turns, "tools": tools, "store": False}
        functions = [{"type": "function", "function": {"name": name, "parameters": _SCHEMA}} for name in _NAMES]
        return {**out, "messages": turns, "tools": functions}


def _id_of(call: Json) -> Json:
    """The id of a call. In Gemini the id is optional."""
    return {"id": call["id"]} if "id" in call else {}
