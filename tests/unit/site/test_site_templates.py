"""Document rules that nobody has to write: how the URLs of documents look is learned from a sample, and only that."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.url import Canonicalizer
from gossamer.site.sketch import Seen, Sketch, sketch_of
from gossamer.site.templates import FEWEST, DocumentUrls, SiteDocuments, Template, learn_templates

HOST = "https://paper.org"
WORDS = "owl barn night river stone lamp field cloud road winter mouse hill bridge garden letter harbour".split()


def sketch(path: str, page_type: str = "", chars: int = 2000, title: str = "") -> Sketch:
    return sketch_of(
        np.array([7], np.uint64), (), Seen(HOST + path, title or f"Title of {path}", "en", page_type, chars)
    )


def articles(count: int) -> list[Sketch]:
    return [
        sketch(f"/news/{number}-the-{WORDS[number % 16]}-at-night", "article") for number in range(1000, 1000 + count)
    ]


def archives(count: int) -> list[Sketch]:
    days = (date(2024, 1, 1) + timedelta(days=number) for number in range(count))
    return [sketch(f"/{day:%Y/%m/%d}/", "listing") for day in days]


def fits(sample: list[Sketch], path: str) -> bool | None:
    return DocumentUrls(learn_templates(sample)).fits(HOST + path)


def test_documents_and_lists_are_told_by_their_urls() -> None:
    sample = [*articles(60), *archives(30), *(sketch(f"/tag/{word}/", "listing") for word in WORDS)]
    found = {one.pattern: one for one in learn_templates(sample)}
    assert found.keys() == {"/news/{id}-{slug}", "/{year}/{month}/{day}/", "/tag/{slug}/"}
    assert [found[pattern].is_list for pattern in found] == [False, True, True]
    assert found["/news/{id}-{slug}"].pages == 60
    assert found["/{year}/{month}/{day}/"].reason == "ends with a date: an archive"


def test_urls_are_judged_by_the_templates_of_documents() -> None:
    sample = [*articles(60), *archives(30)]
    assert fits(sample, "/news/77-what-nobody-has-read") is True
    assert fits(sample, "/2025/03/04/") is False and fits(sample, "/about") is False


def test_few_pages_show_nothing() -> None:
    assert learn_templates(articles(FEWEST - 1)) == ()
    assert fits(articles(FEWEST - 1), "/about") is None


def test_a_site_whose_pages_have_names_without_order_has_no_templates_of_documents() -> None:
    """Otherwise its few ordered pages would keep all others waiting."""
    names = [sketch(f"/{one}/{other}.html", "article") for one in WORDS[:5] for other in WORDS[:5]]
    assert fits([*names, *articles(8)], "/about") is None


def test_pages_that_share_their_titles_or_have_no_text_are_no_documents() -> None:
    same = [sketch(f"/item/{number}", title="Shop") for number in range(1000, 1030)]
    empty = [sketch(f"/video/{number}", chars=20) for number in range(1000, 1030)]
    assert not [one for one in learn_templates([*same, *empty]) if not one.is_list]


def test_a_template_that_no_longer_fits_is_withdrawn() -> None:
    """The site was rebuilt: the sample holds its new pages."""
    assert fits(articles(60), "/news/77-old-style") is True
    rebuilt = [sketch(f"/story/{WORDS[number % 16]}/{number}.html", "article") for number in range(2000, 2060)]
    assert fits([*articles(2), *rebuilt], "/news/77-old-style") is False
    assert fits([*articles(2), *rebuilt], "/story/owl/4711.html") is True


def test_the_order_of_the_sample_does_not_matter() -> None:
    sample = [*articles(40), *archives(20)]
    assert learn_templates(sample) == learn_templates(sample[::-1])


some_parts = st.text("abcxyz0123456789-_.%&=?é{}*+(", max_size=150) | st.sampled_from(["2024", "05", "tag", "a-b-c-d"])
some_paths = st.lists(some_parts, min_size=1, max_size=5).map(lambda parts: "/" + "/".join(parts))


@given(
    st.lists(st.tuples(some_paths, st.sampled_from(["", "article", "listing"]), st.integers(0, 900)), min_size=FEWEST)
)
def test_whatever_urls_a_site_has_its_templates_can_be_used(pages: list[tuple[str, str, int]]) -> None:
    """Workers go by them: a template that cannot be compiled would end a crawl."""
    sample = []
    for path, page_type, chars in pages:
        url = Canonicalizer().parse(HOST + path)
        assert isinstance(url, str)
        sample.append(sketch(url.removeprefix(HOST), page_type, chars))
    assert DocumentUrls(learn_templates(sample * 4)).fits(f"{HOST}/about") in (None, True, False)


class TestSites:
    TEMPLATES = (Template("/news/{id}", 40), Template("/tag/{slug}", 9, is_list=True))

    def test_each_site_has_templates_of_its_own(self) -> None:
        documents = SiteDocuments()
        assert documents.know("paper.org", self.TEMPLATES)
        assert documents.fits("https://paper.org/news/1") is True
        assert documents.fits("https://paper.org/tag/owl") is False
        assert documents.fits("https://other.org/news/1") is None

    def test_the_same_again_moves_nothing_and_none_at_all_forgets(self) -> None:
        documents = SiteDocuments()
        assert not documents.know("paper.org", ())
        assert documents.know("paper.org", self.TEMPLATES)
        assert not documents.know("paper.org", (Template("/news/{id}", 77), Template("/list/{id}", 5, is_list=True)))
        assert documents.know("paper.org", ())
        assert documents.fits("https://paper.org/about") is None

    def test_switched_off_they_decide_nothing(self) -> None:
        documents = SiteDocuments(is_asked=False)
        assert not documents.know("paper.org", self.TEMPLATES)
        assert documents.fits("https://paper.org/about") is None
