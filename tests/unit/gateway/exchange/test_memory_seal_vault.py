"""The vault in memory drops the oldest seals, counts its bytes, and separates clients."""

from __future__ import annotations

from dragoman.gateway.exchange.memory_seal_vault import BoundedVault


def test_the_oldest_seals_are_dropped_and_recently_read_seals_stay() -> None:
    store = BoundedVault(30)
    vault = store.vault_of_client("")
    vault.put("a", "x" * 8)
    vault.put("b", "y" * 8)
    vault.put("c", "z" * 8)
    assert vault.get("a") == "x" * 8
    vault.put("d", "w" * 8)
    assert [vault.get(name) for name in "abcd"] == ["x" * 8, None, "z" * 8, "w" * 8]
    vault.put("a", "new")
    assert (vault.get("a"), len(store)) == ("new", 3)
    vault.put("huge", "h" * 100)
    assert (vault.get("huge"), len(store)) == (None, 0)


def test_a_client_does_not_find_the_seals_of_another_client() -> None:
    store = BoundedVault(1000)
    store.vault_of_client("aa").put("key", "seal")
    assert store.vault_of_client("aa").get("key") == "seal"
    assert [
        store.vault_of_client(owner).get(key) for owner, key in (("bb", "key"), ("", "aa/key"), ("a", "a/key"))
    ] == [None] * 3


def test_a_vault_is_filled_while_it_holds_a_seal_of_its_client() -> None:
    store = BoundedVault(30)
    vault = store.vault_of_client("a")
    assert vault.if_filled() is None
    vault.put("1", "x")
    vault.put("1", "xy")
    vault.put("2", "x" * 10)
    assert (vault.if_filled(), store.vault_of_client("b").if_filled(), store.owners) == (vault, None, {"a": 2})
    store.vault_of_client("b").put("1", "y" * 22)
    assert (vault.if_filled(), store.owners, len(store)) == (None, {"b": 1}, 1)
