"""Logs without prompts: token ids become keyed hashes, texts are left out."""

from array import array
from hashlib import blake2b

import msgspec

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import Event, LogClosed, LogOpened, RequestFinished, RequestSubmitted
from shadowviz_engine.core.sinks import Sink
from shadowviz_engine.core.snapshot import pack_ids, unpack_ids


class RedactingSink:
    """Passes events on with every token id replaced by a keyed hash of 31 bits, and without texts.

    Equal ids stay equal and different ones different, so the tree replays the same. The digest in `LogClosed` is
    of the true ids and would betray them to a guess, so it is left out. Names of requests and namespaces stay.

    Raises:
        InputError: the key is empty or longer than 64 bytes.
    """

    def __init__(self, sink: Sink, key: bytes) -> None:
        if not 1 <= len(key) <= 64:
            raise InputError(f"the key of a redacted log has {len(key)} bytes: expected 1 to 64")
        self._sink = sink
        self._hashes = _TokenHashes(key)

    def emit(self, event: Event, /) -> None:
        """Pass on what may be seen of the event."""
        match event:
            case RequestSubmitted():
                event = msgspec.structs.replace(event, tokens=self._redact(event.tokens), text=None)
            case RequestFinished():
                event = msgspec.structs.replace(event, tokens=self._redact(event.tokens))
            case LogOpened():
                event = msgspec.structs.replace(event, redacted=True)
            case LogClosed():
                event = msgspec.structs.replace(event, digest="")
        self._sink.emit(event)

    def flush(self) -> None:
        """Flush the sink behind."""
        self._sink.flush()

    def close(self) -> None:
        """Close the sink behind."""
        self._sink.close()

    def _redact(self, tokens: bytes) -> bytes:
        return pack_ids(array("i", map(self._hashes.__getitem__, unpack_ids(tokens))))


class _TokenHashes(dict[int, int]):
    """Hash of every id seen so far; two ids never share one."""

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key = key
        self._given: set[int] = set()

    def __missing__(self, token: int) -> int:
        attempt = 0
        while (hashed := keyed_hash(self._key, token, attempt)) in self._given:
            attempt += 1
        self._given.add(hashed)
        self[token] = hashed
        return hashed


def keyed_hash(key: bytes, token: int, attempt: int) -> int:
    """31 bits that stand for `token`; later attempts are for hashes that another id already has."""
    message = token.to_bytes(4, "little", signed=True) + attempt.to_bytes(4, "little")
    return int.from_bytes(blake2b(message, key=key, digest_size=4).digest(), "little") & 0x7FFFFFFF
