"""Owns tables of programs and builtins that run other programs, or change the meaning of the words after them.

A command may run more programs than the words in program position. The tables find such programs. The tables are
incomplete: more such programs and arguments exist. So denied entries guard against mistakes and are not a boundary, and
allowed entries cover only options that are known as harmless (`harmless_option_check.py`).
"""

from __future__ import annotations

import re

LEADING = frozenset({"!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "time"})
"""Shell words before a command, or at its end."""
LISTS = frozenset({"for", "select"})
"""Shell words before a name and a list of words, not before a command."""
HIDING = frozenset(
    {"case", "esac", "function", "eval", "source", ".", "trap", "alias", "enable", "hash", "coproc",
     "mapfile", "readarray", "bind", "complete", "compgen", "let", "fc"}
)  # fmt: skip
"""Words that change the meaning of other words, or that run text later."""
SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "ash"})
LAUNCHERS = frozenset(
    {"env", "sudo", "doas", "nice", "ionice", "nohup", "timeout", "command", "builtin", "exec", "setsid", "stdbuf",
     "xargs", "parallel", "chroot", "unshare", "nsenter", "runuser", "su", "script", "watch", "flock", "strace",
     "ltrace", "busybox", "chrt", "taskset", "prlimit", "systemd-run", "ssh", "time", "pkexec", "gosu", "entr",
     "unbuffer", "fakeroot", "setarch", "numactl", "start-stop-daemon", "valgrind"}
)  # fmt: skip
"""Programs that run another program from their arguments."""

ARGUED = {
    name: re.compile(rf"\n({arguments})")
    for name, arguments in {
        "git": r"-c\n.*[=$`]|--config-env|--ex[et]|-x|--upl|--rece|-O|--open|\w+::"
        r"|(config|foreach|run|filter-branch|difftool|mergetool|for-each-repo)\n",
        "tar": r"-[A-Za-z]*[IF]|--to-c|--rsh|--checkpoint-|--use|--info-s|--new-vol",
        "rg": r"--pre\b(?!-)|--hostname-bin",
        "sort": r"--com",
        "rsync": r"-\w*e|--rs",
        "jobs": r"-x",
    }.items()
}
"""Arguments that make a program start another program, one in each line, in their shortest spelling. The list is
incomplete."""

INTERPRETERS = SHELLS | {
    "python", "pypy", "ipython", "perl", "ruby", "irb", "node", "nodejs", "deno", "bun", "ts-node", "tsx", "php", "lua",
    "luajit", "Rscript", "R", "julia", "octave", "tclsh", "wish", "expect", "guile", "racket", "clojure", "elixir",
    "runghc", "runhaskell", "ocaml", "groovy", "scala", "kotlin", "java", "jshell", "swift", "dotnet", "pwsh",
    "osascript", "m4", "gnuplot", "sqlite", "duckdb", "psql", "mysql", "mariadb", "mongosh", "ed", "ex", "vi", "vim",
    "nvim", "view", "emacs", "gdb", "lldb", "npx", "bunx", "pnpx", "uvx", "uv", "pipx", "poetry", "tox", "nox",
    "docker", "podman", "kubectl", "nix", "nix-shell", "direnv", "just", "task", "rake", "ninja", "cmake", "ant", "mvn",
    "gradle", "tmux", "screen", "at", "batch", "crontab", "socat", "tex", "latex", "pdflatex",
}  # fmt: skip
"""Programs whose operands are code or a file with code, without a version number. Only an entry with all words of the
command covers them."""

EXECUTING = re.compile(r"-exec(dir)?|-ok(dir)?|--exec(-batch)?|-[xX].*")
"""Arguments of find and similar programs that run the words after them."""
