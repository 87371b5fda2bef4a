"""From a file to a `Parsed`, and to HTML for its Markdown."""

from __future__ import annotations

from importlib import import_module

from gossamer.model.records import Parsed, ParseJob
from gossamer.parse.clean import clean_line, clean_text
from gossamer.parse.document_types import DocumentType, of_media
from gossamer.parse.documents.limits import Bomb, Budget, Full, Unreadable
from gossamer.parse.documents.writer import Writer
from gossamer.parse.limits import ParseLimits
from gossamer.parse.naming import TITLE_CHARS, file_name, is_made_up, title_of
from gossamer.parse.sniff import media_type, true_type

_DATED = 0.9
"""Confidence in a date that says when a mail was sent or a book was published."""
_MADE = 0.6
"""In the day on which a file was made, as for PDF."""
_AUTHOR_CHARS = 200
_DESCRIPTION_CHARS = 1_000


def read_document(job: ParseJob, limits: ParseLimits | None, kind: DocumentType) -> Parsed:
    """Understand a document; never raises for what strangers wrote. Links are as they are written, for
    `parse.document.complete` to resolve."""
    media = kind.media[0]
    try:
        writer = _converted(job, limits or ParseLimits(), kind)
    except Bomb as bomb:
        return Parsed(job.url, ok=False, bomb=True, problem=_sentence(f"refused as a bomb: {bomb}"), media_type=media)
    except Unreadable as error:
        problem = _sentence(f"{media} by name, but {error}")
        return Parsed(job.url, ok=False, unsupported=True, problem=problem, media_type=media)
    except MemoryError:
        raise
    except Exception as error:
        problem = _sentence(f"the {kind.name} parser failed: {type(error).__name__}: {error}")
        return Parsed(job.url, ok=False, problem=problem, media_type=media)
    return _parsed(job, writer, kind)


def document_html(job: ParseJob, limits: ParseLimits) -> str:
    """What a document says as simple HTML; empty if the body is none, or cannot be read."""
    kind = of_media(true_type(media_type(job.content_type), job.body, job.url))
    if kind is None or not kind.converter or kind.name in limits.skip_types:
        return ""
    try:
        return _converted(job, limits, kind).html
    except MemoryError:
        raise
    except Exception:
        return ""


def _converted(job: ParseJob, limits: ParseLimits, kind: DocumentType) -> Writer:
    module, _, name = kind.converter.partition(":")
    writer = Writer(limits)
    try:
        getattr(import_module(module), name)(job, writer, Budget(limits))
    except Full:
        pass
    except RecursionError as error:
        raise Bomb("its parts nest too deep") from error
    writer.finish()
    return writer


def _parsed(job: ParseJob, writer: Writer, kind: DocumentType) -> Parsed:
    said, text = writer.properties, clean_text(writer.text)[: writer.limits.max_text_chars]
    if not any(map(str.isalnum, text)):
        return Parsed(job.url, ok=False, unsupported=True, problem="a document without text", media_type=kind.media[0])
    parsed = Parsed(job.url, media_type=kind.media[0], method=kind.name, charset=writer.charset, text=text)
    parsed.title = _title(job, writer, text)
    parsed.author = clean_line(said.author, _AUTHOR_CHARS)
    parsed.description = clean_line(said.description, _DESCRIPTION_CHARS)
    parsed.claimed_language = clean_line(said.language, 40)
    parsed.headings, parsed.links = writer.headings, writer.links
    confidence = _DATED if said.is_dated else _MADE
    if said.published:
        parsed.date, parsed.date_source, parsed.date_confidence = said.published, kind.name, confidence
    if said.updated > said.published:
        parsed.updated, parsed.updated_source, parsed.updated_confidence = said.updated, kind.name, confidence
    return parsed


def _title(job: ParseJob, writer: Writer, text: str) -> str:
    own = clean_line(writer.properties.title, TITLE_CHARS)
    if own and not is_made_up(own):
        return own
    shown = clean_line(writer.title, TITLE_CHARS)
    return shown or (file_name(job.url) if writer.is_table else title_of(text, job.url))


def _sentence(text: str) -> str:
    return clean_line(text, 300)
