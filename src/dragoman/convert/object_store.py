"""Files in object stores: addresses that begin with s3://, gs:// or abfs://, by pyarrow.fs.

Credentials, region and endpoint come from the environment, as the provider's own tools take them. An address with
credentials is refused, because addresses are printed and written into reports. The module does not know lines.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, cast

from msgspec import Struct

from ..codec.cache_memory_budget import lookup_cache
from ..errors import ConfigError

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)/?(.*)", re.DOTALL)
_BUFFER = 8 << 20
"""Bytes of one request to the store. Small requests would wait for the network most of the time."""


class StoredFile(Struct):
    """A file of a store."""

    address: str
    size: int
    changed: int
    """The time of the last change, in nanoseconds."""


def is_address(name: str) -> bool:
    """Whether a name is an address and no path."""
    return _ADDRESS.match(name) is not None


@lookup_cache(64)
def _store(scheme: str, container: str) -> tuple[Any, str]:
    """The file system of a bucket, and the beginning of all paths in it."""
    try:
        from pyarrow.fs import FileSystem
    except ImportError:
        raise ConfigError(
            "address", f"{scheme}://", problem="this needs the package pyarrow. Run pip install 'dragoman[convert]'"
        ) from None
    found: tuple[Any, str] = FileSystem.from_uri(f"{scheme}://{container}")
    return found


def _store_and_path(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path there. Raises ConfigError."""
    matched = _ADDRESS.match(address)
    scheme, container, path = matched.groups() if matched else ("", "", "")
    if scheme not in SCHEMES:
        problem = "write the path alone" if scheme == "file" else "this scheme is unknown"
        raise ConfigError("address", f"{scheme}://", tuple([f"{one}://" for one in SCHEMES]), problem=problem)
    if ":" in container.rpartition("@")[0]:
        raise ConfigError("address", f"{scheme}://", problem="no credentials here. Set them in the environment")
    if not container:
        raise ConfigError("address", address, problem="the address names no bucket")
    with _config_error_with_address(address):
        system, base = _store(scheme, container)
    return system, f"{base.rstrip('/')}/{path}".rstrip("/")


@contextmanager
def _config_error_with_address(address: str) -> Iterator[None]:
    """Errors of a store as ConfigError, with the address."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError) as error:  # errors of pyarrow are some of these
        # The id of the request differs each time, and helps only the store's own support.
        words = re.sub(r" \(Request ID: [^)]*\)", "", str(error)).strip().splitlines()
        raise ConfigError("address", address, problem=words[0] if words else type(error).__name__) from None


def find(address: str) -> StoredFile | None:
    """The file at an address; None if there is none."""
    system, path = _store_and_path(address)
    with _config_error_with_address(address):
        facts = system.get_file_info(path)
    return StoredFile(address, facts.size or 0, facts.mtime_ns or 0) if facts.is_file else None


def is_folder(address: str) -> bool:
    """Whether there are files below an address."""
    system, path = _store_and_path(address)
    with _config_error_with_address(address):
        return bool(system.get_file_info(path).type.name == "Directory")


def list_files(folder: str) -> list[StoredFile]:
    """All files below an address, in the order of their names."""
    from pyarrow.fs import FileSelector  # late: needs pyarrow

    system, path = _store_and_path(folder)
    with _config_error_with_address(folder):
        found = system.get_file_info(FileSelector(path, allow_not_found=True, recursive=True))
    root = folder.rstrip("/")
    listed = [
        StoredFile(root + facts.path[len(path) :], facts.size or 0, facts.mtime_ns or 0)
        for facts in found
        if facts.is_file
    ]
    return sorted(listed, key=lambda one: one.address)


def match_files(pattern: str) -> list[StoredFile]:
    """All files whose address matches a pattern: `*` and `?` within a name, `**` over folders."""
    fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    folder = fixed.rpartition("/")[0]
    if folder.count("/") < 2:
        raise ConfigError("address", pattern, problem="a pattern must not be in the name of the bucket")
    expression = re.compile(_pattern_to_regex(pattern))
    return [one for one in list_files(folder) if expression.fullmatch(one.address)]


def _pattern_to_regex(pattern: str) -> str:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]/]+\])", pattern)
    words = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    made = []
    for piece in pieces:
        if len(piece) > 2 and piece.startswith("["):
            inner = piece[1:-1].replace("\\", "\\\\")
            made.append(f"[{'^' + inner[1:] if inner.startswith('!') else inner}]")
        else:
            made.append(words.get(piece) or re.escape(piece))
    return "".join(made)


def open_file(address: str) -> IO[bytes]:
    """A file for reading, in which any place can be sought."""
    system, path = _store_and_path(address)
    with _config_error_with_address(address):
        opened = system.open_input_file(path)
    return cast("IO[bytes]", io.BufferedReader(opened, _BUFFER))


def upload(local: str, address: str) -> None:
    """Copy a local file, or the files of a local folder, to an address. A file appears there when it is whole."""
    if os.path.isdir(local):
        for name in sorted(os.listdir(local)):
            upload(os.path.join(local, name), f"{address}/{name}")
        return
    system, path = _store_and_path(address)
    with open(local, "rb") as source, _config_error_with_address(address):
        # Bytes that are compressed already must not be compressed again because of the file's name.
        target = system.open_output_stream(path, compression=None)
        try:
            while block := source.read(_BUFFER):
                target.write(block)
            target.close()
        except BaseException:
            # pyarrow can only close the stream, and closing makes a file of the bytes so far (Arrow 26).
            with suppress(OSError):
                target.close()
                system.delete_file(path)
            raise


def remove(address: str) -> None:
    """Delete a file."""
    system, path = _store_and_path(address)
    with _config_error_with_address(address):
        system.delete_file(path)
