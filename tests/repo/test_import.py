"""What importing the library costs and touches: no network module, few modules, the public names and no others."""

from __future__ import annotations

import json
import subprocess
import sys
import types

import dragoman
from dragoman.dialects import names as dialects

# `_socket` alone is no sign: typing_extensions, which msgspec uses where it is installed, looks at a type in it.
NETWORK = {"socket", "ssl", "asyncio", "http", "urllib.request", "selectors", "subprocess", "email"}
LIMIT = 157
"""82 of them are ours: packages count too. None is loaded twice, and none opens anything."""

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
    """The modules a fresh process has loaded after the import, and after using some dialects."""
    return printed(PROGRAM.format(dialects=list(used)))


def printed(program: str) -> list[str]:
    """What a program prints in a fresh process."""
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def test_the_import_loads_no_network_module_and_few_modules() -> None:
    modules = loaded(())
    assert "dragoman.translate" in modules
    assert set(modules) & NETWORK == set()
    assert len(modules) <= LIMIT, f"{len(modules)} modules: {modules}"


def test_using_every_dialect_loads_no_network_module_either() -> None:
    modules = loaded((*dialects(), "detect"))
    assert "dragoman.dialects.openai_chat" in modules
    assert set(modules) & NETWORK == set()


def test_the_endpoints_of_all_dialects_load_no_reader_and_no_writer() -> None:
    """A gateway needs them all when it starts; what it translates is known with the first request."""
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
