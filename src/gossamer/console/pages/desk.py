"""The search desk: synonyms, best bets and other rules, which are drafted, tried, published and taken back."""

from __future__ import annotations

import hashlib
import time
from threading import Lock
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from gossamer.console.context import Asked, Console, Done
from gossamer.console.desk_forms import KINDS, Kind, added, mark, rule_of, without
from gossamer.errors import UsageError
from gossamer.evaluate.desk_queries import WEEKS, judged_queries, real_queries
from gossamer.evaluate.desk_trial import Published, Trial, try_rules
from gossamer.operate import desk as desk_of_crawl
from gossamer.operate.canonical import canonical_or_error
from gossamer.operate.desk import Standing
from gossamer.search.desk.acting import Rules
from gossamer.search.desk.reading import phrases, read_desk, write_desk
from gossamer.search.desk.rules import BestBet, Desk, differences
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.tables import asked as asked_table
from gossamer.tables import desk as table
from gossamer.tables.asked import day_of

PATH = "/console/desk"
_TRIAL = 20.0
"""Seconds that a trial may take."""
_LOOKING = 2.0
"""Seconds in which queries in vain are searched again."""
_IN_VAIN_DAYS = 30
_IN_VAIN = 50
_LISTED = 300
"""Rules listed at once."""
_MOVED = 50
"""Queries that a trial shows."""


def routes(console: Console) -> list[Route]:
    """Where the desk is."""
    page = _Page(console)
    return [
        console.shows("/desk", page.overview),
        console.shows("/desk/try", page.trial),
        console.shows("/desk/history", page.history),
        console.shows("/desk/file", page.file),
        console.shows("/desk/stop-words", page.stop_words),
        *(console.shows(f"/desk/{kind.path}", page.rules(kind)) for kind in KINDS),
        console.shows("/desk/standing.json", page.standing_json),
        console.shows("/desk/try.json", page.trial_json),
        console.shows("/desk/history.json", page.history_json),
        console.does("/desk/add", page.add),
        console.does("/desk/remove", page.remove),
        console.does("/desk/stop-words", page.set_stop_words),
        console.does("/desk/file", page.replace),
        console.does("/desk/publish", page.publish),
        console.does("/desk/undo", page.undo),
        console.does("/desk/again", page.again),
        console.does("/desk/discard", page.discard),
    ]


