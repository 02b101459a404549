"""Owns the cases as data: the record of a case, and the reading of a frozen suite.

A suite is a folder. The wheel has the newest suite as an archive of that folder, which is read in place.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ...errors import ConfigError
from .json_paths_and_exact_numbers import ExactFloat

Folder = Path | zipfile.Path
"""A folder on the disk, or one in an archive."""
Kind = Literal["request", "response", "stream", "fault", "tools", "conversation", "count"]
FROM_CLIENT = ("request", "tools", "conversation", "count")
"""Kinds of cases whose input is the client's request. The input of the other kinds is the upstream's response."""

EXPECTED = "expected-failures.json"
MANIFEST = "suite.json"
PLAIN = "plain.json"


class RequirementSource(Struct, frozen=True, forbid_unknown_fields=True):
    """The source of a requirement: a page, its section, the kind of evidence, and the date."""

    page: str
    section: str
    evidence: str
    date: str


class Case(Struct, frozen=True, forbid_unknown_fields=True, rename={"source_dialect": "from", "target": "to"}):
    """One test of one requirement."""

    id: str
    topic: str
    requirement: str
    source: tuple[RequirementSource, ...]
    kind: Kind
    source_dialect: str
    """The dialect of the input (`from`)."""
    target: str
    """The dialect of the outcome (`to`)."""
    model: str
    """The model name for the upstream."""
    input: Any
    expect: tuple[dict[str, Any], ...]
    request: Any = None
    """If the input is an upstream's response: the client's request that the response answers."""
    headers: dict[str, str] = {}
    """Headers that the client sends with its request."""
    host: str = ""
    """The host of the upstream, if the case depends on the host."""

    @property
    def client(self) -> str:
        """The client's dialect."""
        return self.source_dialect if self.kind in FROM_CLIENT else self.target

    @property
    def upstream(self) -> str:
        """The upstream's dialect."""
        return self.target if self.kind in FROM_CLIENT else self.source_dialect


class ListedFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the suite: its name, the number of its cases and the SHA-256 of its bytes."""

    file: str
    cases: int
    sha256: str


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of a frozen suite."""

    date: str
    cases: int
    files: tuple[ListedFile, ...]


class SimplestDocuments(Struct, frozen=True, forbid_unknown_fields=True):
    """The simplest documents of a dialect, for cases that test something else."""

    request: dict[str, Any]
    reply: dict[str, Any]
    frames: list[Any]


class Suite(Struct, frozen=True):
    """The cases of one date, in the order of their files."""

    date: str
    cases: tuple[Case, ...]
    place: Folder
    plain: dict[str, SimplestDocuments]


_cases = msgspec.json.Decoder(tuple[Case, ...], float_hook=ExactFloat).decode


def latest_suite() -> Folder:
    """The newest suite: from the package, or from the project around the current folder."""
    # The names begin with dates, so the last one is the newest.
    packed = sorted((Path(__file__).parents[1] / "suites").glob("*.zip"))
    if packed:
        return zipfile.Path(packed[-1])
    found = sorted([path.parent for path in (Path(__file__).parents[4] / "conformance").glob(f"*/{MANIFEST}")])
    if found:
        return found[-1]
    raise ConfigError("suite", "", ("--suite DIR",), "none was found")


def load_suite(folder: Folder) -> Suite:
    """Read the suite in a directory."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
        cases: list[Case] = []
        for listed in manifest.files:
            found = _cases((folder / listed.file).read_bytes())
            # A file that was cut must not pass as a whole one.
            if len(found) != listed.cases:
                raise ConfigError(f"number of cases in {listed.file}", str(len(found)), (str(listed.cases),))
            cases += found
        plain = msgspec.json.decode((folder / PLAIN).read_bytes(), type=dict[str, SimplestDocuments])
    except (OSError, KeyError, msgspec.DecodeError) as error:  # KeyError: an archive without the file
        raise ConfigError("suite", str(folder), ("a directory with a suite.json",), str(error)) from None
    return Suite(manifest.date, tuple(cases), folder, plain)


def expected_failures(file: Folder) -> dict[str, str]:
    """The ids of the expected failures, each with its reason."""
    if not file.exists():
        return {}
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError("expected failures", str(file), ('{"case id": "reason"}',), str(error)) from None
