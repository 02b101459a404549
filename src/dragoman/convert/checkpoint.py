"""Owns Checkpoint: how far a conversion has come. It is saved beside the output while the conversion runs."""

from __future__ import annotations

import os

import msgspec
from msgspec import Struct

from ..errors import ConfigError
from .lines.summary import Summary

VERSION = 1
SUFFIX = ".progress.json"


class Checkpoint(Struct):
    """Everything up to here is on the disk. The next line to read is named by file and place."""

    fingerprint: str
    """The options and input files. Another conversion does not continue from here."""
    version: int = VERSION
    output: int = 0
    """The number of the output that is being written. All outputs before it are whole."""
    file: int = 0
    """The number of the input file among all inputs."""
    place: int = 0
    """The place in that file (`InputPiece.after`)."""
    line: int = 1
    state: int = 0
    """The state of the output."""
    bad: int = 0
    """The length of the side file."""
    consumed: int = 0
    """Bytes of the input that were read, for the progress bar."""
    summary: Summary = msgspec.field(default_factory=Summary)


def save(path: str, checkpoint: Checkpoint) -> None:
    """Replace the saved checkpoint, at once."""
    # A crash leaves the old checkpoint or the new one, never a part of one.
    fresh = path + ".new"
    with open(fresh, "wb") as file:
        file.write(msgspec.json.encode(checkpoint))
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def load(path: str, fingerprint: str) -> Checkpoint | None:
    """The saved checkpoint of this conversion; None if there is none. Raises ConfigError if the checkpoint belongs to
    another conversion.
    """
    try:
        with open(path, "rb") as file:
            found = msgspec.json.decode(file.read(), type=Checkpoint)
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise ConfigError("progress file", path, problem=f"{error}. Start again with --force") from None
    if found.version != VERSION or found.fingerprint != fingerprint:
        raise ConfigError(
            "progress file",
            path,
            problem="an unfinished conversion with other options or other input files. Start again with --force",
        )
    return found
