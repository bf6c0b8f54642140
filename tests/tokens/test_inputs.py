"""What an argument or a file is read as, and what is said where it cannot be."""

import json
import os
from array import array
from pathlib import Path

import pytest

from shadowviz.tokens.inputs.many import read_all, read_folder, read_requests
from shadowviz.tokens.inputs.parse import parse
from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.inputs.read import read_argument
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LogOpened, RequestSubmitted
from shadowviz_engine.core.log import FileSink
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.redact import RedactingSink
from shadowviz_engine.core.snapshot import pack_ids

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(path: Path, *, redacted: bool = False, fingerprint: str = "f" * 64) -> None:
    """A recorded run of two prompts."""
    sink = FileSink(path)
    out = RedactingSink(sink, b"key") if redacted else sink
    out.emit(LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("tiny"), tokenizer_fingerprint=fingerprint))
    for seq, name in enumerate(("first", "second#2"), 1):
        tokens = pack_ids(array("i", [5, 6, 7 + seq]))
        out.emit(RequestSubmitted(seq=seq, t_ns=seq, request=name, tokens=tokens, namespace=f"space-{seq}"))
    out.close()


# What an argument is.


def test_an_argument_that_names_a_file_is_that_file_byte_for_byte(here: Path) -> None:
    (here / "a b").write_bytes(b"\xef\xbb\xbfone\r\ntwo \n\n")
    assert read_argument("a b", None) == Prompt("a b", Form.TEXT, "\ufeffone\r\ntwo \n\n")


def test_any_other_argument_is_the_prompt_itself(here: Path) -> None:
    for text in ("Hello there", "and/or what", "</think>", "[1, 2, 3]", "a.txt b.txt", "x" * 100_000, "", "a\nb.txt"):
        found = read_argument(text, None)
        assert (found.source, found.form, found.text) == ("text", Form.TEXT, text)


@pytest.mark.parametrize("path", ["missing.txt", "dir/missing", "./x", "RUN.jsonl#request-1", "C:\\x/y.json"])
def test_what_looks_like_a_path_and_is_not_there_is_refused(here: Path, path: str) -> None:
    with pytest.raises(InputError, match=r"is not there: expected a file; if it is the prompt itself, write text:"):
        read_argument(path, None)


def test_a_prefix_says_what_the_argument_is(here: Path) -> None:
    (here / "text:x").write_text("from the file")
    assert read_argument("text:missing.txt", None).text == "missing.txt"
    assert read_argument("text:x", None).text == "x"
    assert read_argument("file:text:x", None).text == "from the file"
    assert read_argument("ids:1 2,3", None).ids.tolist() == [1, 2, 3]
    with pytest.raises(InputError, match="no file is not there"):
        read_argument("file:no file", None)


def test_stdin_is_read_as_bytes() -> None:
    assert read_argument("-", None, lambda: b"a\r\n").text == "a\r\n"
    assert read_argument("-", Form.IDS, lambda: b"[4, 5]").ids.tolist() == [4, 5]


def test_a_folder_is_no_prompt(here: Path) -> None:
    (here / "folder").mkdir()
    with pytest.raises(InputError, match="folder is a folder"):
        read_argument("folder", None)


def test_bytes_of_the_command_line_that_are_not_utf8_are_noted() -> None:
    found = read_argument("caf\udce9", None)
    assert found.text == "caf\ufffd"
    assert found.notes == ("text: not UTF-8 at byte 3, line 1 (\\xe9): such bytes are taken as U+FFFD",)


# What some bytes hold.


def test_messages_are_recognised_as_a_list_or_a_request() -> None:
    listed = parse(json.dumps(CHAT).encode(), "x", None)
    assert listed.form is Form.MESSAGES
    assert listed.conversation is not None
    assert listed.conversation.messages == tuple(CHAT)
    tool = {"type": "function", "function": {"name": "add"}}
    body = {
        "model": "m",
        "messages": CHAT,
        "tools": [tool],
        "temperature": 0.1,
        "reasoning_effort": "high",
        "chat_template_kwargs": {"enable_thinking": True},
        "thinking": {"type": "enabled"},
        "weather": 1,
    }
    asked = parse(json.dumps(body).encode(), "x", None)
    assert asked.conversation is not None
    assert asked.conversation.tools == (tool,)
    assert asked.conversation.options == {"thinking": True, "reasoning_effort": "high", "enable_thinking": True}
    assert asked.notes == ("x: not part of the prompt: weather",)


def test_a_system_text_beside_the_messages_is_the_first_of_them() -> None:
    asked = parse(json.dumps({"system": [{"type": "text", "text": "Be kind."}], "messages": CHAT}).encode(), "x", None)
    assert asked.conversation is not None
    assert asked.conversation.messages[0] == {"role": "system", "content": [{"type": "text", "text": "Be kind."}]}
    assert asked.conversation.messages[1:] == tuple(CHAT)
    assert asked.notes == ()


