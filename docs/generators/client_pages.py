"""Writes one page for each client: how it is started on any model, its settings, its dialects, its tests."""

from __future__ import annotations

import shlex
import textwrap

from dragoman.cli import client_table
from dragoman.cli.client_table import ANY, ClientFacts, ClientRow
from dragoman.cli.connect import exports, settings_text
from dragoman.cli.run_client import USUAL_GATEWAY
from dragoman.dialects import get

from .tables import cells, heading

_FENCES = {"json": "json", "toml": "toml", "env": "sh"}


def client_pages() -> dict[str, str]:
    """The text of each page, by the client's name, and the list of them as `index`."""
    rows = client_table.rows()
    return {"index": _index(rows), **{name: _page(name, row) for name, row in rows.items()}}


def _index(rows: dict[str, ClientRow]) -> str:
    out = [
        "# Clients",
        "",
        "One page for each client that dragoman knows by name. Every other command that reads the usual variables of",
        "the SDKs works too: [any other command](any.md). [Coding agents](../how-to/coding-agents.md) has what is the",
        "same for all, and [client libraries](../how-to/client-libraries.md) has the SDKs.",
        "",
        *heading("Client", "Start on any model", "Dialects", "Version tried"),
    ]
    for name, row in rows.items():
        link = f"[{_title(name, row)}]({name}.md)"
        out.append(cells(link, f"`{_run(name)}`", ", ".join(row.dialects), row.tried or "none"))
    return "\n".join(out) + "\n"


def _title(name: str, row: ClientRow) -> str:
    return "Any other command" if name == ANY else row.title


def _model(name: str) -> str:
    """A model of another provider, for the examples."""
    return "anthropic/claude-opus-5" if name == "gemini" else "gemini/gemini-3-pro"


def _run(name: str) -> str:
    model = _model(name)
    return f"dragoman run --model {model} -- COMMAND" if name == ANY else f"dragoman run {name} --model {model}"


def _page(name: str, row: ClientRow) -> str:
    out = [f"# {_title(name, row)}", "", *_dialects(row), ""]
    if row.install:
        out += ["## Install", "", "```sh", row.install, "```", ""]
    out += _session(name, row)
    out += _lasting(name, row)
    if row.notes:
        out += ["## Good to know", "", *[line for note in row.notes for line in (*textwrap.wrap(note, 120), "")]]
    out += ["## What was tested", "", *_tested(row), ""]
    out.append("See also: [coding agents](../how-to/coding-agents.md), [all options](../reference/cli.md).")
    return "\n".join(out) + "\n"


def _dialects(row: ClientRow) -> list[str]:
    first, *others = [f"[{name}](../dialects/{name}.md) ({get(name).title})" for name in row.dialects]
    if not row.connect and others:
        return ["The variables lead clients of these dialects to the gateway:", "", f"- {first}", *_listed(others)]
    out = [f"With these settings {row.title} uses the dialect {first}."]
    return [*out, "With other settings it uses one of these dialects:", "", *_listed(others)] if others else out


def _listed(lines: list[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def _session(name: str, row: ClientRow) -> list[str]:
    out = ["## For one session", "", "```sh", _run(name), "```", ""]
    out += ["A gateway starts for this session alone, and the client's own settings are not changed."]
    out += ["At the end standard error gets the tokens, the cost and the losses.", ""]
    if row.client_model:
        reason = "refuses names that it does not know" if row.only_known_models else "chooses its tools by the name"
        out += [f"The client sees the model as `{row.client_model}`, because it {reason}.", ""]
    if row.needs_model:
        out += ["`--model` is needed: the client has no default model that could be used.", ""]
    return out + _given(name, row)


def _given(name: str, row: ClientRow) -> list[str]:
    """What `dragoman run` gives to the client."""
    out = []
    file = f"FOLDER/{row.settings_name}"
    facts = ClientFacts("http://127.0.0.1:PORT", "KEY", "", row.client_model or _model(name), settings=file)
    if variables := client_table.environment(row, facts):
        lines = [f"{key}={shlex.quote(value)}" for key, value in variables.items()]
        out += ["The client gets these variables:", "", "```sh", *lines, "```", ""]
    if arguments := client_table.arguments(row, facts):
        out += ["The client gets these arguments:", "", "```sh", shlex.join(arguments), "```", ""]
    if row.settings:
        form = "json" if row.settings_form == "{json}" else "js"
        text = client_table.settings_text(row, facts).rstrip()
        out += [f"The client gets a temporary file `{row.settings_name}`:", "", f"```{form}", text, "```", ""]
    if row.unset:
        out += [f"These variables are removed: `{'`, `'.join(row.unset)}`.", ""]
    if "{context}" in f"{row.environment}{row.arguments}{row.settings}":
        out += ["The model's window is written there too, where the window is known.", ""]
    elif "{context" in f"{row.settings}":
        out += ["The model's own window is there, where the window is known.", ""]
    return out


def _lasting(name: str, row: ClientRow) -> list[str]:
    model = row.client_model if row.only_known_models else _model(name)
    facts = ClientFacts(USUAL_GATEWAY, "any", "", model)
    out = ["## For a gateway that runs", ""]
    if name != ANY:
        needed = "" if row.only_known_models else f" --model {model}"
        out += ["```sh", f"dragoman connect {name}{needed}", "```", ""]
        if row.connect:
            out += [
                "This shows the settings below. `--write` writes them into the client's own files with a backup, and"
            ]
            out += ["`--undo` takes them back.", ""]
        else:
            out += [f"This shows the variables below. {row.title} has no settings file for them.", ""]
    if row.only_known_models:
        out += [f"A [route](../how-to/run-the-gateway.md) leads the name `{model}` to the model that you want.", ""]
    out += ["The settings by hand, where the gateway needs no key:", ""]
    for file in row.connect:
        out += [f"`{file.path}`:", "", f"```{_FENCES[file.form]}", settings_text(file, facts), "```", ""]
    return out if row.connect else [*out, "```sh", exports(row, facts), "```", ""]


def _tested(row: ClientRow) -> list[str]:
    if not row.tested:
        return [f"{row.title} was not tested."]
    return textwrap.wrap(f"Version {row.tried}. {row.tested}" if row.tried else row.tested, 120)
