"""A conversion on two local workers of Ray has the same bytes as one without Ray (`make ray`; skipped without Ray)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.convert.run import Conversion, Job
from tests.unit.convert.kills import write_input

pytest.importorskip("ray", reason="Ray is not installed: make ray")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_ray_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / "in.jsonl"
    write_input(source)
    outputs = []
    for engine in ("local", "ray"):
        out = tmp_path / f"{engine}{suffix}"
        job = Job((str(source),), str(out), "openai-batch", jobs=2, chunk=50_000, engine=engine)  # type: ignore[arg-type]
        summary = Conversion(job).run()
        assert summary.read == 900
        outputs.append((out.read_bytes(), Path(f"{out}.bad.jsonl").read_bytes(), summary))
    assert outputs[0] == outputs[1]
