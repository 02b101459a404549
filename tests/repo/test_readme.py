"""The first example of the README runs and prints the shown output."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

README = Path(__file__).parents[2] / "README.md"


def test_the_first_example_prints_the_shown_output() -> None:
    example = re.search(r"```python\n(.*?)```", README.read_text(), re.S)
    assert example is not None
    lines = example[1].splitlines()
    shown = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    code = "\n".join(lines).replace('t.json()["messages"][2]', 'print(t.json()["messages"][2])')
    printed = io.StringIO()
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(README), "exec"), names)
    assert printed.getvalue().splitlines() == shown
