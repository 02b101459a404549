"""Runs a conversion as a Ray Data job: on this machine, or on the cluster that RAY_ADDRESS names.

Workers read the inputs and cut them into chunks (`flat_map`); other tasks convert the chunks (`map`). Ray Data keeps
the order and bounds the memory. The program that starts the conversion writes the output, with checkpoints, because one
file in order has one writer. So the output has the same bytes as without Ray.

Files of this machine are read on this machine. Addresses of object stores are read by the workers.
"""

from __future__ import annotations

import logging
import os
import pickle
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from ..errors import ConfigError, DragomanError
from .lines.chunk import ChunkConverter, ChunkSettings, ConversionChunk, ConvertedChunk
from .whole_or_remaining_input_to_chunks import ChunkEnd, RemainingInput, chunks

_Row = dict[str, Any]
_SHARE = 0.001
"""The share of a node's own resource that a reading task takes: enough to bind the task to the node."""


class RayError(DragomanError):
    """Ray could not run a task."""


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ConfigError(
            "engine", "ray", problem=f"this needs Ray Data ({error}). Run pip install 'dragoman[ray]'"
        ) from None
    return ray


def _read(row: _Row) -> Iterator[_Row]:
    """The chunks of one input."""
    reading, settings = pickle.loads(row["reading"])
    for end, chunk in chunks(reading, settings):
        yield {"end": msgspec.msgpack.encode(end), "data": msgspec.msgpack.encode(chunk)}


@lru_cache(maxsize=8)
def _converter(settings: bytes) -> ChunkConverter:
    return ChunkConverter(msgspec.msgpack.decode(settings, type=ChunkSettings))


def _convert(row: _Row, settings: bytes) -> _Row:
    result = _converter(settings)(msgspec.msgpack.decode(row["data"], type=ConversionChunk))
    return {"end": row["end"], "data": msgspec.msgpack.encode(result)}


def in_order(
    readings: list[RemainingInput], settings: ChunkSettings, jobs: int
) -> Iterator[tuple[ChunkEnd, ConvertedChunk]]:
    """The results of all chunks, in order. `jobs`: the number of processes on this machine; a cluster has its own."""
    if not readings:
        return
    ray = _ray()
    own = not ray.is_initialized()
    if own:
        options: dict[str, Any] = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": jobs, "include_dashboard": False}
        ray.init(logging_level=logging.ERROR, log_to_driver=False, **options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for row in _job(ray, readings, settings).iter_rows():
                end = msgspec.msgpack.decode(row["end"], type=ChunkEnd)
                yield end, msgspec.msgpack.decode(row["data"], type=ConvertedChunk)
    except ray.exceptions.RayError as error:
        first = str(error).strip().splitlines()[0]
        raise RayError(f"Ray: {first}. Run the same command again to continue") from None
    finally:
        if own:
            ray.shutdown()


def _job(ray: Any, readings: list[RemainingInput], settings: ChunkSettings) -> Any:
    """The data set of all results."""
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    # A block is about one chunk, so that the chunks of one file are converted by several tasks at once.
    context.target_max_block_size = settings.size
    cores = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    rows = [{"reading": pickle.dumps((reading, settings))} for reading in readings]
    # A reading task waits for the disk or the network, and takes no core. Ray Data would join it with the converting
    # task if both had the same resources; then one task would convert a whole file.
    here = {f"node:{ray.util.get_node_ip_address()}": _SHARE} if any(one.item.is_local for one in readings) else None
    return (
        # One block for each input, so that several inputs are read at the same time.
        ray.data.from_items(rows, override_num_blocks=len(rows))
        .flat_map(_read, num_cpus=0, concurrency=cores, **({"resources": here} if here else {}))
        .map(_convert, fn_args=(msgspec.msgpack.encode(settings),), num_cpus=1)
    )
