"""Files made by LibreOffice and pandoc of texts that are known: whatever the program and the format, we read them."""

from __future__ import annotations

import pytest
from documents_kit import FILES, FOLDER, markdown, read
from make_documents import CREATED, TEXTS, Text

from gossamer.model.records import Link

NAMES = sorted(path.name for path in FILES.iterdir())
SLIDES, SHEETS = ("odp", "pptx"), ("ods", "xlsx")


def parts(name: str) -> tuple[str, str, str]:
    program, _, rest = name.partition("-")
    language, _, ending = rest.partition(".")
    return program, language, ending


def test_there_are_files_of_two_programs_in_four_languages() -> None:
    assert len(NAMES) >= 40
    assert {parts(name)[:2] for name in NAMES} == {(p, one) for p in ("libreoffice", "pandoc") for one in TEXTS}
    assert all(path.stat().st_size <= 15_000 for path in FILES.iterdir())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content_type", ["", "application/octet-stream"])
def test_a_file_is_read_under_its_type_and_under_none(name: str, content_type: str) -> None:
    _, language, ending = parts(name)
    page = read((FILES / name).read_bytes(), name, content_type)
    assert (page.ok, page.problem, page.method) == (True, "", ending)
    assert page.title == TEXTS[language].title
    assert page.language == language
    assert page.content_hash and page.fingerprint


@pytest.mark.parametrize("name", NAMES)
def test_everything_it_says_is_its_text(name: str) -> None:
    _, language, ending = parts(name)
    page, text = read((FILES / name).read_bytes(), name), TEXTS[language]
    lines = page.text.split("\n")
    assert text.heading in lines and text.heading in page.headings
    assert any(line.startswith(text.paragraph) for line in lines)
    assert any(line.endswith(text.link) for line in lines)
    for part in _said(text, ending):
        assert part in page.text


@pytest.mark.parametrize("name", [name for name in NAMES if parts(name)[2] not in ("epub", "md")])
def test_a_row_of_a_table_is_a_line(name: str) -> None:
    _, language, ending = parts(name)
    lines = read((FILES / name).read_bytes(), name).text.split("\n")
    for row in TEXTS[language].rows:
        shown = " | ".join(row)
        assert (shown.replace("42,5", "42.5") if ending in SHEETS else shown) in lines


@pytest.mark.parametrize("name", NAMES)
def test_its_link_is_followed(name: str) -> None:
    _, language, _ = parts(name)
    page = read((FILES / name).read_bytes(), name)
    url = f"https://garden.example/{language}"
    assert page.links == [Link(url, TEXTS[language].link)]
    assert page.follow == [url]


@pytest.mark.parametrize("name", [name for name in NAMES if name.partition(".")[2] != "rtf" or name[0] == "l"])
def test_it_says_who_made_it_and_when(name: str) -> None:
    _, language, ending = parts(name)
    page = read((FILES / name).read_bytes(), name)
    assert page.author == TEXTS[language].author
    assert (page.date, page.date_source) == (CREATED, ending)
    assert page.date_confidence == (0.9 if ending in ("epub", "md") else 0.6)


@pytest.mark.parametrize("name", NAMES)
def test_its_markdown_has_its_structure(name: str) -> None:
    program, language, ending = parts(name)
    shown, text = markdown((FILES / name).read_bytes(), name), TEXTS[language]
    assert f"# {text.heading}\n" in shown
    assert f"[{text.link}](https://garden.example/{language})" in shown
    cells = [row if ending not in SHEETS else [cell.replace("42,5", "42.5") for cell in row] for row in text.rows]
    for row in cells:
        assert f"| {' | '.join(row)} |" in shown
    if ending in SHEETS:
        return
    assert f"1. {text.steps[0]}\n2. {text.steps[1]}" in shown
    if not (program == "libreoffice" and ending in SLIDES):  # it takes signs of pandoc's outlines from their layouts
        assert f"- {text.items[0]}\n- {text.items[1]}\n  - {text.items[2]}\n" in shown


def _said(text: Text, ending: str) -> list[str]:
    rest = [cell.replace("42,5", "42.5") if ending in SHEETS else cell for row in text.rows for cell in row]
    return [*rest, *text.steps[:1]] if ending in SHEETS else [*rest, *text.items, *text.steps, text.note]


def test_relative_links_of_markdown_start_at_its_url() -> None:
    page = read("# Trees\n\n[pears](pears.md) and [plums](../plums/ 'all')\n", "index.md")
    assert [link.url for link in page.links] == [f"{FOLDER}pears.md", "http://garden.example/plums/"]
