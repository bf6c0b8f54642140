"""Conversations rendered with the chat template of a tokenizer, and what each stretch of the text is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from shadowviz.tokens.rendering.render import Rendered
from shadowviz.tokens.templates.files import DEFAULT, read_templates
from shadowviz.tokens.templates.process import template_process
from shadowviz.tokens.templates.search import Rendering
from shadowviz.tokens.templates.segments import name_segments
from shadowviz.tokens.templates.sources import normalise
from shadowviz_engine.core.errors import InputError

TOOL_USE: Final = "tool_use"
"""The name of a template that is taken where tools are given and no name is."""
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
        found = self.rendering(
            messages, tools, add_generation_prompt=add_generation_prompt, options=options, now=now
        ).found()
        return Rendered(found.text, name_segments(found))

    def rendering(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        add_generation_prompt: bool = True,
        options: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Rendering:
        """The same with its labels yet to be found, which takes most of the time.

        Raises:
            InputError: as for `render`.
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
        return Rendering(source, variables, now or datetime.now())


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
