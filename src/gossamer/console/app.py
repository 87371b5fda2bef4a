"""The console put together: its pages, and what stands between them and a browser.

Reading: who is not logged in is led to the login. Changing: the form must come from a page of ours, carry the token
of this login and be sent by an operator; what was done is written down (`frontier.audit`) before the operator is told.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Mapping
from importlib import import_module
from threading import Thread
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gossamer.console.context import Asked, Console, Crawl, Do, Done, Show, Visitor
from gossamer.console.forms import is_ours, read_form, storable
from gossamer.console.login import LOGIN, LoginPages, asked_path
from gossamer.console.rendering import STATIC, ConsoleRenderer, Place
from gossamer.console.sessions import Sessions
from gossamer.console.words import capitalised
from gossamer.errors import GossamerError, UsageError
from gossamer.frontier.steering import removals
from gossamer.operate.takedown import carry_on
from gossamer.settings import Settings
from gossamer.tables import alarms, audit
from gossamer.web.app import Extension
from gossamer.web.gate.clients import Clients
from gossamer.web.links import Links
from gossamer.web.pool import SearchPool
from gossamer.web.rendering import json_response

ROOT = "/console"
PAGES = {
    "overview": "Overview",
    "seeds": "Seeds",
    "sites": "Sites",
    "url": "URL",
    "freshness": "Freshness",
    "filters": "Filters",
    "rules": "Rules",
    "searches": "Searches",
    "desk": "Search desk",
    "evaluations": "Evaluations",
    "alerts": "Alerts",
    "jobs": "Jobs",
    "settings": "Settings",
    "audit": "Audit log",
    "accounts": "Accounts",
}
"""The modules of `console.pages`, in the order of the navigation, and what they are called there."""
_HEADINGS = {"overview": "Crawl", "filters": "Selection", "searches": "Search", "jobs": "System"}
"""Above which pages the navigation has a heading."""

_THREADS = 4
_NAMING = ("name", "url", "prefix", "what", "id", "reason")
"""Fields of forms that say what something was done to, and why."""
_FORM_IS_OLD = "This form belongs to an earlier login. Open the page again and resend the form. Nothing was changed."
_FOREIGN = "This form did not come from a page of this server. Nothing was changed."
_READERS_READ = "Your account has the role reader. Only operators can make changes. Nothing was changed."

log = logging.getLogger(__name__)


class OperatorConsole:
    """What pages are made of (`context.Console`)."""

    def __init__(
        self, crawl: Crawl, links: Links, sessions: Sessions, renderer: ConsoleRenderer, pool: SearchPool,
        base_url: str,
    ) -> None:  # fmt: skip
        self.crawl, self.links = crawl, links
        self._sessions, self._renderer, self._pool, self._base_url = sessions, renderer, pool, base_url

    def shows(self, path: str, show: Show) -> Route:
        """A page at `/console` + path, for everybody who is logged in."""

        async def handle(request: Request) -> Response:
            return await self._pool.run(self._show, request, show)

        return Route(f"{ROOT}{path}", handle, methods=["GET"])

    def does(self, path: str, do: Do, everybody: bool = False) -> Route:
        """Takes POST forms at `/console` + path, from operators only unless it is for everybody."""

        async def handle(request: Request) -> Response:
            try:
                form, problem = await read_form(request), ""
            except UsageError as error:
                form, problem = {}, str(error)
            return await self._pool.run(self._do, request, form, problem, do, everybody)

        return Route(f"{ROOT}{path}", handle, methods=["POST"])

    def page(self, asked: Asked, template: str, **values: Any) -> Response:
        """A template of `console/templates`, which extends `console.html`."""
        return self._renderer.page(asked, template, self._alarms(), **values)

    def data(self, value: Any) -> Response:
        """A value as JSON, for the charts."""
        response = json_response(value)
        response.headers["cache-control"] = "no-store"
        return response

    def _show(self, request: Request, show: Show) -> Response:
        visitor = self._sessions.visitor(request)
        if visitor is None:
            return self._to_login(request)
        asked = _asked(request, visitor, {})
        try:
            return show(asked)
        except GossamerError as error:
            return self._problem(asked, 404 if isinstance(error, UsageError) else 503, str(error))

    def _do(self, request: Request, form: dict[str, str], problem: str, do: Do, everybody: bool) -> Response:
        visitor = self._sessions.visitor(request)
        if visitor is None:
            return RedirectResponse(self.links.to(LOGIN), 303)
        token = form.pop("csrf", "")
        asked = _asked(request, visitor, form)
        if not is_ours(request.headers, self._base_url):
            return self._problem(asked, 403, _FOREIGN)
        if problem:
            return self._problem(asked, 400, problem)
        if not hmac.compare_digest(token.encode(), visitor.csrf.encode()):
            return self._problem(asked, 403, _FORM_IS_OLD)
        if not everybody and not visitor.is_operator:
            return self._problem(asked, 403, _READERS_READ)
        try:
            done = do(asked)
        except UsageError as error:
            return self._problem(asked, 400, str(error))
        except Exception as error:
            # What breaks off may have begun: a removal holds from its first moment.
            self._note(visitor, "tried", asked.at, f"{_told(form)}; failed: {error}")
            if not isinstance(error, GossamerError):
                raise
            return self._problem(asked, 503, str(error))
        finally:
            self.crawl.seeds.forget()
        return self._lead_on(visitor, done)

    def _lead_on(self, visitor: Visitor, done: Done) -> Response:
        problem = self._note(visitor, done.action, done.subject, done.detail)
        self._renderer.sentences.keep(visitor, done.sentence + problem)
        return RedirectResponse(self.links.to(done.to), 303)

    def _note(self, visitor: Visitor, action: str, subject: str, detail: str) -> str:
        """Write a line of the audit log; returns what to tell the operator where that failed."""
        line = (visitor.name, action, subject, detail)
        try:
            self.crawl.change(lambda db: audit.note(db, self.crawl.clock.now(), *line))
        except GossamerError as error:
            log.error("%s: %s %s (%s) was done, but the audit log could not record it: %s", *line, error)
            return f" The audit log could not record this: {error}"
        return ""

    def _to_login(self, request: Request) -> Response:
        if request.headers.get("sec-fetch-dest") == "empty" or "json" in request.headers.get("accept", ""):
            return json_response({"error": "you are no longer logged in: reload the page"}, 401)
        return RedirectResponse(self.links.to(LOGIN, next=asked_path(request)), 303)

    def _problem(self, asked: Asked, status: int, sentence: str) -> Response:
        return self._renderer.page(asked, "problem.html", self._alarms(), status, sentence=capitalised(sentence))

    def _alarms(self) -> list[str]:
        """What is wrong at present; a database that cannot be read must not hide the page that says so."""
        try:
            return [alarm.sentence for alarm in self.crawl.ask(alarms.present)]
        except GossamerError:
            return []


def open_console(crawl: Crawl, settings: Settings) -> Extension:
    """The console of a crawl, for `web.app.create_app`."""
    serve = settings.serve
    links, pool = Links(serve.base_url), SearchPool(_THREADS)
    is_secure = settings.console.secure_cookies or serve.base_url.startswith("https:")
    sessions = Sessions(crawl, settings.console, links, is_secure, serve.port)
    modules = [import_module(f"gossamer.console.pages.{name}") for name in PAGES]
    renderer = ConsoleRenderer(serve.title, links, navigation())
    console: Console = OperatorConsole(crawl, links, sessions, renderer, pool, serve.base_url)
    login = LoginPages(sessions, renderer, links, pool, Clients(serve.proxies), serve.base_url)
    routes = [*login.routes(), *(route for module in modules for route in module.routes(console))]
    _finish_removals(crawl)
    return Extension(routes, private=ROOT, static=[STATIC], close=pool.close)


def _finish_removals(crawl: Crawl) -> None:
    """Removals that ended with an earlier server, or a command, go on aside: what was taken down must not be found
    until somebody happens to look."""

    def work() -> None:
        try:
            crawl.change(lambda db: carry_on(crawl.folder, db, crawl.settings(), crawl.clock.now()))
        except GossamerError as error:
            log.error("an interrupted removal could not be finished: %s", error)

    try:
        if crawl.ask(removals.unfinished):
            Thread(target=work, daemon=True).start()
    except GossamerError as error:
        log.warning("cannot check for interrupted removals: %s", error)


def navigation() -> list[Place]:
    """The pages, as the navigation shows them."""
    return [Place(label, _path(name), _HEADINGS.get(name, "")) for name, label in PAGES.items()]


def _path(name: str) -> str:
    return ROOT if name == "overview" else f"{ROOT}/{name}"


def _told(form: Mapping[str, str]) -> str:
    """What a form said, but for passwords."""
    return ", ".join(f"{name}: {form[name]}" for name in _NAMING if form.get(name))


def _asked(request: Request, visitor: Visitor, form: Mapping[str, str]) -> Asked:
    path = {name: str(value) for name, value in request.path_params.items()}
    query = {name: storable(value) for name, value in request.query_params.items()}
    return Asked(visitor, path, query, form, request.url.path)
