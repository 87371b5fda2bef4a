"""What a page may load: what lies in memory has an owner, too, and what a site could not give just now is told."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gossamer.crawl.channel import Channel, Rest
from gossamer.crawl.render.loads import Loads, Supply
from gossamer.fetch.browser import SubRequest
from gossamer.model.decision import allow
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response
from gossamer.model.url import Canonicalizer
from gossamer.testing import FakeClock

PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.5"


class Site:
    """A channel that answers as it is told to."""

    def __init__(self, site: str, answer: Response | Rest | None = None, is_left: bool = False) -> None:
        self.site, self._answer, self.is_left = site, answer, is_left
        self.borrowers = 0
        self.address = SimpleNamespace(address=PUBLIC)

    @property
    def channel(self) -> Any:
        return self

    async def request(self, _request: object) -> Response | Rest:
        assert self._answer is not None, "nobody was to be asked"
        return self._answer


async def _allowed(_url: str, _channel: Channel) -> Any:
    return allow("robots", "not denied")


def answer(url: str, body: bytes = b"{}", outcome: Outcome = Outcome.DOCUMENT, status: int = 200) -> Response:
    return Response(url, outcome, 1.0, 1.0, 1.0, status, body=body)


def loads_of(page: Site, addresses: dict[str, str], guarded: tuple[str, ...] = ()) -> Loads:
    async def address_of(host: str) -> str:
        return addresses[host]

    shop = SimpleNamespace(
        life=SimpleNamespace(clock=FakeClock(1_000.0), stopping=False), resolver=SimpleNamespace(address_of=address_of),
        robots=SimpleNamespace(may_fetch=_allowed), rules=SimpleNamespace(canonicalizer=Canonicalizer()),
    )  # fmt: skip
    return Loads(Supply(cast(Any, shop), cast(Any, None), guarded), cast(Any, page))


@pytest.mark.parametrize(
    ("guarded", "address", "said"),
    [(("door.test",), PUBLIC, "has a login of its own"), ((), PRIVATE, "is not public")],
)
def test_what_one_site_gave_to_its_own_pages_is_not_given_to_others_out_of_memory(
    guarded: tuple[str, ...], address: str, said: str
) -> None:
    url = "https://door.test/salaries.json"
    loads = loads_of(Site("evil.test"), {"door.test": address}, guarded)
    loads._supply.resources.keep("door.test", url, "fetch", answer(url, b"secret"), 1_000.0)
    found = asyncio.run(loads.fetch(SubRequest(url, "fetch")))
    assert (found.status, found.body) == (0, b"")
    assert said in found.reason


def test_a_site_has_what_it_gave_to_its_own_pages() -> None:
    url = "https://door.test/app.js"
    loads = loads_of(Site("door.test"), {}, ("door.test",))
    loads._supply.resources.keep("door.test", url, "script", answer(url, b"own"), 1_000.0)
    assert asyncio.run(loads.fetch(SubRequest(url, "script"))).body == b"own"


@pytest.mark.parametrize(
    ("given", "is_put_off"),
    [
        (Rest(2_000.0, "503 Service Unavailable"), True),
        (answer("", b"", Outcome.UNAVAILABLE, 503), True),
        (answer("", b"", Outcome.GONE, 404), False),
        (answer(""), False),
    ],
)
def test_what_a_site_may_give_another_time_is_noted(given: Response | Rest, is_put_off: bool) -> None:
    loads = loads_of(Site("app.test", given), {})
    asyncio.run(loads.fetch(SubRequest("https://app.test/data.json", "fetch")))
    assert bool(loads.put_off) is is_put_off and not loads.is_cut_off


def test_a_site_that_is_given_back_cuts_its_page_off() -> None:
    loads = loads_of(Site("app.test", Rest(1_000.0, ""), is_left=True), {})
    asyncio.run(loads.fetch(SubRequest("https://app.test/data.json", "fetch")))
    assert loads.put_off and loads.is_cut_off


def test_a_server_that_makes_up_names_does_not_fill_the_crawl_with_sites() -> None:
    names = [f"n{number}.evil.test" for number in range(120)]
    loads = loads_of(Site("evil.test"), dict.fromkeys(names, PUBLIC))
    for name in names:
        loads._supply.resources.keep(name, f"https://{name}/", "fetch", answer(f"https://{name}/"), 1_000.0)

    def loaded() -> list[str]:
        return [name for name in names if asyncio.run(loads.fetch(SubRequest(f"https://{name}/", "fetch"))).status]

    assert loaded() == names[:100]
    assert loaded() == names[:100], "those it has loaded from stay"
