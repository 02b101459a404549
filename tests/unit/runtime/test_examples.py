"""The results of the tools equal the examples in the table of the reference documents."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.canon.parts import Citation, Text
from tests.oracles import exchanges
from tests.unit.runtime.helpers import answer, environment_for, run, text_of
from tests.unit.runtime.test_files import fill


def examples() -> dict[str, str]:
    """The example of every tool that has one example text."""
    text = "".join(path.read_text() for path in sorted(exchanges.require_shared("seeds").glob("002_*.txt")))
    rows = re.findall(r"^\| `(\w+)`[^|]*\|[^|]*\| `\{.*?\}` \| `\"(.*?)\"`(?: or .*| and .*)? \|$", text, re.MULTILINE)
    return {name: example.replace("\\n", "\n").replace('\\"', '"') for name, example in rows}


def pattern(example: str, root: Path) -> re.Pattern[str]:
    """A pattern for an example. Omitted text matches anything. The folders of the example are the workspace."""
    out = re.escape(example)
    for left_out in (r"\.\.\.", r"<content>", r"<summary\ from\ fetched\ URLs>"):
        out = out.replace(left_out, ".*")
    out = re.sub(r"(?<=[ \n])/(abs|repo)(?=[/: ])", lambda _: re.escape(str(root)), out.replace("\\\n", "\n"))
    return re.compile(out.replace("12345", r"\d+"), re.DOTALL)


FILES: dict[str, str | bytes] = {
    "path.ex": "old",
    "path.ts": "old",
    "d/src/x": "",
    "d/README.md": "",
    "g/README.md": "",
    "g/docs/a.md": "",
    "g/docs/b.md": "",
    "s/src/a.ts": "\n" * 11 + "const foo=1;\n",
    "s/src/b.ts": "foo\n",
    "path/to/file1.ts": "one\n",
    "path/to/file2.md": "two\n",
}

EDIT = {"instruction": "", "old_string": "old", "new_string": "new"}

CALLS: dict[str, Callable[[Path], tuple[dict[str, Any], Path]]] = {
    "write_file": lambda root: ({"file_path": f"{root}/path.txt", "content": "x"}, root),
    "replace": lambda root: ({"file_path": f"{root}/path.ex", **EDIT}, root),
    "smart_edit": lambda root: ({"file_path": f"{root}/path.ts", **EDIT}, root),
    "list_directory": lambda root: ({"path": f"{root}/d"}, root / "d"),
    "glob": lambda root: ({"pattern": "**/*.md"}, root / "g"),
    "search_file_content": lambda root: ({"pattern": "foo"}, root / "s"),
    "read_many_files": lambda root: ({"paths": ["path/to/file1.ts", "path/to/file2.md"]}, root),
    "run_shell_command": lambda root: ({"command": "ls -la"}, root),
    "web_fetch": lambda root: ({"prompt": "Sum up https://x.example"}, root),
    "google_web_search": lambda root: ({"query": "kubernetes"}, root),
    "save_memory": lambda root: ({"fact": "My favorite color is blue"}, root),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_result_of_a_tool_equals_the_example(tmp_path: Path, name: str) -> None:
    fill(tmp_path, FILES)
    for age, path in enumerate(("README.md", "docs/a.md", "docs/b.md")):
        os.utime(tmp_path / "g" / path, (1000 - age, 1000 - age))

    async def ask(prompt: str, /, *, hosted: tuple[str, ...] = ()) -> Any:
        return answer(Text("words", citations=(Citation("https://x.example", "Title"),)))

    arguments, root = CALLS[name](tmp_path)
    hosted = frozenset({"web_fetch", "web_search"})
    text = text_of(run(name, arguments, environment_for(root, ask=ask, hosted=hosted, config=tmp_path / "config")))
    example = examples()[name]
    if name == "save_memory":
        text = text.replace('\\"', '"')  # The example omits the escapes of JSON.
    assert pattern(example, root).fullmatch(text), (example, text)
