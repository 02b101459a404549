"""`dragoman loss`: a code explained, all codes, the nearest code."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from dragoman.canon.loss_codes import CODES
from dragoman.cli.main import main


def test_a_loss_is_explained() -> None:
    done = CliRunner().invoke(main, ["loss", "n.dropped"])
    assert (done.exit_code, done.stdout) == (
        0,
        "n.dropped: dropped, warning\n\nThe target gives one answer only.\n\nExample: n: 3 to anthropic.\n"
        "\nWhat to do: Send the request once for each wanted answer.\n",
    )


def test_losses_are_listed() -> None:
    done = CliRunner().invoke(main, ["loss"])
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == sorted(CODES)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("nope", "dragoman: there is no loss code 'nope'; `dragoman loss` lists all\n"),
        ("seal.droped", "dragoman: there is no loss code 'seal.droped'; did you mean seal.dropped?\n"),
        ("XXXXXXXX", "dragoman: there is no loss code 'XXXXXXXX'; `dragoman loss` lists all\n"),
    ],
)
def test_an_unknown_loss_is_an_error_with_the_nearest_code(code: str, message: str) -> None:
    done = CliRunner().invoke(main, ["loss", code])
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", message)