class _Page:
    """What the pages show and do."""

    def __init__(self, console: Console) -> None:
        self._console, self._crawl = console, console.crawl
        self._trying = Lock()
        self._ready: dict[str, Rules] = {}

    # -- reading ------------------------------------------------------------------------------------

    def overview(self, asked: Asked) -> Response:
        """What counts, what the draft changes, and what readers looked for in vain."""
        found = self._standing()
        return self._page(
            asked, "desk.html", found, "", counts=[(kind, len(getattr(found.published, kind.name))) for kind in KINDS],
            in_vain=self._in_vain(found), days=_IN_VAIN_DAYS, is_on=self._crawl.settings().console.analytics,
            try_it=lambda text: self._console.links.search(Request(query=text)),
        )  # fmt: skip

    def rules(self, kind: Kind) -> Any:
        """The page of a kind of rule."""

        def show(asked: Asked) -> Response:
            found = self._standing()
            counting = set(getattr(found.published, kind.name))
            words = asked.query.get("q", "").strip()[:200]
            rows = [
                {"cells": kind.cells(rule), "mark": mark(rule), "is_new": rule not in counting}
                for rule in reversed(getattr(found.draft, kind.name))
                if words.lower() in rule.label.lower()
            ]
            given = {field.name: asked.query.get(field.name, "")[:2000] for field in kind.fields}
            total = len(getattr(found.draft, kind.name))
            return self._page(
                asked, "desk_rules.html", found, kind.path, kind=kind, rows=rows[:_LISTED], given=given, words=words,
                total=total, more=max(0, len(rows) - _LISTED), about=asked.query.get("about", "")[:200],
            )  # fmt: skip

        return show

    def stop_words(self, asked: Asked) -> Response:
        """The words that queries lose."""
        found = self._standing()
        return self._page(asked, "desk_stop_words.html", found, "stop-words")

    def trial(self, asked: Asked) -> Response:
        """The rules that count and the draft, side by side."""
        found = self._standing()
        trial = self._tried(found) if found.changes else None
        return self._page(
            asked, "desk_try.html", found, "try", trial=trial, weeks=WEEKS, shown=_MOVED,
            judged=self._crawl.settings().console.judged,
            try_it=lambda text: self._console.links.search(Request(query=text)),
        )  # fmt: skip

    def history(self, asked: Asked) -> Response:
        """Every version, newest first, with what it changed."""
        found, versions = self._crawl.ask(lambda db: (desk_of_crawl.standing(db), table.history(db)))
        rules = {one.number: desk_of_crawl.desk_of(one) for one in versions}
        rows = [
            (one, differences(rules.get(one.previous, Desk()), rules[one.number]))
            if not one.previous or one.previous in rules
            else (one, [])
            for one in versions
        ]
        return self._page(asked, "desk_history.html", found, "history", rows=rows)

    def file(self, asked: Asked) -> Response:
        """The draft as a file."""
        found = self._standing()
        texts = {"text": write_desk(found.draft), "counts": write_desk(found.published)}
        return self._page(asked, "desk_file.html", found, "file", **texts)

    def standing_json(self, asked: Asked) -> Response:
        """What counts and the draft, for programs."""
        found = self._standing()
        return self._console.data(
            {"version": found.number, "rules": found.published, "draft": found.draft, "changes": found.changes,
             "toml": write_desk(found.published)}
        )  # fmt: skip

    def trial_json(self, asked: Asked) -> Response:
        """A trial, for programs."""
        return self._console.data(self._tried(self._standing()))

    def history_json(self, asked: Asked) -> Response:
        """The versions, for programs."""
        return self._console.data(self._crawl.ask(table.history))

    # -- changing -----------------------------------------------------------------------------------

    def add(self, asked: Asked) -> Done:
        """Add a rule to the draft."""
        kind, rule = rule_of(asked.form, self._canonical)
        self._edit(asked, lambda desk: added(desk, kind, rule))
        sentence = f"Added to the draft: {rule.label}. Nothing changes for readers before you publish it."
        if isinstance(rule, BestBet) and self._crawl.services.search.page(rule.url) is None:
            sentence += " The page is not in the index, so nobody finds it yet."
        return Done("edit desk", "draft", sentence, f"{PATH}/{kind.path}", f"+ {rule.label}")

    def remove(self, asked: Asked) -> Done:
        """Take a rule out of the draft."""
        kind = next((one for one in KINDS if one.name == asked.form.get("kind")), None)
        if kind is None:
            raise UsageError("there is no such kind of rule: open the page again")
        marked, gone = asked.form.get("rule", ""), list[str]()

        def change(desk: Desk) -> Desk:
            gone.extend(rule.label for rule in getattr(desk, kind.name) if mark(rule) == marked)
            return without(desk, kind, marked)

        self._edit(asked, change)
        label = gone[-1] if gone else kind.one
        sentence = f"Removed from the draft: {label}. Nothing changes for readers before you publish it."
        return Done("edit desk", "draft", sentence, f"{PATH}/{kind.path}", f"- {label}")

    def set_stop_words(self, asked: Asked) -> Done:
        """Write the stop words of the draft."""
        words = phrases(asked.form.get("words", ""))
        found = self._edit(asked, lambda desk: msgspec.structs.replace(desk, stop_words=words))
        return Done("edit desk", "draft", "Saved in the draft.", f"{PATH}/stop-words", "\n".join(found.changes))

    def replace(self, asked: Asked) -> Done:
        """Take a file as the draft."""
        desk = read_desk(asked.form.get("rules", ""), "the text", self._canonical)
        found = self._edit(asked, lambda _: desk)
        return Done("edit desk", "draft", "Saved as the draft.", PATH, "\n".join(found.changes))

    def publish(self, asked: Asked) -> Done:
        """Let the draft count."""
        note, seen = asked.form.get("note", "").strip(), asked.form.get("seen", "")
        if seen and seen != _seen(self._standing()):
            raise UsageError("somebody changed the draft meanwhile: look at the changes again, then publish them")
        who, now = asked.visitor.name, self._crawl.clock.now()
        number, changes = self._crawl.change(lambda db: desk_of_crawl.publish(db, who, now, note))
        self._forget()
        sentence = f"Version {number} counts now. You can undo it here and in the history."
        return Done("publish desk", f"version {number}", sentence, PATH, "\n".join(filter(None, [note, *changes])))

    def undo(self, asked: Asked) -> Done:
        """Let the version before count."""
        number = asked.form.get("version", "")
        if number and number != str(self._standing().number):
            raise UsageError(f"version {number[:20]} no longer counts: open the page again")
        before, after, changes = self._crawl.change(desk_of_crawl.undo)
        self._forget()
        counts = f"Version {after} counts again." if after else "No rules count now."
        detail = "\n".join([counts, *changes])
        return Done("undo desk", f"version {before}", f"Version {before} was taken back. {counts}", PATH, detail)

    def again(self, asked: Asked) -> Done:
        """Publish an older version again."""
        given = asked.form.get("version", "")
        wanted = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0
        who, now = asked.visitor.name, self._crawl.clock.now()
        number, changes = self._crawl.change(lambda db: desk_of_crawl.publish_again(db, who, now, wanted))
        self._forget()
        sentence = f"Version {number} counts now: the rules of version {wanted}."
        detail = "\n".join([f"as version {wanted}", *changes])
        return Done("publish desk", f"version {number}", sentence, f"{PATH}/history", detail)

    def discard(self, asked: Asked) -> Done:
        """Throw the draft away."""
        changes = self._standing().changes
        self._crawl.change(desk_of_crawl.discard)
        return Done("discard desk", "draft", "The draft is what counts again.", PATH, "\n".join(changes))

    # -- what they share ----------------------------------------------------------------------------

    def _standing(self) -> Standing:
        return self._crawl.ask(desk_of_crawl.standing)

    def _canonical(self, url: str) -> str:
        return canonical_or_error(url, self._crawl.settings())

    def _edit(self, asked: Asked, change: Any) -> Standing:
        who, now = asked.visitor.name, self._crawl.clock.now()
        return self._crawl.change(lambda db: desk_of_crawl.edit(db, who, now, change, self._canonical))

    def _forget(self) -> None:
        if self._crawl.services.desk is not None:
            self._crawl.services.desk.forget()

    def _page(self, asked: Asked, template: str, found: Standing, tab: str, **values: Any) -> Response:
        tabs = [("", "Desk"), *((kind.path, kind.heading) for kind in KINDS), ("stop-words", "Stop words"),
                ("try", "Try"), ("history", "History"), ("file", "File")]  # fmt: skip
        return self._console.page(
            asked, template, found=found, tab=tab, path=PATH, seen=_seen(found),
            tabs=[(name, f"{PATH}/{name}".rstrip("/"), label) for name, label in tabs], **values,
        )  # fmt: skip

    def _searcher(self) -> Searcher:
        search = self._crawl.services.search
        if not isinstance(search, Searcher):
            raise UsageError("this server searches no index of its own: try rules on a server that does")
        return search

    def _tried(self, found: Standing) -> Trial:
        settings, now = self._crawl.settings(), self._crawl.clock.now()
        asked = self._crawl.ask(lambda db: real_queries(db, now))
        judged = judged_queries(self._crawl.folder.root, settings)
        before, after = self._both(found)
        if not self._trying.acquire(timeout=_TRIAL):
            raise UsageError("another trial is running: try again in a moment")
        try:
            until = time.monotonic() + _TRIAL
            return try_rules(self._searcher(), before, after, asked, judged, lambda: time.monotonic() < until)
        finally:
            self._trying.release()

    def _both(self, found: Standing) -> tuple[Rules, Rules]:
        """The rules that count and those of the draft, which are made ready once: there may be thousands."""
        texts = [(one.rules if one is not None else "") for one in (found.version, found.drafted or found.version)]
        known = self._ready
        ready = {
            text: known.get(text) or Rules(desk)
            for text, desk in zip(texts, (found.published, found.draft), strict=True)
        }
        self._ready = ready
        return ready[texts[0]], ready[texts[1]]

    def _in_vain(self, found: Standing) -> list[tuple[asked_table.AskedQuery, str]]:
        """The queries that found nothing most often, each with what it finds now: `counts` and `draft` find something,
        `` nothing does."""
        until = day_of(self._crawl.clock.now())
        rows = self._crawl.ask(lambda db: asked_table.top_in_vain(db, until - _IN_VAIN_DAYS + 1, until, _IN_VAIN))
        search = self._crawl.services.search
        if not isinstance(search, Searcher):
            return [(row, "") for row in rows]
        rules = dict(zip(("counts", "draft"), self._both(found), strict=True))
        stop = time.monotonic() + _LOOKING
        told = []
        for row in rows:
            request, now_by = Request(query=row.query, facets=False, literal=True), ""
            for name, one in rules.items():
                if not now_by and time.monotonic() < stop and search.under(Published(one)).urls(request, 1):
                    now_by = name
            told.append((row, now_by))
        return told


def _seen(found: Standing) -> str:
    """Which draft somebody looked at."""
    rules = found.drafted.rules if found.drafted is not None else ""
    return f"{found.number}-{hashlib.blake2b(rules.encode(), digest_size=12).hexdigest()}"
