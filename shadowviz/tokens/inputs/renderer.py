"""What makes text of a conversation as a server with a chat template does."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from shadowviz.tokens.side import Conversation, WriteText
from shadowviz.tokens.structure.mended import Renderer
from shadowviz.tokens.templates.messages import as_servers_pass
from shadowviz_engine.core.errors import InputError

if TYPE_CHECKING:
    from shadowviz.tokens.templates.template import ChatTemplate

GENERATION: Final = "add_generation_prompt"
Written = TypeVar("Written")


def template_renderer(template: "ChatTemplate") -> Renderer:
    """The text that a template makes, with its labels.

    The template gets the arguments of calls as objects. One that fails with objects gets them as they were sent: it
    puts their text together with its own, and only a server that leaves them as text can use it.
    """
    return partial(_as_a_server, template.render)


def template_writer(template: "ChatTemplate") -> WriteText:
    """The same text without labels, which is cheaper."""
    return lambda conversation: _as_a_server(template.rendering, conversation).text


def _as_a_server(write: Callable[..., Written], conversation: Conversation) -> Written:
    passed = tuple(as_servers_pass(conversation.messages))
    try:
        return _written(write, conversation, passed)
    except InputError as error:
        if passed == conversation.messages:
            raise
        try:
            return _written(write, conversation, conversation.messages)
        except InputError:
            raise error from None


def _written(
    write: Callable[..., Written], conversation: Conversation, messages: tuple[dict[str, Any], ...]
) -> Written:
    options = {key: value for key, value in conversation.options.items() if key != GENERATION}
    return write(
        messages,
        conversation.tools,
        add_generation_prompt=bool(conversation.options.get(GENERATION, True)),
        options=options,
    )