@pytest.mark.parametrize("argument", ["[0, 128000, 9906]", "0 12 3"])
def test_an_argument_that_looks_like_ids_is_text_and_says_so(argument: str) -> None:
    found = read_argument(argument, None)
    assert (found.form, found.text) == (Form.TEXT, argument)
    assert "write ids: before them" in found.notes[0]
    assert not read_argument(argument, Form.TEXT).notes


@pytest.mark.parametrize(
    ("raw", "ids"),
    [
        (b"[1, 2, 3]", [1, 2, 3]),
        (b'{"token_ids": [1, 2]}', [1, 2]),
        (b'{"prompt": [7]}', [7]),
        (b" 1 2\n3 ", [1, 2, 3]),
    ],
)
def test_ids_are_recognised(raw: bytes, ids: list[int]) -> None:
    assert parse(raw, "x", None).ids.tolist() == ids


@pytest.mark.parametrize(
    "raw", [b"12", b"1 2 three", b"[1, 2.5]", b"[true]", b"[]", b"[1, 2", b'{"a": 1}', b"1, 2", b""]
)
def test_what_is_nothing_else_is_text(raw: bytes) -> None:
    assert parse(raw, "x", None) == Prompt("x", Form.TEXT, raw.decode())


def test_a_guess_that_may_surprise_is_said_and_can_be_overruled() -> None:
    assert parse(b"1 2", "x", None).notes == ("x is read as token ids; if it is text, add --as text",)
    assert parse(b"1 2", "x", Form.TEXT) == Prompt("x", Form.TEXT, "1 2")
    assert parse(b"12", "x", Form.IDS).ids.tolist() == [12]
    assert parse(b"", "x", Form.IDS).ids.tolist() == []


def test_a_mark_before_json_does_not_hide_messages() -> None:
    assert parse(b"\xef\xbb\xbf" + json.dumps(CHAT).encode(), "x", Form.MESSAGES).form is Form.MESSAGES


def test_bytes_that_are_not_utf8_are_compared_and_named() -> None:
    found = parse(b"ab\ncd\xff\xfeef", "x", None)
    assert found.text == "ab\ncd\ufffd\ufffdef"
    assert found.notes == ("x: not UTF-8 at byte 5, line 2 (\\xff): such bytes are taken as U+FFFD",)
    assert found.given == b"ab\ncd\xff\xfeef"
    assert parse(b"abc", "x", None).given == b""
    assert "begins like UTF-16" in parse("hi".encode("utf-16"), "x", None).notes[0]


def test_a_file_called_json_that_cannot_be_read_as_such_says_why_it_is_text() -> None:
    for raw, reason in (
        (b"[" * 100_000, "x.json: JSON nests too deep, expected plain values, so it is read as text"),
        (b'{"messages": [', "x.json: bad JSON (Expecting value: line 1 column 15 (char 14)), so it is read as text"),
    ):
        found = parse(raw, "x.json", None)
        assert (found.form, found.text, found.notes) == (Form.TEXT, raw.decode(), (reason,))
        assert parse(raw, "x.txt", None).notes == ()


