"""An allow entry covers only harmless options and operands.

A command that may start a program or write a file needs an approval, in every spelling.
"""

from __future__ import annotations

import shlex
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.runtime.harmless_option_check import HarmlessOptions, option_tables
from dragoman.runtime.policy import Policy, Word
from dragoman.runtime.programs_in_shell_command import programs_of_command
from dragoman.runtime.tool_interface import Confirmation

SHELL = "run_shell_command"


def judged(command: str, *entries: str) -> Word:
    names, hidden = programs_of_command(command)
    confirmation = Confirmation("?", "run", command=command, roots=names, hidden=hidden)
    return Policy(allow=[f"{SHELL}({entry})" for entry in entries]).judge(SHELL, "run", confirmation).word


COVERED = [
    "git log",
    "git log --oneline -5 main..dev -- src",
    "git --no-pager log -p -U3 --stat --since='2 weeks ago' --format='%h %s'",
    "git log -n 5 --author=me",
    "git diff --cached HEAD~1 -- 'a b.py'",
    "git status -sb",
    "git show HEAD:src/x.py | head -n 20",
    "git grep -n 'def x' -- '*.py'",
    "git branch -a --sort=-committerdate",
    "git branch --list 'a*'",
    "git tag -l 'v*'",
    "git stash list",
    "git stash show -p 'stash@{0}'",
    "git worktree list",
    "git remote -v",
    "git remote get-url origin",
    "git reflog",
    "git reflog show main",
    "git clean -nd",
    "git apply --check x.patch",
    "ps aux",
    "ps auxww",
    "ps -ef",
    "awk '{ n += length($2) } END { printf(\"%d\", n) }' x",
    "find . -name '*.py' -not -path './x/*' -type f -mtime -7 -size +10k -print0",
    r"find src \( -name a -o -name b \) -prune",
    "grep -rnE 'a|b' --include='*.py' --include=*.txt src",
    "grep -A3 -B 3 -e x file",
    "rg -n --type py -g '!tests' pattern src",
    "ls -la src/*.py ~/x",
    "cat -n ./*.md",
    "tar tf a.tar",
    "tar -tvzf a.tar.gz",
    "tar --list --file=a.tar",
    "sed -n '1,20p' x",
    "sed 's/a/b/g' x",
    "sed -n '/foo/,/bar/p;$=' x",
    "sed '/foo/s/a/b/' x",
    "sed -E -e 's|a/b|c|' -e '3d' x",
    "awk -F: '{ print $1, NR }' x",
    "sort -rnk2 -t, x | uniq -c | head -5",
    "wc -l src/*.py",
    'echo "$HOME and $(pwd)"',
    "date -d '2 days ago' +%F",
    "cd src && ls -la && cat x",
    "jq -r '.a[]' x.json",
    "head -c 10 - ",
    "tail -n -5 x; tail -n +5 x",
    "make -j4 test",
    "pytest -xq tests -k 'a and b' --tb=short",
    "cargo test --release -p x",
    "go test -run TestX -v ./...",
    "ruff check --diff src",
]
PROGRAMS = sorted({name.partition(" ")[0] for name in option_tables()})


@pytest.mark.parametrize("command", COVERED)
def test_harmless_commands_are_covered(command: str) -> None:
    assert judged(command, *PROGRAMS) == "run"


