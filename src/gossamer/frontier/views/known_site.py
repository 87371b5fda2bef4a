"""What is known of a site, for people."""

from __future__ import annotations

import msgspec

from gossamer.database.database import Database
from gossamer.frontier.knowledge import facts_of, learning_of
from gossamer.frontier.rereading import stale_pages
from gossamer.model.counts import counted
from gossamer.model.site import key64
from gossamer.site.templates import Template

_MOST = 1_000
"""Pages to judge again that are counted: a person waits for the answer."""
_SHOWN = 5
"""Templates of a kind that a sentence names."""


class SiteKnowledge(msgspec.Struct, frozen=True):
    """What was learned from a sample of a site's pages."""

    pages: int
    """Pages of the sample."""
    learned_at: float
    lines: int
    """Lines that many pages repeat in the same place."""
    places: int
    """Elements, by path and class, most of whose lines repeat."""
    names: tuple[str, ...]
    """What titles and first headings share, letters only."""
    languages: dict[str, int]
    page_types: dict[str, int]
    templates: tuple[Template, ...]
    """How the URLs of its documents and lists look."""
    waiting: int
    """Documents that were read when less was known and will be judged again, up to a thousand."""

    @property
    def documents(self) -> list[Template]:
        """Templates of documents."""
        return [one for one in self.templates if not one.is_list]

    @property
    def lists(self) -> list[Template]:
        """Templates of lists."""
        return [one for one in self.templates if one.is_list]

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        said = [
            f"learned from {counted(self.pages, 'page')}",
            f"{counted(self.lines, 'repeated line')} and {counted(self.places, 'repeated element')} "
            "are left out of its pages' texts",
        ]
        if self.names:
            said.append(f"titles share {', '.join(self.names[:5])}")
        for title, counts in (("languages", self.languages), ("types", self.page_types)):
            if counts:
                ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
                said.append(f"{title}: " + ", ".join(f"{name} {count}" for name, count in ordered))
        for kind, found in (("documents", self.documents), ("lists", self.lists)):
            if found:
                said.append(f"{kind} look like " + ", ".join(one.sentence for one in found[:_SHOWN]))
        if self.waiting:
            said.append(f"{counted(self.waiting, 'older page')} will be judged again")
        return "; ".join(said)


def site_knowledge(db: Database, site: str) -> SiteKnowledge | None:
    """What is known of a site; None if too few of its pages were read."""
    learning, facts = learning_of(db, key64(site)), facts_of(db, site)
    if not facts:
        return None
    waiting = (
        stale_pages(db, key64(site), learning.version, learning.reread, _MOST) if learning.reread is not None else ()
    )
    return SiteKnowledge(
        facts.pages, learning.learned_at, len(facts.lines) // 8, len(facts.places) // 8, facts.names, facts.languages,
        facts.page_types, facts.templates, len(waiting),
    )  # fmt: skip
