"""Chat templates read from files and folders."""

import json
from pathlib import Path
from typing import Any

import pytest

from shadowviz.tokens.templates.template import load_template
from shadowviz_engine.core.errors import InputError

MESSAGES = [{"role": "user", "content": "hi"}]
TOOLS = [{"type": "function", "function": {"name": "f"}}]


def write(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_a_jinja_file_takes_its_special_tokens_from_its_folder(tmp_path: Path) -> None:
    file = write(
        tmp_path, "chat_template.jinja", "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ pad_token }}"
    )
    tokens = {"bos_token": {"content": "<s>", "lstrip": False}, "eos_token": "</s>", "pad_token": None}
    write(tmp_path, "tokenizer_config.json", tokens)
    assert load_template(file).render(MESSAGES).text == "<s>hi</s>"
    assert load_template(str(tmp_path)).render(MESSAGES).text == "<s>hi</s>"


def test_the_file_with_the_template_alone_goes_before_the_configuration(tmp_path: Path) -> None:
    write(tmp_path, "tokenizer_config.json", {"chat_template": "old", "additional_special_tokens": ["<a>", 1]})
    assert load_template(tmp_path).render(MESSAGES).text == "old"
    write(tmp_path, "chat_template.json", {"chat_template": "newer{{ additional_special_tokens }}"})
    assert load_template(tmp_path).render(MESSAGES).text == "newer['<a>']"
    write(tmp_path, "chat_template.jinja", "newest")
    assert load_template(tmp_path).render(MESSAGES).text == "newest"
    write(tmp_path, "additional_chat_templates/rag.jinja", "rag")
    assert load_template(tmp_path, "rag").render(MESSAGES).text == "rag"


def test_of_named_templates_tool_use_is_taken_where_tools_are_given(tmp_path: Path) -> None:
    entries = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "{{ tools[0].type }}"}]
    file = write(tmp_path, "tokenizer_config.json", {"chat_template": entries})
    template = load_template(file)
    assert template.render(MESSAGES).text == "plain"
    assert template.render(MESSAGES, TOOLS).text == "function"
    assert load_template(file, "default").render(MESSAGES, TOOLS).text == "plain"


@pytest.mark.parametrize(
    ("name", "content", "wanted", "message"),
    [
        ("tokenizer_config.json", {}, None, "has no chat template, expected chat_template"),
        ("tokenizer_config.json", {"chat_template": [1]}, None, "a chat_template of another form"),
        ("tokenizer_config.json", {"chat_template": 7}, None, "a chat_template of another form"),
        ("tokenizer_config.json", "[]", None, "holds a JSON list, expected an object"),
        ("tokenizer_config.json", "{", None, "is not JSON: "),
        ("tokenizer_config.json", "[" * 100_000, None, "is not JSON: "),
        ("model.safetensors", "x", None, "is no chat template, expected a folder or a file that ends with .jinja"),
        ("a.jinja", "x", "rag", "has no template rag, expected one of default"),
    ],
)
def test_a_file_of_another_kind_gives_one_line(
    tmp_path: Path, name: str, content: Any, wanted: str | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_template(write(tmp_path, name, content), wanted)


def test_what_cannot_be_read_gives_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jinja").write_bytes(b"a\xff")
    with pytest.raises(InputError, match="is not UTF-8 at byte 1"):
        load_template(tmp_path / "a.jinja")
    with pytest.raises(InputError, match=r"b\.jinja is not there, expected a chat template's file or folder"):
        load_template(tmp_path / "b.jinja")
    with pytest.raises(InputError, match=r"has no chat template, expected chat_template\.jinja"):
        load_template(tmp_path / "..")
