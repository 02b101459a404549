"""Tests of the corpus loader: every record, the model of each record, and behaviour without the shared folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.oracles import exchanges


def test_all_recordings_of_each_dialect_are_loaded() -> None:
    text = (exchanges.require_shared() / "README.md").read_text(encoding="utf-8")
    counts = {dialect: len(exchanges.recorded(dialect)) for dialect in exchanges.DIALECTS}
    stated = {name: int(number) for name, number in re.findall(r"^\| ([a-z-]+) \| (\d+) \|", text, re.MULTILINE)}
    assert counts == {dialect: stated[dialect] for dialect in exchanges.DIALECTS}


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_records_have_an_answer_and_a_dialect(dialect: str) -> None:
    for record in exchanges.records(dialect):
        assert record.dialect == dialect
        assert (record.response is None) != (record.stream is None)
        assert exchanges.record(record.id) is record


def test_streams_are_the_records_with_sse_frames() -> None:
    assert all(record.stream is not None for record in exchanges.streams("gemini"))
    arrays = [record for record in exchanges.records("gemini") if record.framing == "json-array"]
    assert arrays and not {record.id for record in arrays} & {record.id for record in exchanges.streams("gemini")}


def test_the_model_comes_from_url_request_or_answer() -> None:
    for dialect in exchanges.DIALECTS:
        for record in exchanges.records(dialect):
            model = exchanges.model_of(record)
            if dialect == "gemini" and record.url is not None:
                assert model is not None and f"/{model}:" in record.url
            elif dialect != "gemini" and record.request is not None and record.request.get("model"):
                assert model == record.request["model"]


def test_a_real_record_has_status_200_from_the_provider_of_the_dialect() -> None:
    hosts = {record.provider for record in exchanges.records("gemini") if record.real}
    assert "us-central1-aiplatform.googleapis.com" in hosts
    assert "localhost:8787" not in hosts
    assert {record.provider for record in exchanges.records("openai-chat") if record.real} == {"api.openai.com"}


def test_without_the_shared_folder_tests_skip_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_SHARED", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.skip.Exception, match="DRAGOMAN_SHARED"):
        exchanges.require_shared()


def test_without_the_required_shared_folder_tests_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "_REPO", tmp_path / "clone")
    monkeypatch.setenv("DRAGOMAN_SHARED", "required")
    for function in (exchanges.require_shared, exchanges.has_recordings):
        with pytest.raises(pytest.fail.Exception, match="absent"):
            function()


def test_without_the_shared_folder_the_corpus_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_SHARED", str(tmp_path))
    assert not exchanges.has_recordings()
    assert all(exchanges.own(dialect) for dialect in exchanges.DIALECTS)


def test_the_judges_do_not_import_the_library() -> None:
    imports = re.compile(r"^\s*(?:import|from)\s+dragoman\b", re.MULTILINE)
    files = list(Path(__file__).parent.glob("*.py"))
    assert len(files) > 10
    assert [file.name for file in files if imports.search(file.read_text(encoding="utf-8"))] == []
