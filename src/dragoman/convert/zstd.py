"""Zstandard frames: by the standard library from Python 3.14 on, else by the package zstandard."""

from __future__ import annotations

from typing import Any

from ..errors import ConfigError

# The default of the library.
LEVEL = 3


def _library() -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return zstd
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise ConfigError(
            "zst", "", problem="Python before 3.14 needs a package for it. Run pip install 'dragoman[convert]'"
        ) from None
    return zstandard


def compress_frame(data: bytes) -> bytes:
    """The bytes as one frame."""
    library = _library()
    # Only the module of the standard library has this name.
    if hasattr(library, "ZstdFile"):
        frame: bytes = library.compress(data, level=LEVEL)
    else:
        frame = library.ZstdCompressor(level=LEVEL).compress(data)
    return frame


def frame_error() -> type[Exception]:
    """The exception for bytes that are not frames."""
    found: type[Exception] = _library().ZstdError
    return found


def frame_decompressor() -> Any:
    """A decompressor of one frame."""
    library = _library()
    return library.ZstdDecompressor() if hasattr(library, "ZstdFile") else library.ZstdDecompressor().decompressobj()
