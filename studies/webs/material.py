"""The webs that simulated studies crawl: real sites where they are at hand, made-up ones where not."""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.lab.webs.web import RecordedWeb
from studies.study import Options
from studies.webs.catalogue import site_webs
from studies.webs.made_up.news import news_web
from studies.webs.made_up.university import university_web

RULED = ("learningischange", "itw66", "mircsgo")
"""Sites with document rules."""
_SMALL_RULED = ("itw66", "mircsgo")
_GRAPHS = (*RULED, "postgresql", "cmake", "python", "gimp-ru", "lazarus")
_SMALL_GRAPHS = ("itw66", "mircsgo")


def ruled_webs(options: Options) -> list[RecordedWeb]:
    """Webs whose useful pages are told by document rules."""
    found = list(site_webs(options, _SMALL_RULED if options.quick else RULED)) if options.webs else []
    return found or [news_web(4 if options.quick else 20, 1.0, seed=options.seed, archive=100)]


def graph_webs(options: Options) -> list[RecordedWeb]:
    """Webs whose links are studied."""
    names, most = (_SMALL_GRAPHS, 800) if options.quick else (_GRAPHS, 6000)
    real = list(site_webs(options, names, most_pages=most)) if options.webs else []
    return [*real, university_web(hosts=6, pages=500 if options.quick else 4000, seed=options.seed)]


def list_of(webs: Sequence[RecordedWeb]) -> str:
    """Names and sizes, and where the webs come from."""
    names = ", ".join(f"{web.name} ({int(web.fetched.sum()):,} URLs)" for web in webs)
    return f"{names}."
