"""The printed examples of the page about clusters run (`make ray`; each is skipped without its package)."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "convert-on-a-cluster.md"
CONVERSATION = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}
REQUEST = {"model": "claude-opus-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


def example(heading: str) -> str:
    section = PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return "\n".join(re.findall(r"```py\n(.*?)```", section, re.DOTALL))


def run(folder: Path, code: str, last: str) -> str:
    (folder / "example.py").write_text(f"if __name__ == '__main__':\n{_indented(code)}\n{_indented(last)}\n")
    done = subprocess.run(
        [sys.executable, "example.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={
            **os.environ,
            "HF_HOME": str(folder / "hf"),
            "HF_HUB_OFFLINE": "1",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        },
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()[-1]


def _indented(code: str) -> str:
    return "\n".join([f"    {line}" for line in code.splitlines()])


def test_the_example_for_hugging_face_datasets_runs(tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed: make ray")
    lines = [json.dumps(CONVERSATION)] * 40 + ["broken"]
    (tmp_path / "talks.jsonl").write_text("\n".join(lines) + "\n")
    out = run(tmp_path, example("Hugging Face datasets"), "print(len(done), len(good), good[0]['line'])")
    expected = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    assert out == f"41 40 {json.dumps(expected, separators=(',', ':'))}"


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_the_example_for_spark_runs(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed: make ray")
    (tmp_path / "batch").mkdir()
    for part in range(2):
        lines = [json.dumps({"custom_id": f"{part}-{number}", "params": REQUEST}) for number in range(20)]
        (tmp_path / "batch" / f"{part}.jsonl").write_text("\n".join([*lines, "broken"]) + "\n")
    run(tmp_path, example("Spark"), "print('done')")
    bad = [line for path in (tmp_path / "bad").glob("*.txt") for line in path.read_text().splitlines()]
    assert len(bad) == 2
    assert all("a JSON object" in line for line in bad)
    parts = [gzip.decompress(path.read_bytes()) for path in (tmp_path / "converted").glob("*.txt.gz")]
    ids = [json.loads(line)["custom_id"] for part in parts for line in part.splitlines()]
    assert sorted(ids) == sorted([f"{part}-{number}" for part in range(2) for number in range(20)])
