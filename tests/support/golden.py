"""Rendered output beside a stored file; SHADOWVIZ_STORE=1 stores what comes out, to be looked at before it is kept."""

import os
from pathlib import Path


def check_golden(path: Path, data: bytes) -> None:
    """Whether the output is the stored one, byte for byte."""
    if os.environ.get("SHADOWVIZ_STORE"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    stored = path.read_bytes() if path.exists() else b""
    assert data == stored, f"{path.name} differs from what is stored; look at it, then store it with SHADOWVIZ_STORE=1"
