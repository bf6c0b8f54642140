"""Ghost index: a bounded memory of prefixes that left the cache or never entered it."""

from hashlib import blake2b

import msgspec

from shadowviz_engine.cache.radix import TOKEN_BYTES, Node


class Departure(msgspec.Struct, frozen=True):
    """Why a prefix is not stored."""

    event: int
    reason: str
    by: str = ""


class _Entry(msgspec.Struct, frozen=True):
    departure: Departure
    boundary: bytes = b""
    """Digest of the page boundary below an end between two boundaries; empty for a boundary itself."""
    size: int = 0


class GhostIndex:
    """Digests of prefixes at page boundaries, and at the ends between them; the oldest is forgotten first."""

    def __init__(self, max_entries: int, page_size: int) -> None:
        self.max_entries = max_entries
        self.page_bytes = page_size * TOKEN_BYTES
        self.entries: dict[bytes, _Entry] = {}
        self.ends: dict[bytes, dict[int, int]] = {}
        """By digest of a page boundary: bytes from there to a remembered end, and how many prefixes end there."""
        self.forgotten = 0

    def chain(self, node: Node) -> tuple[bytes, bytes]:
        """Digest of the whole pages of the path down to the end of `node`, and the bytes after them."""
        missing: list[Node] = []
        current = node
        while current.chain is None and current.parent is not None:
            missing.append(current)
            current = current.parent
        digest, pending = current.chain or (_seed(node.namespace), b"")
        for link in reversed(missing):
            digest, pending = self._advance(digest, pending + link.key)
            link.chain = (digest, pending)
        return digest, pending

    def remember_node(self, node: Node, departure: Departure) -> None:
        """Remember the prefixes that end in the span of `node`."""
        assert node.parent is not None, "a root holds no tokens"
        digest, pending = self.chain(node.parent)
        self._remember(digest, pending, node.key, departure)

    def remember_key(self, namespace: str, key: bytes, start: int, departure: Departure) -> None:
        """Remember the prefixes of `key` that end after its first `start` tokens."""
        digest, pending = self._advance(_seed(namespace), key[: start * TOKEN_BYTES])
        self._remember(digest, pending, key[start * TOKEN_BYTES :], departure)

    def find(self, node: Node, key: bytes) -> tuple[int, Departure] | None:
        """The longest remembered prefix of `key` beyond the end of `node`, in tokens.

        `node` is the deepest node whose whole path `key` begins with.
        """
        if not self.entries:
            return None
        digest, pending = self.chain(node)
        offset = node.stop * TOKEN_BYTES - len(pending)
        best: tuple[int, Departure] | None = None
        while True:
            best = self._find_end(digest, key, offset) or best
            if offset + self.page_bytes > len(key):
                return best
            digest = _link(digest, key[offset : offset + self.page_bytes])
            offset += self.page_bytes
            entry = self.entries.get(digest)
            if entry is not None:
                best = (offset // TOKEN_BYTES, entry.departure)

    def _find_end(self, digest: bytes, key: bytes, offset: int) -> tuple[int, Departure] | None:
        for size in sorted(self.ends.get(digest, ()), reverse=True):
            if offset + size <= len(key):
                entry = self.entries.get(_link(digest, key[offset : offset + size]))
                if entry is not None:
                    return (offset + size) // TOKEN_BYTES, entry.departure
        return None

    def _remember(self, digest: bytes, pending: bytes, key: bytes, departure: Departure) -> None:
        data = pending + key
        offset = 0
        while offset + self.page_bytes <= len(data):
            digest = _link(digest, data[offset : offset + self.page_bytes])
            offset += self.page_bytes
            self._store(digest, _Entry(departure))
        if offset < len(data):
            size = len(data) - offset
            self._store(_link(digest, data[offset:]), _Entry(departure, digest, size))

    def _store(self, digest: bytes, entry: _Entry) -> None:
        if digest in self.entries:
            self._remove(digest)
        self.entries[digest] = entry
        if entry.size:
            sizes = self.ends.setdefault(entry.boundary, {})
            sizes[entry.size] = sizes.get(entry.size, 0) + 1
        if len(self.entries) > self.max_entries:
            self._remove(next(iter(self.entries)))
            self.forgotten += 1

    def _remove(self, digest: bytes) -> None:
        entry = self.entries.pop(digest)
        if entry.size:
            sizes = self.ends[entry.boundary]
            sizes[entry.size] -= 1
            if not sizes[entry.size]:
                del sizes[entry.size]
            if not sizes:
                del self.ends[entry.boundary]

    def _advance(self, digest: bytes, data: bytes) -> tuple[bytes, bytes]:
        offset = 0
        while offset + self.page_bytes <= len(data):
            digest = _link(digest, data[offset : offset + self.page_bytes])
            offset += self.page_bytes
        return digest, data[offset:]


def _seed(namespace: str) -> bytes:
    return blake2b(namespace.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _link(digest: bytes, data: bytes) -> bytes:
    return blake2b(data, digest_size=16, key=digest).digest()
