"""Owns the text of web pages for a model: the words of HTML with headings, lists and links.

Written by hand, because pages are untrusted. The standard library's parser is quadratic for tags that do not end (ten
seconds for 120 kB of `<a<`, measured on Python 3.11), and its thread cannot be ended. This reader passes over a page
once. As in browsers, a tag that does not end swallows the rest of the page.
"""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urljoin

from .text_file_and_diff import without_invalid_bytes
from .tool_interface import FetchedPage

MAX_HTML = 2_000_000
"""Characters of HTML that are read. They hold far more words than a tool returns."""

# The content of these elements is not text of the page.
_SILENT = frozenset({"noscript", "template", "svg", "iframe", "object", "canvas"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "ul", "ol", "table", "tr", "pre",
     "blockquote", "form", "fieldset", "figure", "figcaption", "dl", "dt", "dd", "hr", "address", "details", "summary"}
)  # fmt: skip
_HEADINGS = {f"h{n}": "#" * n + " " for n in range(1, 7)}


# Possessive quantifiers (`*+`) give no character back, so that no page makes a search quadratic.
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)((?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+'|))*+)>")
_HREF = re.compile(r"(?:^|\s)href\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))", re.IGNORECASE)
_RAW = {tag: re.compile(rf"</{tag}\b[^>]*+>", re.IGNORECASE) for tag in ("script", "style", "title", "textarea")}
"""Elements whose content is plain text, not markup."""
# `unescape` reads the digits as one number, and Python refuses numbers with too many digits.
_HUGE = re.compile(r"&#(?:\d{9}|[xX][0-9a-fA-F]{8})[0-9a-fA-F]*+;?")
"""Digits above which a character reference names no character."""


class _Words:
    def __init__(self, url: str) -> None:
        self.out: list[str] = []
        self.title = ""
        self._url = url
        self._silent: list[str] = []
        self._pre = 0
        self._link: tuple[str, int] | None = None

    def read(self, text: str) -> None:
        at = 0
        while at < len(text):
            opened = text.find("<", at)
            self._add_text(text[at : opened if opened >= 0 else len(text)])
            if opened < 0:
                return
            at = self._markup(text, opened)

    def _markup(self, text: str, at: int) -> int:
        """The markup that begins with `<`, and its end."""
        found = _TAG.match(text, at)
        if found is not None:
            tag = found[2].lower()
            if found[1]:
                self._end(tag)
            elif tag in _RAW:
                return self._raw(tag, text, found.end())
            else:
                self._start(tag, found[3])
            return found.end()
        if text.startswith("<!--", at):
            return _end_of_sign(text, "-->", at + 2)
        if text.startswith(("<!", "<?", "</"), at):
            return _end_of_sign(text, ">", at)
        # A "<" before a letter is a tag that does not end. Any other "<" is text.
        if text[at + 1 : at + 2].isascii() and text[at + 1 : at + 2].isalpha():
            return len(text)
        self._add_text("<")
        return at + 1

    def _raw(self, tag: str, text: str, at: int) -> int:
        closed = _RAW[tag].search(text, at)
        inner = text[at : closed.start() if closed is not None else len(text)]
        if tag == "title" and not self.title:
            self.title = re.sub(r"\s+", " ", _unescape(inner)).strip()
        elif tag == "textarea":
            self._add_text(inner)
        return closed.end() if closed is not None else len(text)

    def _start(self, tag: str, attributes: str) -> None:
        if tag in _SILENT:
            if not attributes.endswith("/"):
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
            href = _HREF.search(attributes)
            self._link = (_unescape(href[1] or href[2] or href[3] or "") if href else "", len(self.out))

    def _end(self, tag: str) -> None:
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
        elif tag == "a" and self._link is not None:
            (href, start), self._link = self._link, None
            words = "".join(self.out[start:]).strip()
            if words and href and not href.startswith(("#", "javascript:", "data:", "mailto:")):
                self.out[start:] = [f"[{words}]({_absolute_url(self._url, href)})"]
        elif tag in _BLOCKS or tag in _HEADINGS:
            self.out.append("\n\n" if tag != "tr" else "\n")
            # A page may end more elements than it begins.
            self._pre -= tag == "pre" and self._pre > 0

    def _add_text(self, data: str) -> None:
        if data and not self._silent:
            words = _unescape(data)
            self.out.append(words if self._pre else re.sub(r"\s+", " ", words))


def _end_of_sign(text: str, sign: str, at: int) -> int:
    found = text.find(sign, at)
    return len(text) if found < 0 else found + len(sign)


def _unescape(text: str) -> str:
    return unescape(_HUGE.sub("\ufffd", text)) if "&" in text else text


def _absolute_url(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return href


def from_html(text: str, url: str = "") -> tuple[str, str]:
    """(title, words) of a page."""
    words = _Words(url)
    words.read(text)
    lines = [line.strip() if "  " not in line[:2] else line.rstrip() for line in "".join(words.out).split("\n")]
    return words.title, re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def read_page(page: FetchedPage) -> tuple[str, str] | None:
    """(title, words) of a fetched page. None: the page is not text."""
    try:
        text = without_invalid_bytes(page.body.decode(page.charset or "utf-8", "replace"))
    except (LookupError, ValueError):  # an unknown encoding, or one that is not for text
        text = page.body.decode("utf-8", "replace")
    if page.mime in ("text/html", "application/xhtml+xml") or (not page.mime and "<html" in text[:1000].lower()):
        return from_html(text[:MAX_HTML], page.url)
    textual = page.mime.startswith("text/") or page.mime.rpartition("+")[2] in ("json", "xml")
    plain = page.mime in ("", "application/json", "application/xml", "application/javascript", "application/yaml")
    # A zero byte shows that the type is wrong and the data is binary.
    return ("", text) if (textual or plain) and b"\0" not in page.body[:4096] else None