ASKED = [
    # Options that start programs.
    "git clone -u 'touch x' a b",
    "git clone --upload-pack='touch x' a b",
    "git clone --template=t a",
    "git clone -c core.fsmonitor=x a",
    "git -C dir log",
    "git -Cdir log",
    "git -c core.pager=x log",
    "git -ccore.pager=x log",
    "git --exec-path=. log",
    "git --git-dir=x log",
    "git -p log",
    "git --help log",
    "git log --ext-diff",
    "git log --textconv",
    "git log --show-signature",
    "git log --format=%G?",
    "git log --pretty='format:%h %GK'",
    "git branch --format '%(signature)'",
    "git grep -O x",
    "git grep -Ovim x",
    "git grep --open-files-in-pager=x y",
    "git fetch --upload-pack=x y",
    "git fetch 'ext::sh -c x'",
    "git push --receive-pack=x",
    "git push --exec=x",
    "git merge -s x",
    "git pull -sx",
    "git rebase -x x main",
    "git rebase --exec=x main",
    "git tag -v x",
    "git tag -a x",
    "git commit -S -m x",
    "git cat-file --textconv HEAD:x",
    "git bisect run x",
    "git an-alias",
    "git config alias.x y",
    "find . -exec touch x ';'",
    "find . -execdir touch x +",
    "find . -ok touch x ';'",
    "tar tf a --to-command=x",
    "tar tf a -I x",
    "tar tf a --use-compress-program x",
    "tar tf a -F x",
    "tar --checkpoint=1 --checkpoint-action=exec=x -tf a",
    "tar tf host:a",
    "tar -tf a --rsh-command=x",
    "rg --pre x y",
    "rg --hostname-bin=x y",
    "rg -z x",
    "fd -x touch",
    "fd -X touch",
    "sort --compress-program=x y",
    "awk 'BEGIN { system(\"x\") }'",
    "awk '{ print | \"x\" }' y",
    "awk '{ \"x\" | getline }' y",
    "awk -f x y",
    "awk '@load \"x\"'",
    "gawk -l x '1'",
    "sed 's/a/b/e' x",
    "sed '1e x' y",
    "sed -n '1,2p;1e x' y",
    "sed -f x y",
    "make -f x",
    "make CC=x",
    "make --eval=x",
    "pytest -p x",
    "pytest -c x",
    "cargo test --config x",
    "cargo an-alias",
    "cargo test -- --logfile x",
    "go test -exec x ./...",
    "go vet -vettool=x ./...",
    "file -z x",
    "diff -l a b",
    # Options that write files.
    "git log --output=x",
    "git log --output x",
    "git log --outp=x",
    "git diff --output=x a b",
    "git show HEAD --output=x",
    "git archive -o x HEAD",
    "git archive -ox HEAD",
    "git archive --output=x HEAD",
    "find . -fprint x",
    "find . -fprintf x y",
    "find . -fls x",
    "find . -delete",
    "tar cf x y",
    "tar -cf x y",
    "tar xf x",
    "tar -xvf x",
    "tar tf x -x",
    "tar --extract -f x",
    "sort -o x y",
    "sort -ox y",
    "sort y -o x",
    "sort -ro x y",
    "sort --outp=x y",
    "uniq a b",
    "uniq src/*",
    "xxd a b",
    "xxd -r a",
    "sed -i s/a/b/ x",
    "sed -ni p x",
    "sed --in-place=.bak s/a/b/ x",
    "sed 's/a/b/w x' y",
    "sed '/a/w x' y",
    "sed '/[/]/p;w x' y",
    "sed '/a/p;e' y",
    "sed -n 'w x' y",
    "sed 'w x' -e p",
    "sed 's/[/]/w x/' y",
    "awk '{ print > \"x\" }' y",
    "gawk -o x '1'",
    "tree -o x",
    "file -C -m x",
    "ruff check --fix",
    "ruff check -o x",
    "go test -c -o x",
    "go test -coverprofile=x",
    "date -s x",
    "date 010203042026",
    "hostname x",
    "pytest --junitxml=x",
    "pytest -- -p x",
    "pytest /elsewhere/tests",
    "pytest ../x",
    "go test ../x",
    # Subcommands that change something or use the network.
    *[
        f"git {command}"
        for command in (
            "add .",
            "commit -m x",
            "commit --dry-run",
            "checkout x",
            "checkout -- .",
            "switch x",
            "restore x",
            "reset",
            "reset --soft HEAD~1",
            "mv a b",
            "rm x",
            "clean",
            "clean -d",
            "merge x",
            "rebase main",
            "cherry-pick x",
            "revert x",
            "apply x.patch",
            "apply --check x --apply",
            "init",
            "init x",
            "clone https://host.example/x",
            "clone ./x y",
            "fetch",
            "fetch origin",
            "pull",
            "push",
            "push origin main",
            "push https://host.example/ HEAD",
            "ls-remote",
            "ls-remote https://host.example/",
            "remote add x https://host.example/",
            "remote remove x",
            "remote update",
            "remote show origin",
            "remote set-url origin https://host.example/",
            "stash",
            "stash drop",
            "stash clear",
            "stash push",
            "stash pop",
            "worktree add /elsewhere",
            "worktree remove x",
            "worktree prune",
            "reflog delete HEAD@{0}",
            "reflog expire",
            "branch x",
            "branch x y",
            "tag x",
            "tag x y",
            "notes add",
            "submodule update",
            "update-ref x y",
            "gc",
            "prune",
            "send-email x",
            "daemon",
            "instaweb",
            "bundle create x y",
        )
    ],
    # Options without a dash.
    "ps e",
    "ps eww",
    "ps auxe",
    "ps o args",
    # Scripts.
    "awk 'function f(x) { return x } { f(1) }'",
    "awk '{ f (1) }' x",
    "awk '{ awk::close(1) }' x",
    # Words that the shell makes from variables.
    "git log $X",
    'git log "$X"',
    "git log a$X",
    'git log "--$X"',
    'git log --format="$X"',
    "git log *",
    "git log {--output=x,a}",
    "git log $(cat x)",
    "git log `cat x`",
    "sort $'-o' x",
    'sed "$X" y',
    'awk "$X" y',
    "find . -name $X",
    "wc *",
    'wc "$@"',
    # Constructs around the command.
    "cd x && git log",
    "(cd x; make)",
    "pushd x; pytest",
    "GIT_SSH_COMMAND=x git fetch",
    "LD_PRELOAD=x git log",
    "git log > x",
    "git log >> x",
    "git log | tee x",
    "env git log",
    "xargs git log",
    "sudo git log",
    "nice git log",
    "/usr/bin/time git log",
    "command git log",
    "./git log",
    "$GIT log",
    "bash -c 'git log'",
    "git log; git log --output=x",
    "echo $(git log --output=x)",
    "cat <(git log --output=x)",
]


