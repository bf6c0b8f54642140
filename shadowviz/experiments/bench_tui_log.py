"""A log as large as asked for, for the terminal interface to open: chains of spans of one token each."""

import base64
import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec

CHAIN = 64
"""Tokens, and so nodes, of one request."""
_PAGE = 8
_FULL = base64.b64encode(struct.pack("<i", 7)).decode()


def write_large_log(path: Path, num_nodes: int) -> int:
    """Write a log whose tree has about so many nodes; the number of its events."""
    encode = msgspec.json.Encoder().encode
    count = 0
    with path.open("wb", buffering=1 << 20) as file:
        for line in _events(num_nodes):
            file.write(encode({"type": line["type"], "seq": count, "t_ns": 1_000 * count, **line}) + b"\n")
            count += 1
    return count


def more_lines(seq: int, num_events: int) -> Iterator[bytes]:
    """Steps of a request that runs, as the lines behind event `seq - 1`."""
    for at in range(seq, seq + num_events):
        yield msgspec.json.encode({"type": "StepDone", "seq": at, "t_ns": 1_000 * at}) + b"\n"


def _events(num_nodes: int) -> Iterator[dict[str, object]]:
    yield _opened(num_nodes)
    for chain in range(num_nodes // CHAIN):
        name, first, slot = f"r{chain}", 1 + chain * CHAIN, _PAGE + chain * CHAIN
        ids = base64.b64encode(struct.pack(f"<{CHAIN}i", *range(chain * CHAIN, (chain + 1) * CHAIN))).decode()
        yield {"type": "RequestSubmitted", "request": name, "tokens": ids, "max_tokens": 1}
        zeros = dict.fromkeys(("common", "matched", "usable", "reused"), 0)
        yield {"type": "LookupDone", "request": name, "num_prompt": CHAIN, "cap": CHAIN - 1, "unit": _PAGE, **zeros}
        yield {"type": "SlotsTaken", "request": name, "pool": "full", "runs": [[0, CHAIN, slot]]}
        yield {"type": "StepDone", "prefill": [[name, 0, CHAIN]]}
        for at in range(CHAIN):
            parent = 0 if at == 0 else first + at - 1
            span = {"start": at, "stop": at + 1, "full": [[at, at + 1, slot + at]], "terminal": at == CHAIN - 1}
            yield {"type": "SpanInserted", "node": first + at, "parent": parent, "request": name, **span}
        yield {"type": "RequestFinished", "request": name, "reason": "length", "tokens": _FULL, "ttft_ns": 5_000}


def _opened(num_nodes: int) -> dict[str, object]:
    kinds = [
        {"label": "hca_kv", "shape": "range", "unit": 8, "owners": [1]},
        {"label": "swa_kv", "shape": "window", "need": 7, "page_need": 8, "owners": [0, 1]},
        {"label": "hca_tail", "shape": "open", "ratio": 8, "owners": [1], "scope": "follows", "follows": "swa_kv"},
    ]
    geometry = {
        "name": "bench",
        "page_size": _PAGE,
        "kinds": kinds,
        "n_win": 8,
        "compressors": [{"name": "hca", "ratio": 8}],
        "schedule": {"compressors": ["", "hca"]},
    }
    pages = {"num_full_pages": num_nodes // _PAGE + 2, "num_swa_pages": 16}
    rules = {"retention": "window", "policy": "lru", "numerics": "exact", "opened_at": "2026-01-01T00:00:00Z"}
    return {"type": "LogOpened", "schema": 1, "geometry": geometry, "model": "bench", **rules, **pages}
