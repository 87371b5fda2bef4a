"""Why a URL was fetched, refused, or is waiting, as a program gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gossamer.api.stored import Store
from gossamer.clock import SystemClock
from gossamer.operate.explain import url as explaining


@dataclass(frozen=True)
class Explanation:
    """What happened to a URL, and why. `str()` of it is the sentence for a person."""

    url: str
    """In canonical form."""
    state: str
    """`fetched`, `duplicate`, `redirect`, `failed`, `waiting`, `scheduled`, `refused`, `removed` or `unknown`."""
    reason: str
    """Why, in a sentence."""
    found: bool
    """Whether a search can find it."""
    verdict: str
    """Whether a search can find it, and if not, why: one sentence."""
    details: dict[str, Any]
    """All that `gossamer explain URL --json` says: the rules one by one, robots.txt, the factors of its priority, …"""

    def __str__(self) -> str:
        return f"{self.url}: {self.state}, {self.reason}. {self.verdict}"


def explain(store: Store, url: str) -> Explanation:
    """The explanation of a URL."""
    with store.database() as db:
        said = explaining.explain(db, store.settings, url, SystemClock().now(), store.folder)
    return Explanation(said.url, said.state, said.reason, said.found, said.verdict, explaining.as_json(said))
