"""Builds the source archive and the wheel, and tests them as users install them: `make test-wheel`.

For every Python from 3.11 on this machine: a fresh environment, an older version from a folder, the upgrade, a smoke
test of the commands, and the removal. The source archive is installed once. Only pip's own index is used for the
dependencies, and only before the first installation.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from email.parser import BytesParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
OLDER = "0.0.1"
MOST_SUITE = 400_000
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
QUIET = ("--quiet", "--disable-pip-version-check")
REQUEST = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}


def run(*command: str | Path, folder: Path | None = None, given: str = "") -> str:
    """The output of a command. The command must succeed."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=clean, input=given, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def pythons() -> list[str]:
    """Every supported Python on this machine, each version once."""
    found: dict[str, str] = {}
    named = [f"python{version}" for version in VERSIONS]
    installed = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.*/bin/python"))
    for name in [sys.executable, *named, *map(str, installed)]:
        program = "import sys, ensurepip; print('%d.%d' % sys.version_info[:2], sys.base_prefix)"
        try:
            done = subprocess.run([name, "-I", "-c", program], capture_output=True, text=True, timeout=30)
        except OSError:
            continue
        version = done.stdout.partition(" ")[0]
        if done.returncode == 0 and version in VERSIONS:
            found.setdefault(version, name)
    return [found[version] for version in VERSIONS if version in found]


def build(folder: Path) -> tuple[Path, Path]:
    """Make the source archive, the wheel from the source archive, and a wheel of an older version, in `folder`."""
    tools = folder.parent / "builder"
    run(sys.executable, "-m", "venv", tools)
    run(tools / "bin/pip", "install", *QUIET, "hatchling>=1.25,<2")
    run(tools / "bin/hatchling", "build", "-t", "sdist", "-d", folder, folder=ROOT)
    (archive,) = folder.glob("dragoman-*.tar.gz")
    source = folder.parent / "source"
    shutil.unpack_archive(archive, source, filter="data")
    (tree,) = source.iterdir()
    run(tools / "bin/hatchling", "build", "-t", "wheel", "-d", folder, folder=tree)
    (wheel,) = folder.glob("dragoman-*.whl")
    package = tree / "src/dragoman/__init__.py"
    package.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{OLDER}"', package.read_text()))
    (tree / "PKG-INFO").unlink()  # This file has the version too.
    run(tools / "bin/hatchling", "build", "-t", "wheel", "-d", folder, folder=tree)
    return archive, wheel


def check_files(wheel: Path) -> str:
    """Check the content and the metadata of the wheel. Returns the version."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (suite,) = [one for one in packed.infolist() if "/conform/suites/" in one.filename]
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        facts = BytesParser().parsebytes(packed.read(metadata))
        assert any(name.endswith("licenses/LICENSE") for name in names)
        assert "dragoman/py.typed" in names
        assert json.loads(packed.read("dragoman/build-facts.json")).get("commit") or not (ROOT / ".git").exists()
    assert suite.filename.endswith(".zip") and suite.file_size < MOST_SUITE, suite.file_size
    text = str(facts.get_payload())
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", text) == [], "a relative link has no target on a package index"
    assert text.startswith("# dragoman") and facts["License-Expression"] == "Apache-2.0"
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {len(names)} files, suite {suite.file_size:,} bytes")
    return str(facts["Version"])


def smoke(place: Path, version: str) -> None:
    """Use an installation: the library, and the commands that need no extra."""
    command, elsewhere = place / "bin/dragoman", place / "empty"
    elsewhere.mkdir(exist_ok=True)
    assert run(command, "--version", folder=elsewhere).startswith(f"dragoman {version}")
    loaded = run(place / "bin/python", "-I", "-c", "import sys, dragoman; print(*sys.modules)", folder=elsewhere)
    assert not {"socket", "asyncio", "click", "rich", "httptools"} & set(loaded.split())
    out = run(
        command, "translate", "--from", "anthropic", "--to", "gemini", given=json.dumps(REQUEST), folder=elsewhere
    )
    assert json.loads(out)["contents"] == [{"role": "user", "parts": [{"text": "Hello"}]}]
    assert "passed" in run(command, "conform", "--dialect", "ollama", folder=elsewhere)
    process = subprocess.Popen(
        [str(command), "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=elsewhere,
        env={"PATH": os.environ["PATH"], "HOME": str(elsewhere)},
    )
    try:
        assert process.stdout is not None
        base = process.stdout.readline().split()[-1]
        request = urllib.request.Request(
            f"{base}/v1/messages", json.dumps(REQUEST).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert json.load(answer)["role"] == "assistant"
    finally:
        process.terminate()
        process.communicate(timeout=30)
    missing = subprocess.run([command, "ask", "Hello"], capture_output=True, text=True, cwd=elsewhere, timeout=60)
    assert missing.returncode == 1 and "pip install 'dragoman[ask]'" in missing.stderr, missing.stderr


def check(python: str, folder: Path, version: str, place: Path, archive: Path | None) -> None:
    """Install, upgrade, use and remove the package in a fresh environment."""
    run(python, "-m", "venv", place)
    pip = place / "bin/pip"
    # The dependencies come first, so that the installations below need the folder and nothing else.
    wanted = ["dragoman" if archive is None else str(archive)]
    more = [] if archive is None else ["hatchling>=1.25,<2"]
    wheels = place / "wheels"
    newest = [str(path) for path in folder.glob(f"dragoman-{version}-*.whl")]
    run(pip, "download", *QUIET, "--prefer-binary", "-d", wheels, *newest, *more)
    for wheel in wheels.glob("dragoman-*"):
        wheel.unlink()
    local = ("--no-index", "--find-links", folder, "--find-links", wheels)
    if archive is None:
        run(pip, "install", *QUIET, *local, f"dragoman=={OLDER}")
        assert run(place / "bin/dragoman", "--version").startswith(f"dragoman {OLDER}")
        run(pip, "install", *QUIET, *local, "--upgrade", *wanted)
    else:
        run(pip, "install", *QUIET, *local, *wanted)
    smoke(place, version)
    run(pip, "uninstall", *QUIET, "--yes", "dragoman")
    left = [*place.glob("lib/python*/site-packages/dragoman*"), *place.glob("bin/dragoman*")]
    assert left == [], left


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="dragoman-wheel-") as made:
        folder = Path(made) / "index"
        folder.mkdir()
        archive, wheel = build(folder)
        version = check_files(wheel)
        found = pythons()
        for python in found:
            check(python, folder, version, Path(made) / f"with-{Path(python).name}-{found.index(python)}", None)
            print(f"{run(python, '--version').strip()}: installed, upgraded, tried and removed")
        check(found[0], folder, version, Path(made) / "from-source", archive)
        print(f"{archive.name}: installed, tried and removed")


if __name__ == "__main__":
    main()
