"""`gossamer resume`: continue paused sites, or the paused crawl."""

from __future__ import annotations

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, operator_name, out, print_json
from gossamer.cli.operating.pause import named, opened
from gossamer.frontier.steering import controls
from gossamer.tables.audit import note


def command(*sites: str, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Resume SITES, or the whole crawl.

    Parameters
    ----------
    sites
        Hosts, with the port if that is not the default one, or any URL of the site. Without sites: the whole crawl;
        sites that you paused by name stay paused.
    """
    with opened(data) as (db, now):
        names = named(db, sites, data)
        for name in names:
            controls.resume_site(db, name, now)
            note(db, now, operator_name(), "resume site", name)
        if not sites:
            controls.resume_crawl(db, now)
            note(db, now, operator_name(), "resume crawl")
        resting = [one.site for one in controls.paused_sites(db)]
        crawl = controls.paused(db)
    if json:
        print_json({"resumed": names or "crawl", "paused_sites": resting, "paused": crawl})
        return
    out.print(f"Resumed: {', '.join(names) if names else 'the crawl'}.", markup=False)
    if crawl is not None:
        out.print(
            f"The whole crawl is still paused ({crawl.reason}). Run `gossamer resume` to continue it.", markup=False
        )
    if resting:
        out.print(f"Still paused: {', '.join(resting)}.", markup=False)
