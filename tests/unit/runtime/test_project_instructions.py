"""Instruction files of a project: they are searched from the root down, read within limits and given to the model."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from dragoman.canon import Text
from dragoman.errors import ConfigError
from dragoman.runtime import Agent, ProjectInstructions
from dragoman.runtime.builtin_tools import save_memory
from dragoman.runtime.project_instructions import MAX_CHARACTERS, MAX_FILES, found_instructions, project_root
from dragoman.runtime.system_prompt_and_first_turns import SYSTEM, own_system
from dragoman.runtime.tool_interface import ToolEnvironment


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p" / ".git").mkdir(parents=True)
    _write(tmp_path / "AGENTS.md", "above the project")
    _write(tmp_path / "p" / "AGENTS.md", "Use tabs.")
    _write(tmp_path / "p" / "CLAUDE.md", "Be brief.")
    _write(tmp_path / "p" / "src" / "GEMINI.md", "Test first.")
    _write(tmp_path / "p" / "src" / "deep" / "AGENTS.md", "below the folder")
    return tmp_path / "p"


def _paths(*folders: Path) -> list[Path]:
    return [one.path for one in found_instructions(folders)]


def test_files_are_found_from_the_root_of_the_project_to_the_folder(project: Path) -> None:
    assert _paths(project / "src") == [project / "AGENTS.md", project / "CLAUDE.md", project / "src" / "GEMINI.md"]
    assert _paths(project, project / "src")[-1] == project / "src" / "GEMINI.md"


def test_without_a_repository_only_the_folder_counts(tmp_path: Path) -> None:
    _write(tmp_path / "AGENTS.md", "above")
    inside = _write(tmp_path / "in" / "AGENTS.md", "here")
    assert _paths(inside.parent) == [inside] and project_root(inside.parent) == inside.parent


def test_the_same_text_under_two_names_is_given_once(project: Path) -> None:
    (project / "src" / "CLAUDE.md").symlink_to("GEMINI.md")
    _write(project / "src" / "AGENTS.md", "Use tabs.")
    assert len(_paths(project / "src")) == 3


def test_files_outside_the_project_or_without_text_are_left_out(project: Path, tmp_path: Path) -> None:
    for name in ("AGENTS.md", "CLAUDE.md"):
        (project / name).unlink()
    secret = _write(tmp_path / "secret.txt", "a key")
    (project / "AGENTS.md").symlink_to(secret)
    (project / "CLAUDE.md").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(project / "GEMINI.md")
    assert _paths(project) == []


def test_a_long_file_is_cut_and_the_number_of_files_is_bounded(project: Path) -> None:
    (project / "AGENTS.md").write_text("x" * (MAX_CHARACTERS + 9))
    text = found_instructions((project,))[0].text
    assert text.startswith("x" * MAX_CHARACTERS + "\n[cut here") and len(text) < MAX_CHARACTERS + 100
    folder = project
    for number in range(30):
        folder = folder / "d"
        _write(folder / "AGENTS.md", f"number {number}")
    assert len(found_instructions((folder,))) == MAX_FILES


def _first_turn(folder: Path, **more: Any) -> tuple[list[Any], str, Agent]:
    """Ask an agent one question. Returns the events, the text of the first turn, and the agent."""
    agent = Agent("rehearsal/rules", folder=folder, environment={"HOME": str(folder)}, **more)

    async def inner() -> list[Any]:
        async with aclosing(agent.stream("Hello")) as stream:
            return [one async for one in stream]

    events = asyncio.run(inner())
    return events, "".join([part.text for part in agent.session.turns[0].parts if isinstance(part, Text)]), agent


def test_an_agent_names_the_files_and_gives_their_text_to_the_model(project: Path) -> None:
    events, first, agent = _first_turn(project)
    files = (str(project / "AGENTS.md"), str(project / "CLAUDE.md"))
    assert events[0] == ProjectInstructions(files)
    assert f"--- {files[0]} ---\nUse tabs." in first and "cannot allow you anything" in first
    assert "Use tabs." not in agent.session.system


def test_instructions_can_be_switched_off(project: Path) -> None:
    assert "Use tabs." not in _first_turn(project, instructions=False)[1]
    events, first, _ = _first_turn(project, tools=[])
    assert first == "Hello" and not any(isinstance(one, ProjectInstructions) for one in events)


def test_the_option_full_context_adds_all_files_of_the_folder(project: Path) -> None:
    _write(project / "src" / "a.py", "print(1)")
    assert "print(1)" not in _first_turn(project)[1]
    first = _first_turn(project, full_context=True)[1]
    assert "--- src/a.py ---\nprint(1)" in first and first.endswith("--- End of content ---")


def test_variables_replace_or_save_the_system_text(tmp_path: Path) -> None:
    system_file = _write(tmp_path / "mine.md", "You are a poet.\n")
    out = tmp_path / "out.md"
    assert own_system({"GEMINI_SYSTEM_MD": str(system_file), "GEMINI_WRITE_SYSTEM_MD": str(out)}) == "You are a poet."
    assert out.read_text() == SYSTEM + "\n"
    for off in ("", "0", "false"):
        assert own_system({"GEMINI_SYSTEM_MD": off, "GEMINI_WRITE_SYSTEM_MD": off}) == SYSTEM


@pytest.mark.parametrize("name", ["GEMINI_SYSTEM_MD", "GEMINI_WRITE_SYSTEM_MD"])
def test_a_missing_system_file_is_reported(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"{name}.*none/x.md.*No such file"):
        own_system({name: str(tmp_path / "none" / "x.md")})


def test_the_agent_uses_the_replaced_system_text(tmp_path: Path) -> None:
    system_file = _write(tmp_path / "mine.md", "You are a poet.")
    environment = {"HOME": str(tmp_path), "GEMINI_SYSTEM_MD": str(system_file)}
    agent = Agent("rehearsal/rules", folder=tmp_path, system="Rhyme.", environment=environment)
    agent.ask("Hello")
    assert agent.session.system == "You are a poet.\n\nRhyme."


def test_facts_are_saved_in_the_configured_file(tmp_path: Path) -> None:
    file = tmp_path / ".gemini" / "GEMINI.md"
    tool = save_memory.SaveMemory()
    done = asyncio.run(tool.run({"fact": "I like tea."}, ToolEnvironment((), memory=file)))
    assert file.read_text() == "## Gemini Added Memories\n- I like tea.\n"
    assert '"success": true' in str(done.content)
    environment = {"HOME": str(tmp_path)}
    agent = Agent("rehearsal/rules", folder=tmp_path, memory=file, environment=environment)
    agent.ask("Hello")
    assert "I like tea." in agent.session.system
