"""The page about the rehearsal: its examples run, and its list of models is complete."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from dragoman import rehearsal
from dragoman.rehearsal import read_script

PAGE = (Path(rehearsal.__file__).parent / "README.md").read_text()


def test_the_examples_print_the_shown_output() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "README.md", "exec"), {})
    assert printed.getvalue().splitlines() == [line[2:] for line in block.splitlines() if line.startswith("# ")]


def test_the_script_of_the_page_is_valid() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    script = read_script(block, "toml")
    assert [len(step.parts) for step in script.steps] == [5, 0]
    fields = {name for kind in (type(script), type(script.steps[0])) for name in kind.__struct_fields__}
    assert fields - {"about"} - set(re.findall(r"\b([a-z_]+)(?: = |\]\])", block)) == set()


def test_every_model_is_listed() -> None:
    rows = [f"| `{name}` | {about} |" for name, about in rehearsal.models().items()]
    assert PAGE.endswith("\n".join(rows) + "\n")
