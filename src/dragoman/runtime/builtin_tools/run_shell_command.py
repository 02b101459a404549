"""Owns the tool run_shell_command: a command in its own process group, and a report of eight lines."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from .. import processes, workspace_file_access
from ..processes import BackgroundProcesses, EndedCommand
from ..programs_in_shell_command import programs_of_command
from ..sandbox_interface import ProcessStart, Sandbox
from ..shells import Shell, usual_shell
from ..tool_interface import Confirmation, Failure, Kind, Outcome, Tool, ToolEnvironment, ToolError

SECONDS = 120.0
MAX_OUTPUT = 400_000
"""Bytes of a command's output that are kept: so many from its beginning, and as many from its end."""
QUIET = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": ":"}
"""Variables that switch off pagers, prompts and editors: no person can answer them."""
CAREFUL_GIT = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
}
"""Git takes any folder with certain files as a bare repository, and starts programs from its `config`. A cloned folder
can contain such a folder, so git must not discover bare repositories (git-config(1), safe.bareRepository). In every
repository, nearly every git command starts the program in `core.fsmonitor`, so that setting is switched off."""
_NETWORK = {
    "type": "boolean",
    "description": "True if the command needs the network. The user may be asked.",
}
_IN_SANDBOX = (
    "\nCommands run in a sandbox: they can write only in the workspace and in $TMPDIR, and they have no network unless "
    "`network` is true."
)
_REFUSED = re.compile(
    r"network is unreachable|could not resolve|name resolution|name or service not known|getaddrinfo"
    r"|read-only file system|permission denied|operation not permitted",
    re.IGNORECASE,
)
"""Error messages of programs without a permission. The cause may be the sandbox."""


