"""The way in and out of the console."""

from __future__ import annotations

import logging
import re
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gossamer.console.forms import is_ours, read_form
from gossamer.console.rendering import ConsoleRenderer
from gossamer.console.sessions import Sessions, TooManyTries
from gossamer.errors import UsageError
from gossamer.web.gate.clients import Clients
from gossamer.web.links import Links
from gossamer.web.pool import SearchPool

LOGIN = "/console/login"
LOGOUT = "/console/logout"

_LOCAL = re.compile(r"/console(?:[/?][^\\\x00-\x20\x7f]*)?")
_FOREIGN = "This form did not come from a page of this server. Open the page and submit it from there."

log = logging.getLogger(__name__)


class LoginPages:
    """Handlers; passwords are checked on a thread."""

    def __init__(
        self, sessions: Sessions, renderer: ConsoleRenderer, links: Links, pool: SearchPool, clients: Clients,
        base_url: str,
    ) -> None:  # fmt: skip
        self._sessions, self._renderer, self._links, self._pool = sessions, renderer, links, pool
        self._clients, self._base_url = clients, base_url

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route(LOGIN, self.form, methods=["GET"]),
            Route(LOGIN, self.log_in, methods=["POST"]),
            Route(LOGOUT, self.log_out, methods=["POST"]),
        ]

    async def form(self, request: Request) -> Response:
        """The page with the form; who is logged in already is led on."""
        return await self._pool.run(self._form, request)

    async def log_in(self, request: Request) -> Response:
        """Name and password."""
        try:
            form = await read_form(request)
        except UsageError as error:
            return self._page(400, str(error))
        if not is_ours(request.headers, self._base_url):
            return self._page(403, _FOREIGN)
        return await self._pool.run(self._log_in, request, form)

    async def log_out(self, request: Request) -> Response:
        """The end of a login; without the token of a form, for a page of ours sent it: nothing is lost by it."""
        if not is_ours(request.headers, self._base_url):
            return self._page(403, _FOREIGN)
        return await self._pool.run(self._log_out, request)

    def _form(self, request: Request) -> Response:
        onward = local_path(request.query_params.get("next", ""))
        if self._sessions.visitor(request) is not None:
            return RedirectResponse(self._links.to(onward), 303)
        word = "Password changed. Log in with the new one." if "changed" in request.query_params else ""
        if not self._sessions.has_accounts():
            word = "There is no account yet. Create one with `gossamer accounts add NAME --role operator`."
        return self._page(200, word, onward)

    def _log_in(self, request: Request, form: dict[str, str]) -> Response:
        onward, name = local_path(form.get("next", "")), form.get("name", "")
        response = RedirectResponse(self._links.to(onward), 303)
        peer = request.client.host if request.client else ""
        address = self._clients.key(peer, request.headers.getlist("x-forwarded-for"))
        try:
            self._sessions.log_in(request, response, name, form.get("password", ""), address)
        except TooManyTries as error:
            who = {"account": self._sessions.account_of(name), "address": address}
            log.warning("a login is refused after too many failures", extra=who)
            refusal = self._page(429, str(error), onward, name)
            refusal.headers["retry-after"] = str(error.seconds)
            return refusal
        except UsageError as error:
            log.warning("a login failed", extra={"account": self._sessions.account_of(name), "address": address})
            return self._page(403, str(error), onward, name)
        return response

    def _log_out(self, request: Request) -> Response:
        response = RedirectResponse(self._links.to(LOGIN), 303)
        self._sessions.log_out(request, response)
        return response

    def _page(self, status: int, sentence: str = "", onward: str = "/console", name: str = "") -> Response:
        return self._renderer.open_page("login.html", status, sentence=sentence, onward=onward, name=name[:64])


def local_path(text: str) -> str:
    """Where to go after logging in: a page of the console, and nothing else that an address could be made to say."""
    if len(text) > 4000 or not _LOCAL.fullmatch(text):
        return "/console"
    return "/console" if urlsplit(text).path in (LOGIN, LOGOUT) else text


def asked_path(request: Request) -> str:
    """The page that was asked for, to come back to it."""
    query = request.url.query
    return local_path(request.url.path + (f"?{query}" if query else ""))
