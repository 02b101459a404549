"""Runs chunks as tasks of Ray, in order: on this machine, or on the cluster that RAY_ADDRESS names.

The program that starts the conversion reads and writes the files; the tasks convert. So the output has the same bytes
as without Ray, and the cluster needs no access to the files.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

from ..errors import ConfigError, DragomanError
from .chunk import Chunk, ChunkConverter, Result, Settings
from .workers import AHEAD

_Tag = TypeVar("_Tag")


class RayError(DragomanError):
    """Ray could not run a task."""


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    try:
        import ray
    except ImportError:
        raise ConfigError(
            "engine", "ray", problem="this needs the package ray. Run pip install 'dragoman[ray]'"
        ) from None
    return ray


@lru_cache(maxsize=8)
def _converter(settings: Settings) -> ChunkConverter:
    return ChunkConverter(settings)


def _convert(settings: Settings, chunk: Chunk) -> Result:
    return _converter(settings)(chunk)


def in_order(chunks: Iterable[tuple[_Tag, Chunk]], settings: Settings, jobs: int) -> Iterator[tuple[_Tag, Result]]:
    """The results of all chunks, in order. `jobs`: the number of processes on this machine; a cluster has its own."""
    ray = _ray()
    own = not ray.is_initialized()
    if own:
        options: dict[str, Any] = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": jobs, "include_dashboard": False}
        ray.init(logging_level=logging.ERROR, log_to_driver=False, **options)
    try:
        task = ray.remote(_convert)
        shared = ray.put(settings)
        most = max(int(ray.cluster_resources().get("CPU", 1)), 1) * AHEAD
        waiting: deque[tuple[_Tag, Any]] = deque()
        for tag, chunk in chunks:
            waiting.append((tag, task.remote(shared, chunk)))
            if len(waiting) >= most:
                yield _next(ray, waiting)
        while waiting:
            yield _next(ray, waiting)
    finally:
        if own:
            ray.shutdown()


def _next(ray: Any, waiting: deque[tuple[_Tag, Any]]) -> tuple[_Tag, Result]:
    tag, reference = waiting.popleft()
    try:
        return tag, ray.get(reference)
    except ray.exceptions.RayError as error:
        first = str(error).strip().splitlines()[0]
        raise RayError(f"Ray: {first}. Run the same command again to continue") from None
