"""A page's title is its own: the site's name, the section and slogans in headings are left out."""

from __future__ import annotations

import pytest
from parse_kit import parse

from gossamer.parse.title import Names, Site, own_title, site_part

GAZETTE = Site("The Gazette", "gazette.example")


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (Names("A new bridge | The Gazette"), "A new bridge"),
        (Names("The Gazette: news – A new bridge"), "A new bridge"),
        (Names("A new bridge - gazette.example"), "A new bridge"),
        (Names("The Gazette"), "The Gazette"),
        (Names("Bridges - and how they fall - The Gazette"), "Bridges - and how they fall"),
        (Names("A new bridge opens today | Local", ["The new bridge opens today"]), "The new bridge opens today"),
        (Names("A new bridge | Local", ["Welcome to our pages"]), "A new bridge"),
        (Names("A new bridge | Local", ["The Gazette", "A new bridge"]), "A new bridge"),
        (Names("A new bridge | Local", ["Local"]), "A new bridge"),
        (Names("News | Welcome to the most read paper of the county", ["News"]), "News"),
        (Names("Orm Quick Start — Manual 2.0", ["Manual 2.0", "Orm Quick Start¶"]), "Orm Quick Start"),
        (Names("", ["Only a heading"]), "Only a heading"),
        (Names("", [], "Only og"), "Only og"),
        (Names("", [], "", "Only a headline"), "Only a headline"),
        (Names(), ""),
        (Names("Twelve bridges", ["Bridges"], "Twelve bridges", "Twelve bridges"), "Twelve bridges"),
        (
            Names("南海トラフ、一時調査：中日新聞Web", ["南海トラフ、一時調査 巨大地震"]),
            "南海トラフ、一時調査 巨大地震",
        ),
    ],
)
def test_the_title_is_the_pages_own(names: Names, title: str) -> None:
    assert own_title(names, GAZETTE) == title


def test_what_many_titles_of_a_site_share_is_no_part_of_them() -> None:
    known = Site("", "a.example", parts=frozenset(("tidingsandmore",)))
    assert own_title(Names("A new bridge · Tidings and more"), known) == "A new bridge"
    assert own_title(Names("Tidings and more", ["A new bridge"]), known) == "A new bridge"


def test_the_sites_name_is_kept_apart() -> None:
    page = parse("<title>A new bridge | The Gazette</title><p>Text", url="https://www.the-gazette.example/a")
    assert (page.title, page.site_name) == ("A new bridge", "The Gazette")
    assert site_part("A new bridge", GAZETTE) == ""


def test_a_heading_over_several_lines_has_spaces_between_them() -> None:
    page = parse("<title>Data analytics agency | X</title><h1>Data<br>analytics <b>agen</b>cy<style>.a{}</style></h1>")
    assert page.title == "Data analytics agency"


def test_headings_of_menus_and_sidebars_are_no_titles() -> None:
    page = parse("<title>Bridges of the county</title><nav><h1>Bridges</h1></nav><aside><h1>County</h1></aside><p>x")
    assert page.title == "Bridges of the county"
