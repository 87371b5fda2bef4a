"""Settings: those an operator may change here, as a form; and every one in force, where it came from, what it does."""

from __future__ import annotations

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from gossamer.console import changing, settings_form
from gossamer.console.context import Asked, Console, Done
from gossamer.console.origins import Section, Shown, in_force, sources
from gossamer.operate.configuration.contents import read_tables
from gossamer.settings import load

PATH = "/console/settings"
_BACK = {"overview": "/console", "seeds": "/console/seeds"}
"""Where else the crawl can be restarted."""


def routes(console: Console) -> list[Route]:
    """Where the settings are shown and changed."""
    page = _Page(console)
    return [
        console.shows("/settings", page.show),
        console.does("/settings/save", page.save),
        console.does("/settings/restart", page.restart),
    ]


class _Page:
    """What the page shows and does."""

    def __init__(self, console: Console) -> None:
        self._console, self._crawl = console, console.crawl

    def show(self, asked: Asked) -> Response:
        """The form, and the list."""
        words = asked.query.get("q", "").strip()[:200]
        changed = bool(asked.query.get("changed"))
        root = self._crawl.folder.root
        sections = in_force(self._crawl.settings(), sources(self._crawl.folder))
        found = [narrowed for section in sections if (narrowed := narrow(section, words, changed)).settings]
        plan = self._crawl.ask(lambda db: changing.plan_now(self._crawl, db))
        return self._console.page(
            asked, "settings.html", sections=found, words=words, changed=changed, why_not=changing.why_not(self._crawl),
            form=settings_form.fields(load(root), read_tables(root)), plan=plan,
            pending=changing.pending(self._crawl, plan), searching=bool(words or changed),
        )  # fmt: skip

    def save(self, asked: Asked) -> Done:
        """Write what the form changes into the file."""
        root = self._crawl.folder.root
        wanted = settings_form.changes(asked.form, load(root), read_tables(root))
        if not wanted:
            return Done("change settings", "nothing", "Nothing was changed.", PATH)
        changing.change(self._crawl, lambda tables: settings_form.apply(wanted, tables))
        names = [one.name for one in wanted]
        of_server = {name for group in settings_form.GROUPS if group.of_server for name in group.labels}
        said = ["This takes effect when the server restarts."] if of_server & set(names) else []
        if set(names) - of_server:
            said.insert(0, changing.bring_into_force(self._crawl))
        sentence = f"Saved: {', '.join(names)}. {' '.join(said)}"
        return Done("change settings", ", ".join(names), sentence, PATH, "; ".join(one.words for one in wanted))

    def restart(self, asked: Asked) -> Done:
        """Have the crawl take up what was changed in the file."""
        return Done(
            "restart crawl", "", changing.bring_into_force(self._crawl), _BACK.get(asked.form.get("to", ""), PATH)
        )


def narrow(section: Section, words: str, changed: bool) -> Section:
    """The settings of a section that have all the words in their name, value or sentence."""
    wanted = words.lower().split()

    def fits(setting: Shown) -> bool:
        text = f"{section.name}.{setting.name} {setting.value} {setting.origin} {setting.sentence}".lower()
        return all(word in text for word in wanted) and not (changed and setting.is_default)

    return msgspec.structs.replace(section, settings=tuple(filter(fits, section.settings)))
