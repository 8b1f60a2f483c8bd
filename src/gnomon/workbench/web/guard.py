"""Who may ask the server: checks of host, origin and token before any page is made.

A page of another site can send requests to this machine, and a name of its own can lead to it (DNS
rebinding). So the host must be one under which the server is known, the origin of a request that
changes something must be the server itself, and a cookie must hold the token of the session, which
only the printed link or the password gives.
"""

from __future__ import annotations

import hmac
import ipaddress
import platform
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Plotly writes styles of elements, so styles may be inline; scripts are the server's own files.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: "
    "blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
# A report is one file with its scripts inside; without an origin it can reach nothing here.
REPORT_POLICY = (
    "sandbox allow-scripts allow-modals allow-downloads; default-src 'none'; script-src "
    "'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; font-src "
    "data:; connect-src data:; worker-src blob:; frame-ancestors 'self'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# Judgement: 1 MB: forms are a few KB; files come by /upload with a limit of their own.
MOST_FORM = 1_000_000
OPEN_PATHS = ("/static/gnomon.css", "/static/theme.js", "/login")
LINK = "Open the link that `gnomon open` printed: it holds the token of this session."


class Guard:
    """Refuses what does not come from the person who started the server.

    Parameters
    ----------
    app : ASGI application
    token : str
        Of the session; the cookie holds it.
    port : int
    host : str
        That the server listens on.
    most_upload : int
        Bytes of an upload.
    has_password : bool
        Whether the token is given for a password, on a page of its own.
    """

    def __init__(
        self, app: App, token: str, port: int, host: str, most_upload: int, has_password: bool
    ):
        self.app, self.token, self.port, self.host = app, token, port, host
        self.most_upload, self.has_password = most_upload, has_password
        self.cookie = f"gnomon-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        send = with_headers(send)
        refused = self.refused(scope, headers)
        if refused is not None:
            await answer(send, *refused)
            return
        if await self.entered(scope, headers, send):
            return
        if not self.may_pass(scope["path"], headers):
            if self.has_password:
                await answer(send, 303, "", {"location": "/login"})
            else:
                await answer(send, 403, LINK)
            return
        most = self.most_upload if scope["path"] == "/upload" else MOST_FORM
        if int(headers.get("content-length", "0")) > most:
            await answer(send, 413, f"A request may have {most:,} bytes at most.")
            return
        await self.app(scope, receive, send)

    def refused(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Status and reason where host, origin or length are wrong."""
        if not self.is_own(headers.get("host", "")):
            return (
                421,
                "This name does not lead to gnomon; use the link that `gnomon open` printed.",
            )
        if not headers.get("content-length", "0").isdigit():
            return 400, "The length of the request is not a number."
        if scope["method"] in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        own = f"http://{headers.get('host', '')}"
        if origin not in (None, own) or headers.get("sec-fetch-site", "same-origin") not in (
            "same-origin",
            "none",
        ):
            return 403, "Requests from other sites are refused."
        return None

    def is_own(self, host: str) -> bool:
        """Whether a Host header names this server: its own names, or an address, and its port."""
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "80")
        if port != str(self.port):
            return False
        names = {"127.0.0.1", "localhost", "[::1]"}
        if self.host in ("127.0.0.1", "localhost", "::1"):
            return name in names
        return name in names | {self.host, platform.node()} or is_address(name.strip("[]"))

    async def entered(self, scope: Scope, headers: dict[str, str], send: Send) -> bool:
        """Whether the link with the token was opened: its cookie is set and the token hidden."""
        if scope["method"] != "GET" or b"token=" not in scope["query_string"]:
            return False
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        given = asked.pop("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return False
        rest = urlencode(asked, doseq=True)
        place = scope["path"] + (f"?{rest}" if rest else "")
        place = "/" + place.lstrip("/")
        await answer(send, 303, "", {"location": place, "set-cookie": self.set_cookie()})
        return True

    def set_cookie(self) -> str:
        """The header that gives a browser the token."""
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"

    def may_pass(self, path: str, headers: dict[str, str]) -> bool:
        """Whether the cookie holds the token, or the page needs none."""
        if path in OPEN_PATHS:
            return True
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        found = cookies[self.cookie].value if self.cookie in cookies else ""
        return hmac.compare_digest(found.encode(), self.token.encode())


def is_address(name: str) -> bool:
    """Whether a host is given as a number: it needs no name server."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def with_headers(send: Send) -> Send:
    """Every answer gets the headers that forbid what pages do not need."""

    async def sent(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            more = {"content-security-policy": POLICY, **HEADERS}
            message["headers"] = [
                *message["headers"],
                *((k.encode(), v.encode()) for k, v in more.items() if k.encode() not in there),
            ]
        await send(message)

    return sent


async def answer(send: Send, status: int, text: str, headers: dict[str, str] | None = None) -> None:
    """A short answer in plain text."""
    given = {"content-type": "text/plain; charset=utf-8", **(headers or {})}
    listed = [(k.encode(), v.encode("latin-1", "replace")) for k, v in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": text.encode()})
