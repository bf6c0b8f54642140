"""Requests read from JSON lines and text: what is taken, what is refused, and hostile input."""

import io
import json
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.inputs import requests
from shadowviz.tokens.inputs.requests import MAX_LINE_BYTES, PromptRequest, read_jsonl, read_path, read_text
from shadowviz.tokens.rendering.messages import parse_messages
from shadowviz.tokens.rendering.render import RenderOptions, render
from shadowviz_engine.core.errors import InputError

TOKENIZER = default_tokenizer()
USER = {"role": "user", "content": "hi"}
WEATHER = {"type": "function", "function": {"name": "weather"}}


def read(*lines: bytes | dict) -> list[PromptRequest]:
    raw = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return list(read_jsonl(io.BytesIO(raw), "in.jsonl", TOKENIZER))


def test_messages_are_rendered_with_their_options_and_encoded() -> None:
    line = {"messages": [USER], "tools": [WEATHER], "thinking": True, "effort": "max", "drop_thinking": False}
    (request,) = read(line)
    assert request.text is not None
    assert request.text.startswith("<｜begin▁of▁sentence｜>Reasoning Effort: Beyond maximum")
    assert '{"name": "weather"}' in request.text
    assert request.token_ids == array("q", TOKENIZER.encode(request.text))
    assert request.segments[0].label == "beginning of text"
    plain = read({"messages": [USER]})[0]
    assert plain.text == render(parse_messages([USER]), RenderOptions()).text


def test_plain_prompts_and_token_ids_are_taken_as_they_are() -> None:
    text, ids = read({"prompt": "a\r\nb"}, {"token_ids": [0, 5, 129_279]})
    assert (text.text, text.token_ids) == ("a\r\nb", array("q", TOKENIZER.encode("a\r\nb")))
    assert (ids.text, ids.token_ids) == (None, array("q", [0, 5, 129_279]))
    assert text.segments == ids.segments == ()


def test_every_field_arrives_and_every_default_is_stated() -> None:
    given_fields = {
        "id": "a",
        "max_tokens": 3,
        "at_s": 1.5,
        "namespace": "team",
        "temperature": 0.7,
        "top_p": 0.9,
        "seed": 11,
        "logprob_start": 0,
    }
    given_request, bare = read({"prompt": "x", **given_fields}, b"", {"prompt": "x"})
    assert {name: getattr(given_request, name) for name in given_fields} == given_fields
    assert bare == PromptRequest("line-3", array("q", TOKENIZER.encode("x")), text="x")
    assert (bare.max_tokens, bare.at_s, bare.namespace) == (16, 0.0, "")
    assert (bare.temperature, bare.top_p, bare.seed) == (0.0, 1.0, 0)


REFUSED: list[tuple[bytes, str]] = [
    (b'{"prompt":"a","promt":1}', "unknown field `promt`, expected one of messages, prompt, token_ids"),
    (b'{"prompt":"a","token_ids":[1]}', "found prompt and token_ids, expected exactly one of"),
    (b"{}", "found none of them, expected exactly one of messages, prompt, token_ids"),
    (b'{"prompt":""}', "prompt is empty"),
    (b'{"messages":[]}', "messages is empty"),
    (b'{"token_ids":[]}', "token_ids is empty"),
    (b'{"token_ids":[1,129280]}', "token 1 has id 129280, expected 0 to 129279"),
    (b'{"token_ids":[-1]}', "token 0 has id -1, expected"),
    (b'{"token_ids":[' + b"9" * 3000 + b"]}", "token 0 has id a number of 9966 bits"),
    (b'{"token_ids":[1.5]}', r"token_ids\[0\]: Expected `int`, got `float`"),
    (b'{"token_ids":[true]}', r"token_ids\[0\]: Expected `int`, got `bool`"),
    (b'{"prompt":3}', "prompt: Expected `str`, got `int`"),
    (b'{"prompt":null}', "prompt: Expected `str`, got `null`"),
    (b'{"prompt":"a","effort":"high"}', "found effort with prompt, expected it with messages only"),
    (b'{"token_ids":[1],"tools":[]}', "found tools with token_ids"),
    (b'{"messages":[{"role":"user","content":"x"}],"effort":"higher"}', "expected one of none, low, high, max"),
    (b'{"messages":[{"role":"robot","content":"x"}]}', r"messages\[0\].role: found 'robot', expected one of system"),
    (b'{"messages":[{"role":"user"}]}', r"messages\[0\]: Object missing required field `content`"),
    (b'{"prompt":"a","max_tokens":0}', "max_tokens is 0, expected 1 to"),
    (b'{"prompt":"a","max_tokens":"4"}', "max_tokens: Expected `int`, got `str`"),
    (b'{"prompt":"a","at_s":-1}', "at_s is -1.0, expected 0 to"),
    (b'{"prompt":"a","at_s":1e999}', "at_s: Number out of range"),
    (b'{"prompt":"a","temperature":-0.1}', "temperature is -0.1"),
    (b'{"prompt":"a","top_p":0}', "top_p is 0.0"),
    (b'{"prompt":"a","seed":-1}', "seed is -1"),
    (b'{"prompt":"a","seed":1' + b"0" * 3000 + b"}", "seed is a number of"),
    (b'{"prompt":"a","id":""}', "id is '' "),
    (b'{"prompt":"a","id":"\\u001b[2J"}', r"id is '\\u001b\[2J'"),
    (b'{"prompt":"a","namespace":"' + b"n" * 300 + b'"}', r"\(300 characters\), expected 1 to 256"),
    (b"[1]", "Expected `object`, got `array`"),
    (b"{", "bad JSON"),
    (b'{"prompt":"a"} x', "bad JSON .*trailing characters"),
    (b'{"prompt":NaN}', "bad JSON"),
    (b'{"prompt":"\xff"}', "bad JSON .*UTF-8"),
    (b'{"prompt":"\xed\xa0\x80"}', "bad JSON .*UTF-8"),
    (b'{"prompt":"a\x00"}', "bad JSON .*invalid character"),
    (b'{"prompt":"\\ud800"}', "bad JSON .*surrogate pair"),
    (b'{"prompt":"\\udc00 and more"}', "bad JSON .*surrogate pair"),
    (b'{"messages":[{"role":"system","content":"","response_format":' + b"[" * 100_000, "nests too deep"),
    (b'{"prompt":' + b"[" * 100_000, "Expected `str`, got `array`"),
    (b'{"' + b"k" * 1_000_000 + b'":1}', "unknown field .*more characters"),
]


