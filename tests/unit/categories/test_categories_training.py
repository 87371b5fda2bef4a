"""A classifier learns what it is shown, says how good it is, and does not depend on the order of its examples."""

from __future__ import annotations

import random
from types import SimpleNamespace

import msgspec
import pytest
from category_texts import SENTENCES, UNSEEN, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.categories.examples import MIN_EXAMPLES, Example, category_name, examples_from_pages
from gossamer.categories.model import Model
from gossamer.categories.training import train
from gossamer.errors import UsageError


@pytest.fixture(scope="module")
def model() -> Model:
    return train(examples())


@pytest.mark.parametrize(("category", "title", "text"), UNSEEN)
def test_a_page_it_has_not_seen_gets_its_category_in_any_language(
    model: Model, category: str, title: str, text: str
) -> None:
    assert model.explain(title, text).best == category


def test_it_is_silent_about_what_it_was_not_taught(model: Model) -> None:
    for title, text in (
        ("", ""),
        ("1234", "5678 90"),
        ("Parliament", "Ministers debated taxes, pensions and the budget until midnight, then voted against the law."),
        ("Выборы", "Министры обсуждали налоги, пенсии и бюджет, затем проголосовали против закона."),
    ):
        assert model.predict(title, text).category == ""


def test_the_report_is_measured_on_pages_that_were_not_learnt_from() -> None:
    # Words that say nothing of the category: whatever it learns by heart, it cannot guess better than chance.
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in ("lam", "rin", "sto", "vek")]
    chance = random.Random(7)
    noise = [
        Example(category, "", " ".join(chance.choices(words, k=40))) for category in ("one", "two") for _ in range(60)
    ]
    report = train(noise).report
    assert 0.3 < report.accuracy < 0.7
    assert any("answers are right" in warning for warning in report.warnings)


def test_the_report_counts_every_example_once(model: Model) -> None:
    report = model.report
    assert report.examples == sum(map(sum, report.confusion)) == 54
    assert [one.examples for one in report.categories] == [18, 18, 18]
    right = sum(report.confusion[at][at] for at in range(3))
    assert report.accuracy == pytest.approx(right / 54)


def test_the_most_telling_words_are_of_the_category(model: Model) -> None:
    for one in model.report.categories:
        own = " ".join(SENTENCES[one.name]).lower()
        assert one.words and all(word in own for word in one.words)


def test_the_words_that_decided_are_named(model: Model) -> None:
    opinion = model.explain("Soup", "The soup boils with butter and salt; the telescope is not for sale.")
    assert opinion.best == "cooking" and next(iter(opinion.confidences)) == "cooking"
    assert "soup" in dict(opinion.words) and "telescope" in dict(opinion.against)
    assert sum(opinion.confidences.values()) == pytest.approx(1.0, abs=1e-5)


@settings(max_examples=10)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_examples_does_not_matter(model: Model, chance: random.Random) -> None:
    shuffled = examples()
    chance.shuffle(shuffled)
    assert train(shuffled).to_bytes() == model.to_bytes()


def test_sites_are_not_learnt_from_and_tested_at_once() -> None:
    """Every page of a site bears its site's own word, and a site has one category: tested on pages of the same
    sites, that word gives everything away."""
    rows = [
        Example(category, "", f"{site} {site} common words of all pages {page}", f"{site}.test")
        for category, site in zip(["alpha", "beta"] * 5, "dog cat cow pig hen ram owl elk emu yak".split(), strict=True)
        for page in "abcdefgh"
    ]
    by_site = train(rows).report
    by_page = train([msgspec.structs.replace(row, site="") for row in rows]).report
    assert (by_site.folds_by, by_page.folds_by) == ("site", "document")
    assert by_page.accuracy == 1.0 and by_site.accuracy < 0.9


def test_a_category_of_one_site_is_pointed_out() -> None:
    rows = examples(site="a.test")
    moved = [msgspec.structs.replace(row, site="b.test") if row.category == "space" else row for row in rows]
    assert any("space comes from one site only" in warning for warning in train(moved).report.warnings)


def test_stricter_precision_means_fewer_answers() -> None:
    overlapping = [
        Example(category, "", f"{text} shared words everywhere in every page")
        for category, text in (("left", "red"), ("right", "blue"), ("left", "green"), ("right", "green"))
        for text in (f"{text} {extra}" for extra in "abcdefghijklmnopqrstuvwxyz")
    ]
    loose, strict = train(overlapping, precision=0.5).report, train(overlapping, precision=1.0).report
    assert loose.answered >= strict.answered
    assert strict.precision >= loose.precision


@pytest.mark.parametrize(
    ("given_examples", "said"),
    [
        ([], "no examples"),
        ([Example("a", "", f"text {n}") for n in "xyz"], "all usable examples are of the category 'a'"),
        ([Example("a", "", "one"), Example("b", "", "two")], "every category has fewer than"),
        ([Example("a", "", " "), Example("b", "", "")], "no examples"),
        ([Example(name, "", f"t {name} {n}") for name in ("Sport", "sport") for n in "uvw"], "case only"),
        ([Example("", "", "text")], "no name for a category"),
        ([Example("a\x1b[2J", "", "text")], "no name for a category"),
        ([Example("x" * 61, "", "text")], "no name for a category"),
    ],
)  # fmt: skip
def test_what_cannot_be_learnt_from_is_said(given_examples: list[Example], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        train(given_examples)


def test_a_category_with_too_few_examples_is_left_out_with_a_word() -> None:
    rows = [*examples(), *(Example("rare", "", f"gardens and roses {n}") for n in range(MIN_EXAMPLES - 1))]
    model = train(rows)
    assert "rare" not in model.categories
    assert any(warning.startswith("rare is left out") for warning in model.report.warnings)
    assert any("football has only 18 examples" in warning for warning in model.report.warnings)


def test_copies_count_once_and_contradictions_not_at_all() -> None:
    rows = examples()
    model = train([*rows, *rows, *rows])
    assert model.report.examples == len(rows)
    torn = [*rows, msgspec.structs.replace(rows[0], category="space")]
    report = train(torn).report
    assert report.examples == len(rows) - 1
    assert any("same text stands in several categories" in warning for warning in report.warnings)


def test_more_examples_than_can_be_used_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.categories.examples.MOST", 10)
    report = train(examples()).report
    assert [one.examples for one in report.categories] == [10, 10, 10]
    assert any("10 of 18 examples are used" in warning for warning in report.warnings)


def test_names_are_trimmed() -> None:
    assert category_name("  world \n news ") == "world news"


def test_stored_pages_become_examples_by_what_their_url_says() -> None:
    pages = [SimpleNamespace(url=f"http://a.test/{part}/1", title="T", text="x") for part in ("sport", "about")]
    found = list(examples_from_pages(pages, lambda url: "sport" if "/sport/" in url else "", lambda url: "a.test"))
    assert found == [Example("sport", "T", "x", "a.test")]
