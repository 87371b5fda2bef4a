"""Reads documents as the crawl does, and writes the archives that they are."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.url import Canonicalizer, CanonicalRules
from gossamer.parse.document_types import of_url
from gossamer.parse.documents.reading import document_html
from gossamer.parse.limits import ParseLimits
from gossamer.parse.markdown import whole_markdown
from gossamer.scope.chain import ScopeConfig

FILES = Path(__file__).parents[3] / "data" / "documents"
FOLDER = "http://garden.example/files/"


def job(body: bytes, name: str, content_type: str = "") -> ParseJob:
    return ParseJob(FOLDER + name, Kind.PAGE, content_type or type_named(name), body)


def type_named(name: str) -> str:
    kind = of_url(FOLDER + name)
    return kind.media[0] if kind is not None else "application/octet-stream"


def read(body: bytes | str, name: str, content_type: str = "", limits: ParseLimits | None = None) -> Parsed:
    """What a parser says of a file."""
    config = ParserConfig(CanonicalRules(), ScopeConfig(hosts=("garden.example",)), (), limits or ParseLimits())
    data = body.encode() if isinstance(body, str) else body
    return PageParser(config).read(job(data, name, content_type))


def markdown(body: bytes | str, name: str) -> str:
    """What a reader gets who asks for Markdown."""
    one = job(body.encode() if isinstance(body, str) else body, name)
    html = document_html(one, ParseLimits())
    return whole_markdown(html, one.url, Canonicalizer(CanonicalRules()), ParseLimits())


def archive(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file of parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method, compresslevel=9) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return made.getvalue()


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:"


def docx(body: str, parts: Mapping[str, str] | None = None, start: str = "") -> bytes:
    """A Word document of a body; `start`: what stands before its root."""
    main = f'{start}<w:document xmlns:w="{W}" xmlns:r="{R}"><w:body>{body}</w:body></w:document>'
    return archive({"word/document.xml": main, **(parts or {})})


def xlsx(rows: str, parts: Mapping[str, str] | None = None) -> bytes:
    """A workbook of one sheet."""
    book = f'<workbook xmlns="{S}" xmlns:r="{R}"><sheets><sheet name="Trees" r:id="r1"/></sheets></workbook>'
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    )
    sheet = f'<worksheet xmlns="{S}"><sheetData>{rows}</sheetData></worksheet>'
    usual = {"xl/workbook.xml": book, "xl/_rels/workbook.xml.rels": links, "xl/worksheets/sheet1.xml": sheet}
    return archive({**usual, **(parts or {})})


def opendocument(kind: str, body: str, start: str = "") -> bytes:
    """An OpenDocument file: `text`, `spreadsheet` or `presentation`."""
    names = " ".join(f'xmlns:{name}="{OFFICE}{name}:1.0"' for name in ("office", "text", "table"))
    content = (
        f'{start}<office:document-content {names} xmlns:xlink="http://www.w3.org/1999/xlink"><office:body>'
        f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return archive({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content})


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
