"""The page of differences from the seed documents is complete, well formed and true.

Each entry has a check of the code. So an entry cannot stay after its difference is gone, and a recipe cannot stop
working unnoticed.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dragoman import tool_calls, translate_request
from dragoman.canon import Media, Reasoning, Request, Seal, Settings, Text, Tool, ToolCall, ToolResult, Turn
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.errors import WireError
from dragoman.facts import profiles
from dragoman.runtime import Agent, DiffUpdate, Policy, SearchService, builtin, tool
from dragoman.runtime.builtin_tools.google_web_search import GoogleWebSearch, SearchEndpoint
from dragoman.runtime.builtin_tools.read_file import ReadFile
from dragoman.runtime.events import Finished, ToolCallResponse, as_line
from dragoman.runtime.history import is_sealed, kept_parts
from dragoman.runtime.mcp import tool_names
from dragoman.runtime.models_of_upstreams import user_agent
from dragoman.runtime.seals_ids_and_names_for_upstream import export_request
from dragoman.runtime.shells import usual_shell
from dragoman.runtime.tool_interface import Confirmation, FileDiff, Outcome, ToolEnvironment
from dragoman.runtime.toolbox import as_result
from tests.contract.agent_on_scripted_upstream import Arrived, agent_requests
from tests.oracles import exchanges

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "seeds-differences.md"
LABELS = ("Seeds", "Here", "Why", "To get it")
CHECKS: dict[str, Callable[[], None]] = {}


def difference(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register the check of one entry of the page."""

    def register(check: Callable[[], None]) -> Callable[[], None]:
        CHECKS[name] = check
        return check

    return register


