"""`dragoman template`: prompts that are used often, kept as files of the user."""

from __future__ import annotations

import os
from typing import Any

import click
import msgspec

from ..errors import ConfigError
from ..gateway import typed_toml_file
from ..store.user_files import write_own_file
from .loss_and_error_output import fail, without_control_characters
from .prompt_templates import (
    PromptTemplate,
    parse_template,
    read_template,
    template_file,
    template_names,
    template_text,
)
from .request_setting_options import read_pairs, settings_of

EXAMPLE = '''# A template of a question. $input is the prompt of the command line, $name is set by -p name=value.
prompt = """
Write a $length summary of this text:

$input
"""
system = "Answer in plain English."
# model = "openai/gpt-5-mini"
tools = []                      # no tools; without this line all built-in tools are offered

[defaults]
length = "short"

[options]
temperature = 0.2
'''


@click.group(epilog='Example: dragoman template save tidy "Correct the spelling: $input" --no-tools')
def template() -> None:
    """Keep prompts that you use often. `dragoman ask --template NAME` uses one.

    Templates are files in your own configuration folder. Files of the working folder are not searched.
    """


@template.command("list")
def list_() -> None:
    """List the templates, with their first words."""
    found = template_names(os.environ)
    for name in found:
        try:
            one = read_template(name, os.environ)
            words = " ".join((one.prompt or one.system).split())[:80]
        except ConfigError as error:
            words = f"(cannot be used: {error})"
        click.echo(without_control_characters(f"{name:20} {words}"))
    if not found:
        click.echo("there are no templates. `dragoman template save` keeps one.", err=True)


@template.command()
@click.argument("name")
def show(name: str) -> None:
    """Print the file of a template."""
    try:
        click.echo(template_text(name, os.environ), nl=False)
    except ConfigError as error:
        fail(str(error), 2)


@template.command()
@click.argument("name")
def edit(name: str) -> None:
    """Open a template in your editor (VISUAL, EDITOR). A new template begins with an example."""
    try:
        file = template_file(name, os.environ)
        before = template_text(name, os.environ) if file.exists() else EXAMPLE
        text = click.edit(before, extension=".toml")
        if text is None:
            click.echo("nothing was changed", err=True)
            return
        # Checked before the old file is replaced.
        parse_template(text, str(file))
        _write(name, text)
    except ConfigError as error:
        fail(f"the template is not kept: {error}", 2)


@template.command()
@click.argument("name")
@click.argument("prompt", default="")
@click.option("--system", default="", metavar="TEXT", help="Further instructions for the model.")
@click.option("-m", "--model", default="", metavar="UPSTREAM/MODEL", help="The model.")
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="A setting of the requests.")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="Offer only this built-in tool.")
@click.option("--no-tools", is_flag=True, help="Offer no built-in tool.")
@click.option("--schema", default="", metavar="FILE|DSL", help="The schema of the answer.")
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="The usual value of a variable.")
@click.option("--force", is_flag=True, help="Replace a template with this name.")
def save(
    name: str,
    prompt: str,
    system: str,
    model: str,
    options: tuple[str, ...],
    tools: tuple[str, ...],
    no_tools: bool,
    schema: str,
    params: tuple[str, ...],
    force: bool,
) -> None:
    """Keep a template. $input in the PROMPT is the prompt of `dragoman ask`, $name is a variable of your own."""
    try:
        settings = _typed(read_pairs(options, "option"))
        offered = () if no_tools else tools or None
        made = PromptTemplate(prompt, system, model, offered, schema, read_pairs(params, "param"), settings)
        if made == PromptTemplate():
            raise ConfigError("template", name, problem="it is empty. Give a prompt or an option")
        file = template_file(name, os.environ)
        if file.exists() and not force:
            raise ConfigError("template", name, problem="a template with this name exists. Use --force to replace it")
        text = typed_toml_file.write_toml(msgspec.to_builtins(made))
        parse_template(text, name)
        _write(name, text)
    except ConfigError as error:
        fail(str(error), 2)


@template.command()
@click.argument("name")
def remove(name: str) -> None:
    """Delete a template."""
    try:
        # The error of this call lists the existing templates.
        template_text(name, os.environ)
        template_file(name, os.environ).unlink()
    except (ConfigError, OSError) as error:
        fail(str(error), 2)


def _typed(given: dict[str, str]) -> dict[str, Any]:
    """The settings, converted to the types that the file needs."""
    made = settings_of(given)
    return {name: msgspec.to_builtins(getattr(made, name)) for name in given}


def _write(name: str, text: str) -> None:
    file = template_file(name, os.environ)
    try:
        write_own_file(file, text.encode())
    except OSError as error:
        raise ConfigError("template", str(file), problem=error.strerror or str(error)) from None
    click.echo(f"kept: {file}", err=True)
