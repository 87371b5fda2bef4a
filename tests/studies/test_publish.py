"""A report becomes files that say what it says: tables, pictures, pages, and an index that needs no second run."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path

import lxml.html
import numpy as np
import pytest
from msgspec.structs import replace

from gossamer.errors import CorruptError, StorageError, UsageError
from gossamer.lab.tables import Table, shown
from studies.reports.prose import in_html, in_markdown
from studies.reports.publish import Run, publish, redraw, write_index
from studies.reports.report import Figure, Goal, Panel, Report, Series
from studies.reports.tables import csv_text, markdown_text

RUN = Run("gossamer lab useful --quick --seed 3", "0.1.0", 3, True, "2026-11-15", 41.5)
HOSTILE = "<script>alert(1)</script> *a* [b](c) | `d` & $e$"


def report(name: str = "useful", words: str = "plain words", **changes: object) -> Report:
    found = Report(
        name=name, title=f"Title: {words}", question=f"Question: {words}", seed=f"Seed: {words}",
        ours=f"Ours: {words}", data=f"Data: {words}", differs=f"Differs: {words}",
        tables=[Table("by-site", f"Sites: {words}", ("site", "share, %"), [(words, 74.36), ("b.test", None)])],
        figures=[Figure("curve", f"Curve: {words}", [Panel("cycle", "share", [Series(words, [1, 2], [0.1, 0.8])])])],
        goals=[Goal(f"Aim: {words}", f"Found: {words}", True), Goal("another aim", "too little", False)],
    )  # fmt: skip
    return replace(found, **changes)


def text_of(page: Path) -> str:
    return " ".join(lxml.html.fromstring(page.read_text(encoding="utf-8")).text_content().split())


# -- one study --------------------------------------------------------------------------------------


def test_a_study_has_tables_and_figures_in_two_forms_each_and_two_pages(tmp_path: Path) -> None:
    page = publish(report(), tmp_path, RUN)
    assert page == tmp_path / "useful" / "index.html"
    assert {path.name for path in page.parent.iterdir()} == {
        "index.html", "README.md", "report.json", "by-site.csv", "by-site.md", "curve.svg", "curve.png",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["index.html", "README.md"])
def test_both_pages_say_what_was_found_and_how_it_was_made(tmp_path: Path, name: str) -> None:
    place = publish(report(), tmp_path, RUN).parent / name
    text = text_of(place) if name.endswith("html") else place.read_text(encoding="utf-8")
    for word in ("Title", "Question", "Seed", "Ours", "Data", "Differs", "Aim", "Found", "Sites", "Curve"):
        assert f"{word}: plain words" in text
    assert "74.36" in text and "met" in text and "missed" in text
    assert RUN.command in text and "0.1.0" in text and "2026-11-15" in text and "42 s" in text
    assert "quick run" in text.lower()


def test_a_page_needs_nothing_but_its_pictures(tmp_path: Path) -> None:
    page = lxml.html.fromstring(publish(report(), tmp_path, RUN).read_text(encoding="utf-8"))
    assert not page.xpath("//script | //link")
    assert [str(one) for one in page.xpath("//img/@src")] == ["curve.svg"]
    assert "share against cycle" in page.xpath("//img/@alt")[0]
    assert "prefers-color-scheme: dark" in page.xpath("//style")[0].text
    linked = [link for link in map(str, page.xpath("//a/@href")) if "/" not in link]
    assert linked and all((tmp_path / "useful" / link).exists() for link in linked)


def test_words_of_a_report_are_never_markup(tmp_path: Path) -> None:
    publish(report(words=HOSTILE), tmp_path, RUN)
    write_index(tmp_path)
    for path in tmp_path.rglob("*.html"):
        page = lxml.html.fromstring(path.read_text(encoding="utf-8"))
        assert not page.xpath("//script")
        assert "<script>alert(1)</script> *a* [b](c) | d & $e$" in text_of(path)
    for path in tmp_path.rglob("*.md"):
        assert r"\<script>alert(1)\</script> \*a\* \[b\](c) \| `d` & \$e\$" in path.read_text(encoding="utf-8")


def test_a_study_run_again_leaves_nothing_of_the_last_run_but_what_others_put_there(tmp_path: Path) -> None:
    place = publish(report(), tmp_path, RUN).parent
    (place / "notes.txt").write_text("mine")
    publish(report(tables=[], figures=[]), tmp_path, RUN)
    assert {path.name for path in place.iterdir()} == {"index.html", "README.md", "report.json", "notes.txt"}


def test_the_same_report_gives_the_same_bytes(tmp_path: Path) -> None:
    def files(folder: Path) -> dict[str, bytes]:
        publish(report(), folder, RUN)
        write_index(folder)
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    first = files(tmp_path / "a")
    assert len(first) == 9 and first == files(tmp_path / "b")


def test_figures_of_numpy_are_taken(tmp_path: Path) -> None:
    line = Series("n", np.arange(1.0, 4.0), np.array([0.5, np.nan, 0.25]))
    numbers = Table("numbers", "Numbers", ("n", "x", "none"), [(np.int64(7), np.float64(0.5), np.float64("nan"))])
    publish(report(tables=[numbers], figures=[Figure("line", "Line", [Panel("x", "y", [line])])]), tmp_path, RUN)
    assert (tmp_path / "useful" / "numbers.csv").read_text() == "n,x,none\n7,0.5,\n"
    (again,) = redraw(tmp_path)
    assert list(again.report.figures[0].panels[0].series[0].y) == [0.5, 0.25]


@pytest.mark.parametrize("name", ["../up", "a/b", "", "README", "index", "a b"])
def test_a_name_that_is_no_name_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        publish(report(tables=[Table(name, "", (), [])]), tmp_path, RUN)
    with pytest.raises(ValueError, match="name"):
        publish(report(name), tmp_path, RUN)
    assert not list(tmp_path.rglob("*"))


def test_two_tables_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same name"):
        publish(report(tables=[Table("t", "", (), []), Table("t", "", (), [])]), tmp_path, RUN)


def test_a_row_with_too_few_cells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        publish(report(tables=[Table("t", "", ("a", "b"), [(1,)])]), tmp_path, RUN)


def test_without_matplotlib_the_way_to_get_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install matplotlib"):
        publish(report(), tmp_path, RUN)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="choose another --out"):
        publish(report(), tmp_path / "file", RUN)


# -- the index --------------------------------------------------------------------------------------


def test_the_index_has_a_paragraph_and_the_goals_of_each_study_in_the_order_of_the_list(tmp_path: Path) -> None:
    for name in ("zeta", "merge", "useful"):
        publish(report(name, words=f"of {name}"), tmp_path, RUN)
    page = write_index(tmp_path)
    html, markdown = text_of(page), (tmp_path / "README.md").read_text(encoding="utf-8")
    for text in (html, markdown):
        places = [text.index(f"Ours: of {name}") for name in ("useful", "merge", "zeta")]
        assert places == sorted(places)
        for name in ("useful", "merge", "zeta"):
            assert all(f"{word}: of {name}" in text for word in ("Seed", "Data", "Differs", "Aim", "Found"))
        assert "3 of 6 are met" in text
    links = lxml.html.fromstring(page.read_text(encoding="utf-8")).xpath("//a/@href")
    assert all((tmp_path / link).exists() for link in links)


def test_pages_are_made_again_from_stored_reports(tmp_path: Path) -> None:
    publish(report(), tmp_path, RUN)
    write_index(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for path in before:
        if path.name != "report.json":
            path.unlink()
    redraw(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_report_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    page = publish(report(), tmp_path, RUN)
    (page.parent / "report.json").write_text('{"report": 7}')
    with pytest.raises(CorruptError, match=r"useful/report\.json .* run the study again"):
        write_index(tmp_path)


def test_a_command_with_fences_in_it_stays_code(tmp_path: Path) -> None:
    publish(report(), tmp_path, replace(RUN, command="gossamer lab useful --out '`a` *b*'"))
    write_index(tmp_path)
    assert "`` gossamer lab useful --out '`a` *b*' ``" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_a_report_that_compares_with_nothing_has_no_empty_headings(tmp_path: Path) -> None:
    page = publish(report(seed="", differs=""), tmp_path, RUN)
    for text in (text_of(page), page.with_name("README.md").read_text(encoding="utf-8")):
        assert "the seed found" not in text and "Why they differ" not in text and "What we find" in text


def test_a_folder_without_studies_has_an_empty_index(tmp_path: Path) -> None:
    assert "Studies" in text_of(write_index(tmp_path / "new"))


# -- tables and sentences ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([74.36, 19.15, 100.0], ["74.4", "19.1", "100.0"]),
        ([0.7436, 0.19151], ["0.7436", "0.1915"]),
        ([1.5, 2.0], ["1.5", "2.0"]),
        ([1.0, 2.0], ["1", "2"]),
        ([12345.678, 0.00123], ["12,346", "0.00123"]),
        ([-68.0, -1.25], ["−68.00", "−1.25"]),
        ([1234567, -5], ["1,234,567", "−5"]),
        ([None, float("nan"), "–", True], ["–", "–", "–", "yes"]),
        ([0.0, 0.0], ["0", "0"]),
    ],
)
def test_figures_are_shown_with_the_digits_that_tell_something(column: list[object], expected: list[str]) -> None:
    table = Table("t", "", ("x",), [(cell,) for cell in column])
    assert [row[0] for row in shown(table)] == expected


def test_csv_is_read_back_as_it_was() -> None:
    table = Table("t", "", ("a, b", "c"), [('say "x"', 0.5), ("two\nlines", None)])
    assert list(csv.reader(io.StringIO(csv_text(table)))) == [["a, b", "c"], ['say "x"', "0.5"], ["two\nlines", ""]]


def test_columns_of_figures_are_flush_right_in_markdown() -> None:
    table = Table("t", "", ("name", "n"), [("a|b", 1), ("c", None)])
    assert markdown_text(table).splitlines() == ["| name | n |", "|---|---:|", r"| a\|b | 1 |", "| c | – |"]


@pytest.mark.parametrize("convert", [in_html, in_markdown])
def test_what_stands_between_backquotes_is_code(convert: Callable[[str], str]) -> None:
    shown_as = {in_html: "<code>a&lt;b_c</code>", in_markdown: "`a<b_c`"}[convert]
    assert convert("x `a<b_c` y") == f"x {shown_as} y"
    assert "<code>" not in convert("one ` alone")


def test_a_percent_sign_stands_apart_from_its_figure_and_stays_with_it() -> None:
    assert in_html("60% and 44 %") == "60\u00a0% and 44\u00a0%" and in_markdown("60% and 44 %") == "60 % and 44 %"
    assert in_markdown("a1%20b") == "a1%20b"


@pytest.mark.parametrize("text", ["1. one", "- one", "# one", "> one", "--- one", "+ one", "3) one", "= one"])
def test_no_sentence_begins_a_list_or_a_heading(text: str) -> None:
    assert in_markdown(text).replace("\\", "") == text and "\\" in in_markdown(text)


@pytest.mark.parametrize("text", ["3.5 times", "−16 %", "-16 %", "12", "A & B", "2026-11-15"])
def test_plain_sentences_are_left_alone(text: str) -> None:
    assert in_markdown(text) == text
