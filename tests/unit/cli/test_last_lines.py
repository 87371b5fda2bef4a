"""The last lines of a crawl say what there is now, and the exact next command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.crawling.ending import Run, last_lines
from gossamer.cli.crawling.seed_lines import commands_for
from gossamer.frontier.views.inspect import Status

NOW = 1_700_000_000.0


def standing(**fields: Any) -> Status:
    status = {
        field.name: {} if field.name in ("errors_by_kind", "outcomes", "queue_by_level", "workers_by_machine") else 0
        for field in msgspec.structs.fields(Status)
    }
    return Status(**{**status, "next_due_at": None, "paused": "", **fields})


def lines(run: Run, **fields: Any) -> list[str]:
    return last_lines(standing(**fields), run, NOW)


def test_a_crawl_that_is_done_says_how_to_search() -> None:
    assert lines(Run(540.0), pages=543) == ["Finished: 543 pages in 9 min. Search them: gossamer search WORDS"]


def test_the_folder_is_named_where_it_is_not_the_usual_one() -> None:
    [line] = lines(Run(540.0, data=Path("my news")), pages=1)
    assert line == "Finished: 1 page in 9 min. Search it: gossamer search WORDS --data 'my news'"


def test_without_an_index_it_says_how_to_get_one() -> None:
    [line] = lines(Run(5.0, index=False, data=Path("news")), pages=543)
    assert line == "Finished: 543 pages in 5 s. Make them searchable: gossamer index --data news"


def test_a_run_that_resumed_tells_what_it_added() -> None:
    [line] = lines(Run(120.0, pages_before=400), pages=543)
    assert line.startswith("Finished: 543 pages (143 new) in 2 min.")


def test_a_crawl_that_was_stopped_says_how_to_continue() -> None:
    first, second = lines(Run(60.0, early=True), pages=543, urls_due=25)
    assert first.startswith("Stopped: 543 pages in 60 s.")
    assert second == "25 URLs left. Run `gossamer crawl` to continue"


def test_what_waits_for_an_operator_or_a_retry_is_told_apart() -> None:
    _, paused = lines(Run(60.0, data=Path("d")), pages=5, urls_due=1)
    assert paused == "1 URL left on sites that are paused or at their limit. Run `gossamer crawl --data d` to try again"
    _, resting = lines(Run(60.0), pages=5, urls_due=2, next_due_at=NOW + 540)
    assert resting == "2 URLs left on sites that need a pause. Run `gossamer crawl` in 9 min to continue"
    _, later = lines(Run(60.0), pages=5, urls_scheduled=3, next_due_at=NOW + 840)
    assert later == "3 URLs failed. Run `gossamer crawl` in 14 min to try again"


def test_where_there_is_nothing_to_search_nobody_is_told_to() -> None:
    assert lines(Run(9.0)) == ["Finished: no pages in 9 s."]


def test_the_command_that_goes_on_repeats_the_options() -> None:
    """Without them, a crawl of a private network did not even start."""
    again = commands_for(Path("d"), {"network": {"allow": ["127.0.0.0/8"]}}).crawl()
    _, rest = lines(Run(60.0, early=True, data=Path("d"), again=again), pages=5, urls_due=2)
    assert rest == "2 URLs left. Run `gossamer crawl --allow-network 127.0.0.0/8 --data d` to continue"
