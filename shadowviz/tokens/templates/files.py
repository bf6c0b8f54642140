"""Chat templates and special tokens as they lie in files: `.jinja`, JSON, or a Hugging Face folder."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError

DEFAULT: Final = "default"
SPECIAL_TOKENS: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_SUFFIXES: Final = (".jinja", ".jinja2", ".j2", ".txt")


@dataclass(frozen=True)
class TemplateFiles:
    """Templates by name, the one without a name as `default`, and the variables that name special tokens."""

    templates: dict[str, str]
    special_tokens: dict[str, Any] = field(default_factory=dict)


def read_templates(path: Path) -> TemplateFiles:
    """Everything that a file or folder says about chat templates.

    Special tokens of a file are taken from the folder in which it lies.

    Raises:
        InputError: no such file, one that is not UTF-8 or JSON, or nothing in it that is a chat template.
    """
    if not path.exists():
        raise InputError(f"{path} is not there, expected a chat template's file or folder")
    if path.is_dir():
        folder, templates = path, _templates_of_folder(path)
    else:
        folder, templates = path.parent, _templates_of_file(path)
    if not templates:
        expected = (
            "chat_template.jinja, or chat_template in tokenizer_config.json" if path.is_dir() else "chat_template"
        )
        raise InputError(f"{path} has no chat template, expected {expected}")
    return TemplateFiles(templates, _special_tokens(folder))


def _templates_of_folder(folder: Path) -> dict[str, str]:
    templates: dict[str, str] = {}
    # The later ones take precedence.
    for name in ("tokenizer_config.json", "chat_template.json"):
        if (file := folder / name).is_file():
            templates |= _templates_of_json(file)
    if (file := folder / "chat_template.jinja").is_file():
        templates[DEFAULT] = _text(file)
    more = folder / "additional_chat_templates"
    return templates | {file.stem: _text(file) for file in sorted(more.glob("*.jinja"))}


def _templates_of_file(file: Path) -> dict[str, str]:
    if file.suffix == ".json":
        return _templates_of_json(file)
    if file.suffix in _SUFFIXES:
        return {DEFAULT: _text(file)}
    raise InputError(f"{file} is no chat template, expected a folder or a file that ends with .jinja or .json")


def _templates_of_json(file: Path) -> dict[str, str]:
    found = _object(file).get("chat_template")
    match found:
        case None:
            return {}
        case str():
            return {DEFAULT: found}
        case dict() if all(isinstance(value, str) for value in found.values()):
            return found
        case list() if all(_is_named(entry) for entry in found):
            return {entry["name"]: entry["template"] for entry in found}
    raise InputError(f"{file} has a chat_template of another form, expected a string or a list of name and template")


def _is_named(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str) and isinstance(entry.get("template"), str)


def _special_tokens(folder: Path) -> dict[str, Any]:
    tokens: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if (file := folder / name).is_file():
            content = _object(file)
            tokens |= {key: text for key in SPECIAL_TOKENS if (text := _token_text(content.get(key))) is not None}
            extra = [text for token in _more_tokens(content) if (text := _token_text(token)) is not None]
            if extra:
                tokens["additional_special_tokens"] = extra
    return tokens


def _more_tokens(content: dict[str, Any]) -> list[Any]:
    found = content.get("additional_special_tokens")
    return found if isinstance(found, list) else []


def _token_text(token: Any) -> str | None:
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None


def _object(file: Path) -> dict[str, Any]:
    try:
        content = msgspec.json.decode(_read(file))
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise InputError(f"{file} is not JSON: {shorten(str(error))}, expected an object") from None
    if not isinstance(content, dict):
        raise InputError(f"{file} holds a JSON {type(content).__name__}, expected an object")
    return content


def _text(file: Path) -> str:
    try:
        return _read(file).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 at byte {error.start}, expected a chat template") from None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}, expected a chat template") from None
