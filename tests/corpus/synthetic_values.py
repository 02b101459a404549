"""Owns the synthetic values: words, names, ids, seals, addresses, times and media, each made from the place it gets.

Each exchange has one `Words`. Equal originals become equal values, so that calls and results still agree. Only the form
of an original is kept: length, letter case, separators, prefix of an id, kind of a media file.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zlib


def _listed(text: str) -> list[str]:
    return text.split()


_WORDS = _listed(
    "amber anchor apple arrow autumn badge basket beacon bridge bright butter candle canyon carbon castle cedar "
    "circle clover copper coral cotton crane crystal delta desert dolphin eagle early ember falcon feather "
    "field flint forest fossil garden ginger glacier golden granite harbor hazel heron hollow honey island "
    "ivory jasper juniper kettle lantern laurel lemon linen lunar maple marble meadow mellow mineral mirror "
    "morning mosaic nectar north oasis ocean olive onyx opal orchard otter oxide paper pebble pepper pine "
    "planet plum pollen prairie quarry quartz quiet raven reef ribbon river robin saddle saffron salmon sand "
    "sapphire scarlet shadow silver slate sparrow spruce stone summer sunset tiger timber topaz tulip valley "
    "velvet violet walnut water willow winter wisdom yellow zephyr zinc"
)

_PREFIX = re.compile(r"[a-z]{2,16}[_-](?=.{6})")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?)?")
_SKIP_SEAL = base64.b64encode(b"skip_thought_signature_validator").decode()
SECONDS = 1_767_323_045
SHORT = 24
"""Characters of a text whose length does not matter."""


_WIDE = {2: "\u00e9", 3: "\u20ac", 4: "\U0001f642"}


def _as_wide(letter: str, original: str) -> str:
    """Return the letter, or a letter with as many bytes as the original: positions are counted in characters or
    bytes."""
    return letter if original.isascii() else _WIDE[len(original.encode(errors="surrogatepass"))]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\x80", 9))
    + _chunk(b"IEND", b"")
)
_WAV = (
    b"RIFF"
    + struct.pack("<I", 38)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    + (b"data" + struct.pack("<I", 2) + b"\x80\x80")
)
_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Count 0/Kids[]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)
_GIF = (
    b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02D\x01\0;"
)
_MEDIA: dict[bytes, bytes] = {
    b"\x89PNG": _PNG,
    b"\xff\xd8\xff": b"\xff\xd8\xff\xdb\x00\x43\x00" + b"\x01" * 64 + b"\xff\xd9",
    b"%PDF": _PDF,
    b"RIFF": _WAV,
    b"WEBP": b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00",
    b"GIF8": _GIF,
    b"ID3": b"ID3\x04\x00\x00\x00\x00\x00\x00\xff\xfb\x90\x00" + b"\0" * 16,
    b"\x00\x00\x00": b"\x00\x00\x00\x14ftypisom\x00\x00\x02\x00isom",
}
"""The first bytes of a media file, and a small synthetic file with the same first bytes."""


class Words:
    """The synthetic values of one exchange."""

    def __init__(self, seed: str, redacted: int = 24) -> None:
        self._seed, self._redacted = seed, redacted
        self._made: dict[tuple[str, str], str] = {}
        self._long: list[tuple[str, str]] = []
        self._taken: set[str] = set()

    def _digest(self, kind: str, length: int = 32) -> bytes:
        start = f"{self._seed} {kind} {len(self._made)}".encode()
        return b"".join(hashlib.sha256(start + bytes([i])).digest() for i in range(length // 32 + 1))[:length]

    def _once(self, kind: str, original: str, made: str) -> str:
        return self._made.setdefault((kind, original), made)

    def word(self) -> str:
        """One word; the next call gives another."""
        number = int.from_bytes(self._digest("word", 4), "big")
        self._made["word", str(len(self._made))] = ""
        return _WORDS[number % len(_WORDS)]

    def text(self, original: str, *, whole: bool = False) -> str:
        """Return words in place of a text: with the same length if positions in it are cited (`whole`), else a few
        words."""
        known = self._made.get(("text", original))
        if known is not None:
            return known
        bare = original.strip()
        if not bare or (bare.isdigit() and len(bare) < 6) or bare in ("null", "true", "false"):
            return original
        head, tail = original[: original.index(bare)], original[original.index(bare) + len(bare) :]
        length = len(bare) if whole else min(len(bare), SHORT)
        prose = self.prose(length)
        if "json" in bare.lower():  # OpenAI requires this word in requests for JSON
            prose = "JSON" + prose[4:]
        made = head + "".join(map(_as_wide, prose, bare)) + tail
        if whole:
            self._long.append((original, made))
        return self._once("text", original, made)

    def prose(self, length: int) -> str:
        """Words of exactly this many characters."""
        out = ""
        while len(out) < length:
            out += ("" if not out else " ") + self.word()
        out = out[:length]
        return out[:-1] + "s" if out.endswith(" ") else out

    def quoted(self, original: str) -> str:
        """Return the part of a synthetic text at the position that the original has in the original text."""
        for whole, made in self._long:
            start = whole.find(original)
            if start >= 0 and original:
                return made[start : start + len(original)]
        return self.text(original)

    def name(self, original: str) -> str:
        """Return a name of the same form: each run of letters becomes a synthetic word, single letters are kept."""
        known = self._made.get(("name", original))
        if known is not None:
            return known
        return self._once("name", original, re.sub(r"[A-Za-z][a-z]+|[A-Z]+", self._part_of_name, original))

    def _part_of_name(self, found: re.Match[str]) -> str:
        part = found.group()
        if len(part) < 2:
            return part
        made = self._made.get(("part", part.lower())) or self._once("part", part.lower(), self._fresh())
        return made.upper() if part.isupper() else made.capitalize() if part[0].isupper() else made

    def _fresh(self) -> str:
        """Return a word that no name has yet: two names must stay different."""
        while (made := self.word()) in self._taken:
            if len(self._taken) >= len(_WORDS):
                made += str(len(self._taken))
                break
        self._taken.add(made)
        return made

    def id(self, original: str) -> str:
        """An id of the same form: its prefix stays."""
        known = self._made.get(("id", original))
        if known is not None:
            return known
        if len(original) < 4:
            return original
        if original.startswith("functions."):
            name, _, number = original[10:].partition(":")
            return self._once("id", original, f"functions.{self.name(name)}:{number}")
        if _UUID.fullmatch(original):
            text = self._digest("id").hex()
            made = "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:32]])
            return self._once("id", original, made)
        found = _PREFIX.match(original) if self._redacted > 9 else None
        head = found.group() if found else ""
        length = self._redacted if "REDACTED" in original else min(len(original) - len(head), 50)
        return self._once("id", original, head + self._digest("id", 32).hex()[:length].ljust(length, "0"))

    def seal(self, original: str) -> str:
        """Return meaningless bytes in base64. The mark that makes Gemini skip the check is kept."""
        known = self._made.get(("seal", original))
        if known is not None:
            return known
        if not original or original == _SKIP_SEAL:
            return original
        made = base64.b64encode(self._digest("seal", 36)).decode()
        return self._once("seal", original, ("gAAAAA" if original.startswith("gAAAAA") else "") + made)

    def address(self, original: str) -> str:
        """Return a URL that does not exist, with the scheme and the file ending of the original."""
        known = self._made.get(("address", original))
        if known is not None:
            return known
        scheme = original.partition("://")[0]
        ending = re.search(r"\.(png|jpe?g|gif|webp|pdf|mp3|mp4|wav|txt|html|json)$", original)
        place = f"{scheme}://{self.word()}.example/{self.word()}{ending.group() if ending else ''}"
        if "generativelanguage.googleapis.com" in original:
            place = f"https://generativelanguage.googleapis.com/v1beta/files/{self.word()}{len(self._made)}"
        elif "youtu" in original:
            place = f"https://www.youtube.com/watch?v={self._digest('id').hex()[:11]}"
        return self._once("address", original, place)

    def time(self, original: str) -> str:
        found = _TIME.fullmatch(original)
        if not found:
            return self.text(original)
        return "2026-01-02" if not found[1] else f"2026-01-02T03:04:05{'.25' if found[2] else ''}{found[3] or ''}"

    def media(self, original: str) -> str | None:
        """Return a small file of the same kind, in base64 or as a data URL; None for all other texts."""
        head, comma, data = original.partition(",") if original.startswith("data:") else ("", "", original)
        if not comma and (len(data) < 60 or not re.fullmatch(r"[A-Za-z0-9+/=_\s-]+", data[:2000])):
            return None
        try:
            start = base64.b64decode(data[:16].replace("-", "+").replace("_", "/"))
        except ValueError:
            return None
        start = start[8:] if start[8:] == b"WEBP" else start
        for magic, file in _MEDIA.items():
            if start.startswith(magic) or (comma and not start):
                return head + comma + base64.b64encode(file).decode()
        return head + comma + base64.b64encode(self._digest("media", 36)).decode() if comma else None

    @staticmethod
    def is_time(text: str) -> bool:
        return _TIME.fullmatch(text) is not None
