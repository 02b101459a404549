"""The configuration of the commands that send requests to upstreams: `ask`, `chat`, `models`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..gateway.config import Config, load, parse
from .untrusted_file_effects import CONFIG_FILE
from .untrusted_files import FolderFile


def user_config(file: Path | None, environment: Mapping[str, str]) -> Config:
    """The configuration of the named file, else of a trusted file in this folder, else of the environment."""
    data = FolderFile(Path(CONFIG_FILE), environment).read() if file is None else None
    return load(file, environment) if data is None else parse(data, CONFIG_FILE, environment)
