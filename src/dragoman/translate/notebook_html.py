"""Writes a translation as HTML for notebooks: the body, and the losses as a table. Every text is escaped."""

from __future__ import annotations

from html import escape

import msgspec

from ..canon.losses import Loss

# A notebook stores its output in its file, so a large body is cut.
MOST_BODY = 4000
"""Characters of a body that are shown."""
MOST_LOSSES = 50

_COLOURS = {"info": "#2b6cb0", "warning": "#b7791f", "error": "#c53030"}


def translation_html(title: str, body: bytes, losses: tuple[Loss, ...]) -> str:
    """A translation for a notebook."""
    try:
        text = msgspec.json.format(body, indent=2).decode("utf-8", "replace")
    # A stream or an error page is not JSON, and is shown as text.
    except (msgspec.DecodeError, RecursionError):
        text = body.decode("utf-8", "replace")
    shown = text if len(text) <= MOST_BODY else f"{text[:MOST_BODY]}..."
    return (
        f"<div><b>{escape(title)}</b>, {len(body):,} bytes"
        f"<details><summary>body</summary><pre>{escape(shown)}</pre></details>{losses_html(losses)}</div>"
    )


def losses_html(losses: tuple[Loss, ...]) -> str:
    """A table of losses with their meanings and advice."""
    if not losses:
        return "<p>Nothing was lost.</p>"
    rows = [
        f'<tr><td style="color:{_COLOURS[loss.severity]}">{loss.severity}</td><td><code>{escape(loss.code)}</code></td>'
        f"<td><code>{escape(loss.path or '/')}</code></td><td>{escape(loss.detail)}</td>"
        f"<td>{escape(loss.meaning)}</td><td>{escape(loss.advice)}</td></tr>"
        for loss in losses[:MOST_LOSSES]
    ]
    more = f"<p>and {len(losses) - MOST_LOSSES} more</p>" if len(losses) > MOST_LOSSES else ""
    heads = "".join([f"<th>{word}</th>" for word in ("severity", "loss", "path", "detail", "meaning", "advice")])
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"
