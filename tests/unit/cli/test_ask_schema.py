"""`dragoman ask --schema`: checked JSON on standard output, or exit 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.cli.answer_schema import AnswerSchema, read_schema, short_form
from dragoman.errors import ConfigError
from tests.unit.cli.conftest import Runs
from tests.unit.cli.fake_upstream import fake_upstream

GOOD = '{"name": "Goethe", "born": 1749}'
BAD = '{"name": "Goethe", "born": "1749"}'
DSL = "name, born int: year of birth"


@pytest.mark.parametrize("schema", [DSL, "name\nborn int: a year, in digits", "file"])
def test_checked_json_goes_to_standard_output(runs: Runs, home: Path, schema: str) -> None:
    if schema == "file":
        schema = str(home / "author.json")
        Path(schema).write_text(json.dumps(short_form(DSL)))
    with fake_upstream(f"```json\n{GOOD}\n```") as upstream:
        done = runs("ask", "Who?", "-m", "fake/one", "--config", upstream.config(home), "--schema", schema)
    assert (done.exit_code, done.stdout) == (0, GOOD + "\n"), done.stderr
    sent = upstream.requests[0]["response_format"]
    assert sent["type"] == "json_schema" and sent["json_schema"]["schema"]["required"] == ["name", "born"]


@pytest.mark.parametrize(
    ("answers", "code", "out", "requests"),
    [
        ((BAD, GOOD), 0, GOOD + "\n", 2),
        ((BAD, "no JSON at all"), 1, "", 2),
        (("I do not know.", BAD), 1, "", 2),
        ((GOOD,), 0, GOOD + "\n", 1),
    ],
)
def test_an_answer_that_does_not_fit_is_requested_once_more(
    runs: Runs, home: Path, answers: tuple[str, ...], code: int, out: str, requests: int
) -> None:
    with fake_upstream(*answers) as upstream:
        done = runs("ask", "Who?", "-m", "fake/one", "--config", upstream.config(home), "--schema", DSL)
    assert (done.exit_code, done.stdout, len(upstream.requests)) == (code, out, requests)
    assert ("does not fit the schema" in done.stderr) is (requests == 2)
    if requests == 2:
        assert "cannot be used" in json.dumps(upstream.requests[1]["messages"][-1])


def test_with_events_the_checked_json_is_in_the_events(runs: Runs, home: Path) -> None:
    with fake_upstream(GOOD) as upstream:
        done = runs("ask", "Who?", "-m", "fake/one", "--config", upstream.config(home), "--schema", DSL, "--json")
    assert done.exit_code == 0
    assert GOOD in [json.loads(line).get("value") for line in done.stdout.splitlines()]


def test_a_value_that_is_no_object_is_wrapped_for_the_upstream(runs: Runs, home: Path) -> None:
    schema = '{"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}'
    with fake_upstream('{"value": [1, 2]}') as upstream:
        done = runs("ask", "Which?", "-m", "fake/one", "--config", upstream.config(home), "--schema", schema)
    assert (done.exit_code, done.stdout) == (0, "[1, 2]\n"), done.stderr
    assert upstream.requests[0]["response_format"]["json_schema"]["schema"]["type"] == "object"


def test_the_short_form_of_a_schema_becomes_json_schema() -> None:
    assert short_form("name, age int, height float, alive bool, bio: a text, of course".replace(", of course", "")) == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer"},
            "height": {"type": "number"},
            "alive": {"type": "boolean"},
            "bio": {"type": "string", "description": "a text"},
        },
        "required": ["name", "age", "height", "alive", "bio"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ("name, age number", "number"),
        ("name, name", "twice"),
        ("two words too", "a field is"),
        (" , ", "no field"),
        ("nowhere.json", "No such file"),
        ('{"type": 5}', "not a JSON Schema"),
        ('{"type": ', "not a JSON Schema"),
        ('{"$ref": "https://example.org/x.json"}', "not in the schema itself"),
    ],
)
def test_a_wrong_schema_is_refused_before_any_request(runs: Runs, schema: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        read_schema(schema)
    done = runs("ask", "Who?", "--schema", schema)
    assert done.exit_code == 2 and problem in done.stderr and done.stdout == ""


def test_a_number_keeps_the_spelling_of_the_model() -> None:
    assert AnswerSchema({"type": "object"}).read(' {"n": 1.50, "m": 10000000000000000000000} ') == (
        b'{"n": 1.50, "m": 10000000000000000000000}'
    )
