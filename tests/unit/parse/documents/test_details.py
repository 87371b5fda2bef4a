"""What single formats say in their own way."""

from __future__ import annotations

import pytest
from documents_kit import FILES, R, S, docx, markdown, opendocument, paragraph, read, xlsx

import gossamer
from gossamer.parse.documents.xlsx import number_shown


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def test_bold_and_italic_words_are_marked() -> None:
    body = docx(f"<w:p>{run('A ')}{run('ripe', '<w:b/>')}{run(' and ')}{run('red', '<w:i/>')}{run(' pear')}</w:p>")
    assert read(body, "x.docx").text == "A ripe and red pear"
    assert markdown(body, "x.docx").strip() == "A **ripe** and *red* pear"


def test_deleted_and_hidden_words_are_no_text() -> None:
    gone = f"<w:del><w:r><w:delText>plum</w:delText></w:r></w:del>{run('quince', '<w:vanish/>')}"
    assert read(docx(f"<w:p>{run('pear')}{gone}</w:p>"), "x.docx").text == "pear"


def test_a_text_box_stands_once_beside_its_paragraph() -> None:
    box = f"<w:txbxContent>{paragraph('In a box')}</w:txbxContent>"
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    both = f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    either = f"<w:r><mc:AlternateContent {mc}>{both}</mc:AlternateContent></w:r>"
    body = docx(f"<w:p>{run('Before ')}{either}{run('and after')}</w:p>")
    assert sorted(read(body, "x.docx").text.split("\n")) == ["Before and after", "In a box"]


def test_links_of_fields_are_links() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "http://garden.example/a" \\o "b" '
        f'</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("the garden")}'
        f'<w:r><w:fldChar w:fldCharType="end"/></w:r>{run(" and more")}'
    )
    page = read(docx(f"<w:p>{field}</w:p>"), "x.docx")
    assert [(link.url, link.anchor) for link in page.links] == [("http://garden.example/a", "the garden")]
    assert page.text == "the garden and more"


@pytest.mark.parametrize("given", ["", "untitled", "Microsoft Word - report.docx", "letter.odt", "12"])
def test_a_title_that_a_program_made_up_is_not_taken(given: str) -> None:
    core = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{given}</dc:title></cp:coreProperties>'
    )
    assert (
        read(docx(paragraph("Pears of the North"), {"docProps/core.xml": core}), "x.docx").title == "Pears of the North"
    )


def test_a_workbook_without_a_title_is_called_by_its_file() -> None:
    assert read(xlsx("<row><c><v>7</v></c></row>"), "harvest%202024.xlsx").title == "harvest 2024.xlsx"


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        ("45429", "d", "2024-05-17"), ("45429.5", "d", "2024-05-17 12:00"), ("0.25", "d", "06:00"),
        ("0.25", "%", "25%"), ("0.30000000000000004", "", "0.3"), ("118", "", "118"), ("1e400", "", "inf"),
        ("1e300", "d", "1e300"), ("pear", "d", "pear"),
    ],
)  # fmt: skip
def test_numbers_are_shown_as_their_format_says(value: str, kind: str, shown: str) -> None:
    assert number_shown(value, kind) == shown


def test_empty_cells_keep_the_others_in_their_columns() -> None:
    first = '<row><c r="A1" t="str"><v>a</v></c><c r="C1" t="str"><v>c</v></c></row>'
    rows = first + '<row><c r="B2" t="str"><v>b</v></c></row>'
    shown = markdown(xlsx(rows), "x.xlsx")
    assert "| a |  | c |" in shown and "|  | b |  |" in shown


@pytest.mark.parametrize(("state", "text"), [("visible", "Trees\n7"), ("hidden", "")])
def test_hidden_sheets_are_no_text(state: str, text: str) -> None:
    sheet = f'<sheet name="Trees" state="{state}" r:id="r1"/>'
    book = f'<workbook xmlns="{S}" xmlns:r="{R}"><sheets>{sheet}</sheets></workbook>'
    assert read(xlsx("<row><c><v>7</v></c></row>", {"xl/workbook.xml": book}), "x.xlsx").text == text


def test_comments_and_deletions_of_opendocument_are_no_text() -> None:
    body = (
        "<text:tracked-changes><text:p>plum</text:p></text:tracked-changes>"
        "<text:p>pear<office:annotation><text:p>quince</text:p></office:annotation></text:p>"
    )
    assert read(opendocument("text", body), "x.odt").text == "pear"


