"""LangChain's standard tests of chat models stay green on the rehearsal: Chat, Responses and Messages.

`make langchain` installs LangChain into an environment of its own and runs this test. Without it the test is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .agent_session import gateway
from .agents import FOLDER

PYTHON = (FOLDER or Path()).resolve() / "langchain" / "bin" / "python"
HERE = Path(__file__).parent
ASYNC = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_test_loop_scope=session")
"""LangChain keeps its connections, and they belong to one event loop."""


@pytest.mark.skipif(FOLDER is None or not PYTHON.exists(), reason="needs LangChain: make langchain installs it")
def test_the_standard_tests_of_chat_models_pass_on_the_rehearsal(tmp_path: Path) -> None:
    shutil.copy(HERE / "langchain_standard_tests.py", tmp_path / "test_standard.py")
    shutil.copy(HERE / "pictures.py", tmp_path)
    with gateway(tmp_path) as base:
        done = subprocess.run(
            [PYTHON, "-m", "pytest", "-q", "--tb=short", *ASYNC, "test_standard.py"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "DRAGOMAN_GATEWAY": base},
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) > 120, done.stdout
