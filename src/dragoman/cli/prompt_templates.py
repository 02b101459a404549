"""Templates of questions: files in the user's own configuration folder, one for each template.

A template in the working folder is never used: the folder may come from an untrusted source, and a template contains
the instructions and the tools of a model.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..errors import ConfigError
from ..gateway import typed_toml_file
from ..store.user_files import config_folder, read_own_file
from .request_setting_options import settings_of

INPUT = "input"
"""The name of the variable for the prompt of the command line."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class PromptTemplate(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A question with gaps, and the settings that belong to the question."""

    prompt: str = ""
    """The text, with $input for the prompt of the command line and $name for other variables; $$ is a dollar sign."""
    system: str = ""
    """Further instructions for the model, with the same variables."""
    model: str = ""
    tools: tuple[str, ...] | None = None
    """The built-in tools to offer; an empty list offers none."""
    schema: str = ""
    """The schema of the answer, as for --schema."""
    defaults: dict[str, str] = {}
    """Values of variables that the command line does not set."""
    options: dict[str, Any] = {}
    """Settings of the requests, as for -o."""

    def variables(self) -> list[str]:
        """The variables of the texts, except $input."""
        found = [name for text in (self.prompt, self.system) for name in _gaps(text)]
        return [name for name in dict.fromkeys(found) if name != INPUT]

    def needs_input(self) -> bool:
        """Whether the question has a gap for the prompt of the command line."""
        return not self.prompt or INPUT in (*_gaps(self.prompt), *_gaps(self.system))

    def fill(self, words: str, given: Mapping[str, str]) -> tuple[str, str]:
        """The prompt and the instructions. If the prompt has no gap for the words, the words are added at its end.
        ConfigError where a variable has no value, or where a value has no variable."""
        names = self.variables()
        for name in given:
            if name not in names:
                raise ConfigError("variable", name, tuple(names), "the template has no such variable")
        values = {**self.defaults, **given, INPUT: words}
        missing = [name for name in names if name not in values]
        if missing:
            problem = f"it has no value. Give one: -p {missing[0]}=VALUE"
            raise ConfigError("variable", missing[0], problem=problem)
        prompt, system = (string.Template(text).substitute(values) for text in (self.prompt, self.system))
        if words and INPUT not in (*_gaps(self.prompt), *_gaps(self.system)):
            prompt = f"{prompt}\n\n{words}" if prompt else words
        return prompt, system


def template_folder(environment: Mapping[str, str]) -> Path:
    """The folder of the templates."""
    return config_folder(environment) / "templates"


def template_file(name: str, environment: Mapping[str, str]) -> Path:
    """The file of a template. ConfigError where the name could lead to another folder."""
    if _NAME.fullmatch(name) is None:
        raise ConfigError("template", name, problem="a name has letters, digits, - and _ only")
    return template_folder(environment) / f"{name}.toml"


def template_names(environment: Mapping[str, str]) -> list[str]:
    """The names of all templates."""
    try:
        found = os.listdir(template_folder(environment))
    except FileNotFoundError:
        return []
    return sorted([file[:-5] for file in found if file.endswith(".toml") and _NAME.fullmatch(file[:-5])])


def template_text(name: str, environment: Mapping[str, str]) -> str:
    """The text of a template's file. ConfigError where there is none, or where other users can write the file."""
    file = template_file(name, environment)
    try:
        return read_own_file(file).decode()
    except FileNotFoundError:
        raise ConfigError("template", name, tuple(template_names(environment))) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("template", str(file), problem=str(error)) from None


def read_template(name: str, environment: Mapping[str, str]) -> PromptTemplate:
    """A template by its name."""
    return parse_template(template_text(name, environment), str(template_file(name, environment)))


def parse_template(text: str, file: str) -> PromptTemplate:
    """The template in the text of a file. ConfigError names the mistake and its place."""
    template = typed_toml_file.read(text, PromptTemplate, file)
    for field in ("prompt", "system"):
        if not string.Template(getattr(template, field)).is_valid():
            problem = "a dollar sign is before the name of a variable, as in $input. Write $$ for a dollar sign"
            raise typed_toml_file.FileError(file, text, (field,), problem)
    try:
        settings_of(template.options)
    except ConfigError as error:
        raise typed_toml_file.FileError(file, text, ("options", error.got), str(error)) from None
    return template


def _gaps(text: str) -> list[str]:
    return string.Template(text).get_identifiers()