RTF = rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset204 A;}{\f1\fcharset128 B;}}"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"\'e3\'f0\'f3\'f8\'e0", "груша"),
        (rb"\f1\'97\'9c\'82\'cc\'96\'d8", "梨の木"),
        (rb"\u1075?\u1088?\u1091?\u1096?\u1072?", "груша"),
        (rb"a\u-10179?\u-8900?", "a\U0001f53c"),
        (rb"\uc2\u1075 ab\u1088 cd", "гр"),
        (rb"pear\~tree\_a {\v hidden}{\*\unknown gone}{\pict 00ff}b", "pear tree-a b"),
        (rb"one\par two\line three", "one\ntwo\nthree"),
        (rb"\{pear\}\\", "{pear}\\"),
    ],
)
def test_rtf_says_characters_in_many_ways(body: bytes, text: str) -> None:
    assert read(RTF + body + b"}", "x.rtf").text == text


MAIL = """From: =?utf-8?b?0JDQvdC90LA=?= <anna@garden.example>
To: Edith Marlow <edith@garden.example>, bo@garden.example
Subject: Pears in =?utf-8?q?J=C3=A4nner?=
Date: Fri, 17 May 2024 12:00:00 +0200
Content-Type: multipart/mixed; boundary="outer"

--outer
Content-Type: multipart/alternative; boundary="inner"

--inner
Content-Type: text/plain; charset=utf-8

The plain version.

--inner
Content-Type: text/html; charset=windows-1251
Content-Transfer-Encoding: quoted-printable

<html><head><title>x</title></head><body><p>=C3=F0=F3=F8=E0 <a href=3D"http://garden.example/p">p</a>
<a href=3D"cid:1">here</a></body></html>
--inner--

--outer
Content-Type: message/rfc822

From: Bo <bo@garden.example>
Subject: Re: Plums
Content-Type: text/plain

All plums are gone.

--outer
Content-Type: application/pdf; name="list.pdf"
Content-Disposition: attachment; filename="list of trees.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--outer--
"""


def test_a_mail_says_who_wrote_what_to_whom_and_when() -> None:
    page = read(MAIL, "x.eml")
    assert (page.title, page.author, page.date, page.date_confidence) == (
        "Pears in Jänner", "Анна", "2024-05-17T10:00:00Z", 0.9
    )  # fmt: skip
    assert page.text.split("\n") == [
        "Pears in Jänner", "From: Анна", "To: Edith Marlow, bo@garden.example", "Date: Fri, 17 May 2024 12:00:00 +0200",
        "Груша p here", "Re: Plums", "From: Bo", "All plums are gone.", "Attached:", "list of trees.pdf",
    ]  # fmt: skip
    assert [link.url for link in page.links] == ["http://garden.example/p"]


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ('---\ntitle: "Pears: a guide"\ndate: 2024-05-17\n---\n', "Pears: a guide"),
        ('+++\ntitle = "Pears"\ndate = 2024-05-17\n+++\n', "Pears"),
        ("---\ntitle: untitled\ndate: 2024-05-17\n---\n", "Of Trees"),
    ],
)
def test_what_stands_before_a_markdown_text_is_known_and_not_shown(front: str, title: str) -> None:
    page = read(f"{front}\n# Of Trees\n\nA text.\n", "x.md")
    assert (page.title, page.date, page.text) == (title, "2024-05-17", "Of Trees\nA text.")


def test_markdown_without_front_matter_is_called_by_its_first_heading() -> None:
    assert read("Some badges\n\n## Of Trees\n\ntext", "x.md").title == "Of Trees"


def test_a_program_reads_a_document_without_a_crawl() -> None:
    page = gossamer.read_page(MAIL.encode(), "http://garden.example/17.eml", content_type="message/rfc822")
    assert page.title == "Pears in Jänner" and "[p](http://garden.example/p)" in page.markdown
    file = FILES / "pandoc-ru.epub"
    book = gossamer.read_page(file.read_bytes(), f"http://garden.example/{file.name}", content_type="application/zip")
    assert book.title == "Год в яблоневом саду" and "- Яблони прощают немногое\n  - Айва прощает всё" in book.markdown