def entries() -> dict[str, dict[str, str]]:
    """The entries of the page with their four lines."""
    found: dict[str, dict[str, str]] = {}
    for block in re.split(r"^### ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("\n")
        lines = re.findall(r"^- (.+?): (.+)$", body.partition("\n## ")[0], re.MULTILINE)
        found[name.strip()] = dict(lines)
        assert tuple([label for label, _ in lines]) == LABELS, name
    return found


def sent(dialect: str, model: str, request: Request | None = None, **settings: Any) -> Any:
    """A request of the agent as its upstream gets it."""
    system = Turn("system", (Text("Be brief."),))
    usual = Request((system, Turn("user", (Text("Hello"),))), tools=(Tool("t", "d", '{"type":"object"}'),))
    body, _ = export_request(replace(request or usual, settings=Settings(**settings)), dialect, model)
    return json.loads(body)


def requests_of_run(
    dialect: str = "gemini", model: str = "gemini-2.5-pro", call: Any = None, **options: Any
) -> list[Arrived]:
    """The requests of a whole run of the agent, in a new folder by default."""
    if "folder" in options:
        return agent_requests(options.pop("folder"), dialect, model, call, **options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "work"
        folder.mkdir()
        return agent_requests(folder, dialect, model, call, **options)


def _responses(arrived: Arrived) -> list[Any]:
    parts = [part for content in arrived.body["contents"] for part in content["parts"]]
    return [part["functionResponse"] for part in parts if "functionResponse" in part]


def _request_with_all_tools() -> Request:
    tools = tuple([Tool(one.name, one.description, json.dumps(one.schema)) for one in builtin()])
    return Request((Turn("user", (Text("Hello"),)),), tools=tools)


def _picture_file() -> Path:
    """A picture in a new folder."""
    file = Path(tempfile.mkdtemp()).resolve() / "work" / "a.png"
    file.parent.mkdir()
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(9))
    return file


def test_every_entry_has_four_lines_and_a_check() -> None:
    assert set(entries()) == set(CHECKS)


def test_every_entry_quotes_its_document_correctly() -> None:
    seeds = {path.name[:3]: path.read_text() for path in exchanges.require_shared("seeds").glob("*.txt")}
    unknown_names = []
    for name, lines in entries().items():
        document, _, words = lines["Seeds"].partition(", ")
        assert document in seeds, name
        plain = " ".join(seeds[document].split())
        for quoted in re.findall(r"`([^`]+)`", words):
            pieces = [" ".join(piece.split()) for piece in quoted.split("...")]
            unknown_names += [(name, piece) for piece in pieces if piece not in plain]
    assert unknown_names == []


def test_every_name_in_the_documents_is_in_the_source_or_on_the_page() -> None:
    root = PAGE.parents[2]
    source_files = [path for path in (root / "src").rglob("*") if path.suffix in (".py", ".json", ".md")]
    known = "\n".join([PAGE.read_text(), *[path.read_text() for path in source_files]])
    unknown_names = set()
    for path in exchanges.require_shared("seeds").glob("*.txt"):
        text = path.read_text()
        for name in {
            *re.findall(r"`([A-Za-z_][\w.\-\[\]]{2,40})`", text),
            *re.findall(r'"([A-Za-z_]\w{2,40})"\s*:', text),
        }:
            if name.split(".")[-1].replace("[]", "") not in known:
                unknown_names.add(name)
    assert unknown_names == set()


@pytest.mark.parametrize("name", sorted(entries()))
def test_an_entry_is_true(name: str) -> None:
    CHECKS[name]()


@difference("user-agent")
def _() -> None:
    assert re.fullmatch(r"dragoman/\S+ \(\w+; \w+\)", user_agent())
    assert requests_of_run()[0].headers["user-agent"] == user_agent()
    assert requests_of_run(headers={"User-Agent": "GeminiCLI/1"})[0].headers["user-agent"] == "GeminiCLI/1"


@difference("privileged-user-id")
def _() -> None:
    name = "x-gemini-api-privileged-user-id"
    assert name not in requests_of_run()[0].headers
    assert requests_of_run(headers={name: "installation"})[0].headers[name] == "installation"


@difference("code-assist-absent-fields")
def _() -> None:
    (arrived,) = requests_of_run("code-assist")
    absent = {"cachedContent", "toolConfig", "labels", "safetySettings"}
    assert not absent & set(arrived.body["request"]) and "null" not in json.dumps(arrived.body)


@difference("code-assist-system-instruction")
def _() -> None:
    assert sent("code-assist", "gemini-2.5-pro")["request"]["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    request = {"model": "m", "request": {"contents": [], "systemInstruction": {"text": "Be brief."}}}
    read = get("code-assist").read_request(json.dumps(request).encode(), Context("code-assist", "anthropic"))
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
    offered = json.dumps(sent("openai-responses", "gpt-5", _request_with_all_tools())["tools"])
    assert "run_shell_command" in offered and "local_shell" not in offered
    request = {"model": "gpt-5", "input": "Hi", "tools": [{"type": "local_shell"}]}
    carried = translate_request(request, source="openai-responses", target="openai-responses")
    assert json.loads(carried.body)["tools"] == [{"type": "local_shell"}]


@difference("anthropic-web-search")
def _() -> None:
    searches = requests_of_run("anthropic", "claude-opus-5", ("google_web_search", {"query": "tea"}), policy="all")
    assert [one["type"] for one in searches[1].body["tools"]] == ["web_search_20250305"]
    service = GoogleWebSearch(SearchEndpoint("https://a.example/{query}"))
    assert service.needs_hosted == "", "a search service needs no tool of the upstream"


@difference("web-search-offered")
def _() -> None:
    def offered(**options: Any) -> set[str]:
        (arrived,) = requests_of_run("openai-chat", "some-model", **options)
        return {one["function"]["name"] for one in arrived.body["tools"]}

    all_names = {one.name for one in builtin()}
    assert offered() == all_names - {"google_web_search"}
    assert offered(search=SearchService("searxng", "http://127.0.0.1:1")) == all_names


def _picture_result(dialect: str, model: str) -> str:
    call = Turn("assistant", (ToolCall("c1", "read_file", "{}"),))
    picture = Media("image", "image/png", data="aGk=")
    result = Turn("tool", (ToolResult("c1", (Text("Binary content of type image/png was processed."), picture)),))
    return str(sent(dialect, model, Request((Turn("user", (Text("Look"),)), call, result))))


@difference("binary-results")
def _() -> None:
    for dialect, model in (("anthropic", "claude-opus-5"), ("openai-responses", "gpt-5"), ("openai-chat", "gpt-5")):
        assert "aGk=" in _picture_result(dialect, model)
    picture = _picture_file()
    try:
        read = ("read_file", {"absolute_path": str(picture)})
        for binary, carried in (("native", True), ("summarise", False)):
            last = requests_of_run("anthropic", "claude-opus-5", read, folder=picture.parent, binary=binary)[-1]
            found = json.dumps(last.body["messages"])
            assert ("iVBORw0KGgo" in found) is carried
            assert "Binary content of type image/png was processed." in found
    finally:
        shutil.rmtree(picture.parent)


@difference("error-results")
def _() -> None:
    def plain(call: ToolCall, result: ToolResult) -> ToolResult:
        return replace(result, is_error=False)

    missing = ("list_directory", {"path": "absent"})
    (failed,) = _responses(requests_of_run(call=missing)[-1])
    assert list(failed["response"]) == ["error"]
    (same,) = _responses(requests_of_run(call=missing, after_call=plain)[-1])
    assert list(same["response"]) == ["output"] and "absent" in same["response"]["output"]


@difference("one-part-results")
def _() -> None:
    assert as_result(ToolCall("c1", "t"), Outcome((Text("a"),))).parts == (Text("a"),)
    first = as_result(ToolCall("c1", "t"), Outcome((Text("a"), Text("b")))).parts[0]
    assert first == Text("Tool execution succeeded.")


@difference("output-metadata")
def _() -> None:
    def with_metadata(call: ToolCall, result: ToolResult) -> ToolResult:
        (text,) = result.parts
        assert isinstance(text, Text)
        code = re.search(r"^Exit Code: (\d+)$", text.text, re.MULTILINE)
        assert code is not None
        whole = {"output": text.text, "metadata": {"exit_code": int(code[1])}}
        return replace(result, parts=(Text(json.dumps(whole)),))

    command = ("run_shell_command", {"command": "exit 3"})
    (usual,) = _responses(requests_of_run(call=command, policy="all")[-1])
    assert usual["response"]["output"].startswith("Command: exit 3\n")
    (changed,) = _responses(requests_of_run(call=command, policy="all", after_call=with_metadata)[-1])
    assert json.loads(changed["response"]["output"])["metadata"] == {"exit_code": 3}


@difference("thoughts-in-history")
def _() -> None:
    kept = Reasoning("why", seal=Seal("anthropic", "x"))
    assert kept_parts((Reasoning("why"), kept), is_sealed) == (kept,)


@difference("counted-thoughts")
def _() -> None:
    thinking = Turn("assistant", (Reasoning("why"), Text("Yes.")))
    context = Context("gemini", "code-assist", model="gemini-2.5-pro")
    request = Request((Turn("user", (Text("Hi"),)), thinking, Turn("user", (Text("And?"),))))
    body = get("code-assist").write_request(request, context)
    assert b"why" not in body and [loss.code for loss in context.losses.all()].count("reasoning.dropped") == 1


@difference("opening-words")
def _() -> None:
    def replace_opening(agent: Agent) -> None:
        agent.session.turns = (Turn("user", (Text("This is the Gemini CLI."),)), Turn("assistant", (Text("Got it."),)))

    first, second, question = requests_of_run()[0].body["contents"]
    assert first["parts"][0]["text"].startswith("We are setting up the context") and "Gemini" not in str(first)
    assert second == {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]}
    assert question["parts"] == [{"text": "Begin."}]
    texts = [one["parts"][0]["text"] for one in requests_of_run(prepare=replace_opening)[0].body["contents"]]
    assert texts == ["This is the Gemini CLI.", "Got it.", "Begin."]


@difference("ide-context")
def _() -> None:
    class Editor:
        """An editor in which the person has changed the text."""

        async def open(self, diff: FileDiff, /) -> DiffUpdate:
            return DiffUpdate("accepted", "changed in the editor")

    def add(agent: Agent) -> None:
        agent.session.turns = (Turn("user", (Text("The open file is a.py."),)), Turn("assistant", (Text("Yes."),)))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "work"
        folder.mkdir()
        write = ("write_file", {"file_path": str(folder / "a.txt"), "content": "from the model"})
        requests_of_run(call=write, folder=folder, diffs=Editor())
        assert (folder / "a.txt").read_text() == "changed in the editor"
    assert "open file" not in json.dumps(requests_of_run()[0].body) and "open file" in json.dumps(
        requests_of_run(prepare=add)[0].body
    )


@difference("ollama-call-ids")
def _() -> None:
    calls = [{"function": {"name": "add", "arguments": {"a": 1}}}] * 2
    answer = {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": True}
    ids = [[call.id for call in tool_calls(answer, dialect="ollama")] for _ in range(2)]
    assert ids[0] == ids[1] and len(set(ids[0])) == 2


def _result_text(name: str, arguments: Any, folder: Path) -> str:
    found = asyncio.run(builtin(name)[0].run(arguments, ToolEnvironment((folder,))))
    assert isinstance(found.content, str)
    return found.content


@difference("edit-words")
def _() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        path = str(folder / "NEW.txt")
        wrote = _result_text("write_file", {"file_path": path, "content": "hello"}, folder)
        edit = {"file_path": path, "old_string": "hello", "new_string": "there"}
        assert wrote == f"Successfully created and wrote to new file: {path}."
        assert _result_text("replace", edit, folder) == f"Successfully modified file: {path} (1 replacements)."


@difference("shell-report")
def _() -> None:
    def only_output(call: ToolCall, result: ToolResult) -> ToolResult:
        (text,) = result.parts
        assert isinstance(text, Text)
        output = text.text.partition("\nOutput: ")[2].partition("\nError: ")[0]
        return replace(result, parts=(Text(output),))

    command = ("run_shell_command", {"command": "echo README.md"})
    (usual,) = _responses(requests_of_run(call=command, policy="all")[-1])
    words = ["Command", "Directory", "Output", "Error", "Exit Code", "Signal", "Background PIDs", "Process Group PGID"]
    assert [line.partition(":")[0] for line in usual["response"]["output"].splitlines()] == words
    (short,) = _responses(requests_of_run(call=command, policy="all", after_call=only_output)[-1])
    assert short["response"] == {"output": "README.md"}


@difference("search-lines")
def _() -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "a.ts").write_text("// TODO\n")
        found = _result_text("search_file_content", {"pattern": "TODO"}, Path(name).resolve())
        assert "File: a.ts\nL1: // TODO" in found


@difference("read-many-files")
def _() -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "a.txt").write_text("one\n")
        found = _result_text("read_many_files", {"paths": ["a.txt"]}, Path(name).resolve())
        assert found == "--- a.txt ---\none\n--- End of content ---"