@pytest.mark.parametrize(
    ("raw", "form", "message"),
    [
        (b"[4294967296]", Form.IDS, "x: token 0 has id 4294967296, expected 0 to 2147483647"),
        (b"1 two", Form.IDS, "x: token 1 is 'two', expected a whole number"),
        (b"[1, -5]", Form.IDS, "x: token 1 has id -5, expected 0 to 2147483647"),
        (b"[1, " + b"9" * 4000 + b"]", Form.IDS, r"x: token 1 has id a number of \d+ bits"),
        (b'["a"]', Form.IDS, "x holds no token ids"),
        (b"Hello", Form.MESSAGES, "x: bad JSON"),
        (b"[1]", Form.MESSAGES, "x holds no messages"),
        (b"\xff", Form.MESSAGES, "x: byte 0 is 0xff, expected UTF-8"),
        (b"[" * 100_000, Form.MESSAGES, "x: JSON nests too deep"),
        (b'{"messages": ["Hi"]}', None, 'x: message 0 is "Hi", expected an object'),
        (b'{"messages": [{"role": "user"}], "tools": 3}', None, "x: tools are 3, expected a list"),
        (b'{"messages": [{"role": "user"}], "chat_template_kwargs": 3}', None, "expected an object"),
    ],
)
def test_what_does_not_hold_what_was_said_is_one_line(raw: bytes, form: Form | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse(raw, "x", form)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


# Many prompts at one place.


def test_one_request_of_a_record_is_named_behind_a_hash(here: Path) -> None:
    record(here / "run.jsonl")
    found = read_argument("run.jsonl#second#2", None)
    assert (found.form, found.ids.tolist(), found.source) == (Form.IDS, [5, 6, 9], "run.jsonl#second#2")
    assert (found.vocabulary, found.redacted, found.namespace) == ("f" * 64, "", "space-2")
    with pytest.raises(InputError, match=r"run.jsonl has no request 'third': expected one of first, second#2"):
        read_argument("run.jsonl#third", None)
    with pytest.raises(InputError, match=r"run.jsonl is a record of many requests: name one as run.jsonl#ID"):
        read_argument("run.jsonl", None)


def test_a_torn_record_is_read_as_far_as_it_goes_and_says_so(here: Path) -> None:
    record(here / "run.jsonl")
    (here / "run.jsonl").write_bytes((here / "run.jsonl").read_bytes()[:-20])
    found = list(read_requests("run.jsonl"))
    assert [name for name, _ in found] == ["first"]
    assert [note.partition(": ")[0] for note in found[0][1].notes] == ["run.jsonl"]


def test_a_redacted_record_gives_hashes_and_says_so(here: Path) -> None:
    record(here / "run.jsonl", redacted=True)
    found = dict(read_requests("run.jsonl"))
    assert found["first"].redacted == str(here / "run.jsonl")
    assert found["first"].ids.tolist()[:2] == found["second#2"].ids.tolist()[:2]
    assert found["first"].ids.tolist()[:2] != [5, 6]


def test_a_file_of_requests_gives_each_by_its_id_or_line(here: Path) -> None:
    lines = [
        '{"id": "one", "prompt": "a"}',
        "",
        '{"token_ids": [1], "namespace": "n"}',
        json.dumps({"messages": CHAT}),
        '"b"',
    ]
    (here / "many.jsonl").write_text("\n".join(lines))
    found = dict(read_all("many.jsonl", None))
    assert list(found) == ["one", "line-3", "line-4", "line-5"]
    assert (found["one"].text, found["line-5"].text, found["line-3"].namespace) == ("a", "b", "n")
    assert read_argument("many.jsonl#line-3", None).ids.tolist() == [1]
    with pytest.raises(InputError, match=r"many.jsonl holds 4 requests: name one as many.jsonl#ID"):
        read_argument("many.jsonl", None)


def test_an_id_that_two_requests_bear_names_neither(here: Path) -> None:
    lines = ('{"id": "one", "prompt": "a"}', '{"id": "two", "prompt": "b"}', '{"id": "one", "prompt": "c"}')
    (here / "many.jsonl").write_text("\n".join(lines))
    assert read_argument("many.jsonl#two", None).text == "b"
    with pytest.raises(InputError, match=r"many.jsonl has 2 requests 'one': expected one; give each its own id"):
        read_argument("many.jsonl#one", None)


def test_a_request_of_a_pipe_is_not_waited_for(here: Path) -> None:
    os.mkfifo(here / "pipe.jsonl")
    with pytest.raises(InputError, match=r"pipe.jsonl#one is not there"):
        read_argument("pipe.jsonl#one", None)


def test_a_file_with_a_message_a_line_is_one_conversation(here: Path) -> None:
    (here / "chat.jsonl").write_text("".join(json.dumps(message) + "\n" for message in CHAT))
    found = read_argument("chat.jsonl", None)
    assert found.conversation is not None
    assert found.conversation.messages == tuple(CHAT)


def test_a_line_that_is_no_request_is_named(here: Path) -> None:
    (here / "many.jsonl").write_text('{"prompt": "a"}\n{"weather": 1}\n')
    with pytest.raises(InputError, match=r"many.jsonl:2: no messages, prompt or token_ids"):
        list(read_requests("many.jsonl"))


def test_a_folder_gives_its_files_in_the_order_of_their_names(here: Path) -> None:
    (here / "b.txt").write_text("b")
    (here / "a.txt").write_text("a")
    (here / ".hidden").write_text("h")
    (here / "c.jsonl").write_text('{"id": "one", "prompt": "c"}\n')
    (here / "deeper").mkdir()
    assert [(name, prompt.text) for name, prompt in read_folder(".", None)] == [
        ("a.txt", "a"),
        ("b.txt", "b"),
        ("c.jsonl#one", "c"),
    ]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("deeper", "deeper holds no files"),
        ("one.txt", "one.txt is one prompt: expected a second"),
        ("Hello", "Hello is one prompt: expected a second"),
        ("empty.jsonl", "empty.jsonl holds no request"),
    ],
)
def test_where_there_is_one_prompt_or_none_a_second_is_asked_for(here: Path, argument: str, message: str) -> None:
    (here / "deeper").mkdir()
    (here / "one.txt").write_text("one")
    (here / "empty.jsonl").write_text("\n")
    with pytest.raises(InputError, match=message):
        list(read_all(argument, None))
