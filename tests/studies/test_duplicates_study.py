"""Near-duplicate methods are judged by what can be counted by hand."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.dedup.near.contract import OVERLAP
from gossamer.dedup.near.registry import DEFAULT, near_method
from studies.duplicates import findings as duplicate_findings
from studies.duplicates import page_texts
from studies.duplicates import study as duplicates
from studies.duplicates.altered_pages import WAYS, altered, judge_altered, try_altered
from studies.duplicates.methods import METHODS
from studies.duplicates.near_duplicates import Texts, judge, repeated, sharing, true_pairs
from studies.duplicates.overlap_estimates import ESTIMATES, standard_errors
from studies.duplicates.page_texts import made_up_texts, page_text, versions
from studies.study import Options


def words(name: str, number: int = 103) -> list[str]:
    """So many different words: 100 runs of four, unless told otherwise."""
    return [f"{name}{place}" for place in range(number)]


def joined(*parts: list[str]) -> str:
    return " ".join(word for part in parts for word in part)


class ByFirstWord:
    """A method that goes by the first two words: the first is the key, the second what is compared."""

    name = "first-word"
    threshold = 1.0

    def fingerprint(self, text: str, title: str = "") -> bytes:
        return " ".join(text.split()[:2]).encode()

    def long_part(self, fingerprint: bytes) -> bytes:
        return fingerprint

    def keys(self, fingerprint: bytes) -> list[int]:
        return [int.from_bytes(fingerprint.split()[0][:6], "big")]

    def similarity(self, left: bytes, right: bytes) -> float:
        return float(left.split()[1] == right.split()[1])


TAIL, OTHER = words("t", 197), words("o", 197)
COLLECTION = [
    joined(["aa", "same", "x"], TAIL),  # 0
    joined(["aa", "same", "y"], TAIL),  # 1: overlaps with 0 by 194 of 200 runs, and is found
    joined(["aa", "else", "z"], TAIL),  # 2: overlaps with both as well; has the key, but is not similar
    joined(["bb", "same", "x"], TAIL),  # 3: similar to 0 and 1, but under another key
    joined(["bb", "same", "w"], OTHER),  # 4: found with 3, with which it has nothing in common
    joined(["aa", "same", "x"], TAIL),  # a copy of 0
    "too short to say anything",
]


def test_precision_and_recall_by_hand():
    texts = Texts.of("by hand", COLLECTION)
    truth = true_pairs(texts)
    assert (texts.pages, texts.copies, len(texts.texts)) == (7, 1, 5)
    assert truth == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    found = judge(ByFirstWord(), texts, truth)
    # candidates: 01, 02, 12 by "aa", 34 by "bb"; found: 01 and 34, of which 34 is wrong
    assert found.recall == pytest.approx(1 / 6)
    assert found.judged == pytest.approx(3 / 6)  # 01, 03, 13
    assert found.precision == found.strict == pytest.approx(1 / 2)
    assert found.wrong_candidates == pytest.approx(1e6 / 10)  # 34, of ten pairs


def test_strict_precision_counts_what_is_almost_the_same_as_wrong():
    # 112 words in common, 5 apart at the end: 109 runs in common, 5 on either side: 109 of 119 = .916
    # the same with 12 apart: 102 common, 12 on either side: 102 of 126 = .81
    near, almost = words("n", 112), words("m", 105)
    texts = Texts.of(
        "strict",
        [
            joined(["aa", "same"], near[2:], words("a", 5)),
            joined(["aa", "same"], near[2:], words("b", 5)),
            joined(["bb", "same"], almost[2:], words("c", 12)),
            joined(["bb", "same"], almost[2:], words("d", 12)),
        ],
    )
    truth = true_pairs(texts)
    found = judge(ByFirstWord(), texts, truth)
    assert truth == {(0, 1)}
    assert (found.recall, found.precision, found.strict) == (1.0, 1.0, 0.5)


def test_pages_that_repeat_another_are_counted_once_a_group():
    texts = Texts.of("by hand", COLLECTION)
    # seven pages: a copy, and 1, 2, 3 that repeat 0
    assert repeated(texts, true_pairs(texts)) == pytest.approx(4 / 7)


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_no_true_pair_is_overlooked(seed):
    dice = Random(seed)
    pages = [dice.choices(words("v", 60), k=dice.randint(20, 60)) for _ in range(3)]
    pages += [altered(page, pages[0], dice.choice(WAYS[:3]), dice.uniform(0, 0.06), dice) for page in pages * 3]
    texts = Texts.of("random", map(" ".join, pages))
    number = len(texts.texts)
    every = {(a, b) for b in range(number) for a in range(b) if texts.overlap((a, b)) >= OVERLAP}
    assert true_pairs(texts) == every


def test_pairs_are_named_once_however_many_keys_they_share():
    assert sharing([[1, 2, 3], [2, 3], [4], [4, 1]]) == {(0, 1), (0, 3), (2, 3)}


@given(st.sampled_from(WAYS), st.floats(0, 0.5), st.integers(0, 1000))
def test_so_many_words_are_altered_as_was_said(way, share, seed):
    page, others = words("p", 200), ["other"]
    changed = altered(page, others, way, share, Random(seed))
    number = round(share * 200)
    assert len(changed) == 200 + {"inserted": number, "deleted": -number}.get(way, 0)
    assert changed.count("other") == (number if way in ("inserted", "replaced") else 0)
    if way == "moved":
        assert sorted(changed) == sorted(page)


def test_altered_copies_are_judged_by_their_true_overlap():
    pages = [text.split() for text in made_up_texts(12, 3)]
    method = near_method(DEFAULT)
    trials = try_altered([method], pages, 3)
    found = judge_altered(method, trials, Texts.of("altered", map(" ".join, pages)))
    near = [trial for trial in trials if trial.overlap >= OVERLAP]
    assert found.pairs == len(near) > 50
    assert found.recall == sum(bool(trial.found_by) for trial in near) / len(near) > 0.9
    assert found.precision > 0.95
    assert found.wrong_candidates == 0
    assert not any(trial.found_by for trial in trials if trial.overlap < 0.6)


def test_the_odd_sketch_errs_least():
    errors = standard_errors([text.split() for text in made_up_texts(30, 1)], 1)
    assert set(errors) == set(ESTIMATES)
    assert min(errors, key=errors.__getitem__) == "odd sketch of 2,048 bits"
    assert max(errors.values()) < 0.1


def manual(folder: Path, texts: list[str]) -> None:
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        page = f"<html><head><style>p {{}}</style></head><body><script>var x</script><p>{text}</p></body></html>"
        (folder / f"page-{number}.html").write_text(page)


def test_a_page_is_what_a_reader_sees(tmp_path):
    manual(tmp_path / "m", ["some text"])
    assert page_text(tmp_path / "m" / "page-0.html").split() == ["some", "text"]


@pytest.fixture
def nothing_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(page_texts, "INSTALLED", tmp_path / "nowhere")
    monkeypatch.setattr(duplicate_findings, "_EXTENT", {True: (1, 3, 20)})
    return Options(quick=True, cache=tmp_path / "cache")


def test_the_oldest_and_the_newest_version_are_compared(nothing_installed, tmp_path):
    for name in ("libboost1.74-doc", "libboost1.81-doc", "libboost1.83-doc"):
        manual(tmp_path / "cache/packages/usr/share/doc" / name, ["text"])
    (tmp_path / "cache/packages/usr/share/doc/libboost1.90-doc").mkdir()  # without a page
    found = versions("boost", tmp_path / "cache/packages")
    assert [folder.name for folder in found] == ["libboost1.74-doc", "libboost1.83-doc"]


def test_without_manuals_the_pages_are_made_up_and_the_report_says_so(nothing_installed):
    report = duplicates.run(nothing_installed)
    assert "made up" in report.data
    rows = next(table for table in report.tables if table.name == "methods").rows
    assert [row[:2] for row in rows] == [("altered", name) for name in METHODS]
    assert "collections" not in [table.name for table in report.tables]


def test_the_study_reads_manuals_in_two_versions(nothing_installed, tmp_path):
    old = made_up_texts(12, 5)
    new = [joined(["new"], text.split()[1:]) for text in old]
    for version, texts in (("amd64", old), ("i386", new)):
        manual(tmp_path / "cache/packages/usr/share/doc" / f"installation-guide-{version}", texts)
    report = duplicates.run(nothing_installed)
    tables = {table.name: table for table in report.tables}
    assert list(tables["collections"].rows[0]) == ["guides", 24, 24, 12, 0.5]
    recall = {row[1]: row[3] for row in tables["methods"].rows if row[0] == "guides"}
    assert recall[DEFAULT] == recall["shingles"] == 1.0
    assert [panel.title for panel in report.figures[1].panels] == ["guides", "altered"]
    assert all(goal.met for goal in report.goals)


def test_the_same_seed_gives_the_same_figures(nothing_installed):
    first, second = (duplicate_findings.measure(nothing_installed) for _ in range(2))
    assert first.judgements == second.judgements
    assert first.trials == second.trials
    assert first.errors == second.errors
