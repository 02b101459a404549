"""Web pages as a model reads them: the words of HTML with its headings, lists and links, and nothing else of it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

from .tool import Page

MAX_HTML = 2_000_000
"""Characters of HTML that are read: they hold more words than anybody wants."""

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "canvas"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "ul", "ol", "table", "tr", "pre",
     "blockquote", "form", "fieldset", "figure", "figcaption", "dl", "dt", "dd", "hr", "address", "details", "summary"}
)  # fmt: skip
_HEADINGS = {f"h{n}": "#" * n + " " for n in range(1, 7)}


class _Words(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.title = ""
        self._url = url
        self._silent: list[str] = []
        self._pre = 0
        self._in_title = False
        self._links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title" and not self.title
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag == "br":
            self.out.append("\n")
        elif tag in _HEADINGS:
            self.out.append("\n\n" + _HEADINGS[tag])
        elif tag == "li":
            self.out.append("\n- ")
        elif tag in ("td", "th"):
            self.out.append(" | ")
        elif tag in _BLOCKS:
            self.out.append("\n\n" if tag != "tr" else "\n")
            self._pre += tag == "pre"
        elif tag == "a":
            self._links.append((dict(attrs).get("href") or "", len(self.out)))

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
        elif tag == "a" and self._links:
            href, start = self._links.pop()
            words = "".join(self.out[start:]).strip()
            if words and href and not href.startswith(("#", "javascript:", "data:", "mailto:")):
                self.out[start:] = [f"[{words}]({_joined(self._url, href)})"]
        elif tag in _BLOCKS or tag in _HEADINGS:
            self.out.append("\n\n" if tag != "tr" else "\n")
            self._pre -= tag == "pre" and self._pre > 0

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data.strip()
        elif not self._silent:
            self.out.append(data if self._pre else re.sub(r"\s+", " ", data))


def _joined(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return href


def from_html(text: str, url: str = "") -> tuple[str, str]:
    """(title, words) of a page."""
    words = _Words(url)
    words.feed(text)
    words.close()
    lines = [line.strip() if "  " not in line[:2] else line.rstrip() for line in "".join(words.out).split("\n")]
    return words.title, re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def read(page: Page) -> tuple[str, str] | None:
    """(title, words) of what was fetched; None if it is no text."""
    try:
        text = page.body.decode(page.charset or "utf-8", "replace")
    except LookupError:
        text = page.body.decode("utf-8", "replace")
    if page.mime in ("text/html", "application/xhtml+xml") or (not page.mime and "<html" in text[:1000].lower()):
        return from_html(text[:MAX_HTML], page.url)
    textual = page.mime.startswith("text/") or page.mime.rpartition("+")[2] in ("json", "xml")
    plain = page.mime in ("", "application/json", "application/xml", "application/javascript", "application/yaml")
    return ("", text) if (textual or plain) and b"\0" not in page.body[:4096] else None
