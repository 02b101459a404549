"""`dragoman convert`: files in, files out, a summary on standard error, exit 0, 1 or 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dragoman.cli.main import main

REQUEST = {"model": "claude-opus-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("in.jsonl")
    path.write_text(f"{json.dumps(REQUEST)}\n{json.dumps({**REQUEST, 'wish': 1})}\n")
    return path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["convert", *words])


def test_the_summary_names_each_loss_and_the_report_holds_the_same(source: Path) -> None:
    done = run(str(source), "--to", "openai-batch", "-o", "out.jsonl", "--report", "report.json")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    assert "reading in.jsonl as anthropic" in done.stderr
    assert "in.jsonl:2 /wish" in done.stderr
    assert "2 of 2 lines written to out.jsonl, 2 with losses" in done.stderr
    report = json.loads(Path("report.json").read_bytes())
    assert (report["lines_read"], report["lines_written"], report["lines_bad"]) == (2, 2, 0)
    assert report["files"] == [{"file": "in.jsonl", "format": "anthropic", "kind": "request"}]
    assert report["losses"][0] == {
        "code": "field.dropped",
        "severity": "warning",
        "effect": "dropped",
        "losses": 1,
        "lines": 1,
        "first": {"file": "in.jsonl", "line": 2, "path": "/wish", "detail": ""},
    }


def test_bad_lines_give_exit_1_and_name_the_side_file(source: Path) -> None:
    source.write_text(source.read_text() + "broken\n")
    done = run(str(source), "--to", "openai-chat", "-o", "out.jsonl")
    assert done.exit_code == 1
    assert "1 line is bad; see out.jsonl.bad.jsonl" in done.stderr
    assert json.loads(Path("out.jsonl.bad.jsonl").read_bytes())["line"] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "input 'bad.json': it is empty"),
        ("no", "input 'bad.json': at the beginning: not valid JSON: expected objects in a JSON array, got b'n'"),
    ],
)
def test_a_file_that_cannot_be_read_gets_the_reason(source: Path, text: str, message: str) -> None:
    Path("bad.json").write_text(text)
    done = run("bad.json", "--to", "gemini", "-o", "out.jsonl")
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr


def test_strict_names_the_line_and_writes_nothing(source: Path) -> None:
    done = run(str(source), "--to", "openai-chat", "-o", "out.jsonl", "--strict")
    assert done.exit_code == 1
    assert "in.jsonl, line 2: 1 losses beyond tolerance 'info': field.dropped at /wish" in done.stderr
    assert not list(Path().glob("out*"))


def test_a_dry_run_writes_nothing(source: Path) -> None:
    done = run(str(source), "--to", "gemini", "--dry-run")
    assert done.exit_code == 0
    assert "2 of 2 lines would be written" in done.stderr
    assert [path.name for path in Path().iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("in.jsonl", "--to", "nothing", "-o", "out"), "unknown format 'nothing'"),
        (("in.jsonl", "--to", "exchange", "-o", "out"), "can be read, but not written"),
        (("absent.jsonl", "--to", "gemini", "-o", "out"), "there is no such file"),
        (("in.jsonl", "--to", "gemini", "-o", "in.jsonl"), "also an input"),
        (("in.jsonl", "--to", "gemini", "-o", "out", "--max-line", "many"), "is not a size"),
        (("in.jsonl", "--to", "gemini"), "name the output with -o"),
        (("in.jsonl", "--to", "gemni", "-o", "out"), "Did you mean gemini?"),
    ],
)
def test_wrong_usage_gives_exit_2_and_advice(source: Path, words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_missing_model_is_explained(source: Path) -> None:
    source.write_text('{"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}\n')
    done = run(str(source), "--to", "openai-chat", "-o", "out.jsonl")
    assert "Name one with --model" in done.stderr
    done = run(str(source), "--to", "openai-chat", "-o", "out.jsonl", "--model", "gpt-5.2", "--force")
    assert "--model" not in done.stderr
    assert json.loads(Path("out.jsonl").read_bytes())["model"] == "gpt-5.2"


def test_model_names_of_another_provider_are_listed(source: Path) -> None:
    done = run(str(source), "--to", "openai-batch", "-o", "out.jsonl", "--report", "report.json")
    assert "hint: the output keeps model names of the source: claude-opus-5 (2 lines)" in done.stderr
    assert "--model claude-opus-5=NAME" in done.stderr
    assert json.loads(Path("report.json").read_bytes())["kept_models"] == {"claude-opus-5": 2}
    for words in (
        ("--model", "gpt-5.2"),
        ("--model", "claude-opus-5=gpt-5.2"),
        ("--model", "a=b", "--model", "gpt-5.2"),
    ):
        done = run(str(source), "--to", "openai-batch", "-o", "out.jsonl", "--force", *words)
        assert "model names of the source" not in done.stderr
        bodies = [json.loads(line)["body"] for line in Path("out.jsonl").read_bytes().splitlines()]
        assert [body["model"] for body in bodies] == ["gpt-5.2", "gpt-5.2"]


def test_known_models_and_formats_without_models_need_no_hint(source: Path) -> None:
    done = run(str(source), "--to", "gemini", "-o", "out.jsonl")
    assert "model names" not in done.stderr
    source.write_text(json.dumps({"model": "gpt-5.2", "messages": [{"role": "user", "content": "hi"}]}) + "\n")
    done = run(str(source), "--to", "openai-responses-batch", "-o", "out.jsonl", "--from", "openai-chat", "--force")
    assert done.exit_code == 0
    assert "model names" not in done.stderr


def test_names_of_models_are_checked(source: Path) -> None:
    for words in (("--model", "a", "--model", "b"), ("--model", "a="), ("--model", "=b")):
        done = run(str(source), "--to", "openai-batch", "-o", "out.jsonl", *words)
        assert (done.exit_code, "OLD=NEW" in done.stderr) == (2, True)


def test_the_formats_are_listed_with_their_sources(source: Path) -> None:
    done = run("--formats")
    assert done.exit_code == 0
    assert "sharegpt" in done.stdout
    assert "https://ai.google.dev/gemini-api/docs/batch-api" in done.stdout


def test_the_library_of_lines_loads_no_terminal_module() -> None:
    code = "import sys, dragoman.convert; sys.exit(bool({'click', 'rich', 'pyarrow', 'socket'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_terminal_shows_a_bar_with_lines_and_rate(source: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    source.write_text(f"{json.dumps(REQUEST)}\n" * 8_000)
    words = ["-m", "dragoman", "convert", str(source), "--to", "openai-chat", "-o", "out.jsonl", "--chunk-size", "32K"]
    child = pexpect.spawn(sys.executable, words, encoding="utf-8", dimensions=(30, 120), timeout=60)
    child.expect(r"[\d,]+ lines\s+[\d,]+ lines/s")
    child.expect("8,000 of 8,000 lines written to out.jsonl, 0 with losses")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
