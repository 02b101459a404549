"""`dragoman repair`: the repaired body, the list of repairs, and the exit codes."""

from __future__ import annotations

import json

from click.testing import CliRunner

from dragoman.canon.repair_codes import REPAIRS
from dragoman.cli.main import main

CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
HI = {"role": "user", "content": "hi"}
BROKEN = json.dumps({"model": "m", "messages": [HI, CALLING, HI]})
WHOLE = '{ "model": "m", "messages": [] }'


def test_the_repaired_body_goes_to_standard_output_and_the_repairs_to_standard_error() -> None:
    done = CliRunner().invoke(main, ["repair", "--dialect", "openai-chat"], input=BROKEN)
    assert done.exit_code == 0
    answer = {"role": "tool", "tool_call_id": "1", "content": "Error: No result was recorded for this call."}
    assert json.loads(done.stdout) == {"model": "m", "messages": [HI, CALLING, answer, HI]}
    assert done.stderr == "added     orphan-call            /messages/1/tool_calls/0  call 1 of look was not answered\n"


def test_a_body_without_mistakes_is_not_changed() -> None:
    done = CliRunner().invoke(main, ["repair", "--dialect", "openai-chat"], input=WHOLE)
    assert (done.exit_code, done.stdout, done.stderr) == (0, WHOLE, "")


def test_the_dialect_is_detected() -> None:
    done = CliRunner().invoke(main, ["repair", "--repairs", "none"], input=BROKEN)
    assert done.exit_code == 0
    assert done.stderr.startswith("reading as openai-chat: ")
    assert CliRunner().invoke(main, ["repair"], input="{}").exit_code == 2


def test_repairs_as_json() -> None:
    done = CliRunner().invoke(main, ["repair", "--dialect", "openai-chat", "--repairs", "json"], input=BROKEN)
    detail = "call 1 of look was not answered"
    assert json.loads(done.stderr) == [{"name": "orphan-call", "path": "/messages/1/tool_calls/0", "detail": detail}]


def test_check_writes_nothing_and_sets_the_exit_code() -> None:
    broken = CliRunner().invoke(main, ["repair", "--dialect", "openai-chat", "--check"], input=BROKEN)
    assert (broken.exit_code, broken.stdout) == (1, "")
    whole = CliRunner().invoke(main, ["repair", "--dialect", "openai-chat", "--check"], input=WHOLE)
    assert (whole.exit_code, whole.stdout) == (0, "")


def test_the_repairs_are_listed() -> None:
    done = CliRunner().invoke(main, ["repair", "--list"])
    assert done.exit_code == 0
    for name, repair in REPAIRS.items():
        assert name in done.stdout and repair.meaning in done.stdout


def test_wrong_arguments_and_bodies_are_errors() -> None:
    assert CliRunner().invoke(main, ["repair", "--dialect", "morse"], input=BROKEN).exit_code == 2
    nonsense = CliRunner().invoke(main, ["repair", "--dialect", "openai-chat"], input='{"messages": 3}')
    assert (nonsense.exit_code, nonsense.stdout) == (1, "")
    assert nonsense.stderr.startswith("dragoman: not openai-chat at /messages")
