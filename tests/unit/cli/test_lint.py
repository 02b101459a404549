"""`dragoman lint`: its formats, its exit codes, files of documents, standard input, repairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from dragoman.cli.json_line_numbers import lines_of
from dragoman.cli.main import main

CLEAN = b'{"model": "gpt-4o", "messages": [{"role": "developer", "content": "Be brief."}]}\n'
HOT = b"""{
  "model": "gpt-4o",
  "messages": [{"role": "user", "content": "Hi"}],
  "temperature": 9,
  "max_tokens": 5, "max_completion_tokens": 5
}
"""
UNANSWERED = {
    "model": "gpt-4o",
    "messages": [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "user", "content": "Well?"},
    ],
}
STREAM = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\n'


def run(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, ["lint", *arguments], input=stdin)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    file = tmp_path / "hot.json"
    file.write_bytes(HOT)
    return file


def test_a_document_without_findings_is_exit_0() -> None:
    done = run("-", stdin=CLEAN)
    assert (done.exit_code, done.stdout) == (0, "Nothing found in 1 document.\n")


def test_findings_are_lines_and_a_summary_and_exit_1(wrong: Path) -> None:
    done = run(str(wrong))
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"{wrong}:/temperature: OAC-021 error: temperature is 9, outside 0 to 2 (keep it in 0 to 2)",
        f"{wrong}:/max_tokens: OAC-013 error: both max_tokens and max_completion_tokens are set (drop max_tokens)",
        "Found 2 errors and 0 warnings in 1 document.",
    ]


def test_json_is_a_list_of_findings(wrong: Path) -> None:
    rows = msgspec.json.decode(run(str(wrong), "--format", "json").stdout)
    assert [(row["rule"], row["line"], row["path"], row["dialect"], row["kind"]) for row in rows] == [
        ("OAC-021", 4, "/temperature", "openai-chat", "request"),
        ("OAC-013", 5, "/max_tokens", "openai-chat", "request"),
    ]


def test_github_gets_workflow_commands_with_the_line(wrong: Path) -> None:
    done = run(str(wrong), "--format", "github")
    first = done.stdout.splitlines()[0]
    assert first == (
        f"::error file={wrong},line=4,title=OAC-021::/temperature: temperature is 9, outside 0 to 2 (keep it in 0 to 2)"
    )


def test_github_commands_are_escaped(tmp_path: Path) -> None:
    file = tmp_path / "a,b%.json"
    file.write_bytes(HOT)
    assert f"file={tmp_path}/a%2Cb%25.json,line=4" in run(str(file), "--format", "github").stdout


def test_sarif_has_the_shape_of_2_1_0(wrong: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken name.json"
    broken.write_bytes(b"{")
    done = run(str(wrong), str(broken), "--dialect", "openai-chat", "--format", "sarif")
    log = msgspec.json.decode(done.stdout)
    assert done.exit_code == 1
    assert (log["version"], log["$schema"].endswith("sarif-schema-2.1.0.json")) == ("2.1.0", True)
    (ran,) = log["runs"]
    driver = ran["tool"]["driver"]
    assert driver["name"] == "dragoman"
    assert [rule["id"] for rule in driver["rules"]] == ["OAC-013", "OAC-021"]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] and rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note", "none")
    for result in ran["results"]:
        assert set(result) <= {"ruleId", "ruleIndex", "level", "message", "locations"}
        assert isinstance(result["message"]["text"], str)
        (place,) = result["locations"]
        assert place["physicalLocation"]["region"]["startLine"] >= 1
        assert place["logicalLocations"][0]["fullyQualifiedName"].startswith("/")
        if "ruleIndex" in result:
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert ran["results"][-1]["ruleId"] == "ALL-000"
    assert place["physicalLocation"]["artifactLocation"]["uri"].endswith("broken%20name.json")


def test_standard_input_has_a_uri_too() -> None:
    log = msgspec.json.decode(run("-", "--format", "sarif", stdin=HOT).stdout)
    place = log["runs"][0]["results"][0]["locations"][0]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "stdin"}, "region": {"startLine": 4}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON: it is empty"),
        ("no", "not valid JSON: expecting value, found 'n' at line 1, column 1"),
        ('{"a": 1}', "the dialect could not be detected. Name it with --dialect."),
    ],
)
def test_a_file_without_a_dialect_gets_the_reason(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "in.json"
    file.write_text(text)
    done = CliRunner().invoke(main, ["lint", str(file)])
    assert (done.exit_code, done.stderr) == (2, f"dragoman: {file}: {message}\n")


def test_an_unreadable_file_does_not_stop_the_check_of_the_others(tmp_path: Path, wrong: Path) -> None:
    broken, lines = tmp_path / "broken.json", tmp_path / "lines.jsonl"
    broken.write_text("{")
    lines.write_bytes(b"{}\n" + CLEAN.replace(b"\n", b"") + b"\n")
    done = run(str(broken), str(tmp_path / "absent.json"), str(lines), str(wrong))
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        f"dragoman: {broken}: not valid JSON: it ends too early, at line 1, column 2",
        f"dragoman: {tmp_path / 'absent.json'}: No such file or directory",
        f"dragoman: {lines}:1: the dialect could not be detected. Name it with --dialect.",
    ]
    assert done.stdout.splitlines()[-1] == "Found 2 errors and 0 warnings in 2 documents."


def test_each_line_of_a_jsonl_file_is_a_document(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_bytes(CLEAN + b"\n" + msgspec.json.encode(UNANSWERED) + b"\n")
    done = run(str(file))
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0].startswith(f"{file}:3:/messages/1/tool_calls/0: OAC-004 error: ")
    assert done.stdout.splitlines()[-1] == "Found 1 error and 0 warnings in 2 documents."


def test_streams_responses_tools_and_faults_are_detected() -> None:
    assert "OAC-S01" in run("-", stdin=STREAM).stdout
    answer = {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "tool_calls": [{}]}}]}
    assert "/choices/0/message/tool_calls/0: OAC-006" in run("-", stdin=msgspec.json.encode(answer)).stdout
    tools = msgspec.json.encode([{"type": "function", "function": {"name": "a b"}}])
    assert "-:/0/function/name: OAC-002" in run("-", "--dialect", "openai-chat", stdin=tools).stdout
    fault = msgspec.json.encode({"error": {"message": "no"}})
    assert run("-", "--dialect", "openai-chat", stdin=fault).exit_code == 0
    stream = b'{"model":"m","message":{"role":"assistant","content":"Hi"},"done":false}\n{"model":"m"}\n'
    assert "Nothing found" not in run("-", "--dialect", "ollama", stdin=stream).stdout
    named = run("-", "--dialect", "openai-chat", "--kind", "stream", stdin=b"data: {\n\n")
    assert "-:/0: ALL-S01 error" in named.stdout


def test_the_model_can_be_given() -> None:
    body = msgspec.json.encode({"messages": [{"role": "user", "content": "Hi"}], "temperature": 0.5})
    done = run("-", "--dialect", "openai-chat", "--model", "o3", stdin=body)
    assert "OAC-015 warning" in done.stdout
    assert "Found 0 errors and 1 warning in 1 document." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (("absent.json",), b"", "dragoman: absent.json: No such file or directory\n"),
        (
            ("-", "--dialect", "klingon"),
            CLEAN,
            "dragoman: --dialect: there is no dialect 'klingon'",
        ),
        (("-",), b"{}", "dragoman: -: the dialect could not be detected. Name it with --dialect.\n"),
    ],
)
def test_misuse_is_exit_2(arguments: tuple[str, ...], stdin: bytes, message: str) -> None:
    done = run(*arguments, stdin=stdin)
    assert done.exit_code == 2
    assert done.stderr.startswith(message)


def test_fix_repairs_the_file_and_keeps_its_layout(tmp_path: Path) -> None:
    spread, tight, clean = tmp_path / "spread.json", tmp_path / "tight.json", tmp_path / "clean.json"
    spread.write_bytes(msgspec.json.format(msgspec.json.encode(UNANSWERED), indent=2) + b"\n")
    tight.write_bytes(msgspec.json.encode(UNANSWERED))
    clean.write_bytes(CLEAN)
    done = run("--fix", str(spread), str(tight), str(clean))
    assert (done.exit_code, done.stdout) == (0, "Nothing found in 3 documents.\n")
    assert done.stderr.splitlines()[-1] == "Repaired 2 documents."
    one: Any = msgspec.json.decode(spread.read_bytes())
    assert one == msgspec.json.decode(tight.read_bytes())
    assert [message["role"] for message in one["messages"]] == ["user", "assistant", "tool", "user"]
    assert spread.read_bytes().startswith(b'{\n  "model"') and spread.read_bytes().endswith(b"}\n")
    assert b"\n" not in tight.read_bytes()
    assert clean.read_bytes() == CLEAN


def test_fix_of_standard_input_goes_to_standard_output() -> None:
    done = run("--fix", "-", stdin=msgspec.json.encode(UNANSWERED))
    assert done.exit_code == 0
    assert len(msgspec.json.decode(done.stdout)["messages"]) == 4
    assert "Nothing found in 1 document." in done.stderr


def test_fix_does_not_change_an_unreadable_file() -> None:
    done = run("--fix", "--dialect", "openai-chat", "-", stdin=b"{")
    assert (done.exit_code, done.stdout) == (1, "{")
    assert "ALL-000 error: not valid JSON: it ends too early, at line 1, column 2" in done.stderr


def test_values_have_line_numbers() -> None:
    text = b'{\n "a": [\n  1,\n  {"b/c": "x:,[{\\"\\n"},\n  [2,\n   3]\n ],\n "d": null\n}'
    wanted = {"", "/a", "/a/0", "/a/1", "/a/1/b~1c", "/a/2/1", "/d", "/a/9", "/nowhere/at/all"}
    assert lines_of(text, wanted) == {
        "": 1,
        "/a": 2,
        "/a/0": 3,
        "/a/1": 4,
        "/a/1/b~1c": 4,
        "/a/2/1": 6,
        "/d": 8,
        "/a/9": 2,
        "/nowhere/at/all": 1,
    }
    for odd in (b'}] "\\x": , : [', b'{"\\x": 1', b"{1", b"[]]", b'{"a" "b"}'):
        assert lines_of(odd, {"/b/0"}) == {"/b/0": 1}


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b'[{"name":"a b","inputSchema":{"type":"object"}}]', "MCP-001"),
        (b'{"tools":[{"name":"a"}]}', "MCP-002"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}}', "MCP-008"),
        (b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}', "MCP-007"),
        (b"7", "ALL-000"),
        (b"{", "ALL-000"),
    ],
)
def test_mcp_documents_are_detected(body: bytes, rule: str) -> None:
    done = run("--dialect", "mcp", "--fix", "-", stdin=body)
    assert done.exit_code == 1
    assert rule in done.output


def test_mcp_has_no_streams() -> None:
    assert run("--dialect", "mcp", "--kind", "stream", "-", stdin=b"{}").exit_code == 2


@pytest.mark.parametrize("body", [b'{"tools":1.5}', b'{"messages":[{"role":[]}]}', b'{"input":[{"type":[]}]}'])
def test_odd_documents_give_no_traceback(body: bytes) -> None:
    done = run("-", stdin=body)
    assert done.exit_code in (1, 2) and isinstance(done.exception, SystemExit)


def test_a_rule_set_is_selected_by_its_name() -> None:
    schema = {"type": "object", "properties": {"file_path": {"type": "string"}}}
    body = msgspec.json.encode([{"name": "read_file", "input_schema": schema}])
    arguments = ("--dialect", "anthropic", "--kind", "tools")
    assert run(*arguments, "-", stdin=body).exit_code == 0
    done = run(*arguments, "--rule-set", "seeds", "-", stdin=body)
    assert done.exit_code == 1 and "SEED-041" in done.stdout
