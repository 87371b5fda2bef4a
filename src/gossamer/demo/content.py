"""How the bundled web is written down.

One text file per host in `sites/`. It opens with the host's own lines (`name: …`);
every page starts with `@ /path`, goes on with its lines, and after an empty line
comes its text: paragraphs, `- ` lists and `[links](/target)`.

Lines of a host: name, lang, nav (`/path=Label, …`), feed, broken (linked paths that
answer 404), outside (linked URLs of hosts that are not ours).
Lines of a page: title, description, date; status and location; refresh; canonical;
robots (the meta tag); charset (said in the page, not in the header); type (another
media type, whose text is sent as it is; `sitemap`, with entries, and `rss` are
generated); robots-txt: denied (a fact for the expectations); same: /path (the same
page again); copy: host /path (the same text on another host).

Links name other hosts without a port; the real one is put in when pages are made.
"""

from __future__ import annotations

from importlib.resources import files

import msgspec


class Page(msgspec.Struct, frozen=True):
    """One page as it is written down."""

    path: str
    fields: dict[str, str]
    text: str

    def get(self, name: str) -> str:
        """The value of a line, `""` where there is none."""
        return self.fields.get(name, "")

    @property
    def is_html(self) -> bool:
        """Whether it is rendered as a page of the site."""
        return not self.get("type") and not self.get("status")


class Host(msgspec.Struct, frozen=True):
    """One host as it is written down."""

    name: str
    fields: dict[str, str]
    pages: dict[str, Page]

    def get(self, name: str) -> str:
        """The value of a line, `""` where there is none."""
        return self.fields.get(name, "")

    def listed(self, name: str) -> list[str]:
        """The comma-separated values of a line."""
        return [value.strip() for value in self.get(name).split(",") if value.strip()]


def load() -> dict[str, Host]:
    """The bundled hosts by name, with copies filled in."""
    folder = files("gossamer.demo") / "sites"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".test.txt")), key=lambda f: f.name)
    hosts = {f.name[:-4]: parse(f.name[:-4], f.read_text("utf-8")) for f in found}
    return {name: _with_copies(host, hosts) for name, host in hosts.items()}


def parse(name: str, text: str) -> Host:
    """Reads one file."""
    first, *rest = ("\n" + text).split("\n@ ")
    fields, _ = _split(first.strip())
    pages = {}
    for part in rest:
        path, _, content = part.partition("\n")
        pages[path] = Page(path, *_split(content.rstrip()))
    return Host(name, fields, pages)


def _split(text: str) -> tuple[dict[str, str], str]:
    """The lines before the first empty one as fields, and the rest."""
    lines, _, body = text.partition("\n\n")
    fields = {}
    for line in filter(None, lines.split("\n")):
        key, _, value = line.partition(":")
        fields[key.strip()] = value.strip()
    return fields, body


def _with_copies(host: Host, hosts: dict[str, Host]) -> Host:
    pages = {path: _filled(page, host, hosts) for path, page in host.pages.items()}
    return Host(host.name, host.fields, pages)


def _filled(page: Page, host: Host, hosts: dict[str, Host]) -> Page:
    if page.get("same"):
        original = _filled(host.pages[page.get("same")], host, hosts)
        return Page(page.path, {**original.fields, **page.fields}, original.text)
    if page.get("copy"):
        name, path = page.get("copy").split(" ")
        original = hosts[name].pages[path]
        return Page(page.path, {**original.fields, **page.fields}, _absolute(original.text, name))
    return page


def _absolute(text: str, host: str) -> str:
    """A copy on another host keeps pointing to the original's neighbours."""
    return text.replace("](/", f"](http://{host}/")
