"""Pages of many sites, one of which has much about everything: for tests of answers that span many sites."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "unit" / "search"))
from searcher_kit import SmallIndex

from gossamer.index.document import IndexPage

PARTS = {
    "engine": "The nozzle turns heat into speed, and the turbopump feeds the combustion chamber with propellant.",
    "fuel": "Kerosene, hydrogen and methane are propellants; each needs an oxidiser, a turbopump and a cool nozzle.",
    "launch": "The countdown ends with ignition; then thrust lifts the payload from the pad.",
    "stage": "A spent stage falls away, and the next ignition carries the payload on.",
    "steering": "A gimbal turns the nozzle, so thrust points where the payload must go.",
}
PLACES = ("harbour", "mountain", "island", "desert", "forest", "valley", "river", "lake")


def space_pages() -> list[IndexPage]:
    """Twelve pages of one site, and two of each of eight others."""
    pages = [
        _page(f"https://www.spaceflight.example.org/{part}/{number}", f"Rocket {part}, part {number}", text, number)
        for part, text in PARTS.items()
        for number in range(1, 4)
    ][:12]
    for place in PLACES:
        for number, (part, text) in enumerate(list(PARTS.items())[:2], 1):
            title = f"A rocket {part} seen from the {place}"
            pages.append(_page(f"https://{place}-news.example/{number}.html", title, text, number))
    return pages


def _page(url: str, title: str, text: str, number: int) -> IndexPage:
    story = f"{text} This rocket was seen by people of {url.split('/')[2]} on day {number}."
    return IndexPage(url=url, title=title, text=story, lang="en", date=f"2026-05-{number:02}", page_type="article")


def space_index(root: Path) -> SmallIndex:
    """The pages in an index, with others about something else."""
    others = [
        IndexPage(url=f"https://garden.example/{number}", title=f"Bed {number}", text=f"Beans and roses {number}.")
        for number in range(40)
    ]
    return SmallIndex(root, *space_pages(), *others)
