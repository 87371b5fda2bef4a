"""The types of document that Gossamer reads, one row each: `TYPES` at the end of this file.

Whatever depends on a type asks this table: which responses are fetched, how a body is recognised, what reads it, what
`filetype:` and the results call it, which extra it needs, which endings of names mean it. A new type is a new row.

The table holds names only; readers are loaded when the first document of their type comes.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec


class DocumentType(msgspec.Struct, frozen=True, kw_only=True):
    """One type of document."""

    name: str
    """What `filetype:` and the results call it."""
    noun: str
    """What people call its files."""
    media: tuple[str, ...]
    """Its media types; where servers call one thing several names, the first is the right one."""
    endings: tuple[str, ...]
    """Endings of file names, without the dot."""
    starts: tuple[bytes, ...] = ()
    """How a file of this type begins, and no text does."""
    reader: str = ""
    """Module and function that read it (`ParseJob` → `Parsed`)."""
    converter: str = ""
    """Module and function that take it down for `parse.documents`. Without both, `parse.document` reads it."""
    holds: tuple[bytes, ...] = ()
    """Parts of the archive that it is, where such an archive may be anything."""
    needs: str = ""
    """A library that its reader needs and that may be missing."""
    extra: str = ""
    """The extra of this package that brings it."""

    @property
    def is_own(self) -> bool:
        """Whether it is read by a parser of its own, and not with web pages and plain text."""
        return bool(self.reader or self.converter)

    @property
    def way_out(self) -> str:
        """What to do if that is not installed."""
        return f"install gossamer[{self.extra}]"


HTML = DocumentType(
    name="html", noun="web pages", media=("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"),
    endings=("html", "htm", "xhtml"),
)  # fmt: skip
PLAIN = DocumentType(name="txt", noun="text files", media=("text/plain",), endings=("txt", "text"))
MARKDOWN = DocumentType(
    name="md", noun="Markdown files", media=("text/markdown", "text/x-markdown"), endings=("md", "markdown"),
    converter="gossamer.parse.documents.markdown_file:convert",
)  # fmt: skip
RST = DocumentType(name="rst", noun="reStructuredText files", media=("text/x-rst",), endings=("rst",))
PDF = DocumentType(
    name="pdf", noun="PDF files", media=("application/pdf",), endings=("pdf",), starts=(b"%PDF-",),
    reader="gossamer.parse.pdf:read_pdf", needs="pypdfium2", extra="pdf",
)  # fmt: skip

_OFFICE = "application/vnd.openxmlformats-officedocument."
_MACROS = ".macroenabled.12"
DOCX = DocumentType(
    name="docx", noun="Word documents",
    media=(f"{_OFFICE}wordprocessingml.document", f"{_OFFICE}wordprocessingml.template",
           f"application/vnd.ms-word.document{_MACROS}", f"application/vnd.ms-word.template{_MACROS}"),
    endings=("docx", "docm", "dotx", "dotm"), holds=(b"word/document",),
    converter="gossamer.parse.documents.docx:convert",
)  # fmt: skip
PPTX = DocumentType(
    name="pptx", noun="PowerPoint presentations",
    media=(f"{_OFFICE}presentationml.presentation", f"{_OFFICE}presentationml.slideshow",
           f"{_OFFICE}presentationml.template", f"application/vnd.ms-powerpoint.presentation{_MACROS}",
           f"application/vnd.ms-powerpoint.slideshow{_MACROS}"),
    endings=("pptx", "pptm", "ppsx", "ppsm", "potx"), holds=(b"ppt/presentation",),
    converter="gossamer.parse.documents.pptx:convert",
)  # fmt: skip
XLSX = DocumentType(
    name="xlsx", noun="Excel workbooks",
    media=(f"{_OFFICE}spreadsheetml.sheet", f"{_OFFICE}spreadsheetml.template",
           f"application/vnd.ms-excel.sheet{_MACROS}"),
    endings=("xlsx", "xlsm", "xltx"), holds=(b"xl/workbook",),
    converter="gossamer.parse.documents.xlsx:convert",
)  # fmt: skip
_OPEN = "application/vnd.oasis.opendocument."
_OPENDOCUMENT = "gossamer.parse.documents.opendocument:convert"
ODT = DocumentType(
    name="odt", noun="OpenDocument texts", media=(f"{_OPEN}text", f"{_OPEN}text-template"), endings=("odt", "ott"),
    converter=_OPENDOCUMENT,
)  # fmt: skip
ODP = DocumentType(
    name="odp", noun="OpenDocument presentations", media=(f"{_OPEN}presentation", f"{_OPEN}presentation-template"),
    endings=("odp", "otp"), converter=_OPENDOCUMENT,
)  # fmt: skip
ODS = DocumentType(
    name="ods", noun="OpenDocument spreadsheets", media=(f"{_OPEN}spreadsheet", f"{_OPEN}spreadsheet-template"),
    endings=("ods", "ots"), converter=_OPENDOCUMENT,
)  # fmt: skip
EPUB = DocumentType(
    name="epub", noun="EPUB books", media=("application/epub+zip",), endings=("epub",),
    holds=(b"META-INF/container.xml",), converter="gossamer.parse.documents.epub:convert",
)  # fmt: skip
RTF = DocumentType(
    name="rtf", noun="RTF documents", media=("application/rtf", "text/rtf", "application/x-rtf", "text/richtext"),
    endings=("rtf",), starts=(b"{\\rtf",), converter="gossamer.parse.documents.rtf:convert",
)  # fmt: skip
MAIL = DocumentType(
    name="eml", noun="mails", media=("message/rfc822",), endings=("eml",),
    converter="gossamer.parse.documents.mail:convert",
)  # fmt: skip

TYPES = (HTML, PLAIN, MARKDOWN, RST, PDF, DOCX, PPTX, XLSX, ODT, ODP, ODS, EPUB, RTF, MAIL)

VAGUE = frozenset(
    ("application/octet-stream", "binary/octet-stream", "application/unknown", "application/download",
     "application/x-download", "application/force-download", "application/zip", "application/x-zip-compressed",
     "application/x-zip")
)  # fmt: skip
"""Media types under which servers send files whose type they do not know."""

_BY_MEDIA = {media: one for one in TYPES for media in one.media}
_BY_ENDING = {ending: one for one in TYPES for ending in one.endings}


def of_media(media: str) -> DocumentType | None:
    """The type with this media type, in lower case and without parameters."""
    return _BY_MEDIA.get(media)


def of_ending(ending: str) -> DocumentType | None:
    """The type whose files end so; in lower case, without the dot."""
    return _BY_ENDING.get(ending)


def of_url(url: str) -> DocumentType | None:
    """The type that the name in a URL's path ends like."""
    name, dot, ending = urlsplit(url).path.rpartition(".")
    return of_ending(ending.lower()) if dot and name else None


def endings() -> tuple[str, ...]:
    """All endings of all types."""
    return tuple(_BY_ENDING)