@difference("search-programs")
def _() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "work"
        folder.mkdir()
        (folder / "a.ts").write_text("// TODO\n")
        program = folder.parent / "bin" / "rg"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\ntouch '{folder}/was-run'\nexit 1\n")
        program.chmod(0o700)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", "/nowhere")
            assert "L1: // TODO" in _result_text("search_file_content", {"pattern": "TODO"}, folder), (
                "without any program"
            )
            patch.setenv("PATH", str(program.parent))
            _result_text("search_file_content", {"pattern": "TODO"}, folder)
        assert (folder / "was-run").exists(), "an installed ripgrep is used"


@difference("memory-file")
def _() -> None:
    fact = ("save_memory", {"fact": "Tea is green."})
    with tempfile.TemporaryDirectory() as name:
        home = Path(name).resolve()
        folder = home / "work"
        folder.mkdir()
        requests_of_run(call=fact, folder=folder, policy="all")
        default = home / ".config" / "dragoman" / "memory.md"
        assert default.read_text() == "## Added memories\n- Tea is green.\n"
        configured = home / ".gemini" / "GEMINI.md"
        requests_of_run(call=fact, folder=folder, policy="all", memory=configured)
        assert configured.read_text() == "## Gemini Added Memories\n- Tea is green.\n"


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
    shell = usual_shell("win32")
    assert shell.command("dir") == ("cmd.exe", "/c", "dir") and "start /b" in shell.description
    assert usual_shell("linux").command("ls") == ("bash", "-c", "ls")


