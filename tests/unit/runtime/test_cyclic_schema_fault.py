"""A fault about too deep schemas names the tools with schemas that refer to themselves."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.canon import Fault
from dragoman.runtime.cyclic_schema_fault import explain_deep_schema, has_cycle
from tests.unit.agent.helpers import FakeTool, ScriptedModel, loop, new_session, run_events

TREE = {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#"}}}}
NODE = {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, "properties": {"n": {"$ref": "#/$defs/n"}}}
TWICE = {
    "$defs": {"a/b": {"type": "string"}},
    "properties": {"x": {"$ref": "#/$defs/a~1b"}, "y": {"$ref": "#/$defs/a~1b"}},
}
DEEP = Fault("invalid_request", "Schema: maximum schema depth exceeded.", 400)


@pytest.mark.parametrize(
    ("schema", "cyclic"),
    [(TREE, True), (NODE, True), (TWICE, False), ({"$ref": "https://x.example"}, False), ({"$ref": "#/none"}, False)],
)
def test_a_reference_to_an_enclosing_schema_is_a_cycle(schema: Any, cyclic: bool) -> None:
    assert has_cycle(schema) is cyclic


def test_an_endless_schema_without_a_cycle_is_found_too() -> None:
    schema: Any = {}
    for _ in range(100_000):
        schema = {"items": schema}
    assert has_cycle(schema)


def test_other_faults_and_other_tools_are_left_as_they_are() -> None:
    other = Fault("invalid_request", "no", 400)
    assert explain_deep_schema(other, [FakeTool("tree", schema=TREE)]) is other
    assert explain_deep_schema(DEEP, [FakeTool("flat")]) is DEEP


def test_the_fault_of_the_run_names_the_tools() -> None:
    events = run_events(loop(ScriptedModel(DEEP), [FakeTool("tree", schema=TREE), FakeTool("flat")]), new_session())
    assert "refer to themselves: tree." in events[-1].detail  # type: ignore[union-attr]
