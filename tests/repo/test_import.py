"""The import of the library loads few modules and no network module, and has exactly the public names."""

from __future__ import annotations

import json
import subprocess
import sys
import types

import dragoman
from dragoman.dialects import names as dialects

# `_socket` alone proves nothing: msgspec uses typing_extensions if it is installed, and that module imports `_socket`.
NETWORK = {"socket", "ssl", "asyncio", "http", "urllib.request", "selectors", "subprocess", "email"}
LIMIT = 159
"""82 of the modules are ours, packages included. No module is loaded twice, and no module opens a file or socket."""

PROGRAM = """
import sys
before = set(sys.modules)
import dragoman
for name in {dialects}:
    dragoman.detect(b'{{}}') if name == "detect" else dragoman.translate_tools(b"[]", source=name, target=name)
found = sorted(set(sys.modules) - before)
import json
print(json.dumps(found))
"""


ENDPOINTS = """
import sys
from dragoman.dialects import endpoints, installed
for name in installed():
    endpoints(name)
import json
print(json.dumps(sorted(sys.modules)))
"""


def loaded(used: tuple[str, ...]) -> list[str]:
    """The modules that a new process has loaded after the import and after the use of some dialects."""
    return printed(PROGRAM.format(dialects=list(used)))


def printed(program: str) -> list[str]:
    """The output of a program in a new process."""
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def test_the_import_loads_no_network_module_and_few_modules() -> None:
    modules = loaded(())
    assert "dragoman.translate" in modules
    assert set(modules) & NETWORK == set()
    assert len(modules) <= LIMIT, f"{len(modules)} modules: {modules}"


def test_using_every_dialect_loads_no_network_module() -> None:
    modules = loaded((*dialects(), "detect"))
    assert "dragoman.dialects.openai_chat" in modules
    assert set(modules) & NETWORK == set()


def test_the_endpoints_of_all_dialects_load_no_reader_and_no_writer() -> None:
    """At its start a gateway needs all endpoints. It needs readers and writers only at the first request."""
    modules = [name for name in printed(ENDPOINTS) if name.startswith("dragoman.dialects.") and name.count(".") == 3]
    assert modules == [f"dragoman.dialects.{name.replace('-', '_')}.endpoints" for name in dialects()]


def test_the_public_names_are_those_of_all_and_at_most_forty() -> None:
    public = {
        name
        for name, value in vars(dragoman).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public | {"__version__"} == set(dragoman.__all__)
    assert len(dragoman.__all__) <= 40
    assert sorted(dragoman.__all__) == dragoman.__all__
    for name in dragoman.__all__:
        value = getattr(dragoman, name)
        assert name == "__version__" or value.__doc__, f"{name} has no docstring"
