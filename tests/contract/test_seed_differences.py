"""The page of differences from the seed documents: complete, well formed, and true. Each entry is checked against the
code, so an entry cannot outlive the difference, and a recipe cannot stop working unnoticed."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dragoman import tool_calls
from dragoman.canon import Media, Reasoning, Request, Seal, Settings, Text, Tool, ToolCall, ToolResult, Turn
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.errors import WireError
from dragoman.facts import profiles
from dragoman.runtime import Agent, Policy, builtin, tool
from dragoman.runtime.builtin_tools import search_file_content
from dragoman.runtime.builtin_tools.google_web_search import Endpoint, GoogleWebSearch
from dragoman.runtime.builtin_tools.save_memory import FILE, SECTION
from dragoman.runtime.events import Finished, ToolCallResponse, as_line
from dragoman.runtime.fit_request_to_upstream import exported
from dragoman.runtime.history import curated, sealed
from dragoman.runtime.mcp import tool_names
from dragoman.runtime.shells import usual_shell
from dragoman.runtime.system_prompt import ACKNOWLEDGED, opening
from dragoman.runtime.tool_interface import Confirmation, Outcome, ToolEnvironment
from dragoman.runtime.toolbox import as_result
from dragoman.runtime.upstreams import user_agent
from tests.oracles import corpus

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "seeds-differences.md"
LABELS = ("Seeds", "Here", "Why", "To get it")
CHECKS: dict[str, Callable[[], None]] = {}


def difference(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """The check of one entry of the page."""

    def made(check: Callable[[], None]) -> Callable[[], None]:
        CHECKS[name] = check
        return check

    return made


def entries() -> dict[str, dict[str, str]]:
    """The entries of the page, each with its four lines."""
    found: dict[str, dict[str, str]] = {}
    for block in re.split(r"^### ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("\n")
        lines = re.findall(r"^- (.+?): (.+)$", body.partition("\n## ")[0], re.MULTILINE)
        found[name.strip()] = dict(lines)
        assert tuple([label for label, _ in lines]) == LABELS, name
    return found


def sent(dialect: str, model: str, request: Request | None = None, **settings: Any) -> Any:
    """A request of the agent as the upstream gets it."""
    system = Turn("system", (Text("Be brief."),))
    usual = Request((system, Turn("user", (Text("Hello"),))), tools=(Tool("t", "d", '{"type":"object"}'),))
    body, _ = exported(replace(request or usual, settings=Settings(**settings)), dialect, model)
    return json.loads(body)


def test_the_list_is_complete_and_every_entry_has_four_lines() -> None:
    assert set(entries()) == set(CHECKS)


def test_every_entry_says_which_document_and_the_documents_say_so() -> None:
    seeds = {path.name[:3]: path.read_text() for path in corpus.require_shared("seeds").glob("*.txt")}
    strange = []
    for name, lines in entries().items():
        document, _, words = lines["Seeds"].partition(", ")
        assert document in seeds, name
        plain = " ".join(seeds[document].split())
        for quoted in re.findall(r"`([^`]+)`", words):
            pieces = [" ".join(piece.split()) for piece in quoted.split("...")]
            strange += [(name, piece) for piece in pieces if piece not in plain]
    assert strange == []


def test_every_name_in_the_documents_is_in_the_source_or_on_the_page() -> None:
    root = PAGE.parents[2]
    ours = [path for path in (root / "src").rglob("*") if path.suffix in (".py", ".json", ".md")]
    known = "\n".join([PAGE.read_text(), *[path.read_text() for path in ours]])
    strange = set()
    for path in corpus.require_shared("seeds").glob("*.txt"):
        text = path.read_text()
        for name in {
            *re.findall(r"`([A-Za-z_][\w.\-\[\]]{2,40})`", text),
            *re.findall(r'"([A-Za-z_]\w{2,40})"\s*:', text),
        }:
            if name.split(".")[-1].replace("[]", "") not in known:
                strange.add(name)
    assert strange == set()


@pytest.mark.parametrize("name", sorted(entries()))
def test_an_entry_is_true(name: str) -> None:
    CHECKS[name]()


@difference("user-agent")
def _() -> None:
    assert re.fullmatch(r"dragoman/\S+ \(\w+; \w+\)", user_agent())


@difference("privileged-user-id")
def _() -> None:
    assert get("gemini").endpoints().agent.headers is None  # tests/unit/agent/test_own_requests.py has the recipe


@difference("code-assist-absent-fields")
def _() -> None:
    assert not {"cachedContent", "toolConfig", "labels", "safetySettings"} & set(
        sent("code-assist", "gemini-2.5-pro")["request"]
    )


@difference("code-assist-system-instruction")
def _() -> None:
    assert sent("code-assist", "gemini-2.5-pro")["request"]["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    own = {"model": "m", "request": {"contents": [], "systemInstruction": {"text": "Be brief."}}}
    read = get("code-assist").read_request(json.dumps(own).encode(), Context("code-assist", "anthropic"))
    assert read.turns[0] == Turn("system", (Text("Be brief.", at=read.turns[0].parts[0].at),), at=read.turns[0].at)


@difference("sampling-for-gemini")
def _() -> None:
    old = sent("code-assist", "gemini-2.0-flash", thoughts=True)["request"].get("generationConfig", {})
    assert "temperature" not in old and "thinkingBudget" not in str(old)
    chosen = sent("code-assist", "gemini-2.0-flash", temperature=0.0, top_p=1.0)["request"]["generationConfig"]
    assert (chosen["temperature"], chosen["topP"]) == (0, 1)


@difference("claude-max-tokens")
def _() -> None:
    assert sent("anthropic", "claude-opus-5")["max_tokens"] > 0
    assert sent("anthropic", "claude-opus-5", max_tokens=7)["max_tokens"] == 7


@difference("responses-strict")
def _() -> None:
    assert sent("openai-responses", "gpt-5")["tools"][0]["strict"] is False


@difference("developer-role")
def _() -> None:
    assert sent("openai-chat", "gpt-5")["messages"][0]["role"] == "developer"
    assert sent("openai-chat", "gpt-4.1")["messages"][0]["role"] == "system"
    row = {"dialects": ["openai-chat"], "match": ["gpt-5"], "facts": {"reasoning": False}, "source": "-", "date": "-"}
    with profiles.load([row]):
        assert sent("openai-chat", "gpt-5")["messages"][0]["role"] == "system"


@difference("local-shell")
def _() -> None:
    assert "local_shell" not in [one.name for one in builtin()]


@difference("anthropic-web-search")
def _() -> None:
    assert "web_search" in {row.family for row in get("anthropic").hosted}
    assert GoogleWebSearch(Endpoint("https://a.example/{query}")).needs_hosted == ""


@difference("web-search-offered")
def _() -> None:
    assert GoogleWebSearch().needs_hosted == "web_search"  # tests/unit/runtime/test_search_service.py has the rest


def _picture_result(dialect: str, model: str) -> str:
    call = Turn("assistant", (ToolCall("c1", "read_file", "{}"),))
    picture = Media("image", "image/png", data="aGk=")
    result = Turn("tool", (ToolResult("c1", (Text("Binary content of type image/png was processed."), picture)),))
    return str(sent(dialect, model, Request((Turn("user", (Text("Look"),)), call, result))))


@difference("binary-results")
def _() -> None:
    for dialect, model in (("anthropic", "claude-opus-5"), ("openai-responses", "gpt-5"), ("openai-chat", "gpt-5")):
        assert "aGk=" in _picture_result(dialect, model)


@difference("error-results")
def _() -> None:
    failed = ToolResult("c1", (Text("no"),), "look", True)
    assert b'"response":{"error":"no"}' in as_line(ToolCallResponse("c1", "look", (failed,)))


@difference("one-part-results")
def _() -> None:
    assert as_result(ToolCall("c1", "t"), Outcome((Text("a"),))).parts == (Text("a"),)
    first = as_result(ToolCall("c1", "t"), Outcome((Text("a"), Text("b")))).parts[0]
    assert first == Text("Tool execution succeeded.")


@difference("output-metadata")
def _() -> None:
    assert as_result(ToolCall("c1", "t"), Outcome("README.md")).parts == (Text("README.md"),)


@difference("thoughts-in-history")
def _() -> None:
    kept = Reasoning("why", seal=Seal("anthropic", "x"))
    assert curated((Reasoning("why"), kept), sealed) == (kept,)


@difference("opening-words")
def _() -> None:
    first, second = opening((Path("/nowhere"),), date(2026, 11, 18))
    text = first.parts[0].text  # type: ignore[attr-defined]
    assert text.startswith("We are setting up the context") and "Gemini" not in text
    assert second.parts == (Text(ACKNOWLEDGED),) and ACKNOWLEDGED == "Got it. Thanks for the context!"


@difference("ide-context")
def _() -> None:
    assert "diffs" in inspect.signature(Agent).parameters and "ide" not in inspect.signature(Agent).parameters


@difference("ollama-call-ids")
def _() -> None:
    calls = [{"function": {"name": "add", "arguments": {"a": 1}}}] * 2
    answer = {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": True}
    ids = [[call.id for call in tool_calls(answer, dialect="ollama")] for _ in range(2)]
    assert ids[0] == ids[1] and len(set(ids[0])) == 2


def _words(name: str, arguments: Any, folder: Path) -> str:
    found = asyncio.run(builtin(name)[0].run(arguments, ToolEnvironment((folder,))))
    assert isinstance(found.content, str)
    return found.content


@difference("edit-words")
def _() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        path = str(folder / "NEW.txt")
        wrote = _words("write_file", {"file_path": path, "content": "hello"}, folder)
        edit = {"file_path": path, "old_string": "hello", "new_string": "there"}
        assert wrote == f"Successfully created and wrote to new file: {path}."
        assert _words("replace", edit, folder) == f"Successfully modified file: {path} (1 replacements)."


@difference("search-lines")
def _() -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "a.ts").write_text("// TODO\n")
        found = _words("search_file_content", {"pattern": "TODO"}, Path(name).resolve())
        assert "File: a.ts\nL1: // TODO" in found


@difference("read-many-files")
def _() -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "a.txt").write_text("one\n")
        assert _words("read_many_files", {"paths": ["a.txt"]}, Path(name).resolve()).startswith("--- a.txt ---\none\n")


@difference("search-programs")
def _() -> None:
    text = inspect.getsource(search_file_content)
    assert '"rg"' in text and "git grep" not in text


@difference("memory-file")
def _() -> None:
    assert (FILE, SECTION) == ("memory.md", "## Added memories")  # the recipe: test_project_instructions.py


COMMAND = Confirmation("List", "run", command="ls -la", roots=("ls",))
EXEC = Confirmation("Find", "run", command="find . -exec sh {} ;", roots=("find", "sh"))


@difference("auto-edit")
def _() -> None:
    assert Policy("edits").judge("run_shell_command", "run", COMMAND).word == "ask"
    assert Policy("edits", ["run_shell_command"]).judge("run_shell_command", "run", COMMAND).word == "run"


@difference("root-command")
def _() -> None:
    assert Policy("ask", ["run_shell_command(find)"]).judge("run_shell_command", "run", EXEC).word == "ask"
    assert Policy("ask", ["run_shell_command"]).judge("run_shell_command", "run", EXEC).word == "run"


@difference("windows-shell")
def _() -> None:
    assert usual_shell("win32").start == ("cmd.exe", "/c")


@difference("codex-tools")
def _() -> None:
    names = [one.name for one in builtin()]
    assert "shell" not in names and "absolute_path" in builtin("read_file")[0].schema["properties"]

    @tool
    def shell(command: list[str]) -> str:
        """Runs a command."""
        return " ".join(command)

    assert shell.schema["properties"]["command"]["items"] == {"type": "string"}


@difference("tool-descriptions")
def _() -> None:
    assert all(one.description for one in builtin())


@difference("mcp-long-names")
def _() -> None:
    name = "a" * 40 + "b" * 40
    assert tool_names.legal(name) == "a" * 28 + "___" + "b" * 32
    assert "___" not in tool_names.chosen("s", name, {tool_names.legal(name), tool_names.qualified("s", name)})


@difference("other-sse-lines")
def _() -> None:
    reader = get("code-assist").reader(Context("code-assist", "runtime"))
    frame = b'data: {"response":{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}}\n\n'
    events = [*reader.feed(b": keep-alive\n\nevent: x\n" + frame), *reader.close()]
    assert type(events[-1]).__name__ == "Finish"


@difference("strict-parsing")
def _() -> None:
    function = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [function]}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "model": "m"}
    assert [call.name for call in tool_calls(answer, dialect="openai-chat")] == ["look"]
    with pytest.raises(WireError, match="finish_reason"):
        tool_calls(answer, dialect="openai-chat", strict=True)


@difference("finish-reasons")
def _() -> None:
    assert b'"finishReason":"stop"' in as_line(Finished("stop"))


@difference("python-names")
def _() -> None:
    assert Outcome.__struct_fields__ == ("content", "display", "failure")
    line = as_line(ToolCallResponse("c1", "t", (ToolResult("c1", (Text("x"),), "t"),), "shown"))
    assert b'"responseParts":' in line and b'"resultDisplay":"shown"' in line
