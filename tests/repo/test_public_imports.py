"""The example dialect, the pages and the callers whose types are checked import only public names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.repo.repository_files import ROOT
from tests.repo.test_public_names import FOR_EXTENSIONS, PUBLIC

RECIPE = ROOT / "docs" / "how-to" / "add-a-dialect.md"
SIGNATURES = ROOT / "docs" / "reference" / "api.md"


def _used(text: str) -> Iterator[str]:
    """Every name of dragoman that a program imports, or reads from an imported module: `module.name`."""
    tree = ast.parse(text)
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from [one.name for one in node.names if one.name.split(".")[0] == "dragoman"]
            imported |= {one.asname or one.name: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dragoman":
            yield from [f"{node.module}.{one.name}" for one in node.names]
            imported |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = imported.get(node.value.id, "")
            if module in PUBLIC:
                yield f"{module}.{node.attr}"


def _is_public(name: str) -> bool:
    module, _, own = name.rpartition(".")
    return name in PUBLIC or own in PUBLIC.get(module, ())


@cache
def _programs() -> dict[str, str]:
    """The text of each program, by its place."""
    files = [*sorted((ROOT / "examples").rglob("*.py")), *sorted((ROOT / "tests/repo").glob("test_public_types*.py"))]
    found = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        blocks = re.findall(r"^```py(?:thon)?\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
        if page != SIGNATURES:
            found |= {f"{page.relative_to(ROOT)} {number}": block for number, block in enumerate(blocks)}
    return found


def test_examples_and_pages_import_public_names_only() -> None:
    used = {place: set(_used(text)) for place, text in _programs().items()}
    assert len(used["examples/toy_dialect/dragoman_toy.py"]) > 40
    assert len([place for place, names in used.items() if place.startswith("docs/") and names]) > 20
    internal = {place: sorted([name for name in names if not _is_public(name)]) for place, names in used.items()}
    assert {place: names for place, names in internal.items() if names} == {}


def test_an_internal_name_is_found() -> None:
    text = "import dragoman.store\nfrom dragoman.codec import json_text, media\njson_text.text, json_text.contains"
    assert [name for name in _used(text) if not _is_public(name)] == [
        "dragoman.store",
        "dragoman.codec.media",
        "dragoman.codec.json_text.contains",
    ]


def test_the_recipe_for_a_dialect_names_public_modules_only() -> None:
    text = RECIPE.read_text(encoding="utf-8")
    named = set(re.findall(r"`(dragoman(?:\.\w+)+)`", text))
    assert len(named) > 8
    assert [name for name in sorted(named) if not _is_public(name) and name != "dragoman.dialects"] == []
    packages = "|".join(sorted({module.split(".")[1] for module in FOR_EXTENSIONS}))
    assert re.findall(rf"`(?:dragoman/)?(?:{packages})/[\w/]*(?:\.py)?`", text) == []
