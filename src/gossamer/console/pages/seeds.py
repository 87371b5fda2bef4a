"""Seeds: the addresses from which the crawl begins. Add one, take one out, pause its site."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from gossamer.console import changing, seeding, words
from gossamer.console.context import Asked, Console, Done
from gossamer.console.pages.sites import STATE_KINDS, STATE_WORDS, outcome_words
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.views import seed_list, site_list
from gossamer.frontier.views.seed_list import NamedSeed
from gossamer.frontier.views.site_list import SiteRow
from gossamer.supervise.seeding import drop_seeds

PATH = "/console/seeds"
_SHOWN = 50


def routes(console: Console) -> list[Route]:
    """Where seeds are shown, added and taken out."""
    page = SeedPages(console)
    return [
        console.shows("/seeds", page.show),
        console.does("/seeds/add", page.add),
        console.does("/seeds/remove", page.remove),
    ]


class SeedPages:
    """The list and its forms."""

    def __init__(self, console: Console) -> None:
        self._console, self._crawl = console, console.crawl

    def show(self, asked: Asked) -> Response:
        """Seeds, page by page, the newest first."""
        now, given = self._crawl.clock.now(), asked.query.get("page", "1")
        page = int(given) if given.isascii() and given.isdigit() and len(given) < 7 else 1

        def question(db: Database) -> tuple[int, list[NamedSeed], dict[str, SiteRow]]:
            found = seed_list.list_seeds(db, _SHOWN, max(0, page - 1) * _SHOWN)
            return seed_list.count_seeds(db), found, site_list.named_sites(db, [one.site for one in found], now)

        total, rows, sites = self._crawl.ask(question)
        plan = self._crawl.ask(lambda db: changing.plan_now(self._crawl, db))
        return self._console.page(
            asked, "seeds.html", rows=rows, sites=sites, total=total, page=max(1, page), pages=-(-total // _SHOWN),
            kinds=STATE_KINDS, states=STATE_WORDS, outcome_words=outcome_words, now=now, words=words,
            scope=self._crawl.settings().scope, needs_contact=not self._crawl.settings().crawl.contact,
            plan=plan, pending=changing.pending(self._crawl, plan), about=asked.query.get("about", "")[:200],
        )  # fmt: skip

    def add(self, asked: Asked) -> Done:
        """Add sites to the crawl."""
        form = asked.form
        named = seeding.add(
            self._crawl, form.get("urls", ""), form.get("contact", "").strip(), form.get("kind") == "sitemap"
        )
        urls = " ".join(seed.url for seed in named.seeds)
        to = "/console" if form.get("to") == "overview" else PATH
        detail = f"{named.added.new} new, {named.added.refused} refused"
        detail += f", contact {named.contact}" if named.contact else ""
        return Done("add seed", urls[:2000], seeding.told(self._crawl, named), to, detail)

    def remove(self, asked: Asked) -> Done:
        """Take a seed out; what was fetched stays."""
        url = asked.form.get("url", "")
        if not self._crawl.ask(lambda db: seed_list.is_seed(db, url)):
            raise UsageError("this seed no longer exists: open the list again")
        settings, now = self._crawl.settings(), self._crawl.clock.now()
        self._crawl.change(lambda db: drop_seeds(db, settings, [url], now))
        sentence = f"Removed the seed {url}. Fetched pages stay searchable."
        return Done("remove seed", url, sentence, PATH)
