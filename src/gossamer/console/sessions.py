"""Who is logged in: the cookie, and what it stands for.

The cookie holds a random token and nothing else. A token is made at every login, so nobody can be made to use one that
somebody else knows. The token of the forms (`Visitor.csrf`) is derived from it: pages show that one, and it does not
lead back.
"""

from __future__ import annotations

import hashlib
import logging
import math
from contextlib import closing
from threading import Lock

from starlette.requests import Request
from starlette.responses import Response

from gossamer.console.context import Crawl, Visitor
from gossamer.data.connection import SharedConnection
from gossamer.errors import GossamerError, UsageError
from gossamer.settings import ConsoleSettings
from gossamer.tables import accounts, audit, logins
from gossamer.web.links import Links

log = logging.getLogger(__name__)

_WRONG = "Wrong name or password."


class TooManyTries(UsageError):  # noqa: N818 - it is a state, and said so to people
    """Nobody may try again before some seconds have passed."""

    def __init__(self, seconds: float) -> None:
        self.seconds = math.ceil(seconds)
        super().__init__(f"Too many failed attempts. Try again in {_span(self.seconds)}.")


class Sessions:
    """Logging in, being logged in, logging out; from any thread."""

    def __init__(self, crawl: Crawl, settings: ConsoleSettings, links: Links, is_secure: bool, port: int) -> None:
        self._crawl, self._settings, self._links = crawl, settings, links
        self._secure = is_secure
        # Browsers send a host's cookies to all its ports: two servers on one machine must not log each other out.
        self._cookie = f"{'__Secure-' if is_secure else ''}gossamer-{port}"
        # Pages hold the crawl's reader while they ask long questions: who is logged in must not wait for that.
        self._reader = SharedConnection(crawl.folder.database)
        self._one_at_a_time = Lock()

    def visitor(self, request: Request) -> Visitor | None:
        """Who sent a request; none where nobody is logged in."""
        token = self._token(request)
        if not token:
            return None
        now, span = self._crawl.clock.now(), self._settings.session
        found = self._reader.ask(lambda db: logins.find(db, now, token))
        if found is None:
            return None
        login, expires_at = found
        if logins.needs_renewal(now, expires_at, span):
            self._renew(token, now)
        role: accounts.Role = "operator" if login.role == "operator" else "reader"
        return Visitor(login.account, role, _csrf(token))

    def _renew(self, token: str, now: float) -> None:
        try:
            self._crawl.change(lambda db: logins.renew(db, now, token, self._settings.session))
        except GossamerError as error:  # a full disk must not hide the page that shows it
            log.warning("a login could not be renewed: %s", error)

    def log_in(self, request: Request, response: Response, name: str, password: str, address: str) -> None:
        """Check a password and set the cookie; a `UsageError` says why not, the same whether there is such an
        account or not."""
        account, old = accounts.canonical(name), self._token(request)
        now, most = self._crawl.clock.now(), self._settings.attempts
        with closing(self._crawl.folder.open_database()) as database:
            wait = logins.attempt(database, now, account, address, most)
            if wait > 0:
                raise TooManyTries(wait)
            # A guess costs memory and time: many at once must not take them from those who search.
            with self._one_at_a_time:
                if not accounts.is_password(database, account, password):
                    raise UsageError(_WRONG)
            logins.succeeded(database, account, address)
            logins.remember(database, now, account, address)
            if old:
                logins.end(database, old)
            token = logins.begin(database, now, account, self._settings.session)
            audit.note(database, now, account, "log in", account)
        self._set(response, token)

    def log_out(self, request: Request, response: Response) -> None:
        """End the login and take the cookie away."""
        token = self._token(request)
        if token:
            self._crawl.change(lambda db: logins.end(db, token))
        response.delete_cookie(
            self._cookie, path=self._links.to("/console"), secure=self._secure, httponly=True, samesite="strict"
        )

    def account_of(self, name: str) -> str:
        """The account that a typed name means, for the log; `?` where there is none: people type their password where
        the name belongs."""
        wanted = accounts.canonical(name)
        try:
            return wanted if wanted in {one.name for one in self._reader.ask(accounts.accounts)} else "?"
        except GossamerError:
            return "?"

    def has_accounts(self) -> bool:
        """Whether anybody can log in."""
        return bool(self._reader.ask(accounts.accounts))

    def _token(self, request: Request) -> str:
        return request.cookies.get(self._cookie, "")[:200]

    def _set(self, response: Response, token: str) -> None:
        response.set_cookie(
            self._cookie, token, path=self._links.to("/console"), secure=self._secure, httponly=True, samesite="strict"
        )


def _csrf(token: str) -> str:
    return hashlib.blake2b(token.encode(), key=b"form", digest_size=24).hexdigest()


def _span(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{math.ceil(seconds / 60)} minutes"