@pytest.mark.parametrize("command", ASKED)
def test_commands_that_may_start_programs_or_write_files_need_an_approval(command: str) -> None:
    assert judged(command, *PROGRAMS) == "ask"


def name_of(invocation: str, table: HarmlessOptions) -> st.SearchStrategy[str]:
    """Options outside of a table: short options, long options and their abbreviations, words after one dash."""
    known = table.flags | table.values | table.attached
    letters = [f"-{one}" for one in string.ascii_letters + string.digits if f"-{one}" not in known]
    if table.number:
        letters = [one for one in letters if not one[1].isdigit()]
    long = st.text(string.ascii_lowercase + "-", min_size=2, max_size=12).map("--{}".format)
    cut = [one[:-1] for one in known if one.startswith("--") and one[:-1] not in known and len(one) > 4]
    choices = [long.filter(lambda one: one not in known)]
    choices += [st.sampled_from(sorted(cut))] if cut else []
    choices += [st.sampled_from(letters)] if letters else []
    return st.one_of(choices)


@given(data=st.data())
@pytest.mark.parametrize("name", sorted(option_tables()))
def test_an_option_that_is_not_in_the_table_is_asked_about(name: str, data: st.DataObject) -> None:
    table = option_tables()[name]
    option = data.draw(name_of(name, table))
    value = data.draw(st.sampled_from(["", "=x", " x"] if option.startswith("--") else ["", " x"]))
    harmless = data.draw(st.lists(st.sampled_from([*sorted(table.flags | table.values), "x", "-"]), max_size=3))
    # Behind an option that takes a value, a number with a dash is its value.
    assume(not (option[1].isdigit() and harmless and harmless[-1] in table.values))
    words = [*harmless, f"{option}{value}"]
    command = f"{name} {' '.join(words)}"
    assert judged(command, name.partition(" ")[0], name) == "ask", command


