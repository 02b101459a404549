"""The dialects are the folders of `dragoman.dialects` and the dialects of other packages."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator

import msgspec
import pytest

from dragoman import dialects
from dragoman.dialect import Dialect
from dragoman.dialects import GROUP, get, names
from dragoman.errors import ConfigError


@pytest.fixture(autouse=True)
def _clear_dialect_cache() -> Iterator[None]:
    yield
    get.cache_clear()


def test_every_folder_is_a_dialect_of_its_name() -> None:
    assert {"anthropic", "gemini", "openai-chat", "openai-responses"} <= set(names())
    assert list(names()) == sorted(names())
    assert [get(name).name for name in names()] == list(names())


def test_an_unknown_dialect_is_refused_with_a_list_of_dialects() -> None:
    with pytest.raises(ConfigError) as caught:
        get("chat")
    assert (caught.value.what, caught.value.got, caught.value.valid) == ("dialect", "chat", names())


def _plug(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    class Point:
        def load(self) -> object:
            return value

    def entry_points(*, group: str, name: str) -> list[Point]:
        return [Point()] if (group, name) == (GROUP, "test-plug") else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


def test_another_package_can_add_a_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    plugged = msgspec.structs.replace(get("openai-chat"), name="test-plug")
    _plug(monkeypatch, plugged)
    assert get("test-plug") is plugged
    assert "test-plug" not in names()


def test_an_entry_point_of_another_package_must_be_a_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    _plug(monkeypatch, "openai-chat")
    with pytest.raises(ConfigError):
        get("test-plug")


@pytest.mark.parametrize("name", names())
def test_a_dialect_is_complete(name: str) -> None:
    dialect = get(name)
    assert isinstance(dialect, Dialect)
    assert dialect.title
    assert dialect.upstream_paths.path.startswith("/")
    assert dialect.evidence({}) == []
    assert dialects.__path__
