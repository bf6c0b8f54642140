"""Rendering compared with the encoder of vLLM 0.33 on random conversations.

SHADOWVIZ_PEERS names a folder with the unpacked wheel (default `.peers/vllm`):
`pip download --no-deps vllm==0.33.0` and unzip `vllm/tokenizers/deepseek_v4_encoding.py` from it.
"""

import importlib.util
import json
import os
import random
from pathlib import Path
from types import ModuleType

import pytest

from shadowviz.tokens.rendering.messages import parse_messages, parse_tools
from shadowviz.tokens.rendering.render import RenderOptions, render, render_continuation

pytestmark = pytest.mark.peers

ROOT = Path(__file__).resolve().parents[2]
FILE = "vllm/tokenizers/deepseek_v4_encoding.py"
ROUNDS = 4000
TEXTS = (
    "",
    "Hello.",
    "two\nlines",
    "CR LF\r\nhere",
    "{content} {0} %s $1",
    "<think>a</think>",
    "<｜User｜>",
    "日本語 and ελληνικά",
    "\U0001f469\u200d\U0001f467 family",
    "e\u0301 combining",
    "\x00\x1b[31m",
    "  spaces  ",
    "\u202eoverride",
    'quote " and \\ back',
    "</｜DSML｜invoke>",
)
VALUES = (1, -2.5, 1e22, 10**30, True, None, [], [1, "é"], {"b": {"a": "ü"}}, "text", "", "日本", "line\nbreak", 1e-7)
TASKS = ("action", "query", "authority", "domain", "title", "read_url")


@pytest.fixture(scope="module")
def peer() -> ModuleType:
    folder = Path(os.environ.get("SHADOWVIZ_PEERS", ROOT / ".peers" / "vllm"))
    path = folder / FILE
    if not path.is_file():
        pytest.skip(f"no peer encoder at {path}: unpack the vllm 0.33.0 wheel there or set SHADOWVIZ_PEERS")
    # By path: importing the package would need its compiled parts.
    spec = importlib.util.spec_from_file_location("peer_deepseek_v4_encoding", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Conversations:
    """Random conversations as plain objects, every field of the format among them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def text(self) -> str:
        return " ".join(self.random.choices(TEXTS, k=self.random.randint(1, 3)))

    def content(self) -> object:
        if self.chance(0.8):
            return self.text()
        return [
            self.text() if self.chance(0.2) else {"type": "text", "text": self.text()}
            for _ in range(self.random.randint(0, 3))
        ]

    def tools(self) -> list[dict]:
        return [
            {
                "type": "function",
                "function": {"name": f"tool_{n}", "description": self.text(), "parameters": self.random.choice(VALUES)},
            }
            for n in range(self.random.randint(1, 3))
        ]

    def call(self, number: int) -> dict:
        arguments = {f"key {n}": self.random.choice(VALUES) for n in range(self.random.randint(0, 3))}
        written = json.dumps(arguments, ensure_ascii=self.chance(0.5), indent=self.random.choice([None, 2]))
        call = {
            "type": "function",
            "function": {"name": self.text(), "arguments": written if self.chance(0.6) else arguments},
        }
        return call | ({"id": f"call_{number}"} if self.chance(0.8) else {})

    def result(self) -> dict:
        content = self.text()
        if self.chance(0.2):
            content = [{"type": "text", "text": self.text()}, {"type": "image_url", "image_url": {}}]
        message = {"role": "tool", "content": content}
        return message | ({"tool_call_id": f"call_{self.random.randint(0, 3)}"} if self.chance(0.8) else {})

    def message(self, developers: bool) -> dict:
        roles = ["system", "user", "user", "assistant", "assistant", "tool", "tool", "latest_reminder"]
        role = self.random.choice([*roles, "developer"] if developers else roles)
        if role == "tool":
            return self.result()
        message: dict = {"role": role, "content": self.content()}
        if role == "developer":
            message["content"] = "instructions " + self.text()
        if role in ("system", "developer"):
            if self.chance(0.15):
                message["tools"] = self.tools()
            if self.chance(0.15):
                message["response_format"] = {"type": "json_schema", "schema": self.random.choice(VALUES)}
        if role == "assistant":
            message |= {"reasoning": self.text()} if self.chance(0.5) else {}
            message |= (
                {"tool_calls": [self.call(n) for n in range(self.random.randint(1, 3))]} if self.chance(0.4) else {}
            )
            message |= {"wo_eos": True} if self.chance(0.1) else {}
        if self.chance(0.1):
            message["task"] = self.random.choice(TASKS)
        return message

    def messages(self, developers: bool = True) -> list[dict]:
        return [self.message(developers) for _ in range(self.random.randint(1, 9))]

    def options(self) -> RenderOptions:
        return RenderOptions(
            thinking=self.chance(0.6),
            effort=self.random.choice(["none", "low", "high", "max"]),
            drop_thinking=self.chance(0.6),
        )


def keywords(options: RenderOptions) -> dict:
    return {
        "thinking_mode": "thinking" if options.thinking else "chat",
        "drop_thinking": options.drop_thinking,
        "reasoning_effort": None if options.effort == "none" else options.effort,
    }


def test_random_conversations_render_as_the_peer_renders_them(peer: ModuleType) -> None:
    for seed in range(ROUNDS):
        made = Conversations(seed)
        messages, options = made.messages(), made.options()
        expected = peer.encode_messages(messages, **keywords(options))
        assert render(parse_messages(messages), options).text == expected, f"seed {seed}: {messages} {options}"


def test_tools_of_the_conversation_land_where_the_peer_puts_them(peer: ModuleType) -> None:
    for seed in range(ROUNDS // 4):
        made = Conversations(seed)
        messages, options, tools = made.messages(), made.options(), made.tools()
        for message in messages:
            message.pop("tools", None)
        placed = [dict(message) for message in messages]
        first = next((message for message in placed if message["role"] == "system"), None)
        if first is None:
            first = {"role": "system"}
            placed.insert(0, first)
        first["tools"] = tools
        expected = peer.encode_messages(placed, **keywords(options))
        assert render(parse_messages(messages), options, parse_tools(tools)).text == expected, f"seed {seed}"


def test_a_continuation_renders_as_the_peer_renders_it_after_the_same_context(peer: ModuleType) -> None:
    """Without developer messages: with thinking dropped, the peer then counts one message too few to render."""
    for seed in range(ROUNDS // 4):
        made = Conversations(seed)
        context, messages, options = made.messages(developers=False), made.messages(developers=False), made.options()
        expected = peer.encode_messages(messages, context=context, **keywords(options))
        rendered = render_continuation(parse_messages(context), parse_messages(messages), options)
        assert rendered.text == expected, f"seed {seed}"
