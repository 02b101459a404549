"""A program: `python landlock_start.py [--network] [--write FOLDER]... -- COMMAND...`, also with `python -c`.

It restricts its own process, and then becomes the command. Two rules of the kernel do the work:
- Landlock (https://docs.kernel.org/userspace-api/landlock.html, read November 2026): files can be written only in the
  named folders and in some devices. Files can be read everywhere.
- seccomp (https://docs.kernel.org/userspace-api/seccomp_filter.html): without --network only sockets between processes
  of the command work. Landlock alone would refuse TCP only, and UDP would stay open.

The program imports the standard library only, and is independent of dragoman. It never starts the command without both
rules: any problem ends it with code 126 and one line on standard error.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from typing import NoReturn

# include/uapi/linux/landlock.h
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = [1 << bit for bit in range(6, 13)]
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_SCOPE_ABSTRACT_SOCKET = 1
_OLDEST = 3
"""The first version that can refuse to truncate a file (Linux 6.2)."""

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")

# include/uapi/linux/prctl.h, seccomp.h, filter.h, audit.h
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_X32 = 0x40000000
_IO_URING_SETUP = 425
_UNIX = 1
_MACHINES = {
    "x86_64": (0xC000003E, 41, 42, 44),
    "aarch64": (0xC00000B7, 198, 203, 206),
}
"""For each machine: its number, and its system calls socket, connect, sendto."""


def main(words: list[str]) -> NoReturn:
    """Restrict this process, and become the command."""
    network, folders = False, []
    while words and words[0] != "--":
        word = words.pop(0)
        if word == "--network":
            network = True
        elif word == "--write" and words:
            folders.append(words.pop(0))
        else:
            _fail(f"unknown option {word}")
    command = words[1:]
    if not command:
        _fail("there is no command")
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        # The kernel demands this of a process without privileges, for both rules.
        _done(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _restrict_files(libc, folders, network=network)
        if not network:
            _refuse_network(libc)
    except OSError as error:
        _fail(error.strerror or str(error))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        _fail(f"{command[0]}: {error.strerror}")


def _restrict_files(libc: ctypes.CDLL, folders: list[str], *, network: bool) -> None:
    version = _done(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG))
    if version < _OLDEST:
        raise OSError(errno.ENOSYS, f"Landlock has version {version} here, and version {_OLDEST} is needed")
    # No folder allows the creation of devices: root could write to a disk by a new device in the workspace.
    inside = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM
    inside |= _REFER | _TRUNCATE
    handled = inside | _MAKE_CHAR | _MAKE_BLOCK
    device = _WRITE_FILE | _TRUNCATE
    if version >= 5:
        handled |= _IOCTL_DEV
        device |= _IOCTL_DEV
    # An abstract socket has no file, so the rules about files do not cover such sockets.
    scoped = _SCOPE_ABSTRACT_SOCKET if version >= 6 and not network else 0
    attributes = struct.pack("=QQQ", handled, 0, scoped)[: 24 if version >= 6 else 8]
    size = ctypes.c_size_t(len(attributes))
    rules = _done(libc.syscall(_CREATE_RULESET, attributes, size, 0))
    for folder in folders:
        _allow(libc, rules, folder, inside)
    for name in _DEVICES:
        path = os.path.join("/dev", name)
        if os.path.isdir(path):
            _allow(libc, rules, path, inside | device)
        elif os.path.exists(path):
            _allow(libc, rules, path, device)
    _done(libc.syscall(_RESTRICT_SELF, rules, 0))
    os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        _done(libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, handle), 0))
    finally:
        os.close(handle)


def _refuse_network(libc: ctypes.CDLL) -> None:
    machine = platform.machine()
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"the network cannot be blocked on the machine type {machine}")
    program = network_filter(machine)
    code = ctypes.create_string_buffer(program, len(program))
    holder = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    _done(libc.prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.c_char_p(holder), 0, 0))


def network_filter(machine: str) -> bytes:
    """The seccomp program: sockets of any family except AF_UNIX, all connections, and messages to an address are
    refused. The rings of io_uring are refused too, because seccomp does not see their operations."""
    number, socket, connect, send = _MACHINES[machine]
    steps: list[tuple[int, int, str, str]] = [  # operation, value, where to go if true, and if false ("": next)
        # The numbers of the calls depend on the machine: a 32-bit call must not pass as another call.
        (_LOAD, 4, "", ""),  # the machine of the call
        (_EQUAL, number, "", "kill"),
        (_LOAD, 0, "", ""),  # the number of the call
        (_AT_LEAST, _X32, "missing", ""),
        (_EQUAL, _IO_URING_SETUP, "missing", ""),
        (_EQUAL, connect, "refuse", ""),
        (_EQUAL, socket, "family", ""),
        (_EQUAL, send, "address", "allow"),
    ]
    places = {"family": len(steps)}
    # Offsets in struct seccomp_data: 16 is the first argument; 48 and 52 are the halves of the fifth.
    steps += [(_LOAD, 16, "", ""), (_EQUAL, _UNIX, "allow", "refuse")]
    places["address"] = len(steps)
    steps += [(_LOAD, 48, "", ""), (_EQUAL, 0, "", "refuse"), (_LOAD, 52, "", ""), (_EQUAL, 0, "allow", "refuse")]
    for name, answer in (
        ("allow", _ALLOW),
        ("refuse", _ERRNO | errno.ENETUNREACH),
        ("missing", _ERRNO | errno.ENOSYS),
        ("kill", _KILL),
    ):
        places[name] = len(steps)
        steps.append((_RETURN, answer, "", ""))
    packed: list[bytes] = []
    for place, (operation, value, true, false) in enumerate(steps):
        jumps = [places[name] - place - 1 if name else 0 for name in (true, false)]
        packed.append(struct.pack("=HBBI", operation, *jumps, value))
    return b"".join(packed)


def _done(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(result)


def _fail(why: str) -> NoReturn:
    sys.stderr.write(f"dragoman: the sandbox landlock cannot be made: {why}\n")
    sys.exit(126)


if __name__ == "__main__":
    main(sys.argv[1:])
