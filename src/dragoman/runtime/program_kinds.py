"""Programs and builtins that run others, or change what the words after them mean: tables, by the program's name.

The tables find what a command may run beyond what stands where a program stands. They are incomplete by nature: there
are more such programs, and more such arguments. So a list of denied programs guards against mistakes and is no
boundary, and a list of allowed ones goes by the options that are known to be harmless (`harmless_options.py`).
"""

from __future__ import annotations

import re

LEADING = frozenset({"!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "time"})
"""Words after which a command stands, or that end one."""
LISTS = frozenset({"for", "select"})
"""Words that are followed by a name and words, not by a command."""
HIDING = frozenset(
    {"case", "esac", "function", "eval", "source", ".", "trap", "alias", "enable", "hash", "coproc",
     "mapfile", "readarray", "bind", "complete", "compgen", "let", "fc"}
)  # fmt: skip
"""Words that make other words mean something else, or have text run later."""
SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "ash"})
LAUNCHERS = frozenset(
    {"env", "sudo", "doas", "nice", "ionice", "nohup", "timeout", "command", "builtin", "exec", "setsid", "stdbuf",
     "xargs", "parallel", "chroot", "unshare", "nsenter", "runuser", "su", "script", "watch", "flock", "strace",
     "ltrace", "busybox", "chrt", "taskset", "prlimit", "systemd-run", "ssh", "time", "pkexec", "gosu", "entr",
     "unbuffer", "fakeroot", "setarch", "numactl", "start-stop-daemon", "valgrind"}
)  # fmt: skip
"""Programs that run another one, which stands among their arguments."""

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
"""Arguments that make a program start another one, each in a line and as short as they may be written. There are more
such arguments, and more such programs."""

INTERPRETERS = SHELLS | {
    "python", "pypy", "ipython", "perl", "ruby", "irb", "node", "nodejs", "deno", "bun", "ts-node", "tsx", "php", "lua",
    "luajit", "Rscript", "R", "julia", "octave", "tclsh", "wish", "expect", "guile", "racket", "clojure", "elixir",
    "runghc", "runhaskell", "ocaml", "groovy", "scala", "kotlin", "java", "jshell", "swift", "dotnet", "pwsh",
    "osascript", "m4", "gnuplot", "sqlite", "duckdb", "psql", "mysql", "mariadb", "mongosh", "ed", "ex", "vi", "vim",
    "nvim", "view", "emacs", "gdb", "lldb", "npx", "bunx", "pnpx", "uvx", "uv", "pipx", "poetry", "tox", "nox",
    "docker", "podman", "kubectl", "nix", "nix-shell", "direnv", "just", "task", "rake", "ninja", "cmake", "ant", "mvn",
    "gradle", "tmux", "screen", "at", "batch", "crontab", "socat", "tex", "latex", "pdflatex",
}  # fmt: skip
"""Programs whose operands are programs, or name a file that is run; without the number of a version. Only an entry with
all the words of a command covers them."""

EXECUTING = re.compile(r"-exec(dir)?|-ok(dir)?|--exec(-batch)?|-[xX].*")
"""Arguments by which a finder runs what follows."""
