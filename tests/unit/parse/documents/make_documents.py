"""Writes `tests/data/documents`: office and book files made by other programs, of texts that are known.

    python tests/unit/parse/documents/make_documents.py

needs LibreOffice (soffice) and pandoc, which the tests do not. On Debian:

    apt-get install --no-install-recommends pandoc libreoffice-writer-nogui libreoffice-calc-nogui \
        libreoffice-impress-nogui

Each source below is one document in one language. Pandoc makes texts, books and presentations of Markdown; LibreOffice
makes texts of HTML, sheets of flat XML, and presentations of pandoc's. What the files must say is in `TEXTS`, which the
tests read, too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from datetime import datetime
from html import escape
from pathlib import Path
from typing import NamedTuple

TO = Path(__file__).parents[3] / "data" / "documents"
MOST_BYTES = 15_000


class Text(NamedTuple):
    """What a document says."""

    title: str
    author: str
    heading: str
    paragraph: str
    link: str
    """The words of a link to `https://garden.example/NAME`."""
    items: tuple[str, str, str]
    """The third is inside of the second."""
    steps: tuple[str, str]
    rows: tuple[tuple[str, str, str], ...]
    note: str


TEXTS = {
    "en": Text(
        "A Year in the Orchard", "Edith Marlow", "What the frost left",
        "In the last week of April the pears stood in blossom, and nobody had lit the fires.",
        "the list of old varieties",
        ("Pears need a wall that faces south", "Apples forgive a little", "Quinces forgive everything"),
        ("Cut in February", "Bind in May"),
        (("Tree", "Planted", "Kilograms"), ("Pear", "1987", "42.5"), ("Apple", "2003", "118")),
        "Weighed in the shed, with leaves.",
    ),
    "ru": Text(
        "Год в яблоневом саду", "Анна Верескова", "Что оставил мороз",
        "В последнюю неделю апреля груши стояли в цвету, и никто не разжёг костров.",
        "список старых сортов",
        ("Грушам нужна южная стена", "Яблони прощают немногое", "Айва прощает всё"),
        ("Обрезать в феврале", "Подвязать в мае"),
        (("Дерево", "Посажено", "Килограммы"), ("Груша", "1987", "42,5"), ("Яблоня", "2003", "118")),
        "Взвешено в сарае, вместе с листьями.",
    ),
    "zh": Text(
        "果园的一年", "林晓梅", "霜冻留下了什么",
        "四月的最后一周，梨树正在开花，却没有人点燃火堆。",
        "老品种名录",
        ("梨树需要朝南的墙", "苹果树比较宽容", "榅桲什么都能原谅"),
        ("二月修剪", "五月绑扎"),
        (("树种", "种植年份", "公斤"), ("梨", "1987", "42.5"), ("苹果", "2003", "118")),
        "在棚里连叶子一起称的。",
    ),
    "ar": Text(
        "عام في البستان", "ليلى منصور", "ما تركه الصقيع",
        "في الأسبوع الأخير من نيسان كانت أشجار الكمثرى مزهرة ولم يوقد أحد النيران.",
        "قائمة الأصناف القديمة",
        ("تحتاج الكمثرى إلى جدار جنوبي", "يسامح التفاح قليلا", "يسامح السفرجل كل شيء"),
        ("التقليم في شباط", "الربط في أيار"),
        (("الشجرة", "سنة الغرس", "كيلوغرام"), ("كمثرى", "1987", "42.5"), ("تفاح", "2003", "118")),
        "وزنت في السقيفة مع الأوراق.",
    ),
}  # fmt: skip
CREATED = "2024-05-17"


def markdown(language: str, text: Text) -> str:
    """The source of what pandoc makes; the note of the speaker is for presentations only."""
    head, *rows = text.rows
    table = [f"| {' | '.join(head)} |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    lines = [
        "---", f'title: "{text.title}"', f'author: "{text.author}"', f"date: {CREATED}", f"lang: {language}", "---", "",
        f"# {text.heading}", "", f"{text.paragraph}[^1]", "",
        f"→ [{text.link}](https://garden.example/{language})", "",
        f"- {text.items[0]}", f"- {text.items[1]}", f"    - {text.items[2]}", "",
        f"1. {text.steps[0]}", f"2. {text.steps[1]}", "", *table, "", f"[^1]: {text.note}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def html(language: str, text: Text) -> str:
    """The source of what LibreOffice Writer makes."""
    head, *rows = text.rows
    cells = [
        "".join(f"<{tag}>{cell}</{tag}>" for cell in row) for tag, row in (("th", head), *(("td", r) for r in rows))
    ]
    return (
        f'<html lang="{language}"><head><meta charset="utf-8"><title>{escape(text.title)}</title>'
        f'<meta name="author" content="{escape(text.author)}"><meta name="created" content="{CREATED}T09:00:00"></head>'
        f'<body lang="{language}"><h1>{text.heading}</h1><p>{text.paragraph}<a class="sdfootnoteanc" '
        'name="sdfootnote1anc" href="#sdfootnote1sym"><sup>1</sup></a></p>'
        f'<p><a href="https://garden.example/{language}">{text.link}</a></p>'
        f"<ul><li>{text.items[0]}</li><li>{text.items[1]}<ul><li>{text.items[2]}</li></ul></li></ul>"
        f"<ol><li>{text.steps[0]}</li><li>{text.steps[1]}</li></ol>"
        f"<table border=1><thead><tr>{cells[0]}</tr></thead>{''.join(f'<tr>{row}</tr>' for row in cells[1:])}</table>"
        f'<div id="sdfootnote1"><p><a class="sdfootnotesym" name="sdfootnote1sym" href="#sdfootnote1anc">1</a>'
        f"{text.note}</p></div></body></html>"
    )


_FLAT = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document office:version="1.3" office:mimetype="{mime}" '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" '
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
    'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" '
    'xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" '
    'xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink">'
    "<office:meta><dc:title>{title}</dc:title><meta:initial-creator>{author}</meta:initial-creator>"
    "<meta:creation-date>" + CREATED + "T09:00:00</meta:creation-date></office:meta>{rest}</office:document>"
)


def flat_sheet(language: str, text: Text) -> str:
    """The source of what LibreOffice Calc makes: a table with numbers, a day, a share, a sum and a link; two sheets."""
    head, *rows = text.rows
    lines = [_row([_words(cell) for cell in head])]
    for tree, year, weight in rows:
        lines.append(_row([_words(tree), _number(year), _number(weight.replace(",", "."))]))
    lines.append('<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>')
    day = f'<table:table-cell office:value-type="date" office:date-value="{CREATED}" table:style-name="day"/>'
    share = '<table:table-cell office:value-type="percentage" office:value="0.25" table:style-name="share"/>'
    total = '<table:table-cell table:formula="of:=SUM([.C2:.C3])" office:value-type="float" office:value="160.5"/>'
    lines.append(_row([day, share, total]))
    link = (
        '<table:table-cell office:value-type="string"><text:p>'
        f'<text:a xlink:href="https://garden.example/{language}">{text.link}</text:a></text:p></table:table-cell>'
    )
    second = _row([_words(text.paragraph), '<table:table-cell table:number-columns-repeated="2"/>', link])
    styles = (
        "<office:automatic-styles>"
        '<number:date-style style:name="D"><number:year number:style="long"/><number:text>-</number:text>'
        '<number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/>'
        '</number:date-style><number:percentage-style style:name="P"><number:number number:min-integer-digits="1"/>'
        "<number:text>%</number:text></number:percentage-style>"
        '<style:style style:name="day" style:family="table-cell" style:data-style-name="D"/>'
        '<style:style style:name="share" style:family="table-cell" style:data-style-name="P"/>'
        "</office:automatic-styles>"
    )
    sheets = "".join(
        f'<table:table table:name="{name}">{rows}</table:table>'
        for name, rows in ((text.heading, "".join(lines)), (text.steps[0], second))
    )
    body = f"{styles}<office:body><office:spreadsheet>{sheets}</office:spreadsheet></office:body>"
    return _FLAT.format(
        mime="application/vnd.oasis.opendocument.spreadsheet", title=text.title, author=text.author, rest=body
    )


def _row(cells: list[str]) -> str:
    return f"<table:table-row>{''.join(cells)}</table:table-row>"


def _words(words: str) -> str:
    return f'<table:table-cell office:value-type="string"><text:p>{words}</text:p></table:table-cell>'


def _number(number: str) -> str:
    return f'<table:table-cell office:value-type="float" office:value="{number}"/>'


SOURCES = {"html": (html, "html"), "sheet": (flat_sheet, "fods")}
LIBREOFFICE = {
    "html": {"odt": "odt:writer8", "docx": "docx:MS Word 2007 XML", "rtf": "rtf:Rich Text Format"},
    "sheet": {"ods": "ods:calc8", "xlsx": "xlsx:Calc MS Excel 2007 XML"},
    "slides": {"odp": "odp:impress8", "pptx": "pptx:Impress MS PowerPoint 2007 XML"},
}
LEFT_OUT = (
    "thumbnails/", "pictures/", "docprops/thumbnail", "ppt/slidelayouts/", "ppt/slidemasters/", "ppt/notesmasters/",
    "ppt/theme/",
)  # fmt: skip
PANDOC = ("docx", "odt", "epub", "rtf", "pptx", "md")


def main() -> None:
    """Write all files anew."""
    TO.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for language, text in TEXTS.items():
            source = work / f"{language}.md"
            source.write_text(markdown(language, text), encoding="utf-8")
            for ending in PANDOC:
                _pandoc(source, ending, work / f"pandoc-{language}.{ending}")
            for kind, (write, suffix) in SOURCES.items():
                page = work / f"{language}-{kind}.{suffix}"
                page.write_text(write(language, text), encoding="utf-8")
                for ending, form in LIBREOFFICE[kind].items():
                    _libreoffice(page, form, work / "out", work / f"libreoffice-{language}.{ending}")
            for ending, form in LIBREOFFICE["slides"].items():
                slides = work / f"pandoc-{language}.pptx"
                _libreoffice(slides, form, work / "out", work / f"libreoffice-{language}.{ending}")
        for path in sorted(work.glob("*-*.*")):
            if path.suffix not in (".html", ".fods", ".fodp"):
                _copy(path, TO / path.name)


def _copy(made: Path, to: Path) -> None:
    """Copy a file, without pictures of its pages and layouts of slides, which are most of it."""
    if not zipfile.is_zipfile(made):
        shutil.copy(made, to)
    else:
        with zipfile.ZipFile(made) as source, zipfile.ZipFile(to, "w") as copy:
            for info in source.infolist():
                if not info.filename.lower().startswith(LEFT_OUT):
                    copy.writestr(info, source.read(info), compress_type=info.compress_type, compresslevel=9)
    print(f"{to.stat().st_size:6} {to.name}")
    if to.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{to.name} is larger than {MOST_BYTES} bytes")


def _pandoc(source: Path, ending: str, to: Path) -> None:
    form = "gfm" if ending == "md" else ending
    made = datetime.fromisoformat(f"{CREATED}T09:00:00+00:00").timestamp()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": f"{made:.0f}"}
    subprocess.run(["pandoc", "-f", "markdown", "-t", form, "-s", "-o", to, source], check=True, env=environment)


def _libreoffice(source: Path, form: str, folder: Path, to: Path) -> None:
    reader = ["--infilter=HTML (StarWriter)"] if source.suffix == ".html" else []
    command = ["soffice", "--headless", *reader, "--convert-to", form, "--outdir", folder, source]
    subprocess.run(command, check=True, capture_output=True)
    made = folder / f"{source.stem}.{form.partition(':')[0]}"
    shutil.move(made, to)


if __name__ == "__main__":
    main()
