"""A dialect is one folder. Code outside of the folder reads the declarations of the dialect and compares no names."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import dragoman
from dragoman.dialects import names

SOURCE = Path(dragoman.__file__).parent
LIMIT = 31
"""The number of dialect names outside of the folders on 2026-11-17. Before there were 253."""
FORMATS = "convert/lines/formats/"
"""File formats. A batch file or a fine-tuning set has the form of one provider, so its module names a dialect."""
SERVED = ("gateway", "transport", "conform", "convert")
"""Packages that work with any dialect."""
ONE_DIALECT = {
    "gateway/endpoints/stored_responses_and_conversations.py": 1,  # Answers that Responses stores under an id.
    "gateway/exchange/previous_responses_and_stored_answers.py": 1,
}
"""Modules of these packages for a feature of one dialect. Their names show the feature."""


def dialect_names_by_file() -> Counter[str]:
    """The number of dialect names in each file outside of the dialects' folders."""
    known = set(names())
    out: Counter[str] = Counter()
    for file in SOURCE.rglob("*.py"):
        place = file.relative_to(SOURCE).as_posix()
        if not place.startswith(("dialects/", FORMATS)):
            constants = [node.value for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant)]
            out[place] += sum([value in known for value in constants if isinstance(value, str)])
    return +out


def test_few_dialect_names_are_outside_of_their_folders() -> None:
    assert sum(dialect_names_by_file().values()) <= LIMIT, dialect_names_by_file()


def test_packages_for_all_dialects_name_no_dialect() -> None:
    assert {place: count for place, count in dialect_names_by_file().items() if place.startswith(SERVED)} == ONE_DIALECT


REQUIRED = {
    "README.md",
    *("__init__.py", "dialect.py", "endpoints.py", "wire.py", "request.py", "response.py", "tools.py", "faults.py"),
    *("stream_reader.py", "stream_writer.py", "stream_end_detection.py"),
    *("lint_rules.py", "detection_evidence.py", "conformance_client.py", "fast.py"),
}
"""The files of every built-in dialect. A reader who knows one folder knows where to look in the others."""
ON_ANOTHER = {"code-assist", "openrouter"}
"""Dialects that read and write with the code of another dialect, and remove what their upstream does not take."""
CONTENT = ({"message_content.py"}, {"message_content_reader.py", "message_content_writer.py"})
"""Where a dialect reads and writes the content of one message: one file, or two if one would be too long."""


@pytest.mark.parametrize("name", names())
def test_every_dialect_folder_has_the_required_files(name: str) -> None:
    found = {file.name for file in (SOURCE / "dialects" / name.replace("-", "_")).iterdir()}
    assert found >= REQUIRED, REQUIRED - found
    content = [files for files in CONTENT if files & found]
    if name in ON_ANOTHER:
        assert not content
        assert "unsupported_field_removal.py" in found
    else:
        assert len(content) == 1
        assert content[0] <= found
