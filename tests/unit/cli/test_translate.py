"""`dragoman translate`: from standard input to standard output, losses on standard error, exit 0, 1 or 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dragoman.cli.main import main

CHAT: dict[str, Any] = {
    "model": "gpt-4o",
    "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}],
    "logit_bias": {"1": 2},
}
ANSWER = {
    "object": "chat.completion",
    "choices": [{"message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
}
STREAM = (
    b'data: {"id":"c","model":"m","object":"chat.completion.chunk",'
    b'"choices":[{"index":0,"delta":{"content":"ok"}}]}\n\n'
    b'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


def run(*arguments: str, body: Any = b"") -> Result:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return CliRunner().invoke(main, ["translate", *arguments], input=text)


def test_a_request_is_translated() -> None:
    done = run("--from", "openai-chat", "--to", "anthropic", "--model", "claude-opus-5", body=CHAT)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {
        "model": "claude-opus-5",
        "max_tokens": 8192,
        "system": "s",
        "messages": [{"role": "user", "content": "hi"}],
    }
    assert done.stdout.endswith("}\n")
    assert done.stderr.splitlines() == [
        "info    invented     limit.invented           /  max_tokens 8192",
        "warning dropped      field.dropped            /logit_bias",
    ]


def test_losses_can_be_printed_as_json_or_omitted() -> None:
    done = run("--from", "openai-chat", "--to", "anthropic", "--losses", "json", body=CHAT)
    assert [loss["code"] for loss in json.loads(done.stderr)] == ["limit.invented", "field.dropped"]
    assert json.loads(done.stderr)[1] == {
        "code": "field.dropped",
        "effect": "dropped",
        "severity": "warning",
        "path": "/logit_bias",
        "detail": "",
    }
    assert run("--from", "openai-chat", "--to", "anthropic", "--losses", "none", body=CHAT).stderr == ""


def test_the_source_dialect_is_detected() -> None:
    done = run("--to", "gemini", "--losses", "none", body={**CHAT, "seed": 1})
    assert done.exit_code == 0
    reasons = "messages[], the first message is a system message, a model of the family gpt, logit_bias, seed"
    assert done.stderr == f"reading as openai-chat: {reasons}\n"


def test_a_file_of_many_documents_is_refused_with_a_hint_to_convert(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text('{"model": "m", "messages": [{"role": "user", "content": "a"}]}\n' * 2)
    done = CliRunner().invoke(main, ["translate", "--from", "openai-chat", "--to", "gemini", str(file)])
    assert done.exit_code == 1
    assert "at line 2, column 1. `dragoman convert` takes files with many documents." in done.stderr


def test_strict_writes_nothing_when_too_much_is_lost() -> None:
    done = run("--from", "openai-chat", "--to", "anthropic", "--strict", body=CHAT)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "warning dropped      field.dropped            /logit_bias",
        "dragoman: 1 losses beyond tolerance 'info': field.dropped at /logit_bias",
    ]


def test_strict_allows_minor_losses() -> None:
    body = {name: value for name, value in CHAT.items() if name != "logit_bias"}
    assert run("--from", "openai-chat", "--to", "anthropic", "--strict", body=body).exit_code == 0


@pytest.mark.parametrize("arguments", [(), ("--kind", "response")])
def test_an_answer_is_detected(arguments: tuple[str, ...]) -> None:
    done = run("--from", "openai-chat", "--to", "anthropic", "--losses", "none", *arguments, body=ANSWER)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["content"] == [{"type": "text", "text": "ok", "citations": None}]


@pytest.mark.parametrize("arguments", [(), ("--kind", "tools")])
def test_declarations_of_tools_are_detected(arguments: tuple[str, ...]) -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    done = run("--from", "openai-chat", "--to", "anthropic", *arguments, body=tools)
    assert [tool["name"] for tool in json.loads(done.stdout)] == ["f"]


@pytest.mark.parametrize("arguments", [(), ("--kind", "fault")])
def test_a_fault_is_detected(arguments: tuple[str, ...]) -> None:
    fault = {"error": {"message": "no", "type": "invalid_request_error"}}
    done = run("--from", "openai-chat", "--to", "anthropic", "--status", "400", *arguments, body=fault)
    assert json.loads(done.stdout)["error"] == {"type": "invalid_request_error", "message": "no"}
    assert (done.exit_code, done.stderr) == (0, "")


def test_a_failed_response_with_a_good_status_is_a_fault() -> None:
    body = {
        "id": "resp_1",
        "object": "response",
        "status": "failed",
        "error": {"code": "server_error", "message": "no"},
        "output": [],
    }
    done = run("--to", "openai-chat", "--losses", "none", body=body)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["error"]["message"] == "no"


def test_media_can_be_summarised() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [image]}]},
        ],
    }
    done = run("--from", "anthropic", "--to", "openai-chat", "--binary", "summarise", body=body)
    assert json.loads(done.stdout)["messages"][-1]["content"] == "Binary content of type image/png was processed."


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text(json.dumps(CHAT))
    done = run("--from", "openai-chat", "--to", "gemini", "--losses", "none", str(file))
    assert done.exit_code == 0
    assert json.loads(done.stdout)["contents"] == [{"role": "user", "parts": [{"text": "hi"}]}]


@pytest.mark.parametrize("source", [("--from", "openai-chat"), ()])
def test_a_stream_is_translated(source: tuple[str, ...]) -> None:
    done = run("--to", "anthropic", "--stream", "--losses", "none", *source, body=STREAM)
    assert done.exit_code == 0
    events = [line.removeprefix("event: ") for line in done.stdout.splitlines() if line.startswith("event: ")]
    assert (events[0], events[-1]) == ("message_start", "message_stop")


@pytest.mark.parametrize(("body", "code"), [(STREAM, 0), (STREAM.replace(b'"id":"c"', b'"x":1,"id":"c"'), 1)])
def test_strict_holds_a_stream_back_until_nothing_was_lost(body: bytes, code: int) -> None:
    done = run("--from", "openai-chat", "--to", "gemini", "--stream", "--strict", "--losses", "none", body=body)
    assert done.exit_code == code
    assert bool(done.stdout) == (code == 0)
    if code:
        assert done.stderr == "dragoman: 1 loss worse than info, so nothing was written\n"


@pytest.mark.parametrize(
    ("arguments", "body", "code", "message"),
    [
        (
            ("--from", "openai-chat", "--to", "anthropic"),
            b"{",
            1,
            "dragoman: not valid JSON: it ends too early, at line 1, column 2",
        ),
        (("--from", "openai-chat", "--to", "anthropic"), b"\xff", 1, "dragoman: not openai-chat: expected UTF-8"),
        (("--from", "openai-chat", "--to", "anthropic"), b'"x"', 1, "dragoman: not openai-chat: expected object"),
        (
            ("--from", "chat", "--to", "anthropic"),
            b"{}",
            2,
            "dragoman: --from: there is no dialect 'chat'. ",
        ),
        (
            ("--to", "claud"),
            b"{}",
            2,
            "dragoman: --to: there is no dialect 'claud'. Did you mean claude?",
        ),
        (
            ("--to", "claude"),
            b'{"a":\n x}',
            1,
            "dragoman: not valid JSON: expecting value, found 'x' at line 2, column 2",
        ),
        (("--to", "anthropic"), b"{}", 2, "dragoman: the dialect could not be detected. Name it with --from."),
        (("--to", "anthropic", "--stream"), b"", 1, "dragoman: not valid JSON: it is empty"),
        (("--from", "openai-chat"), b"{}", 2, "dragoman: "),
        (("--to", "anthropic", "--losses", "xml"), b"{}", 2, "dragoman: "),
    ],
)
def test_failures_and_wrong_arguments_are_errors(
    arguments: tuple[str, ...], body: bytes, code: int, message: str
) -> None:
    done = run(*arguments, body=body)
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.startswith(message)


def test_the_command_runs_as_a_process() -> None:
    script = [sys.executable, "-c", "from dragoman.cli.main import main; main()", "translate"]
    done = subprocess.run(
        [*script, "--from", "openai-chat", "--to", "anthropic", "--stream"],
        input=STREAM,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.startswith(b"event: message_start\n")
    refused = subprocess.run([*script, "--from", "x", "--to", "y"], input=b"", capture_output=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, b"")


BROKEN = {
    "model": "gpt-4o",
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "user", "content": "and?"},
    ],
}


def test_a_broken_history_is_repaired_and_the_repairs_are_listed() -> None:
    done = run("--from", "openai-chat", "--to", "openai-responses", "--repair", "report", body=BROKEN)
    assert done.exit_code == 0
    kinds = [item.get("type", "message") for item in json.loads(done.stdout)["input"]]
    assert kinds == ["message", "function_call", "function_call_output", "message"]
    assert done.stderr.splitlines()[0].split()[:3] == ["added", "orphan-call", "/messages/1/tool_calls/0"]


def test_repairs_come_before_the_losses_in_json_too() -> None:
    arguments = ("--from", "openai-chat", "--to", "openai-responses", "--repair", "report", "--losses", "json")
    repairs, losses = map(json.loads, run(*arguments, body=BROKEN).stderr.splitlines())
    assert [one["name"] for one in repairs] == ["orphan-call"]
    assert all("severity" in loss for loss in losses)
    (report,) = map(json.loads, run(*arguments[:4], "--losses", "json", body=BROKEN).stderr.splitlines())
    assert "result.invented" in [loss["code"] for loss in report]


def test_a_broken_history_can_be_refused() -> None:
    done = run("--from", "openai-chat", "--to", "openai-responses", "--repair", "refuse", body=BROKEN)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("dragoman: the openai-chat history is broken: ")
    sound = run("--from", "openai-chat", "--to", "openai-responses", "--repair", "refuse", body=CHAT)
    assert sound.exit_code == 0


def test_a_function_replaces_a_search_only_with_the_option() -> None:
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "web_search_20250305", "name": "web_search"}],
    }
    arguments = ("--from", "anthropic", "--to", "openai-chat")
    assert "tools" not in json.loads(run(*arguments, body=body).stdout)
    (tool,) = json.loads(run(*arguments, "--stand-ins", body=body).stdout)["tools"]
    assert tool["function"]["name"] == "google_web_search"
    alone = run(*arguments, "--kind", "tools", "--stand-ins", body=body["tools"])
    assert [one["function"]["name"] for one in json.loads(alone.stdout)] == ["google_web_search"]


def test_a_request_is_changed_for_its_host() -> None:
    body = {**CHAT, "max_completion_tokens": 9, "store": False}
    done = run("--from", "openai-chat", "--to", "openai-chat", "--host", "api.mistral.ai", body=body)
    sent = json.loads(done.stdout)
    assert (sent["max_tokens"], "max_completion_tokens" in sent, "store" in sent) == (9, False, False)
    assert "/logit_bias" in done.stderr
    assert json.loads(run("--from", "openai-chat", "--to", "openai-chat", body=body).stdout) == body


def test_an_ambiguous_dialect_is_read_with_a_warning() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}]}
    done = run("--to", "anthropic", "--losses", "none", "--model", "m", body=body)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["messages"] == [{"role": "user", "content": "hi"}]
    detection, warning = done.stderr.splitlines()
    assert detection == "reading as openai-chat: messages[], ambiguous: anthropic and ollama would fit as well"
    assert warning == "warning: the dialect is ambiguous. Use --from openai-chat, or --from with another dialect."


def test_a_clear_dialect_is_read_without_a_warning() -> None:
    done = run("--to", "anthropic", "--losses", "none", body=CHAT)
    assert "warning" not in done.stderr


@pytest.mark.parametrize(("alias", "name"), [("openai", "openai-chat"), ("claude", "anthropic"), ("Google", "gemini")])
def test_aliases_of_dialects_are_accepted(alias: str, name: str) -> None:
    body = b'{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}'
    done = run("--from", "anthropic", "--to", alias, body=body)
    assert done.exit_code == 0
    assert done.stdout == run("--from", "anthropic", "--to", name, body=body).stdout
