"""`gossamer limit`: ask a site more slowly, or only so often in all."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, operator_name, out, print_json, seconds
from gossamer.cli.operating.pause import named, opened
from gossamer.frontier.steering import controls
from gossamer.frontier.steering.controls import Controls
from gossamer.model.counts import counted
from gossamer.tables.audit import note


def command(
    site: str,
    *,
    delay: str | None = None,
    pages: Annotated[int | None, Parameter(allow_leading_hyphen=True)] = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Limit how often, or how many times in all, the crawl sends requests to a site.

    0 lifts a limit. An option that you leave out changes nothing.

    Parameters
    ----------
    site
        A host, with its port if that is not the default one, or any URL of the site.
    delay
        Shortest time between two requests: 5, 1m. The longest of this, politeness.delay and Crawl-delay counts.
    pages
        Most page requests to the site in all, earlier ones included. Its other URLs stay in the queue.
    """
    with opened(data) as (db, now):
        [name] = named(db, [site], data)
        before = controls.controls_of(db, name)
        if delay is not None or pages is not None:
            least = before.least_delay if delay is None else seconds(delay)
            most = before.most_pages if pages is None else pages
            controls.limit_site(db, name, least, most, now)
            note(db, now, operator_name(), "limit site", name, _words(Controls("", least, most)))
        said, rests = controls.controls_of(db, name), controls.why_it_rests(db, name)
    if json:
        print_json({"site": name, "least_delay": said.least_delay, "most_pages": said.most_pages, "rests": rests})
        return
    out.print(f"{name}: {_words(said)}." + (f" The crawl leaves it alone now: {rests}." if rests else ""), markup=False)


def _words(said: Controls) -> str:
    delay = f"at least {said.least_delay:g} s between two requests" if said.least_delay else ""
    pages = f"at most {counted(said.most_pages, 'request')}" if said.most_pages else ""
    return ", ".join(filter(None, (delay, pages))) or "no limit"
