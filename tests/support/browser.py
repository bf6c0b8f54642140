"""A real Chromium, driven through chromedriver by its HTTP protocol: opens pages, clicks, types, looks."""

import base64
import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
# fmt: off
KEYS = {
    "left": "\ue012", "up": "\ue013", "right": "\ue014", "down": "\ue015", "enter": "\ue007", "back": "\ue003",
    "end": "\ue010",
}
# fmt: on


class Browser:
    """One session."""

    def __init__(self, address: str, session: str) -> None:
        self._base = f"{address}/session/{session}"

    def call(self, method: str, path: str, **values: Any) -> Any:
        """One command."""
        return _call(method, self._base + path, values if method == "POST" else None)

    def open(self, page: Path) -> None:
        """A file; its scripts have run, and its picture is drawn."""
        self.call("POST", "/url", url=page.as_uri())
        self.run_async(
            "const done = arguments[0], plot = document.getElementById('plot');"
            "(function wait() { !plot || plot.dataset.ready ? done() : setTimeout(wait, 20) })()"
        )

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns; the page's policy does not hold for it."""
        return self.call("POST", "/execute/sync", script=script, args=list(arguments))

    def run_async(self, script: str, *arguments: Any) -> Any:
        """What a script hands to its last argument."""
        return self.call("POST", "/execute/async", script=script, args=list(arguments))

    def text(self, selector: str) -> str:
        """Text of the first element that fits, as it is shown."""
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def click(self, selector: str, x: int = 0, y: int = 0) -> None:
        """Press the mouse at a place within an element, from its middle."""
        found = self.call("POST", "/element", using="css selector", value=selector)
        move = {"type": "pointerMove", "duration": 0, "origin": found, "x": x, "y": y}
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [move, *press]}
        self.call("POST", "/actions", actions=[pointer])

    def hover(self, selector: str, x: int = 0, y: int = 0) -> None:
        """Move the mouse to a place within an element, from its middle."""
        found = self.call("POST", "/element", using="css selector", value=selector)
        steps = [{"type": "pointerMove", "duration": 20, "origin": found, "x": x + step, "y": y} for step in (0, 1)]
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
        self.call("POST", "/actions", actions=[pointer])

    def press(self, *keys: str) -> None:
        """Keys, one after another, wherever the focus is."""
        actions = [{"type": way, "value": KEYS.get(key, key)} for key in keys for way in ("keyDown", "keyUp")]
        self.call("POST", "/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def ground(self, scheme: str) -> None:
        """Prefer a light or a dark ground from here on."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._devtools("Emulation.setEmulatedMedia", features=features)

    def size(self, width: int, height: int) -> None:
        """Pixels of the window's inside, from here on."""
        self._devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def picture(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode(self.call("GET", "/screenshot"))

    def _devtools(self, command: str, **values: Any) -> Any:
        return self.call("POST", "/goog/cdp/execute", cmd=command, params=values)


@contextmanager
def browser(driver: str, chromium: str, home: Path) -> Iterator[Browser]:
    """A fresh session with a profile of its own under `home`; ends with the block."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        address = next(
            f"http://127.0.0.1:{line.split()[-1].rstrip('.')}"
            for line in process.stdout
            if "successfully on port" in line
        )
        arguments = [*ARGUMENTS, f"--user-data-dir={home / 'profile'}"]
        options = {"binary": chromium, "args": arguments}
        wanted = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}}
        session = _call("POST", f"{address}/session", wanted)["sessionId"]
        try:
            yield Browser(address, session)
        finally:
            _call("DELETE", f"{address}/session/{session}", None)
    finally:
        process.terminate()
        process.communicate()


def _call(method: str, url: str, values: Any) -> Any:
    body = None if values is None else json.dumps(values).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        told = json.load(error)["value"]
        raise AssertionError(f"{url.rpartition('/')[2]}: {told.get('message', told)}") from None