def test_bundled_short_options_are_read_letter_by_letter() -> None:
    for name, table in option_tables().items():
        flags = [one[1] for one in table.flags if len(one) == 2]
        others = sorted({*string.ascii_letters} - {one[1] for one in table.flags | table.values | table.attached})
        if flags and others and not table.words:
            assert judged(f"{name} -{flags[0]}{others[0]}", name) == "ask"


def test_each_table_lists_an_option_once_and_in_its_full_form() -> None:
    for name, table in option_tables().items():
        kinds = [*table.flags, *table.values, *table.attached]
        assert len(kinds) == len(set(kinds)), name
        for option in kinds:
            assert option.startswith("-") and "=" not in option, (name, option)
            assert option.startswith("--") or len(option) == 2 or table.words, (name, option)


@pytest.mark.parametrize(
    ("entry", "command", "word"),
    [
        ("git log", "git log -p", "run"),
        ("git log", "git --no-pager log -p", "run"),
        ("git log", "git show", "ask"),
        ("git log --output", "git log --output=x -p", "run"),
        ("git log --output", "git log --output x", "run"),
        ("git log --output=x", "git log --output=x", "run"),
        ("git log --output=x", "git log --output=y", "ask"),
        ("git log --output", "git log --ext-diff", "ask"),
        ("git log --output", "git log --output=x --ext-diff", "ask"),
        ("git an-alias", "git an-alias x", "run"),
        ("git an-alias", "git an-alias -x", "ask"),
        ("tar -xf", "tar -xf a", "run"),
        ("tar xf", "tar xf a", "run"),
        ("tar -xf", "tar -xPf a", "ask"),
        ("sed -i", "sed -i s/a/b/ x", "run"),
        ("sed -i", "sed -i s/a/b/e x", "ask"),
        ("npm", "npm test", "run"),
        ("npm run", "npm run build", "run"),
        ("npm run", "npm install x", "ask"),
        ("npm run", "npm run build --prefix=x", "ask"),
        ("npm run", "npm run build -- x", "ask"),
        ("npm run build --fix", "npm run build --fix", "run"),
        ("npm run build --fix", "npm run build --fix x", "ask"),
        ("rm", "rm x", "run"),
        ("rm", "rm -rf x", "ask"),
        ("rm -rf build", "rm -rf build", "run"),
        ("rm -rf build", "rm -rf build /", "ask"),
        ("dd", "dd if=a of=b", "ask"),
        ("vim", "vim +!x", "ask"),
        ("python", "python x.py", "ask"),
        ("python", "python", "run"),
        ("python x.py", "python x.py", "run"),
        ("python x.py", "python x.py y", "ask"),
        ("python3.11", "python3.11 x.py", "ask"),
        ("/usr/bin/python3", "/usr/bin/python3 x.py", "ask"),
        ("bash", "bash x.sh", "ask"),
        ("sqlite3", "sqlite3 x.db '.shell id'", "ask"),
        ("sqlite3", "sqlite3 x.db .dump", "ask"),
        ("sqlite3 x.db .dump", "sqlite3 x.db .dump", "run"),
        ("npx", "npx x", "ask"),
        ("docker", "docker run x", "ask"),
        ("unknown", "unknown a/b.c", "run"),
        ("unknown", "unknown '.shell id'", "ask"),
        ("unknown", "unknown '!id'", "ask"),
        ("unknown", "unknown 'a;b'", "ask"),
        ("unknown", 'unknown "x$X"', "ask"),
        ("unknown", "unknown ./*", "ask"),
        ("git commit", "git commit -am 'a message; rm -rf x'", "run"),
        ("git commit", "git commit --amend", "ask"),
        ("git push", "git push origin main", "run"),
        ("git push", "git push https://host.example/ HEAD", "ask"),
        ("git push", "git push host.example:x HEAD", "ask"),
        ("git push", "git push ./x HEAD", "ask"),
        ("git push", "git push x HEAD", "ask"),
        ("git push", 'git push "o$X"', "ask"),
        ("git push x", "git push x HEAD", "run"),
        ("git push https://host.example/", "git push https://host.example/ HEAD", "run"),
        ("git pull", "git pull https://host.example/", "ask"),
        ("git fetch", "git fetch origin a:b", "run"),
        ("git fetch", "git fetch ../x", "ask"),
        ("git clone", "git clone https://host.example/x", "ask"),
        ("git clone https://host.example/x", "git clone https://host.example/x", "run"),
        ("git clone https://host.example/x", "git clone https://host.example/x /elsewhere", "ask"),
        ("git stash", "git stash", "run"),
        ("git stash", "git stash drop", "ask"),
        ("git stash drop", "git stash drop", "run"),
        ("git remote", "git remote add x https://host.example/", "ask"),
        ("git remote add", "git remote add x https://host.example/", "ask"),
        ("git worktree add", "git worktree add /elsewhere", "ask"),
        ("git worktree add ../x", "git worktree add ../x", "run"),
        ("python", "python -c x", "ask"),
        ("python", 'python "$X"', "ask"),
        ("python", 'python "x$X"', "ask"),
        ("'a b'", "'a b' x", "run"),
        ("it's", "ls", "ask"),
        ("", "ls", "ask"),
    ],
)
def test_an_entry_covers_its_own_words_and_options(entry: str, command: str, word: Word) -> None:
    assert judged(command, entry) == word


