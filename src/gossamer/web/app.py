"""The server's parts put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gossamer.clock import Clock, SystemClock
from gossamer.errors import GossamerError, UsageError
from gossamer.settings import ServeSettings
from gossamer.web import api
from gossamer.web.assets import Assets
from gossamer.web.clicks.telling import PATH as CLICK_PATH
from gossamer.web.clicks.telling import ClickPages, ClickService
from gossamer.web.clicks.today import ChoiceService, Today, Watch
from gossamer.web.doors.google import GoogleDoor
from gossamer.web.embedding import OtherOrigins, check_origins, script_route
from gossamer.web.gate.clients import Clients
from gossamer.web.gate.guard import Guard
from gossamer.web.links import Links
from gossamer.web.machine import Check, MachinePages
from gossamer.web.metrics import Measured, MetricsPage, ServerMetrics
from gossamer.web.openapi import document
from gossamer.web.pages import Pages
from gossamer.web.parameters import BadParameter
from gossamer.web.pool import SearchPool
from gossamer.web.push import PushDoor, PushService
from gossamer.web.reasons import public_reason
from gossamer.web.rendering import Renderer, json_response
from gossamer.web.service import DeskService, Listener, SearchService, Services, StoryService
from gossamer.web.stories import StoryPages

_NOT_HERE = "There is no page at this address."


class Extension(NamedTuple):
    """What others add to the server."""

    routes: Sequence[Route]
    private: str = ""
    """The path at and below which there are forms, and nothing that anybody may store; empty: nowhere."""
    static: Sequence[Path] = ()
    """Folders of further static files."""
    close: Callable[[], None] = lambda: None
    """Called when the server ends."""
    listeners: Sequence[Listener] = ()
    """Told of every answered search."""
    collectors: Sequence[Collector] = ()
    """Who else gives figures at /metrics."""
    checks: Sequence[Check] = ()
    """What must be well beside the index for the server to be ready."""


def create_app(
    service: SearchService,
    settings: ServeSettings,
    clock: Clock | None = None,
    stories: StoryService | None = None,
    push: PushService | None = None,
    clicks: ClickService | None = None,
    extensions: Sequence[Extension] = (),
    desk: DeskService | None = None,
    choices: ChoiceService | None = None,
) -> Starlette:
    """The whole server as an ASGI application; without `stories` it shows no versions and no near duplicates,
    without `push` hubs find nothing here, without `clicks` nobody counts what readers open, without `choices` nobody
    counts for which query and at which place, without `desk` there are no collections."""
    check_base_url(settings.base_url)
    check_origins(settings.origins)
    links, clients, clock = Links(settings.base_url), Clients(settings.proxies), clock or SystemClock()
    added = _together(extensions)
    assets = Assets(links, added.static)
    renderer = Renderer(settings.title, links, assets.url)
    private = tuple(extension.private for extension in extensions if extension.private)
    today = Today(choices) if choices is not None and clicks is not None else None
    watch = Watch(today, clients, links.to(CLICK_PATH)) if clicks is not None else None
    renderer.environment.globals["console"] = links.to(private[0]) if private else ""
    # Hubs and monitoring have threads of their own: neither may keep readers waiting.
    pool, push_pool, figures_pool = SearchPool(settings.threads), SearchPool(1), SearchPool(1)
    counting = [one.close for one in (clicks, choices) if one is not None]
    closing = [pool.close, push_pool.close, figures_pool.close, *counting]
    metrics, origin = ServerMetrics(added.collectors), _origin_of(settings.base_url)
    services = Services(service, stories, (metrics.answered, *added.listeners), desk)
    guard = Middleware(
        Guard, settings=settings, clients=clients, clock=clock, refuse=renderer.refuse, private=private,
        posts=(CLICK_PATH,) if clicks is not None else (),
    )  # fmt: skip
    app = Starlette(
        routes=[
            *Pages(services, pool, renderer, links, clock, watch).routes(),
            *api.routes(services, pool),
            *StoryPages(services, pool, renderer, links).routes(),
            *MachinePages(service, pool, links, settings.title, origin, added.checks).routes(),
            *MetricsPage(metrics, settings, figures_pool, renderer.refuse).routes(),
            *GoogleDoor(services, pool, clock, settings.title).routes(),
            *_api_description(renderer, lambda request: document(settings.title, origin(request) + links.to(""))),
            *_static(assets, renderer),
            script_route(assets, lambda request: renderer.refuse(request.scope, 404, _NOT_HERE)),
            *(ClickPages(clicks, clients, clock, settings.base_url, today).routes() if clicks is not None else []),
            *added.routes,
        ],
        middleware=[
            Middleware(Measured, metrics=metrics),
            Middleware(OtherOrigins, origins=settings.origins),
            *([Middleware(PushDoor, service=push, pool=push_pool)] if push is not None else []),
            guard,
            Middleware(GZipMiddleware, minimum_size=1024, compresslevel=4),
        ],
        exception_handlers=_errors(renderer),
        lifespan=_ending_with([*closing, added.close]),
    )
    # A redirect to the address with or without a slash would carry the Host header into the answer.
    app.router.redirect_slashes = False
    return app


def _together(extensions: Sequence[Extension]) -> Extension:
    """All of them as one; each keeps its private path."""

    def close() -> None:
        for extension in extensions:
            extension.close()

    return Extension(
        [route for extension in extensions for route in extension.routes],
        static=[folder for extension in extensions for folder in extension.static],
        close=close,
        listeners=[one for extension in extensions for one in extension.listeners],
        collectors=[one for extension in extensions for one in extension.collectors],
        checks=[one for extension in extensions for one in extension.checks],
    )


def _origin_of(base_url: str) -> Callable[[Request], str]:
    """Scheme and host by which the sender of a request reaches us; the guard has checked the header."""
    base = urlsplit(base_url)
    return lambda request: f"{base.scheme}://{base.netloc}" if base_url else str(request.base_url).rstrip("/")


def _ending_with(closing: Sequence[Callable[[], None]]) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        for close in closing:
            close()

    return lifespan


def check_base_url(text: str) -> None:
    """Raise a `UsageError` for what cannot be the address of a server."""
    if not text:
        return
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
    except ValueError:
        usable = False
    if not usable or any(character.isspace() or character in "<>\"'\\" for character in text):
        raise UsageError(f"serve.base_url: {text!r} is not a URL: write https://search.example.org")


def _api_description(renderer: Renderer, describe: Callable[[Request], dict[str, Any]]) -> list[Route]:
    async def machine(request: Request) -> Response:
        return json_response(describe(request))

    async def page(request: Request) -> Response:
        return renderer.page("api.html", document=describe(request))

    return [Route("/api/v1/openapi.json", machine), Route("/api", page)]


def _static(assets: Assets, renderer: Renderer) -> list[Route]:
    async def file(request: Request) -> Response:
        name = request.path_params.get("name", "favicon.svg")
        return assets.respond(request, name) or renderer.refuse(request.scope, 404, _NOT_HERE)

    return [Route("/static/{name}", file), Route("/favicon.svg", file)]


def _errors(renderer: Renderer) -> dict[Any, Callable[[Request, Any], Response]]:
    """What becomes of exceptions: an index that cannot be used is 503, a program's mistake 400."""

    def unusable(request: Request, error: GossamerError) -> Response:
        response = renderer.refuse(request.scope, 503, public_reason(error))
        response.headers["retry-after"] = "5"
        return response

    def wrong(request: Request, error: BadParameter) -> Response:
        return renderer.refuse(request.scope, 400, str(error))

    def missing(request: Request, error: api.Missing) -> Response:
        return renderer.refuse(request.scope, 404, str(error))

    def refused(request: Request, error: HTTPException) -> Response:
        return renderer.refuse(
            request.scope, error.status_code, _NOT_HERE if error.status_code == 404 else error.detail
        )

    return {GossamerError: unusable, BadParameter: wrong, api.Missing: missing, HTTPException: refused}
