"""The suite as data: valid by its schema, frozen, current with its source, with each recurring failure covered."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from dragoman.canon.loss_codes import CODES
from dragoman.conform.judging import suite_reader
from dragoman.dialects import names
from dragoman.errors import ConfigError

ROOT = Path(__file__).parents[2]
HOME = ROOT / "conformance"
SUITES = sorted([path.parent for path in HOME.glob(f"*/{suite_reader.MANIFEST}")])

FAILURES = {
    # recurring failure of gateways -> the topics that cover it
    "Gemini signatures lost on turn two": ["signatures-turn-two"],
    "orphan calls and results": ["orphans"],
    "refused schema keywords": ["schema-keywords"],
    "parallel calls merged in streams": ["parallel-streams", "parallel-answers"],
    "wrong stop reason when STOP comes late": ["late-stop"],
    "empty arguments": ["empty-arguments", "exact-arguments"],
    "parallel results split over turns": ["split-results"],
    "images in results": ["images-in-results"],
    "signatures after a model switch": ["model-switch"],
    "organisation-bound encrypted reasoning": ["encrypted-reasoning"],
    "reasoning fields that must be echoed": ["echoed-reasoning"],
    "silently dropped tool controls": ["controls"],
    "free-form tools": ["free-form-tools"],
    "Messages stream shape for Claude Code": ["messages-stream"],
    "Responses stream completion for Codex": ["responses-stream"],
    "generateContent for Gemini CLI": ["generate-content"],
    "prompt caching defeated": ["prompt-caching"],
    "stream usage": ["stream-usage"],
    "fault shape and status": ["fault-shape"],
    "mid-stream failure that looks like success": ["broken-streams"],
    "token counting": ["token-counting"],
    "names and ids over limits": ["names-and-ids"],
    "unknown beta headers and fields": ["unknown-fields"],
}


def _validator(definition: str) -> jsonschema_rs.Draft202012Validator:
    schema = json.loads((HOME / "schema.json").read_bytes())
    return jsonschema_rs.Draft202012Validator({**schema, "$ref": f"#/$defs/{definition}"})


@pytest.mark.parametrize("place", SUITES, ids=lambda place: place.name)
def test_every_file_matches_the_schema(place: Path) -> None:
    checked = {"suite.json": "manifest", "plain.json": "plain", "expected-failures.json": "expectedFailures"}
    for name, definition in checked.items():
        _validator(definition).validate(json.loads((place / name).read_bytes()))
    cases = _validator("cases")
    for path in sorted((place / "cases").glob("*.json")):
        errors = [f"{error.instance_path}: {error.message[:200]}" for error in cases.iter_errors(_read(path))]
        assert errors == [], path.name


def _read(path: Path) -> Any:
    return json.loads(path.read_bytes())


@pytest.mark.parametrize(
    "broken",
    [
        {"id": "Wrong"},
        {"kind": "guess"},
        {"expect": []},
        {"expect": [{"path": "/a"}]},
        {"expect": [{"path": "/a", "equals": 1, "count": 2}]},
        {"expect": [{"lint": "dirty"}]},
        {"expect": [{"guess": 1}]},
        {"source": []},
        {"requirement": "short"},
        {"to": "klingon"},
        {"surplus": 1},
        {"request": {}},
    ],
    ids=str,
)
def test_the_schema_refuses_an_invalid_case(broken: dict[str, Any]) -> None:
    good = next(case for case in _read(SUITES[-1] / "cases" / "orphans.json") if case["kind"] == "request")
    assert _validator("case").is_valid(good)
    assert not _validator("case").is_valid({**good, **broken})


@pytest.mark.parametrize("place", SUITES, ids=lambda place: place.name)
def test_a_suite_equals_its_stored_checksums(place: Path) -> None:
    manifest = _read(place / "suite.json")
    assert manifest["date"] == place.name
    assert {listed["file"] for listed in manifest["files"]} == {f"cases/{p.name}" for p in (place / "cases").iterdir()}
    for listed in manifest["files"]:
        data = (place / listed["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == listed["sha256"], listed["file"]
        assert len(json.loads(data)) == listed["cases"]
    assert sum(listed["cases"] for listed in manifest["files"]) == manifest["cases"]


def test_the_newest_suite_is_current_with_its_source() -> None:
    command = [sys.executable, "-m", "conformance.source", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr + "run: python -m conformance.source"


def test_ids_are_unique_and_begin_with_their_topic() -> None:
    cases = suite_reader.load_suite(SUITES[-1]).cases
    assert [case_id for case_id, times in Counter(case.id for case in cases).items() if times > 1] == []
    assert [case.id for case in cases if not case.id.startswith(f"{case.topic}.")] == []
    assert len(cases) >= 120


def test_every_recurring_failure_has_its_cases() -> None:
    topics = {case.topic for case in suite_reader.load_suite(SUITES[-1]).cases}
    assert {topic for group in FAILURES.values() for topic in group} == topics
    assert len(FAILURES) == 23


def test_every_dialect_is_a_client_and_an_upstream() -> None:
    cases = suite_reader.load_suite(SUITES[-1]).cases
    for name in names():
        assert any(case.client == name for case in cases), name
        assert any(case.upstream == name for case in cases), name
        assert name in suite_reader.load_suite(SUITES[-1]).plain


def test_every_expected_loss_code_exists() -> None:
    facts = [fact for case in suite_reader.load_suite(SUITES[-1]).cases for fact in case.expect]
    codes = {fact[key] for fact in facts for key in ("loss", "no_loss") if key in fact}
    assert codes
    assert codes - set(CODES) == set()


def test_expected_failures_are_cases() -> None:
    loaded = suite_reader.load_suite(SUITES[-1])
    expected = suite_reader.expected_failures(SUITES[-1] / suite_reader.EXPECTED)
    assert set(expected) <= {case.id for case in loaded.cases}


def test_an_invalid_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="suite"):
        suite_reader.load_suite(tmp_path)
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(ConfigError, match="expected failures"):
        suite_reader.expected_failures(tmp_path / "bad.json")
    assert suite_reader.expected_failures(tmp_path / "none.json") == {}


def test_a_file_with_fewer_cases_than_its_manifest_lists_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "orphans.json").write_text("[]")
    listed = {"file": "cases/orphans.json", "cases": 1, "sha256": "0" * 64}
    (tmp_path / "suite.json").write_text(json.dumps({"date": "2026-11-15", "cases": 1, "files": [listed]}))
    with pytest.raises(ConfigError, match="number of cases"):
        suite_reader.load_suite(tmp_path)


def test_a_packed_suite_is_the_same_suite(tmp_path: Path) -> None:
    """The wheel has the suite as an archive."""
    place = SUITES[-1]
    archive = shutil.make_archive(str(tmp_path / place.name), "zip", place)
    packed, plain = suite_reader.load_suite(zipfile.Path(archive)), suite_reader.load_suite(place)
    assert (packed.date, packed.cases, packed.plain) == (plain.date, plain.cases, plain.plain)
    assert suite_reader.expected_failures(packed.place / suite_reader.EXPECTED) == suite_reader.expected_failures(
        place / suite_reader.EXPECTED
    )
    with pytest.raises(ConfigError):
        suite_reader.load_suite(zipfile.Path(archive, "cases/"))