@pytest.mark.parametrize(("line", "complaint"), REFUSED, ids=range(len(REFUSED)))
def test_a_wrong_line_is_refused_with_its_place_and_reason(line: bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=rf"^in\.jsonl:2: .*{complaint}") as caught:
        read({"prompt": "right"}, line)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


def test_requests_before_a_wrong_line_are_given_out_first() -> None:
    stream = io.BytesIO(b'{"prompt":"a"}\n{"prompt":"b"}\nrubbish\n')
    found: Iterator[PromptRequest] = read_jsonl(stream, "in.jsonl", TOKENIZER)
    assert [next(found).text, next(found).text] == ["a", "b"]
    with pytest.raises(InputError, match=r"in\.jsonl:3: "):
        next(found)


def test_an_id_is_taken_once_even_when_it_is_a_default() -> None:
    with pytest.raises(InputError, match=r"in\.jsonl:2: id 'line-1' is taken by line 1"):
        read({"prompt": "a"}, {"prompt": "b", "id": "line-1"})


def test_a_byte_order_mark_and_carriage_returns_between_lines_are_passed_over() -> None:
    found = list(read_jsonl(io.BytesIO(b'\xef\xbb\xbf{"prompt":"a"}\r\n\r\n{"prompt":"b"}'), "in", TOKENIZER))
    assert [(request.id, request.text) for request in found] == [("line-1", "a"), ("line-3", "b")]


def test_nul_and_controls_in_a_prompt_are_text() -> None:
    (request,) = read({"prompt": "a\x00\x1b[2J\u202e"})
    assert TOKENIZER.decode(request.token_ids) == "a\x00\x1b[2J\u202e"


def test_a_line_of_a_megabyte_is_read_and_one_past_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (request,) = read({"prompt": "word " * 200_000})
    assert len(request.token_ids) > 200_000
    monkeypatch.setattr(requests, "MAX_LINE_BYTES", 100)
    assert len(read(b'{"prompt":"' + b"x" * 86 + b'"}')) == 1
    with pytest.raises(InputError, match=r"in\.jsonl:2: found a line of more than 100 bytes"):
        read({"prompt": "a"}, b'{"prompt":"' + b"x" * 89 + b'"}')
    with pytest.raises(InputError, match="more than 100 bytes of text"):
        read_text(io.BytesIO(b"x" * 101), "in", TOKENIZER)
    assert MAX_LINE_BYTES == 8 * 2**20


@settings(deadline=None)
@given(
    st.binary(max_size=60) | st.text(max_size=30).map(lambda text: f'{{"prompt":{text}}}'.encode("utf-8", "replace"))
)
def test_any_bytes_give_requests_or_one_clear_line(raw: bytes) -> None:
    try:
        for request in read_jsonl(io.BytesIO(raw), "in", TOKENIZER):
            assert len(request.token_ids) > 0
    except InputError as error:
        assert str(error).isprintable()  # noqa: PT017


def test_a_text_is_one_prompt_byte_for_byte() -> None:
    request = read_text(io.BytesIO(b"one\r\ntwo\n"), "note.txt", TOKENIZER, max_tokens=5)
    assert (request.text, request.max_tokens) == ("one\r\ntwo\n", 5)
    with pytest.raises(InputError, match=r"note\.txt: found no text"):
        read_text(io.BytesIO(b""), "note.txt", TOKENIZER)
    with pytest.raises(InputError, match=r"note\.txt:3: found byte 0xff, expected UTF-8"):
        read_text(io.BytesIO(b"a\nb\n\xff"), "note.txt", TOKENIZER)


def test_a_path_is_read_by_its_suffix_and_a_dash_is_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"prompt":"a"}\n{"prompt":"b"}')
    (tmp_path / "a.txt").write_bytes(b'{"prompt":"a"}\n')
    assert [request.text for request in read_path(str(tmp_path / "a.jsonl"), TOKENIZER)] == ["a", "b"]
    assert [request.text for request in read_path(str(tmp_path / "a.txt"), TOKENIZER)] == ['{"prompt":"a"}\n']
    with (tmp_path / "a.jsonl").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert [request.text for request in read_path("-", TOKENIZER)] == ["a", "b"]


def test_a_path_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    for path in (str(tmp_path / "missing.jsonl"), str(tmp_path), "nul\x00inside"):
        with pytest.raises(InputError, match="cannot be read") as caught:
            list(read_path(path, TOKENIZER))
        assert str(caught.value).isprintable()
