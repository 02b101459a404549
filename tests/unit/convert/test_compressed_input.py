"""Compressed files: members one after another, padding, faults after the last good byte, and bounded memory."""

from __future__ import annotations

import gzip
import io
import os
import zlib

import pytest
import zstandard

from dragoman.convert.compressed_input import MemberReader

TEXT = b"".join([b"line %d %s\n" % (number, os.urandom(20).hex().encode()) for number in range(2_000)])
PACK = {"gz": lambda data: gzip.compress(data, mtime=0), "zst": lambda data: zstandard.compress(data)}


def read_all(data: bytes, form: str, size: int = 1_000) -> tuple[bytes, Exception | None]:
    reader, found = MemberReader(io.BytesIO(data), form), []
    try:
        while block := reader.read(size):
            found.append(block)
    except (EOFError, zlib.error, zstandard.ZstdError) as fault:
        return b"".join(found), fault
    return b"".join(found), None


@pytest.mark.parametrize("form", ["gz", "zst"])
@pytest.mark.parametrize("size", [1, 999, 1 << 20])
def test_members_are_read_one_after_another(form: str, size: int) -> None:
    pack, text = PACK[form], TEXT[:5_000]
    data = pack(text[:2_000]) + pack(b"") + pack(text[2_000:])
    assert read_all(data, form, size) == (text, None)
    assert read_all(pack(b""), form) == (b"", None)
    assert read_all(b"", form) == (b"", None)


def test_zeros_after_a_gzip_member_are_padding() -> None:
    assert read_all(PACK["gz"](TEXT) + bytes(5_000) + PACK["gz"](TEXT) + bytes(700), "gz") == (TEXT * 2, None)


@pytest.mark.parametrize("form", ["gz", "zst"])
def test_every_byte_before_a_fault_is_read(form: str) -> None:
    data = PACK[form](TEXT) + PACK[form](TEXT)
    for cut in (len(data) - 1, len(data) - 9, len(data) * 3 // 4):
        found, fault = read_all(data[:cut], form)
        assert isinstance(fault, EOFError)
        assert found.startswith(TEXT)
        assert (TEXT + TEXT).startswith(found)
    found, fault = read_all(PACK[form](TEXT) + b"rubbish", form)
    assert found == TEXT
    assert fault is not None


@pytest.mark.parametrize("form", ["gz", "zst"])
def test_a_small_file_does_not_fill_the_memory(form: str) -> None:
    reader = MemberReader(io.BytesIO(PACK[form](bytes(300 << 20))), form)
    assert len(reader.read(1_000)) == 1_000
    assert len(reader._held) <= 65 << 20
