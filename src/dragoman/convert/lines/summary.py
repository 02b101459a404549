"""Owns Summary: how many lines were converted, and which losses they had. Summaries of chunks are added up in order."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ...canon.losses import SEVERITIES, Loss
from ...facts import profiles, windows_and_prices

MODELS = 100


class LossCount(Struct):
    """All losses of one code and severity."""

    code: str
    severity: str
    effect: str
    losses: int = 0
    lines: int = 0
    """The number of lines with such a loss."""
    file: str = ""
    """The file, line, path and detail of the first such loss."""
    line: int = 0
    path: str = ""
    detail: str = ""


def is_own_model(dialect: str, model: str) -> bool:
    """Whether the provider of a dialect is known to have the model: a price at the provider is known, or the model is
    in its list.
    """
    return model in profiles.names(dialect) or windows_and_prices.lookup(dialect, model).input_price is not None


class Summary(Struct):
    """The outcome of a conversion."""

    read: int = 0
    """Lines that were read. Blank lines are not counted."""
    written: int = 0
    bad: int = 0
    lossy: int = 0
    """Lines that were written with at least one loss."""
    counts: dict[str, LossCount] = {}
    """By code and severity."""
    models: dict[str, int] = {}
    """Model names that were kept from another dialect, and the number of lines with each. At most MODELS names."""

    def keep_model(self, name: str, lines: int = 1) -> None:
        """Count lines whose model name was kept."""
        # Each line may name another model, so the number of names is limited.
        if name in self.models or len(self.models) < MODELS:
            self.models[name] = self.models.get(name, 0) + lines

    def add(self, losses: tuple[Loss, ...], file: str, line: int) -> None:
        """Count the losses of one written line."""
        self.lossy += 1
        seen: set[str] = set()
        counts = self.counts
        for loss in losses:
            key = f"{loss.code} {loss.severity}"
            found = counts.get(key)
            if found is None:
                found = counts[key] = LossCount(
                    loss.code, loss.severity, loss.effect, 0, 0, file, line, loss.path, loss.detail
                )
            found.losses += 1
            if key not in seen:
                seen.add(key)
                found.lines += 1

    def merge(self, later: Summary) -> None:
        """Add the summary of the lines that follow."""
        self.read += later.read
        self.written += later.written
        self.bad += later.bad
        self.lossy += later.lossy
        for key, count in later.counts.items():
            found = self.counts.get(key)
            if found is None:
                self.counts[key] = count
            else:
                found.losses += count.losses
                found.lines += count.lines
        for name, lines in later.models.items():
            self.keep_model(name, lines)

    def rows(self) -> list[LossCount]:
        """The losses, gravest and most frequent first."""
        return sorted(
            self.counts.values(),
            key=lambda row: (-SEVERITIES.index(row.severity), -row.lines, row.code),
        )

    def report(self) -> dict[str, Any]:
        """The summary for the JSON report."""
        return {
            "lines_read": self.read,
            "lines_written": self.written,
            "lines_bad": self.bad,
            "lines_with_losses": self.lossy,
            "kept_models": {name: self.models[name] for name in sorted(self.models)},
            "losses": [
                {
                    "code": row.code,
                    "severity": row.severity,
                    "effect": row.effect,
                    "losses": row.losses,
                    "lines": row.lines,
                    "first": {"file": row.file, "line": row.line, "path": row.path, "detail": row.detail},
                }
                for row in self.rows()
            ],
        }
