"""save_memory: the JSON of its result. The user's own text in the file is kept."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import ConfigError
from dragoman.runtime.builtin_tools import save_memory
from dragoman.runtime.builtin_tools.save_memory import SECTION, with_fact
from tests.unit.runtime.helpers import environment_for, failure, run, text_of


def test_the_result_is_json(tmp_path: Path) -> None:
    config = tmp_path / "config" / "dragoman"
    done = run("save_memory", {"fact": "My favorite color is blue"}, environment_for(tmp_path, config=config))
    assert text_of(done) == (
        '{ "success": true, "message": "Okay, I\'ve remembered that: \\"My favorite color is blue\\"" }'
    )
    assert msgspec.json.decode(text_of(done)) == {
        "success": True,
        "message": 'Okay, I\'ve remembered that: "My favorite color is blue"',
    }
    assert (config / "memory.md").read_text() == f"{SECTION}\n- My favorite color is blue\n"
    assert save_memory.read_memories(config) == f"{SECTION}\n- My favorite color is blue\n"
    assert save_memory.read_memories(tmp_path / "none") == ""


def test_a_memory_file_that_other_users_can_write_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "dragoman"
    before = os.umask(0)
    try:
        run("save_memory", {"fact": "blue"}, environment_for(tmp_path, config=config))
    finally:
        os.umask(before)
    assert "blue" in save_memory.read_memories(config), "a saved file can be read under any umask"
    (config / "memory.md").chmod(0o606)
    with pytest.raises(ConfigError, match="other users can write it"):
        save_memory.read_memories(config)


def test_facts_are_added_in_their_section(tmp_path: Path) -> None:
    file = tmp_path / "memory.md"
    file.write_text(f"# Mine\n\nHello.\n\n{SECTION}\n- one\n\n## Other\n- mine\n")
    environment = environment_for(tmp_path, config=tmp_path)
    run("save_memory", {"fact": "two"}, environment)
    run("save_memory", {"fact": "- three\n## Other\n- four"}, environment)
    assert file.read_text() == (
        f"# Mine\n\nHello.\n\n{SECTION}\n- one\n- two\n- three ## Other - four\n\n## Other\n- mine\n"
    )


def test_a_failure_is_json_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dir/memory.md").mkdir(parents=True)
    for config in (None, tmp_path / "file", tmp_path / "file/below", tmp_path / "dir"):
        done = run("save_memory", {"fact": "x"}, environment_for(tmp_path, config=config))
        assert failure(done) == "memory_failed"
        value = msgspec.json.decode(text_of(done))
        assert value["success"] is False and value["error"].startswith("Failed to save memory. ")
    for fact in ("", "  ", " - "):
        assert (
            failure(run("save_memory", {"fact": fact}, environment_for(tmp_path, config=tmp_path)))
            == "invalid_tool_params"
        )


@pytest.mark.parametrize("before", ["", "text", "text\n", "text\n\n"])
def test_a_missing_section_is_added(before: str) -> None:
    text = with_fact(before, "f")
    assert text.startswith(before) and text.endswith(f"{SECTION}\n- f\n")
    assert before == "" or f"text\n\n{SECTION}" in text.replace("\n\n\n", "\n\n")


@given(facts=st.lists(st.text(st.characters(codec="utf-8"), min_size=1).filter(save_memory._line), max_size=5))
def test_every_fact_is_one_line_in_the_order_they_came(facts: list[str]) -> None:
    mine, other = "# Mine\n\nwords\n", "## Other\nmore\n"
    text = f"{mine}\n{SECTION}\n\n{other}"
    for fact in facts:
        text = with_fact(text, fact)
    assert text.startswith(mine) and text.endswith(other)
    lines = [line for line in text.split("\n") if line.startswith("- ")]
    assert lines == [f"- {save_memory._line(fact)}" for fact in facts]


def test_line_ends_of_another_system_are_kept() -> None:
    text = with_fact(f"mine\r\n\r\n{SECTION}\r\n- one\r\n\r\n## Other\r\n", "two")
    assert text == f"mine\r\n\r\n{SECTION}\r\n- one\r\n- two\r\n\r\n## Other\r\n"
    assert with_fact("mine\r\n", "one") == f"mine\r\n\r\n{SECTION}\r\n- one\r\n"


def test_the_file_may_be_in_another_folder(tmp_path: Path) -> None:
    for name in ("config", "kept"):
        (tmp_path / name).mkdir()
    (tmp_path / "kept/notes.md").write_text("mine\n")
    (tmp_path / "config/memory.md").symlink_to("../kept/notes.md")
    done = run("save_memory", {"fact": "f"}, environment_for(tmp_path, config=tmp_path / "config"))
    assert not done.result.is_error and (tmp_path / "config/memory.md").is_symlink()
    assert (tmp_path / "kept/notes.md").read_text() == f"mine\n\n{SECTION}\n- f\n"
    assert save_memory.read_memories(tmp_path / "config").startswith("mine\n")
