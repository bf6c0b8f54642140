"""A prompt of one's own on the live screen: taken by a real engine, refused in words, and told off by a record."""

import asyncio
import json
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input
from tui_keys import told
from tui_logs import chat_log
from tui_processes import wait_for
from tui_runs import press, run_app, screen_text, settled, until

from shadowviz.sources.child import EngineChild
from shadowviz.sources.child_wire import Setup
from shadowviz.sources.states import EngineState
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.session import Session

OPTIONS = {"model": "tiny", "page_size": 128, "num_full_pages": 16, "num_swa_pages": 12}


async def type_line(app: ShadowvizApp, pilot: Pilot, line: str) -> None:
    await press(app, pilot, "n")
    app.screen.query_one(Input).value = line
    # What settles the session takes the answers of its engine, and would tell nobody.
    await pilot.press("enter")


async def says(app: ShadowvizApp, pilot: Pilot, wanted: str) -> None:
    """Wait for words, on the screen or told."""

    def found() -> bool:
        assert app.session.child.state.alive, app.session.child.words
        return wanted in screen_text(app) + "\n".join(told(app))

    await until(app, pilot, found, repr(wanted))
    await settled(app, pilot)


def test_prompts_are_submitted_as_text_chat_and_file_and_refusals_are_told(tmp_path: Path) -> None:
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps([{"role": "user", "content": "Which came first?"}]))
    lines = tmp_path / "two.jsonl"
    lines.write_text('{"id": "first", "prompt": "one two three"}\n{"id": "second", "prompt": "one two four"}\n')

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await type_line(app, pilot, "What is a window?")
        await says(app, pilot, "submitted: typed-1")
        shown = await press(app, pilot, "g")
        assert "> typed-1" in shown
        await type_line(app, pilot, 'chat: [{"role": "user", "content": "And a page?"}]')
        await says(app, pilot, "submitted: typed-2")
        await type_line(app, pilot, f"@{lines}")
        await says(app, pilot, "submitted: first, second")
        await type_line(app, pilot, f"@{chat}")
        await says(app, pilot, "submitted: typed-3")
        await type_line(app, pilot, 'chat: {"prompt": 7}')
        await says(app, pilot, "refused: ")
        names = list(app.session.state.requests.names)
        assert names == ["typed-1", "typed-2", "first", "second", "typed-3"]
        for line, words in (("@/no/such", "is no file"), ("chat: [", "is no JSON"), ("text: ", "the prompt is empty")):
            await type_line(app, pilot, line)
            await says(app, pilot, words)
        assert list(app.session.state.requests.names) == names

    async def run() -> None:
        child = EngineChild(Setup(options=OPTIONS, log=str(tmp_path / "run.jsonl")))
        session = Session(child.log, child)
        try:
            wait_for(lambda: session.tick().engine is not EngineState.STARTING, "the engine")
            assert child.state is EngineState.RUNNING, child.words
            app = ShadowvizApp(session, "embedded engine")
            async with app.run_test(size=(80, 24)) as pilot:
                await settled(app, pilot)
                await keys(app, pilot)
        finally:
            session.close()

    asyncio.run(run())


def test_a_record_tells_that_it_has_no_engine(tmp_path: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        shown = await press(app, pilot, "n")
        assert "[1 Live]" in shown, "no line is asked for"
        assert told(app) == ["this is a record and has no engine: shadowviz tui without a source starts one"]

    run_app(chat_log(tmp_path / "chat.jsonl"), keys)
