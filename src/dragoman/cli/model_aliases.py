"""Aliases of models: names that the user has given to models, in a file of the configuration folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ..errors import ConfigError
from ..gateway import typed_toml_file
from ..store.user_files import config_folder, read_own_file, write_own_file

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def aliases_file(environment: Mapping[str, str]) -> Path:
    """The file of the aliases."""
    return config_folder(environment) / "aliases.toml"


def read_aliases(environment: Mapping[str, str]) -> dict[str, str]:
    """The model of each alias. ConfigError where the file is wrong, or where other users can write the file."""
    file = aliases_file(environment)
    try:
        text = read_own_file(file).decode()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("aliases", str(file), problem=str(error)) from None
    return typed_toml_file.read(text, dict[str, str], str(file))


def write_aliases(aliases: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Keep the aliases. ConfigError where the file cannot be written."""
    for name in aliases:
        if _NAME.fullmatch(name) is None:
            raise ConfigError("alias", name, problem="a name has letters, digits, -, _ and . only")
    file = aliases_file(environment)
    try:
        write_own_file(file, typed_toml_file.write_toml(dict(sorted(aliases.items()))).encode())
    except OSError as error:
        raise ConfigError("aliases", str(file), problem=error.strerror or str(error)) from None


def model_of(name: str, environment: Mapping[str, str]) -> str:
    """The model of an alias; any other name is a model's own name."""
    if not name or "/" in name:  # no alias has a slash
        return name
    return read_aliases(environment).get(name, name)