@pytest.mark.parametrize(
    ("command", "entries"),
    [
        ("git log -p | wc -l", ["git", "wc"]),
        ("rm -rf build", ["rm -rf build"]),
        ("git log --output='a b'", ["git log '--output=a b'"]),
        ("echo a > b", ["echo"]),
        ("X=1 npm test", ["npm"]),
        ("git push origin main", ["git push origin main"]),
        ("python x.py", ["python x.py"]),
        ("git log $X", []),
        ("python -c 'print(1)' && ls", ["python -c 'print(1)'", "ls"]),
    ],
)
def test_always_allows_only_the_command_that_was_shown(command: str, entries: list[str]) -> None:
    policy = Policy()
    names, hidden = programs_of_command(command)
    confirmation = Confirmation("?", "run", command=command, roots=names, hidden=hidden)
    policy.remember(SHELL, confirmation, "always")
    assert policy.allow == [f"{SHELL}({entry})" for entry in entries]


@pytest.mark.parametrize(
    ("entry", "command", "word"),
    [
        ("git push", "git push", "refuse"),
        ("git push", "git --no-pager push origin", "refuse"),
        ("git push", "sudo /usr/bin/git push", "refuse"),
        ("git push", "git log", "run"),
        ("rm -rf", "rm -rf x", "refuse"),
        ("rm -rf", "rm x", "run"),
    ],
)
def test_a_deny_entry_may_have_several_words(entry: str, command: str, word: Word) -> None:
    names, hidden = programs_of_command(command)
    confirmation = Confirmation("?", "run", command=command, roots=names, hidden=hidden)
    policy = Policy("all", deny=[f"{SHELL}({entry})"])
    assert policy.judge(SHELL, "run", confirmation).word == word


def test_a_remembered_entry_covers_the_same_command() -> None:
    for command in [*COVERED, "rm -rf 'a b'", "git log --output=x", "tar xf a", "python -c 'x y'"]:
        policy = Policy()
        names, hidden = programs_of_command(command)
        confirmation = Confirmation("?", "run", command=command, roots=names, hidden=hidden)
        policy.remember(SHELL, confirmation, "always")
        assert policy.judge(SHELL, "run", confirmation).word == "run", shlex.quote(command)
