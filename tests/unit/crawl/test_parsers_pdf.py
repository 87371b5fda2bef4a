"""A PDF that is made to exhaust its reader takes a parser with it, and nothing else."""

from __future__ import annotations

import asyncio

import pytest

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.parsers import ParserPool
from gossamer.model.records import Kind, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig

PATIENCE = 200.0
MEMORY = 700
"""Mebibytes: enough for a parser, and soon used up."""

FORM_IN_ITSELF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>endobj "
    b"4 0 obj<</Length 6>>stream\n/X Do \nendstream endobj "
    b"5 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>/Length 12>>stream\n"
    b"/X Do /X Do \nendstream endobj trailer<</Root 1 0 R>>"
)


def page(number: int) -> ParseJob:
    return ParseJob(f"http://a.test/{number}", Kind.PAGE, "text/html", f"<title>{number}</title><p>x".encode())


async def test_a_pdf_that_kills_its_parser_fails_alone() -> None:
    pytest.importorskip("pypdfium2", reason="needs gossamer[pdf]")
    config = ParserConfig(CanonicalRules(), ScopeConfig(hosts=("a.test",)), (), ParseLimits(), MEMORY)
    bad = ParseJob("http://a.test/bad.pdf", Kind.PAGE, "application/pdf", FORM_IN_ITSELF)
    async with ParserPool(config, 1, PATIENCE) as pool:
        answers = await asyncio.gather(*(pool.parse(job) for job in (page(0), bad, page(1), page(2))))
    assert [answer.ok for answer in answers] == [True, False, True, True]
    assert answers[1].problem
    assert [answers[at].title for at in (0, 2, 3)] == ["0", "1", "2"]
