"""The vault in memory forgets the oldest, and counts what it holds."""

from __future__ import annotations

from dragoman.gateway.vault import BoundedVault


def test_the_oldest_seals_are_forgotten_and_those_asked_for_stay() -> None:
    vault = BoundedVault(30)
    vault.put("a", "x" * 9)
    vault.put("b", "y" * 9)
    vault.put("c", "z" * 9)
    assert vault.get("a") == "x" * 9
    vault.put("d", "w" * 9)
    assert [vault.get(name) for name in "abcd"] == ["x" * 9, None, "z" * 9, "w" * 9]
    vault.put("a", "new")
    assert (vault.get("a"), len(vault)) == ("new", 3)
    vault.put("huge", "h" * 100)
    assert (vault.get("huge"), len(vault)) == (None, 0)
