"""A conversion as a Ray Data job on two local workers has the same bytes as one without Ray: files, and an S3 server
(`make ray`; skipped without Ray).
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from dragoman.convert.lines.summary import Summary
from dragoman.convert.run import Conversion, ConversionOptions
from tests.unit.convert.killed_conversions import write_input

ray = pytest.importorskip("ray", reason="Ray is not installed: make ray")
server = pytest.importorskip("moto.server", reason="moto is not installed: make ray")
pytestmark = pytest.mark.filterwarnings("ignore")

ENGINES: tuple[Literal["local"], Literal["ray"]] = ("local", "ray")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Two workers of Ray, and an S3 server with the bucket `data`."""
    s3 = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    s3.start()
    address = f"http://127.0.0.1:{s3.get_host_and_port()[1]}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        for name, value in {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            patch.setenv(name, value)
        urllib.request.urlopen(urllib.request.Request(f"{address}/data", method="PUT")).close()
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            yield
        finally:
            ray.shutdown()
            s3.stop()


def convert(*names: str, out: str, engine: Literal["local", "ray"], **more: Any) -> Summary:
    return Conversion(
        ConversionOptions(names, out, "openai-batch", engine=engine, **{"jobs": 2, "chunk": 50_000, **more})
    ).run()


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    write_input(path)
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_ray_gives_the_same_bytes(source: Path, tmp_path: Path, suffix: str) -> None:
    found = []
    for engine in ENGINES:
        summary = convert(str(source), out=str(tmp_path / engine / f"out{suffix}"), engine=engine)
        assert summary.read == 900
        found.append((tree(tmp_path / engine), summary))
    assert found[0] == found[1]
    assert len(found[0][0]) == 2  # the output, and the bad lines


def test_a_folder_of_mixed_files_gives_the_same_files(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    write_input(folder / "a.jsonl", 300)
    (folder / "deep" / "b.jsonl.gz").write_bytes(gzip.compress(source.read_bytes()))
    (folder / "c.json").write_text(json.dumps([{"messages": [{"role": "user", "content": "hi"}], "model": "gpt-5.2"}]))
    for engine in ENGINES:
        convert(str(folder), out=f"{tmp_path / engine}/", engine=engine)
    assert tree(tmp_path / "local") == tree(tmp_path / "ray")
    assert len(tree(tmp_path / "ray")) == 4


def test_a_stopped_job_continues_to_the_same_bytes(source: Path, tmp_path: Path) -> None:
    convert(str(source), out=str(tmp_path / "whole.jsonl.gz"), engine="local")
    out = tmp_path / "broken.jsonl.gz"
    for limit in (3, 5):

        def stop(progress: Any, limit: int = limit) -> None:
            nonlocal seen
            seen += 1
            if seen == limit:
                raise KeyboardInterrupt

        seen = 0
        job = ConversionOptions(
            (str(source),), str(out), "openai-batch", engine="ray", jobs=2, chunk=50_000, seconds=0.0
        )
        with pytest.raises(KeyboardInterrupt):
            Conversion(job).run(stop)
    conversion = Conversion(job)
    assert conversion.continued
    assert conversion.run().read == 900
    assert out.read_bytes() == (tmp_path / "whole.jsonl.gz").read_bytes()


def test_a_broken_file_does_not_stop_the_others(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(source.read_bytes())[:-30_000])
    write_input(folder / "b.jsonl", 200)
    for engine in ENGINES:
        convert(str(folder), out=str(tmp_path / engine / "out.jsonl"), engine=engine)
    assert tree(tmp_path / "local") == tree(tmp_path / "ray")
    assert b"cannot be read to its end" in tree(tmp_path / "ray")["out.jsonl.bad.jsonl"]


def test_s3_gives_the_same_bytes_with_both_engines(source: Path, tmp_path: Path) -> None:
    from pyarrow import fs

    s3, _ = fs.FileSystem.from_uri("s3://data")
    for name in ("logs/a.jsonl", "logs/deep/b c.jsonl"):
        with s3.open_output_stream(f"data/{name}", compression=None) as file:
            file.write(source.read_bytes())
    stored = {}
    for engine in ENGINES:
        summary = convert("s3://data/logs", out=f"s3://data/{engine}/", engine=engine, work_folder=str(tmp_path / "w"))
        assert (summary.read, summary.bad) == (1800, 20)
        convert("s3://data/logs/**/*.jsonl", out=f"s3://data/{engine}.jsonl.gz", engine=engine)
        found = s3.get_file_info(fs.FileSelector(f"data/{engine}", recursive=True))
        paths = [one.path for one in found if one.is_file] + [f"data/{engine}.jsonl.gz"]
        stored[engine] = {path.removeprefix(f"data/{engine}"): _bytes(s3, path) for path in paths}
    assert stored["local"] == stored["ray"]
    assert sorted(stored["ray"]) == [".jsonl.gz", "/a.jsonl", "/deep/b c.jsonl", "/lines.bad.jsonl"]
    convert(str(source), out=str(tmp_path / "a.jsonl"), engine="local")
    assert (tmp_path / "a.jsonl").read_bytes() == stored["ray"]["/a.jsonl"]


def _bytes(system: Any, path: str) -> bytes:
    with system.open_input_file(path) as file:
        return bytes(file.read())


def test_the_command_starts_its_own_workers(source: Path, tmp_path: Path) -> None:
    words = ["convert", str(source), "--to", "openai-batch", "-o", "out.jsonl", "--engine", "ray", "--jobs", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "dragoman", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env={name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"},
    )
    assert done.returncode == 1, done.stderr  # bad lines
    assert "890 of 900 lines written to out.jsonl" in done.stderr
    convert(str(source), out=str(tmp_path / "local.jsonl"), engine="local", chunk=1 << 20)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()
