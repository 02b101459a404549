"""`make coverage`: reports the coverage of the core packages, and fails where one is below its floor.

    python -m tests.repo.coverage_floors    # reads the data of `coverage run`

A floor is a measured coverage, rounded down. Raise a floor when the coverage has grown. Never lower a floor: write the
missing test. Lines and branches count together, as in `coverage report`.
"""

from __future__ import annotations

import subprocess
import sys

from tests.repo.repository_files import SOURCE

FLOORS = {
    "canon": 100,
    "codec": 98,
    "dialect": 99,
    "dialects": 98,
    "facts": 100,
    "fast": 99,
    "lint": 98,
    "repair": 100,
    "rules": 100,
    "seals": 94,
    "translate": 98,
}


def main() -> int:
    below = []
    for package, floor in FLOORS.items():
        found = _total(package)
        print(f"{package:10} {found:6.2f} %  floor {floor} %")
        if found < floor:
            below.append(package)
    if below:
        print(f"below the floor: {', '.join(below)}; see: coverage report --show-missing", file=sys.stderr)
    return 1 if below else 0


def _total(package: str) -> float:
    report = ("-m", "coverage", "report", "--format=total", "--precision=2", f"--include={SOURCE / package}/*")
    done = subprocess.run([sys.executable, *report], capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