@difference("codex-tools")
def _() -> None:
    names = [one.name for one in builtin()]
    assert "shell" not in names and "absolute_path" in builtin("read_file")[0].schema["properties"]

    @tool
    def shell(command: list[str]) -> str:
        """Runs a command."""
        return " ".join(command)

    first, second = requests_of_run(call=("shell", {"command": ["ls", "-F"]}), tools=[shell])
    (declared,) = first.body["tools"][0]["functionDeclarations"]
    assert declared["parametersJsonSchema"]["properties"]["command"]["items"] == {"type": "string"}
    assert _responses(second) == [{"id": "c1", "name": "shell", "response": {"output": "ls -F"}}]


@difference("tool-descriptions")
def _() -> None:
    class Reader(ReadFile):
        description = "Reads and returns the content of a specified file."

    def descriptions(**options: Any) -> dict[str, str]:
        (arrived,) = requests_of_run(**options)
        return {one["name"]: one["description"] for one in arrived.body["tools"][0]["functionDeclarations"]}

    assert all(descriptions().values())
    assert descriptions(tools=[Reader()]) == {"read_file": Reader.description}


@difference("mcp-long-names")
def _() -> None:
    name = "a" * 40 + "b" * 40
    assert tool_names.legal_name(name) == "a" * 28 + "___" + "b" * 32
    assert "___" not in tool_names.choose_name(
        "s", name, {tool_names.legal_name(name), tool_names.qualified_name("s", name)}
    )


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
