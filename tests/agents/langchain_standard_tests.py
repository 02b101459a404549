"""LangChain's standard tests of chat models, on the rehearsal behind a gateway (`DRAGOMAN_GATEWAY` is its address).

`test_langchain.py` copies this module and `pictures.py` into a folder, and runs them with the Python and the pytest of
LangChain's environment. That environment has no dragoman.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests, chat_models
from pictures import PICTURE

GATEWAY = os.environ["DRAGOMAN_GATEWAY"]
OPTIONS = {"model": "rehearsal/rules", "api_key": "any"}
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF\n"


def _local_file(address: str, **_: Any) -> SimpleNamespace:
    return SimpleNamespace(content=PDF if address.endswith(".pdf") else PICTURE)


@pytest.fixture(autouse=True)
def _no_downloads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The standard tests download their picture and their document. They get these local ones instead."""
    monkeypatch.setattr(chat_models, "httpx", SimpleNamespace(get=_local_file))
    yield


class Rehearsal(ChatModelIntegrationTests):
    """What the rehearsal can do. `supports_json_mode` is off: the rehearsal reads a JSON schema in the words of a
    request, but that test only names two keys."""

    __test__ = False
    model_override_value = "rehearsal/thinking"
    supports_image_inputs = True
    supports_image_tool_message = True
    supports_pdf_inputs = True
    supports_pdf_tool_message = True


class TestChat(Rehearsal):
    __test__ = True
    chat_model_class = ChatOpenAI
    # With an own address LangChain asks for usage figures in streams only on demand.
    chat_model_params = {**OPTIONS, "base_url": f"{GATEWAY}/v1", "stream_usage": True}


class TestResponses(Rehearsal):
    __test__ = True
    chat_model_class = ChatOpenAI
    chat_model_params = {**OPTIONS, "base_url": f"{GATEWAY}/v1", "use_responses_api": True}


class TestMessages(Rehearsal):
    __test__ = True
    chat_model_class = ChatAnthropic
    chat_model_params = {**OPTIONS, "base_url": GATEWAY}
    supports_anthropic_inputs = True
