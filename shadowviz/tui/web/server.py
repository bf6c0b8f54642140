"""Serves the interface to browsers on this machine, and to nobody else."""

import asyncio
import ipaddress
import os
import secrets
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from aiohttp import web
from textual_serve.server import Server

from shadowviz_engine.core.errors import InputError

HERE = Path(__file__).parent
SECRET_BYTES = 24
"""Of the part of the address that keeps other users of this machine out."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def loopback(address: str) -> tuple[str, int]:
    """Host and port of an address such as `127.0.0.1:8000`.

    Raises:
        InputError: it is no address, or one that other machines reach.
    """
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        at = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
        number = int(port) if port.isascii() and port.isdecimal() else -1
    except ValueError:
        at, number = None, -1
    if at is None or not 0 <= number < 1 << 16:
        raise InputError(f"--address {address[:60]!r}: expected HOST:PORT, such as 127.0.0.1:8000")
    if not at.is_loopback:
        raise InputError(
            f"--address {address[:60]!r} is reached from other machines, which could listen in: expected a loopback "
            "host such as 127.0.0.1; from elsewhere, forward the port with ssh -L"
        )
    return str(at), number


class LoopbackServer(Server):
    """`textual-serve` with a page that loads nothing from elsewhere, for requests that were sent to this machine."""

    def __init__(self, arguments: Sequence[str], bound: socket.socket) -> None:
        host, port = bound.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        command = shlex.join([sys.executable, "-P", "-m", "shadowviz.cli.main", *arguments])
        super().__init__(command, shown, port, title="shadowviz", templates_path=HERE)
        self.public_url = f"http://{shown}:{port}"
        # A cookie would go to every port of this machine, so also to servers of its other users.
        self._secret = secrets.token_urlsafe(SECRET_BYTES)
        self._bound = bound
        self._tabs: set[asyncio.Task[object]] = set()

    async def _make_app(self) -> web.Application:
        inner = await super()._make_app()
        inner.router.add_get("/page/{name}", _page_file)
        app = web.Application(middlewares=[self._guarded])
        app.add_subapp(f"/{self._secret}", inner)
        return app

    async def on_startup(self, app: web.Application) -> None:  # noqa: ARG002 - as the base has it
        """Tell where the page is."""
        sys.stderr.write(
            f"shadowviz: {self.public_url}/{self._secret}/ shows this in a browser; each tab has its own process, "
            "ctrl+c ends all\n"
        )

    async def on_shutdown(self, app: web.Application) -> None:  # noqa: ARG002 - as the base has it
        """End the process of every tab, each of which closes its record."""
        tabs = list(self._tabs)
        for tab in tabs:
            tab.cancel()
        await asyncio.gather(*tabs, return_exceptions=True)

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """One tab, as long as it is open."""
        tab = asyncio.create_task(super().handle_websocket(request))
        self._tabs.add(tab)
        try:
            return await tab
        finally:
            self._tabs.discard(tab)

    def run(self) -> None:
        """Until ctrl+c."""
        web.run_app(self._make_app(), sock=self._bound, print=lambda *_: None, access_log=None)

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        # Any page in the browser may send requests here, or let a name of its own lead here: such carry other headers.
        # Other users of this machine can send any header, but do not know the secret.
        is_ours = request.host in self._names() and request.headers.get("Origin", self.public_url) in self._origins()
        if not is_ours or not self._knows_secret(request.path):
            raise web.HTTPForbidden(text="open the whole address that shadowviz tui --web has printed\n")
        answer = await handler(request)
        if not answer.prepared:
            answer.headers.update(self._headers())
        return answer

    def _knows_secret(self, path: str) -> bool:
        given = path.removeprefix("/").partition("/")[0]
        return secrets.compare_digest(given.encode(errors="replace"), self._secret.encode())

    def _names(self) -> set[str]:
        return {f"{self.host}:{self.port}", f"localhost:{self.port}"}

    def _origins(self) -> set[str]:
        return {f"http://{name}" for name in self._names()}

    def _headers(self) -> dict[str, str]:
        sockets = " ".join(f"ws://{name}" for name in sorted(self._names()))
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
            f"font-src 'self' data:; connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )
        return {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }


async def _page_file(request: web.Request) -> web.StreamResponse:
    name = request.match_info["name"]
    if name not in ("page.css", "page.js"):
        raise web.HTTPNotFound
    return web.FileResponse(HERE / name)


def bind(host: str, port: int) -> socket.socket:
    """A socket at that address; port 0 takes a free one.

    Raises:
        InputError: another program has the port.
    """
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen()
    except OSError as error:
        bound.close()
        raise InputError(
            f"--address {host}:{port}: {os.strerror(error.errno or 0)}: expected a free port; 0 takes any"
        ) from None
    return bound