class RunShellCommand(Tool):
    """The tool `run_shell_command`. Runs a command with the system's shell."""

    name = "run_shell_command"
    description = (
        f"{usual_shell().description}\n"
        "Returns: Command, Directory, Output (stdout), Error (stderr, or the reason why the command was ended), "
        "Exit Code, Signal, Background PIDs, Process Group PGID."
    )
    kind: Kind = "run"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The exact command."},
            "description": {"type": "string", "description": "What the command does, in a few words for the user."},
            "directory": {
                "type": "string",
                "description": "The folder to run it in, seen from the workspace's root; the root by default.",
            },
        },
        "required": ["command"],
    }

    def __init__(
        self,
        seconds: float = SECONDS,
        interval: float = 1.0,
        sandbox: Sandbox | None = None,
        shell: Shell | None = None,
    ) -> None:
        self._shell = shell or usual_shell()
        self.seconds = seconds
        self.interval = interval
        self.sandbox: Sandbox | None = None
        self._temporary: Path | None = None
        self._left: list[BackgroundProcesses] = []
        if sandbox is not None:
            self.use_sandbox(sandbox)

    def use_sandbox(self, sandbox: Sandbox) -> None:
        """Run all further commands in a sandbox."""
        self.sandbox = sandbox
        self.description = type(self).description + _IN_SANDBOX
        # A copy, because all objects share the schema of the class.
        known = type(self).schema
        self.schema = {**known, "properties": {**known["properties"], "network": _NETWORK}}

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        if not arguments["command"].strip():
            return "Command cannot be empty."
        # A zero byte would end the argument of the program.
        if "\0" in arguments["command"]:
            return "Command cannot hold a zero byte."
        where = workspace_file_access.path_in_workspace(arguments.get("directory") or ".", around.workspace)
        if not os.path.isdir(where.path):
            return f"Directory does not exist: {where.path}"
        return None

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        names, hidden = programs_of_command(arguments["command"])
        folder = ""
        if arguments.get("directory"):
            found = workspace_file_access.path_in_workspace(arguments["directory"], around.workspace).path
            folder = "" if found == workspace_file_access.path_in_workspace(".", around.workspace).path else str(found)
        # On one line: a text of the model must not look like a command or like an answer.
        title = " ".join((arguments.get("description") or "Run a command").split())
        title += f" (in {arguments['directory']})" if arguments.get("directory") else ""
        hidden = hidden or not self._shell.readable
        return Confirmation(
            title,
            "run",
            command=arguments["command"],
            roots=names,
            folder=folder,
            hidden=hidden,
            sandbox=self.sandbox.name if self.sandbox is not None else "",
            network=self._wants_network(arguments),
        )

    def _wants_network(self, arguments: Mapping[str, Any]) -> bool:
        return self.sandbox is not None and bool(arguments.get("network"))

    def _start(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> ProcessStart:
        folder = workspace_file_access.path_in_workspace(arguments.get("directory") or ".", around.workspace).path
        environment = {**around.environment, **QUIET, **CAREFUL_GIT}
        start = ProcessStart(self._shell.command(arguments["command"]), folder, environment, around.workspace)
        if self.sandbox is None:
            return start
        # One folder for all commands, so that a command finds the files of the command before.
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="dragoman-")).resolve()
        network = self._wants_network(arguments)
        return self.sandbox(replace(start, temporary=self._temporary, network=network))

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        try:
            start = self._start(arguments, around)
            ended = await processes.run_command(
                start.command,
                folder=start.folder,
                environment=start.environment,
                seconds=self.seconds,
                limit=MAX_OUTPUT,
                report=around.report,
                interval=self.interval,
            )
        except OSError as refused:
            message = f"The command was not started: {refused.strerror or refused}"
            raise ToolError("shell_execute_error", message) from refused
        # Processes in the background may run until the session ends.
        if ended.left.processes:
            self._left.append(ended.left)
        error = ended.error.rstrip("\n")
        failure = None
        if ended.late:
            message = f"The command took longer than {self.seconds:g} seconds and was ended, with all it had started."
            error = f"{error}\n{message}".lstrip("\n")
            failure = Failure(message, "shell_timeout")
        error = "\n".join([text for text in (error, self._hint(arguments, ended)) if text])
        return Outcome(_report(arguments, ended, error), _display(ended, error), failure)

    async def close(self) -> None:
        """End the background processes of all commands."""
        left, self._left = self._left, []
        for group in left:
            await group.end()
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            await asyncio.to_thread(shutil.rmtree, temporary, ignore_errors=True)

    def _hint(self, arguments: Mapping[str, Any], ended: EndedCommand) -> str:
        """A line for the model about the sandbox, if the sandbox may be the cause of a failure."""
        if self.sandbox is None or not ended.code or not _REFUSED.search(ended.error + ended.output):
            return ""
        network = "" if self._wants_network(arguments) else " and has no network (set `network` if it is needed)"
        return f"[sandbox {self.sandbox.name}: the command can write only in the workspace and in $TMPDIR{network}]"


def _report(arguments: Mapping[str, Any], ended: EndedCommand, error: str) -> str:
    pids = sorted(pid for pid, _ in ended.left.processes)
    return "\n".join(
        [
            f"Command: {arguments['command']}",
            f"Directory: {arguments.get('directory') or '(root)'}",
            f"Output: {ended.output.rstrip(chr(10)) or '(empty)'}",
            f"Error: {error or '(none)'}",
            f"Exit Code: {'(none)' if ended.code is None else ended.code}",
            f"Signal: {ended.sign or '(none)'}",
            f"Background PIDs: {', '.join(map(str, pids)) or '(none)'}",
            f"Process Group PGID: {ended.left.group}",
        ]
    )


def _display(ended: EndedCommand, error: str) -> str:
    """The display for a person: the command's output, or its ending if there is no output."""
    code = f"(exit code {ended.code})" if ended.code else ""
    output = "\n".join([text for text in (ended.output.rstrip("\n"), error) if text])
    if output:
        return f"{output}\n{code}".rstrip("\n")
    if ended.sign:
        return f"Command ended by signal: {ended.sign}"
    return f"Command exited with code: {ended.code}" if ended.code else ""
