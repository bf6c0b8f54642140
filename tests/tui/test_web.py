"""The interface in a real browser: a key is answered, nothing is loaded from elsewhere, nobody else gets in."""

import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import Browser, browser
from tui_logs import chat_log

from shadowviz.cli.main import main

SPY = """
const Real = WebSocket;
window.received = "";
window.WebSocket = function (url) {
  const socket = new Real(url);
  socket.addEventListener("message", (event) => {
    if (typeof event.data !== "string") window.received += new TextDecoder().decode(event.data);
  });
  return socket;
};
"""
WAIT = """
const [words, done] = arguments;
(function wait() { received.includes(words) ? done(received) : setTimeout(wait, 20) })();
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    log = chat_log(tmp_path / "run.jsonl")
    command = [sys.executable, "-m", "shadowviz.cli.main", "tui", str(log), "--web", "--address", "127.0.0.1:0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield process.stderr.readline().split()[1]
    finally:
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert told == ""
    assert process.returncode in (0, 130)


# The page of textual-serve opens its socket once it is loaded: a picture taken then shows the splash, so tests wait for
# the bytes themselves.
@pytest.fixture
def chromium(require_tool: Callable[[str], str], tmp_path: Path) -> Iterator[Browser]:
    with browser(require_tool("chromedriver"), require_tool("chromium"), tmp_path / "home") as session:
        session.size(1000, 600)
        session._devtools("Page.addScriptToEvaluateOnNewDocument", source=SPY)
        yield session


def test_a_browser_shows_the_screen_answers_a_key_and_loads_nothing_from_elsewhere(
    served: str, chromium: Browser
) -> None:
    chromium.call("POST", "/url", url=served)
    assert "CUT_BY_SWA" in chromium.run_async(WAIT, "CUT_BY_SWA")
    chromium.run("received = ''")
    chromium.press("2")
    assert "[2 Tree]" in chromium.run_async(WAIT, "[2 Tree]")
    assert chromium.run("return document.getElementById('failed').textContent") == ""
    assert chromium.run("return document.body.className") == "-loaded -first-byte"
    loaded = chromium.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert loaded
    assert all(name.startswith(served) for name in loaded)


def test_pages_of_others_and_other_names_for_this_machine_are_refused(served: str) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        for path in ("", "ws"):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(urllib.request.Request(served + path, headers=headers), timeout=60)
    with urllib.request.urlopen(served, timeout=60) as answer:
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert b"https://" not in answer.read()


def test_who_does_not_know_the_whole_address_gets_nothing(served: str) -> None:
    origin, secret = served.rstrip("/").rsplit("/", 1)
    assert len(secret) >= 32
    for path in ("/", "/ws", "/static/js/textual.js", "/page/page.js", f"/{secret[:-1]}/", f"/{secret}x/ws", "/x/../"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(origin + path, timeout=60)
    for path in ("", "static/js/textual.js", "page/page.js"):
        with urllib.request.urlopen(served + path, timeout=60) as answer:
            assert secret not in answer.headers.as_string()


@pytest.mark.parametrize(
    "address", ["0.0.0.0:8000", "192.0.2.1:8000", "[::]:8000", "example.org:80", "127.0.0.1", ":1"]
)
def test_addresses_that_others_reach_and_what_is_no_address_are_refused(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tui", "--web", "--address", address]) == 2
    assert "expected" in capsys.readouterr().err


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "shadowviz.tui.web.server", raising=False)
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    assert main(["tui", "--web"]) == 2
    assert "pip install 'shadowviz[web]'" in capsys.readouterr().err
