"""Every setting in force, its value, where it came from and what it does; nothing can be changed here."""

from __future__ import annotations

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from gossamer.console.context import Asked, Console
from gossamer.console.origins import Section, Shown, in_force, sources


def routes(console: Console) -> list[Route]:
    """Where the settings are shown."""
    return [console.shows("/settings", lambda asked: _show(console, asked))]


def _show(console: Console, asked: Asked) -> Response:
    words = asked.query.get("q", "").strip()[:200]
    changed = bool(asked.query.get("changed"))
    sections = in_force(console.crawl.settings(), sources(console.crawl.folder))
    found = [narrowed for section in sections if (narrowed := narrow(section, words, changed)).settings]
    return console.page(
        asked, "settings.html", sections=found, words=words, changed=changed,
    )  # fmt: skip


def narrow(section: Section, words: str, changed: bool) -> Section:
    """The settings of a section that have all the words in their name, value or sentence."""
    wanted = words.lower().split()

    def fits(setting: Shown) -> bool:
        text = f"{section.name}.{setting.name} {setting.value} {setting.origin} {setting.sentence}".lower()
        return all(word in text for word in wanted) and not (changed and setting.is_default)

    return msgspec.structs.replace(section, settings=tuple(filter(fits, section.settings)))
