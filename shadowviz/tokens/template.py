"""Conversations rendered with the chat template of a tokenizer, and what each stretch of the text is."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any, Final

from shadowviz.tokens.render import Rendered
from shadowviz.tokens.template_files import DEFAULT, read_templates
from shadowviz.tokens.template_marks import PRIVATE, Alphabet, MarkError, Stretch, free_alphabet
from shadowviz.tokens.template_process import template_process
from shadowviz.tokens.template_segments import Found, name_segments
from shadowviz.tokens.template_sources import (
    Marker,
    core_marker,
    find_sources,
    hidden_texts,
    marked_variables,
    normalise,
    unmarked,
    whole_marker,
)
from shadowviz_engine.core.errors import InputError

RENDER_S: Final = 5.0
"""How long a template may take for the text, and again for finding its segments."""
TOOL_USE: Final = "tool_use"
"""The name of a template that is taken where tools are given and no name is."""
MAX_PREFIXES: Final = 32
"""Longest conversation that is rendered message by message where nothing else tells where each begins."""
RESERVED: Final = frozenset({"messages", "tools", "add_generation_prompt"})


@dataclass(frozen=True)
class ChatTemplate:
    """A Jinja template, untrusted: rendered in a sandbox, in a process of its own with little time and memory."""

    name: str
    source: str
    tool_source: str | None = None
    """Used instead where tools are given."""
    special_tokens: Mapping[str, Any] = field(default_factory=dict)
    """`bos_token` and the like, which templates read as variables."""

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        add_generation_prompt: bool = True,
        options: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Rendered:
        """The prompt of a conversation, given as plain JSON values.

        `options` are further variables, such as `enable_thinking` or `documents`. `now` is the time that a template
        reads with `strftime_now`; the clock's where it is left out. Labels are those of `Rendered`, and `template text`
        for what no message, tool or marker is known for.

        Raises:
            InputError: no message, values that are no JSON, or a template that fails, refuses, does not end, or needs
                too much memory.
        """
        if not messages:
            raise InputError("the conversation has no message, expected at least one")
        if taken := RESERVED & (options or {}).keys():
            raise InputError(f"option {min(taken)} is not an option of a template: it is given by the conversation")
        variables = {
            "documents": None,
            **self.special_tokens,
            **(options or {}),
            "messages": normalise(messages),
            "tools": list(tools) or None,
            "add_generation_prompt": add_generation_prompt,
        }
        source = self.tool_source if tools and self.tool_source is not None else self.source
        return _Rendering(source, variables, now or datetime.now()).result()


def load_template(path: str | Path, name: str | None = None) -> ChatTemplate:
    """The chat template of a `.jinja` file, a `tokenizer_config.json`, a `chat_template.json` or a folder with them.

    Of several templates the one called `name`; without it the default one, and `tool_use` where tools are given.

    Raises:
        InputError: no template there, or none with that name.
    """
    files = read_templates(Path(path))
    wanted = name or DEFAULT
    if wanted not in files.templates:
        raise InputError(f"{path} has no template {wanted}, expected one of {', '.join(sorted(files.templates))}")
    tool_source = files.templates.get(TOOL_USE) if name is None else None
    # It starts while the caller goes on with other things.
    template_process().start()
    return ChatTemplate(str(path), files.templates[wanted], tool_source, files.special_tokens)


class _Rendering:
    """The renderings of one conversation with one template: the true one, and those that tell about it."""

    def __init__(self, source: str, variables: Mapping[str, Any], now: datetime) -> None:
        self._request = {"source": source, "now": now.isoformat()}
        self._variables = variables
        self._process = template_process()
        answer = self._process.ask({**self._request, "variables": variables}, RENDER_S)
        self._text: str = answer["text"]
        self._literals: list[str] = answer["literals"]
        self._deadline = monotonic() + RENDER_S
        self._sources = find_sources(variables["messages"], variables["tools"] or ())

    def result(self) -> Rendered:
        """The text with its segments."""
        if not self._text:
            return Rendered("", ())
        found = Found(self._text, self._sources, (), self._body_start(), self._prompt_start())
        found = self._from_marks(found) or found
        if not any(self._sources[stretch.number].is_message for stretch in found.stretches):
            found = self._with_prefixes(found)
        return Rendered(self._text, name_segments(found))

    def _from_marks(self, frame: Found) -> Found | None:
        texts = [self._text, self._request["source"], *(source.text or "" for source in self._sources)]
        alphabet = free_alphabet(texts, secrets.randbelow(len(PRIVATE)))
        if alphabet is None:
            return None
        cores = core_marker(alphabet, self._literals)
        objects = [[source.path, number] for number, source in enumerate(self._sources) if source.text is None]
        # From the attempt that tells most to those that disturb a template least.
        for mark, marked_objects in (
            (whole_marker(alphabet), objects),
            (cores, objects),
            (unmarked, objects),
            (cores, []),
        ):
            stretches = self._stretches(alphabet, mark, marked_objects)
            if stretches is not None:
                hidden = hidden_texts(self._sources, mark, alphabet)
                return replace(frame, stretches=stretches, hidden=hidden)
        return None

    def _stretches(self, alphabet: Alphabet, mark: Marker, objects: Sequence[Any]) -> list[Stretch] | None:
        """The stretches of a marked rendering; None unless it is the true one but for its marks."""
        variables = marked_variables(self._variables, self._sources, mark)
        marked = self._try(variables, {"letters": alphabet.letters, "objects": objects})
        if marked is None:
            return None
        try:
            text, stretches = alphabet.read(marked)
        except MarkError:
            return None
        return stretches if text == self._text else None

    def _body_start(self) -> int:
        bos = self._variables.get("bos_token")
        return len(bos) if isinstance(bos, str) and self._text.startswith(bos) else 0

    def _prompt_start(self) -> int | None:
        if not self._variables["add_generation_prompt"]:
            return len(self._text)
        without = self._try({**self._variables, "add_generation_prompt": False})
        return len(without) if without is not None and self._text.startswith(without) else None

    def _with_prefixes(self, found: Found) -> Found:
        """With the messages between two places up to which a rendering of the first few is a prefix of the true one."""
        messages = self._variables["messages"]
        if len(messages) > MAX_PREFIXES:
            return found
        numbers = {source.message: number for number, source in enumerate(self._sources) if source.is_message}
        ends = [self._prefix(messages[:count]) for count in range(len(messages) + 1)]
        stretches = list(found.stretches)
        for index, (start, stop) in enumerate(pairwise(ends)):
            if start is not None and stop is not None and start < stop:
                stretches.append(Stretch(max(start, found.body_start), stop, numbers[index]))
        crosses = any(
            inner.start < outer.start < inner.stop or inner.start < outer.stop < inner.stop
            for outer in stretches[len(found.stretches) :]
            for inner in found.stretches
        )
        return found if crosses else replace(found, stretches=stretches)

    def _prefix(self, messages: Sequence[Any]) -> int | None:
        text = self._try({**self._variables, "messages": messages, "add_generation_prompt": False})
        return len(text) if text is not None and self._text.startswith(text) else None

    def _try(self, variables: Mapping[str, Any], marks: Mapping[str, Any] | None = None) -> str | None:
        """A further rendering; None where it fails, which with other values it may, or there is no time for it."""
        left = self._deadline - monotonic()
        if left <= 0:
            return None
        try:
            answer = self._process.ask({**self._request, "variables": variables, "marks": marks}, left)
        except InputError:
            return None
        return str(answer["text"])
