"""Logs of every schema: what was stored opens, what is newer is refused."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Union

import msgspec
import pytest

from shadowviz.sources.logfile import LogFile
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import EVENT_TYPES, SCHEMA, Event
from shadowviz_engine.core.log_reader import read_log

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "fixtures" / "logs"
DIGESTS = {1: "d6fe0d4e664f6f91d653a99669366120"}
"""Digest of the state at the end of the stored log of each schema; it never changes."""


def altered(tmp_path: Path, line: int, **fields: object) -> Path:
    """The stored log with other values in one of its lines."""
    lines = (LOGS / "schema-1.jsonl").read_text().splitlines()
    lines[line] = json.dumps(json.loads(lines[line]) | fields)
    path = tmp_path / "altered.jsonl"
    path.write_text("".join(line + "\n" for line in lines))
    return path


def docs_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_events", ROOT / "docs" / "make_events.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_schema_up_to_the_present_one_has_a_stored_log() -> None:
    assert sorted(DIGESTS) == list(range(1, SCHEMA + 1))


@pytest.mark.parametrize("schema", sorted(DIGESTS))
def test_the_stored_log_of_a_schema_opens_and_gives_its_known_digest(schema: int) -> None:
    log = LogFile(LOGS / f"schema-{schema}.jsonl")
    assert log.replay().digest() == DIGESTS[schema]
    assert log.opened.schema == schema
    assert (log.summary.complete, log.summary.lost, log.summary.unknown) == (True, None, {})


def test_the_stored_logs_have_every_type_of_event() -> None:
    told = {type(event) for schema in DIGESTS for event in read_log(LOGS / f"schema-{schema}.jsonl")}
    assert told == set(EVENT_TYPES)


def test_every_event_is_the_same_after_a_way_through_json() -> None:
    decoder = msgspec.json.Decoder(Union[EVENT_TYPES])  # noqa: UP007
    events = list(read_log(LOGS / f"schema-{SCHEMA}.jsonl"))
    assert [decoder.decode(msgspec.json.encode(event)) for event in events] == events


def test_a_newer_schema_is_refused_in_one_line(tmp_path: Path) -> None:
    path = altered(tmp_path, 0, schema=SCHEMA + 1)
    with pytest.raises(LogError) as error:
        LogFile(path)
    found = f"{path} has schema {SCHEMA + 1}, this version reads 1 to {SCHEMA}: use a newer shadowviz"
    assert str(error.value) == found


def test_a_digest_that_the_replayed_state_does_not_have_is_named(tmp_path: Path) -> None:
    path = altered(tmp_path, -1, digest="0" * 32)
    with pytest.raises(LogError, match=f"^{path}: the live state had digest '0+', the replayed state has {DIGESTS[1]}"):
        LogFile(path).replay()


def test_an_event_that_contradicts_the_state_is_named_with_the_file(tmp_path: Path) -> None:
    path = altered(tmp_path, 8, stop=21)
    with pytest.raises(LogError, match=f"^{path}: SpanInserted at seq 8 cannot apply: .*20 tokens known of 'first'$"):
        LogFile(path).replay()


def test_a_log_that_was_not_closed_replays_to_its_end(tmp_path: Path) -> None:
    data = (LOGS / "schema-1.jsonl").read_bytes()
    path = tmp_path / "crashed.jsonl"
    path.write_bytes(data[: data.rindex(b"{") + 30])
    log = LogFile(path)
    assert log.replay().digest() == DIGESTS[1]
    assert "ends inside line 53" in (log.summary.lost or "")
    assert isinstance(next(log.events()), Event)


def test_the_event_reference_says_what_the_types_say() -> None:
    script = docs_script()
    assert script.TARGET.read_text(encoding="utf-8") == script.reference(), "run python docs/make_events.py"
