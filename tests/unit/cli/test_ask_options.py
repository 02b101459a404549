"""Options of `dragoman ask`: settings of the requests, tools, attachments, tokens."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.canon import Media, Settings
from dragoman.cli.attachments import mime_of, read_attachment
from dragoman.cli.request_setting_options import NAMES, own_options, settings_of
from dragoman.errors import ConfigError
from tests.unit.cli.conftest import Runs
from tests.unit.cli.fake_upstream import fake_upstream

PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff"


@pytest.fixture
def model() -> str:
    return "rehearsal/rules"


VALUES = {
    "max_tokens": ("5", 5),
    "temperature": ("0.2", 0.2),
    "top_p": ("1", 1.0),
    "top_k": ("40", 40.0),
    "stop": ('["a", "b"]', ("a", "b")),
    "seed": ("7", 7),
    "presence_penalty": ("-0.5", -0.5),
    "frequency_penalty": ("0.5", 0.5),
    "n": ("1", 1),
    "logprobs": ("true", True),
    "top_logprobs": ("3", 3),
    "parallel": ("false", False),
    "effort": ("high", "high"),
    "budget": ("1024", 1024),
    "thoughts": ("false", False),
    "verbosity": ("low", "low"),
    "user": ("123", "123"),
    "metadata": ('{"a": "b"}', {"a": "b"}),
    "tier": ("flex", "flex"),
    "cache_key": ("k", "k"),
    "cache": ("5m", "5m"),
    "compact_at": ("1000", 1000),
}


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_read_with_its_type(name: str) -> None:
    text, value = VALUES[name]
    assert getattr(settings_of({name: text}), name) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("temperature=warm", "temperature"),
        ("max_tokens=1.5", "max_tokens"),
        ("parallel=perhaps", "parallel"),
        ("effort=much", "effort"),
        ("metadata=[]", "metadata"),
        ("temprature=1", "temprature"),
        ("format={}", "format"),
        ("temperature", "NAME=VALUE"),
    ],
)
def test_a_wrong_setting_is_named(runs: Runs, text: str, problem: str) -> None:
    done = runs("ask", "-o", text, "Hello")
    assert done.exit_code == 2 and problem in done.stderr and done.stdout == ""


def test_a_setting_may_be_given_only_once() -> None:
    with pytest.raises(ConfigError, match="by -o and by --effort"):
        own_options(["effort=low"], effort="high")
    with pytest.raises(ConfigError, match="given twice"):
        own_options(["seed=1", "seed=2"])
    assert settings_of(own_options(["stop=END"], effort="high"), effort="high") == Settings(
        thoughts=True, effort="high", stop=("END",)
    )


def test_settings_and_tools_reach_the_upstream(runs: Runs, home: Path) -> None:
    with fake_upstream() as upstream:
        words = ["--tool", "read_file", "--tools", "glob,read_file", "--usage", "--budget-tokens", "9999"]
        settings = ["-o", "temperature=0.2", "--max-tokens", "77", "-o", "seed=3"]
        done = runs("ask", "Hello", "-m", "fake/one", "--config", upstream.config(home), *settings, *words)
    assert (done.exit_code, done.stdout) == (0, "Hello.\n")
    sent = upstream.requests[0]
    assert (sent["temperature"], sent["seed"]) == (0.2, 3)
    assert 77 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["read_file", "glob"]
    assert "1,234 tokens in · 5 tokens out · cost unknown" in done.stderr


def test_the_cost_of_a_run_is_shown_by_the_prices_of_the_user(runs: Runs, home: Path) -> None:
    prices = '[models."fake/*"]\ninput_price = 1000\noutput_price = 2000\n'
    with fake_upstream() as upstream:
        done = runs(
            "ask", "Hello", "-m", "fake/one", "--no-tools", "--usage", "--config", upstream.config(home, prices)
        )
        lines = runs(
            "ask", "Hello", "-m", "fake/one", "--no-tools", "--json", "--config", upstream.config(home, prices)
        )
    assert "5 tokens out · $1.24" in done.stderr
    assert json.loads(lines.stdout.splitlines()[-1])["cost"] == pytest.approx(1.244)


@pytest.mark.parametrize("option", ["--tokens", "--budget-tokens"])
def test_the_limit_of_tokens_has_a_new_and_a_former_option(runs: Runs, option: str) -> None:
    Path("notes.txt").write_text("A dragoman was an interpreter.")
    done = runs("ask", f"Read the file {Path.cwd()}/notes.txt", option, "1")
    assert ("--budget-tokens" in done.stderr) is (option == "--tokens")
    assert done.exit_code == 1 and "the limit of tokens is reached" in done.stderr


def _sent_media(runs: Runs, home: Path, *words: str | Path, input: bytes | str = "") -> list[dict[str, Any]]:
    with fake_upstream() as upstream:
        done = runs("ask", *words, "-m", "fake/one", "--no-tools", "--config", upstream.config(home), input=input)
    assert done.exit_code == 0, done.stderr
    content = upstream.requests[0]["messages"][-1]["content"]
    return [part for part in content if part["type"] != "text"]


def test_attachments_are_sent_with_the_message(runs: Runs, home: Path) -> None:
    file = home / "a.png"
    file.write_bytes(PICTURE)
    data = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"
    for words, input in ((("--attach", file), ""), (("--image", file), ""), (("--attach", "-"), PICTURE)):
        assert _sent_media(runs, home, "What is this?", *words, input=input)[0]["image_url"]["url"] == data
    address = "https://example.org/b.jpg?size=2"
    assert _sent_media(runs, home, "And this?", "--attach", address)[0]["image_url"]["url"] == address


@pytest.mark.parametrize("value", ["nowhere.png", "https://example.org/picture", "-"])
def test_an_attachment_that_cannot_be_sent_is_named(runs: Runs, value: str) -> None:
    done = runs("ask", "What is this?", "--attach", value)
    assert done.exit_code == 2 and value in done.stderr


def test_the_type_of_an_attachment_can_be_given(tmp_path: Path) -> None:
    assert read_attachment("image/webp:https://example.org/x") == Media(
        "image", "image/webp", url="https://example.org/x", name="x"
    )
    (tmp_path / "nameless").write_bytes(PICTURE)
    assert read_attachment(str(tmp_path / "nameless")).mime == "image/png"
    assert read_attachment(f"image/gif:{tmp_path / 'nameless'}").mime == "image/gif"


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (PICTURE, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBP", "image/webp"),
        (b"RIFF\x00\x00\x00\x00WAVE", "audio/wav"),
        (b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
        (b"\x00\x00\x00\x18ftypheic", "image/heic"),
        (b"%PDF-1.7", "application/pdf"),
        ("Grüße".encode(), "text/plain"),
        (b"\x00\x01", ""),
        (b"\xfe\xfe", ""),
    ],
)
def test_the_type_of_a_file_is_detected_from_its_first_bytes(data: bytes, mime: str) -> None:
    assert mime_of(data) == mime


def test_a_chat_sends_its_attachment_with_the_first_message(runs: Runs, home: Path) -> None:
    file = home / "a.png"
    file.write_bytes(PICTURE)
    with fake_upstream() as upstream:
        chosen = ["-m", "fake/one", "--config", upstream.config(home)]
        done = runs("chat", *chosen, "--attach", file, input="What is this?\n")
        refused = runs("chat", *chosen, "--attach", "-", input="What is this?\n")
    assert done.exit_code == 0, done.stderr
    parts = upstream.requests[-1]["messages"][-1]["content"]
    assert "image_url" in [part["type"] for part in parts]
    assert refused.exit_code == 2 and "--attach -" in refused.stderr


def test_the_instructions_of_the_project_are_sent_and_named(runs: Runs, home: Path) -> None:
    Path("AGENTS.md").write_text("Use tabs.")
    Path("notes.txt").write_text("A dragoman was an interpreter.")
    with fake_upstream() as upstream:
        words = ["ask", "Hello", "-m", "fake/one", "--config", upstream.config(home)]
        done = runs(*words, "--full-context")
        without = runs(*words, "--no-instructions")
    assert f"instructions of the project: {Path('AGENTS.md').resolve()}" in done.stderr
    first, second = [json.dumps(request["messages"]) for request in upstream.requests]
    assert "Use tabs." in first and "A dragoman was an interpreter." in first
    assert "Use tabs." not in second and "instructions of the project" not in without.stderr


def test_remembered_facts_come_from_the_file_that_the_user_names(runs: Runs, home: Path) -> None:
    file = home / "GEMINI.md"
    file.write_text("## Gemini Added Memories\n- I like tea.\n")
    file.chmod(0o600)
    with fake_upstream() as upstream:
        runs("ask", "Hello", "-m", "fake/one", "--memory", file, "--config", upstream.config(home))
    assert "I like tea." in upstream.requests[0]["messages"][0]["content"]


def test_a_missing_conversation_is_an_error(runs: Runs) -> None:
    assert "there is no earlier conversation in this folder." in runs("ask", "--continue", "hi").stderr
    assert "there is no conversation abc." in runs("ask", "--session", "abc", "hi").stderr
