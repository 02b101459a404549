"""Owns the edits that `dragoman connect` makes in settings files of other programs: merge, backup, write, undo.

Only the keys of the table of clients are changed; the rest of a file keeps its bytes (TOML, env) or its values (JSON).
A file that this module may misread is not touched.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import ConfigError
from ..gateway.typed_toml_file import write_toml as toml_text
from ..store.user_files import MAX_BYTES, data_folder, read_own_file, read_regular_file, write_own_file

_RECORD = "connected.json"


class EditedFile(Struct, frozen=True):
    """One edited file: the digest of what was written, and whether the file existed before."""

    sha256: str
    existed: bool
    backup: str


def merge_settings(old: str, form: str, content: Mapping[str, Any], file: Path) -> str:
    """The text of a settings file with the content in it. ConfigError where the old text cannot be read."""
    if form == "json":
        return _merge_json(old, content, file)
    if form == "toml":
        return _merge_toml(old, content, file)
    return _merge_env(old, content)


def _merge_json(old: str, content: Mapping[str, Any], file: Path) -> str:
    try:
        before = msgspec.json.decode(old) if old.strip() else {}
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unreadable(file, f"it is not plain JSON ({error})") from None
    if not isinstance(before, dict):
        raise _unreadable(file, "it is not a JSON object")
    return msgspec.json.format(msgspec.json.encode(_merge_objects(before, content)), indent=2).decode() + "\n"


def _merge_objects(before: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(before)
    for key, value in more.items():
        inner = out.get(key)
        out[key] = _merge_objects(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return out


def _merge_toml(old: str, content: Mapping[str, Any], file: Path) -> str:
    """Top-level settings are written before the first table, and each of our tables is replaced as a whole."""
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    lines = old.splitlines(keepends=True)
    first = next((i for i, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    top = [line for line in lines[:first] if not _sets(line, plain)]
    rest = _without_tables("".join(lines[first:]), [".".join(path) for path, _ in _tables(content)])
    text = toml_text(plain) + "".join(top) + rest
    for path, values in _tables(content):
        text = f"{text.rstrip()}\n\n[{'.'.join(path)}]\n{toml_text(values)}"
    try:
        made = tomllib.loads(text)
        before = tomllib.loads(old)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(file, f"it is not TOML that can be edited safely ({error})") from None
    # The edit by lines may have misread the file, so both results are compared as values.
    if made != _merge_objects(before, content):
        raise _unreadable(file, "its form does not allow a safe edit")
    return text


def _sets(line: str, names: Mapping[str, Any]) -> bool:
    found = re.match(r"\s*([A-Za-z0-9_-]+)\s*=", line)
    return found is not None and found[1] in names


def _tables(content: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            plain = {name: one for name, one in value.items() if not isinstance(one, Mapping)}
            if plain:
                yield (*path, key), plain
            yield from _tables(value, (*path, key))


def _without_tables(text: str, names: list[str]) -> str:
    """The text without these tables."""
    out, skipping = [], False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            skipping = line.split("#")[0].strip().strip("[]").strip() in names
        if not skipping:
            out.append(line)
    return "".join(out)


def _merge_env(old: str, content: Mapping[str, Any]) -> str:
    kept = [line for line in old.splitlines() if line.partition("=")[0].removeprefix("export ").strip() not in content]
    return "\n".join([*kept, *[f"{name}={value}" for name, value in content.items()]]) + "\n"


def _unreadable(file: Path, why: str) -> ConfigError:
    return ConfigError("file", str(file), problem=f"{why}. Nothing was changed: make the change by hand")


class SettingsEdits:
    """The files that were edited, with their backups. The record is a file in the user's data folder."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._file = data_folder(environment) / _RECORD

    def write(self, file: Path, text: str) -> Path | None:
        """Write a settings file. Returns the backup of the old one, or None where there was none."""
        try:
            old: bytes | None = read_regular_file(file)[0]
        except FileNotFoundError:
            old = None
        edits = self._read()
        known = edits.get(str(file))
        # A file with our own text in it has its backup already.
        if known is None or old is None or _digest(old) != known.sha256:
            backup = file.with_name(f"{file.name}.before-dragoman")
            if old is not None:
                write_own_file(backup, old)
            known = EditedFile("", old is not None, str(backup))
        write_own_file(file, text.encode())
        self._write({**edits, str(file): msgspec.structs.replace(known, sha256=_digest(text.encode()))})
        return Path(known.backup) if known.existed else None

    def undo(self, file: Path) -> bool:
        """Restore the old content of a settings file; False where this program did not write the file. ConfigError
        where the file has changed since then."""
        edits = self._read()
        known = edits.get(str(file))
        if known is None:
            return False
        try:
            now: bytes | None = read_regular_file(file)[0]
        except FileNotFoundError:
            now = None
        if now is None or _digest(now) != known.sha256:
            where = f"The old content is in {known.backup}" if known.existed else "Remove the lines by hand"
            raise ConfigError("file", str(file), problem=f"it has changed since dragoman wrote it. {where}")
        backup = Path(known.backup)
        if known.existed:
            write_own_file(file, backup.read_bytes())
            backup.unlink()
        else:
            file.unlink()
        self._write({name: one for name, one in edits.items() if name != str(file)})
        return True

    def _read(self) -> dict[str, EditedFile]:
        try:
            return msgspec.json.decode(read_own_file(self._file), type=dict[str, EditedFile])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise ConfigError("file", str(self._file), problem=f"it cannot be read: {error}") from None

    def _write(self, edits: Mapping[str, EditedFile]) -> None:
        if edits:
            write_own_file(self._file, msgspec.json.encode(dict(edits)))
        else:
            self._file.unlink(missing_ok=True)


def old_text(file: Path) -> str:
    """The current text of a settings file; "" where there is no file. ConfigError where it cannot be read."""
    try:
        return read_regular_file(file)[0].decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        limit = f" (at most {MAX_BYTES} bytes)" if isinstance(error, OSError) else ""
        raise ConfigError("file", str(file), problem=f"it cannot be read{limit}: {error}") from None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def expand_path(path: str) -> Path:
    """A path of the table with the user's home; links are followed, so that a linked settings file stays a link."""
    return Path(os.path.realpath(os.path.expanduser(path)))
