"""Hostile documents within bounded time and memory: deep nesting, huge strings and numbers, broken encodings.

The readers of each dialect run in a separate process with limits on memory and processor time. The process must end by
itself, and each document must give a value, a WireError or a FaultError.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from dragoman.dialects import names as dialects

pytest.importorskip("resource", reason="limits on memory and time are a Unix matter")

MEMORY = 400_000_000
"""Forty times the size of the largest document. Python and its modules use a fifth of this limit."""
SECONDS = 30

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))

import dragoman
from dragoman import FaultError, WireError
from dragoman.context import Context
from dragoman.dialects import get, names

dialect = sys.argv[1]
speaker = get(dialect)
other = next(name for name in names() if name != dialect)


def under():
    return Context(dialect, dialect)


def stream(body):
    translator = dragoman.StreamTranslator(source=dialect, target=other)
    return translator.feed(b"data: " + body + b"\\n\\n") + translator.close()


KINDS = {{
    "request": lambda body: dragoman.translate_request(body, source=dialect, target=other, model="m"),
    "response": lambda body: dragoman.translate_response(body, source=dialect, target=other),
    "fault": lambda body: dragoman.translate_fault(body, status=500, source=dialect, target=other),
    "tools": lambda body: dragoman.translate_tools(body, source=dialect, target=other),
    "stream": stream,
    "detect": dragoman.detect,
    "pass": lambda body: dragoman.translate_request(body, source=dialect, target=dialect),
}}

# A place for a value in a document of each dialect.
HOLES = {{
    "openai-chat": [
        b'{{"model":"m","messages":[{{"role":"user","content":%b}}]}}',
        b'{{"model":"m","messages":[{{"role":"user","content":"a","x":%b}}]}}',
        b'{{"model":"m","messages":[{{"role":"user","content":"a"}}],"tools":[{{"type":"function","function":{{"name":"f","parameters":%b}}}}]}}',
        b'{{"id":"a","choices":[{{"index":0,"message":{{"role":"assistant","content":%b}},"finish_reason":"stop"}}]}}',
        b'{{"id":"a","choices":[{{"index":0,"delta":{{"role":"assistant","content":%b}},"finish_reason":null}}]}}',
        b'{{"error":{{"message":%b}}}}',
    ],
    "openai-responses": [
        b'{{"model":"m","input":%b}}',
        b'{{"model":"m","input":[{{"type":"x","x":%b}}]}}',
        b'{{"model":"m","input":"a","tools":[{{"type":"function","name":"f","parameters":%b}}]}}',
        b'{{"id":"a","status":"completed","output":[{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":%b}}]}}]}}',
        b'{{"type":"response.created","response":{{"id":%b,"output":[]}}}}',
        b'{{"error":{{"message":%b}}}}',
    ],
    "anthropic": [
        b'{{"model":"m","max_tokens":5,"messages":[{{"role":"user","content":%b}}]}}',
        b'{{"model":"m","max_tokens":5,"messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":%b}}]}}]}}',
        b'{{"model":"m","max_tokens":5,"messages":[{{"role":"user","content":"a"}}],"tools":[{{"name":"f","input_schema":%b}}]}}',
        b'{{"id":"a","type":"message","role":"assistant","content":[{{"type":"text","text":%b}}],"stop_reason":"end_turn"}}',
        b'{{"type":"message_start","message":{{"id":%b,"content":[]}}}}',
        b'{{"type":"error","error":{{"type":"api_error","message":%b}}}}',
    ],
    "gemini": [
        b'{{"contents":[{{"role":"user","parts":[{{"text":%b}}]}}]}}',
        b'{{"contents":[{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":%b}}}}]}}]}}',
        b'{{"contents":[{{"parts":[{{"text":"a"}}]}}],"tools":[{{"functionDeclarations":[{{"name":"f","parameters":%b}}]}}]}}',
        b'{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":%b}}]}},"finishReason":"STOP"}}]}}',
        b'{{"candidates":[{{"content":{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":%b}}}}]}}}}]}}',
        b'{{"error":{{"code":500,"message":%b,"status":"INTERNAL"}}}}',
    ],
}}
HOLES["ollama"] = [
    b'{{"model":"m","messages":[{{"role":"user","content":%b}}]}}',
    b'{{"model":"m","messages":[{{"role":"assistant","tool_calls":[{{"function":{{"name":"f","arguments":%b}}}}]}}]}}',
    b'{{"model":"m","messages":[{{"role":"user","content":"a"}}],"tools":[{{"type":"function","function":{{"name":"f","parameters":%b}}}}]}}',
    b'{{"model":"m","message":{{"role":"assistant","content":%b}},"done":true}}',
    b'{{"model":"m","message":{{"role":"assistant","tool_calls":[{{"function":{{"name":"f","arguments":%b}}}}]}},"done":false}}',
    b'{{"model":"m","messages":[{{"role":"user","content":"a"}}],"format":%b}}',
    b'{{"error":%b}}',
]
HOLES["openrouter"] = [
    b'{{"model":"m","messages":[{{"role":"user","content":%b}}]}}',
    b'{{"model":"m","messages":[{{"role":"assistant","reasoning_details":%b}}]}}',
    b'{{"model":"m","messages":[{{"role":"user","content":"a"}}],"reasoning":{{"effort":"low"}},"provider":%b}}',
    b'{{"id":"a","choices":[{{"index":0,"message":{{"role":"assistant","images":%b}},"finish_reason":"stop"}}]}}',
    b'{{"id":"a","choices":[{{"index":0,"delta":{{"reasoning_details":[%b]}},"finish_reason":null}}]}}',
    b'{{"error":{{"code":429,"message":"m","metadata":%b}}}}',
]
HOLES["code-assist"] = [
    b'{{"model":"m","request":{{"contents":[{{"role":"user","parts":[{{"text":%b}}]}}]}}}}',
    b'{{"model":"m","request":{{"contents":[{{"role":"user","parts":[{{"text":"a"}}]}}],"x":%b}}}}',
    b'{{"model":"m","project":%b,"request":{{"contents":[{{"role":"user","parts":[{{"text":"a"}}]}}]}}}}',
    b'{{"response":{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":%b}}]}},"finishReason":"STOP"}}]}}}}',
    b'{{"response":{{"candidates":[{{"content":{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":%b}}}}]}}}}]}}}}',
    b'{{"error":{{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{{"reason":%b}}]}}}}',
]
DEEP = 10_000
VALUES = {{
    "deep arrays": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{{"a":' * DEEP + b"1" + b"}}" * DEEP,
    "deep schemas": b'{{"type":"array","items":' * DEEP + b"{{}}" + b"}}" * DEEP,
    "unclosed": b"[" * DEEP,
    "a huge string": b'"' + b"x" * 10_000_000 + b'"',
    "many items": b"[" + b",".join([b'{{"type":"text","text":"a"}}'] * 50_000) + b"]",
    "many fields": b"{{" + b",".join([b'"k%d":%d' % (i, i) for i in range(50_000)]) + b"}}",
    "a lone surrogate": b'"\\\\ud800"',
    "a raw surrogate": b'"\\xed\\xa0\\x80"',
    "invalid UTF-8": b'"\\xff\\xfe"',
    "duplicate keys": b'{{"a":1,"a":2,"type":"text","type":"image"}}',
    "huge numbers": b"[1e400,-1e400," + b"9" * 400 + b",0." + b"1" * 400 + b"]",
    "one huge number": b"1e400",
    "a huge number in a schema": b'{{"type":"object","properties":{{"a":{{"type":"number","minimum":1e400}}}}}}',
    "a huge number in a block": b'[{{"type":"x","n":1e400}}]',
    "one huge integer": b"9" * 5000,
    "not a number": b"NaN",
    "infinity": b"-Infinity",
    "truncated": b'{{"a": [1, 2',
    "nothing": b"",
    "null bytes": b'"\\\\u0000\\x00"',
    "comments": b"/* a */ 1",
    "a trailing comma": b"[1,]",
    "a byte-order mark": b"\\xef\\xbb\\xbf1",
    "control characters": b'"\\x01\\n"',
}}
count = 0
for label, value in VALUES.items():
    holes = HOLES[dialect] if len(value) < 1_000_000 else HOLES[dialect][:1] + HOLES[dialect][3:5]
    for hole in [b"%b", *holes]:
        body = hole % value
        for kind, act in KINDS.items():
            try:
                act(body)
            except (WireError, FaultError) as error:
                assert str(error)
            except Exception as error:
                sys.exit(f"{{kind}} with {{label}} in {{hole[:60]}}: {{type(error).__name__}}: {{str(error)[:200]}}")
            count += 1
print(count)
"""


@pytest.mark.parametrize("dialect", dialects())
def test_hostile_documents_are_read_within_time_and_memory_limits(dialect: str) -> None:
    program = PROGRAM.format(memory=MEMORY, seconds=SECONDS)
    done = subprocess.run([sys.executable, "-I", "-c", program, dialect], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 500
