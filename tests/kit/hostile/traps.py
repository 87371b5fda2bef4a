"""Sites without an end: every page is harmless, all of them together are not."""

from __future__ import annotations

import datetime
import hashlib

from gossamer.demo.message import Ask, Reply
from kit.hostile.registry import PROSE, Pace, behaviour, page

_G = "traps"


def _number(ask: Ask) -> int:
    """The number at the end of the target, 0 where there is none."""
    digits = ask.target.rpartition("/")[2].rpartition("=")[2]
    return int(digits) if digits.isdecimal() else 0


def _token(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@behaviour(_G, "soft-404", "Every path below answers 200 and says there is no such page.")
def soft_404(ask: Ask, pace: Pace) -> Reply:
    """With links to further pages that do not exist."""
    text = "Sorry, we could not find the page you were looking for. It may have moved."
    return page("Page not found", text, [f"/soft-404/{_token(ask.target)}", "/soft-404/lost"])


@behaviour(_G, "calendar", "A calendar with a next month, for ever.")
def calendar(ask: Ask, pace: Pace) -> Reply:
    """Every day of every month is a link, too."""
    months = 2024 * 12 + _number(ask) if ask.path != "/calendar" else 2024 * 12
    year, month = divmod(min(months, 9998 * 12), 12)
    here, first = months - 2024 * 12, datetime.date(year, month + 1, 1)
    days = [f"/calendar/day/{first:%Y-%m}-{day:02}" for day in range(1, 29)]
    links = [f"/calendar/{here + 1}", f"/calendar/{max(here - 1, 0)}", *days]
    return page(f"{first:%B %Y}", f"Nothing is planned for {first:%B %Y}.", links)


@behaviour(_G, "session-path", "Every visit gets a new session id in the path.")
def session_path(ask: Ask, pace: Pace) -> Reply:
    """The content does not depend on it."""
    token = _token(ask.target)
    return page("Session in the path", PROSE, [f"/session-path/s{token}/one", f"/session-path/s{token}/two"])


@behaviour(_G, "session-query", "Every visit gets a new session id in the query, under an unknown name.")
def session_query(ask: Ask, pace: Pace) -> Reply:
    """No list of parameter names helps."""
    token = _token(ask.target)
    return page(
        "Session in the query",
        PROSE,
        [f"/session-query?visitor={token}", f"/session-query/b?visitor={token}"],
    )


@behaviour(_G, "session-known", "Every visit gets a new PHPSESSID and a new jsessionid.")
def session_known(ask: Ask, pace: Pace) -> Reply:
    """The canonical form removes them, so this is one page."""
    token = _token(ask.target)
    links = [f"/session-known?PHPSESSID={token}", f"/session-known;jsessionid={token}"]
    return page("Known session ids", PROSE, links)


@behaviour(_G, "query-grows", "Every page links to itself with one more parameter.")
def query_grows(ask: Ask, pace: Pace) -> Reply:
    """A filter list that never forgets a filter."""
    query = f"{ask.query}&" if ask.query else ""
    links = [f"/query-grows?{query}filter={n}" for n in (1, 2, 3)]
    return page("Search", f"{len(query)} characters of filters. {PROSE}", links)


@behaviour(_G, "query-permutes", "The same facets in every order and selection.")
def query_permutes(ask: Ask, pace: Pace) -> Reply:
    """Ten facets give a thousand sets and millions of orders."""
    chosen = [p for p in ask.query.split("&") if p]
    links = ["/query-permutes?" + "&".join([*chosen, f"f{n}=1"]) for n in range(10) if f"f{n}=1" not in chosen]
    return page("Facets", f"Chosen: {len(chosen)}. {PROSE}", links)


@behaviour(_G, "path-repeats", "Relative links repeat the same segments for ever.")
def path_repeats(ask: Ask, pace: Pace) -> Reply:
    """/path-repeats/news/sport/news/sport/…"""
    base = ask.path.rstrip("/")
    return page("Repeats", PROSE, [f"{base}/news/sport/", f"{base}/sport/news/"])


@behaviour(_G, "path-deep", "The link `a/` leads one level deeper each time.")
def path_deep(ask: Ask, pace: Pace) -> Reply:
    """Any path is a page."""
    depth = ask.path.count("/a/") + 1
    link = "a/" if ask.path.endswith("/") else "path-deep/a/"
    return page(f"Level {depth}", f"This is level {depth}. {PROSE}", [link])


@behaviour(_G, "numbers", "Every number is a page that links to the next ones.")
def numbers(ask: Ask, pace: Pace) -> Reply:
    """Near-identical paths without an end."""
    here = _number(ask)
    links = [f"/numbers/{here + step}" for step in (1, 2, 10)]
    return page(f"Number {here}", f"The number {here} has a page of its own. {PROSE}", links)


@behaviour(_G, "link-farm", "Every page links to 500 new pages with random names.")
def link_farm(ask: Ask, pace: Pace) -> Reply:
    """Breadth instead of depth."""
    links = [f"/link-farm/{_token(f'{ask.target} {n}')}.html" for n in range(500)]
    return page("Farm", f"{_token(ask.target)} {PROSE}", links)


@behaviour(_G, "long-url", "Every link is longer than the last.")
def long_url(ask: Ask, pace: Pace) -> Reply:
    """Doubles up to 50 KB, then one more each time."""
    length = len(ask.target)
    tail = 2 * length if length < 25_000 else length
    return page("Longer", PROSE, ["/long-url/" + "l" * tail])


@behaviour(_G, "host-wildcard", "Every page links to another made-up host name of this site.")
def host_wildcard(ask: Ask, pace: Pace) -> Reply:
    """A wildcard DNS entry; here the names do not resolve."""
    links = [f"http://{_token(f'{ask.target} {n}')}.hostile.test/host-wildcard" for n in range(5)]
    return page("Wildcard", PROSE, links)


@behaviour(_G, "changes-always", "The text is different at every visit.")
def changes_always(ask: Ask, pace: Pace) -> Reply:
    """By connection and clock; no two visits agree."""
    stamp = datetime.datetime.now(datetime.UTC).isoformat()
    return page("Changing", f"It is {stamp} on connection {ask.connection}. {PROSE}")


@behaviour(_G, "bad-links", "A page of links that are not URLs.")
def bad_links(ask: Ask, pace: Pace) -> Reply:
    """All of them have been seen in the wild in some form."""
    links = [
        "http://", "http:///", "//", "http://[", "http://a b/", "javascript:void(0)", "mailto:a@b.test",
        "tel:123", "data:,x", "http://256.256.256.256/", "http://a.test:port/", "http://%zz/", "ht!tp://x/",
        "\x00", "??", "#", "http://user@/", "http://xn--a/", "http://" + "a" * 300 + ".test/", "////triple",
        "\\\\back\\slash", "%", "../" * 50,
    ]  # fmt: skip
    return page("Bad links", PROSE, links)
