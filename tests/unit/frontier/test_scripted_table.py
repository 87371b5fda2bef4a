"""The budget of rendering: so many pages and requests of a site a day, and a rest where it brings nothing."""

from __future__ import annotations

from gossamer.database.database import Database
from gossamer.tables import scripted
from gossamer.tables.scripted import DAY, REST, TRIES, Scripted, claim, note, of_site

NOW = 20_000.0 * DAY + 100
SITE, OTHER = 1, 2
MANY = float("inf")


def test_pages_of_a_day_are_counted_before_they_are_rendered(db: Database) -> None:
    assert [claim(db, SITE, NOW, 2, MANY) for _ in range(2)] == ["", ""]
    assert "browser.pages" in claim(db, SITE, NOW, 2, MANY)
    assert of_site(db, SITE, NOW).rendered == 2
    assert claim(db, OTHER, NOW, 2, MANY) == ""
    assert claim(db, SITE, NOW + DAY, 2, MANY) == ""


def test_requests_of_a_day_are_bounded(db: Database) -> None:
    assert claim(db, SITE, NOW, 100, 10) == ""
    note(db, SITE, NOW, 12, True)
    assert "browser.share" in claim(db, SITE, NOW, 100, 10)
    assert claim(db, SITE, NOW + DAY, 100, 10) == ""


def in_vain(db: Database, times: int, now: float) -> list[str]:
    said = []
    for _ in range(times):
        said.append(claim(db, SITE, now, 1000, MANY))
        if not said[-1]:
            note(db, SITE, now, 1, False)
    return said


def test_a_site_where_nothing_is_gained_rests_for_a_week(db: Database) -> None:
    assert in_vain(db, TRIES, NOW) == [""] * TRIES
    for days in range(REST):
        assert "added no text" in claim(db, SITE, NOW + days * DAY, 1000, MANY)
    assert claim(db, SITE, NOW + REST * DAY, 1000, MANY) == ""


def test_after_its_rest_one_page_in_vain_is_enough_and_one_gain_ends_it(db: Database) -> None:
    in_vain(db, TRIES, NOW)
    again = NOW + REST * DAY
    assert in_vain(db, 2, again)[0] == ""
    assert "added no text" in claim(db, SITE, again, 1000, MANY)
    later = again + REST * DAY
    assert claim(db, SITE, later, 1000, MANY) == ""
    note(db, SITE, later, 1, True)
    assert in_vain(db, TRIES - 1, later) == [""] * (TRIES - 1)
    assert claim(db, SITE, later, 1000, MANY) == ""


def test_a_gain_now_and_then_keeps_a_site_from_resting(db: Database) -> None:
    for _ in range(5):
        assert in_vain(db, TRIES - 1, NOW) == [""] * (TRIES - 1)
        assert claim(db, SITE, NOW, 1000, MANY) == ""
        note(db, SITE, NOW, 1, True)
    row = of_site(db, SITE, NOW)
    assert (row.rendered, row.gained, row.requests, row.in_vain) == (5 * TRIES, 5, 5 * TRIES, 0)


def test_a_new_day_begins_at_nought_but_remembers_what_was_in_vain(db: Database) -> None:
    in_vain(db, 3, NOW)
    assert of_site(db, SITE, NOW + DAY) == Scripted(scripted.day_of(NOW) + 1, in_vain=3)
    assert of_site(db, OTHER, NOW) == Scripted(scripted.day_of(NOW))


def test_pages_of_a_site_in_trouble_tell_nothing_of_what_rendering_gains() -> None:
    row = Scripted(1, rendered=TRIES, in_vain=TRIES - 1)
    unknown = scripted.after(row, 3, None)
    assert (unknown.in_vain, unknown.rest_until, unknown.requests, unknown.gained) == (TRIES - 1, 0, 3, 0)
    assert scripted.after(unknown, 3, False).rest_until > row.day
