"""A hostile page costs bounded time and memory, and its neighbours nothing.

Each page is parsed in a process of its own, with 2 GB of address space and a
watchdog: a hang or a memory bomb is a failure, not a slow test.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WATCHDOG = 240.0
ALONE = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
"""The address space is for the page, and not for the threads that a machine with many cores would have."""

PAGES = {
    "nested div": "'<div>' * 100_000 + 'x'",
    "nested div, megabytes": "'<div>' * 2_000_000 + 'x'",
    "nested furniture": "'<div class=menu>x ' * 100_000",
    "nested links": "'<a href=/a><object>words ' * 50_000",
    "nested links around a long text": "'<a href=/a><object>' * 250 + 'x' * 10_000_000",
    "nested furniture around a long text": "'<div class=menu>' * 500 + 'x' * 10_000_000",
    "nested headings": "'<h1><object>words ' * 50_000",
    "nested tables": "'<table><tr><td>x' * 50_000",
    "nested formatting": "'<b><i><u><p>' * 25_000 + 'x'",
    "nested svg": "'<svg><g><foreignObject>' * 50_000 + 'x'",
    "nested mathml": "'<math><mrow>' * 50_000 + 'x'",
    "nested templates": "'<template>' * 50_000 + 'x'",
    "nested lists": "'<ul><li>x' * 100_000",
    "attributes": "'<p ' + ' '.join(f'a{n}=1' for n in range(100_000)) + '>x'",
    "equal attributes": "'<p ' + 'a=1 ' * 200_000 + '>x'",
    "long attribute": "'<p class=\"' + 'nav ' * 2_000_000 + '\">x'",
    "many classes": "''.join(f'<div class=c{n}>x</div>' for n in range(100_000))",
    "one text": "'x' * 10_000_000",
    "one text of spaces": "' ' * 10_000_000",
    "one text of lines": "'x\\n' * 4_000_000",
    "pre": "'<pre>' + ' x \\n\\t' * 1_000_000",
    "a million links": "''.join(f'<a href=/{n}>{n}</a>' for n in range(1_000_000))",
    "a million equal links": "'<a href=x>y</a>' * 1_000_000",
    "metas": "'<meta name=robots content=noai><link rel=canonical href=x>' * 100_000",
    "wide table": "'<table><tr><td>' + 'x' * 1_000_000 + '<td>b' + '<tr><td>c<td>d' * 50_000",
    "spans of a table": "'<table>' + '<tr><td colspan=1000 rowspan=65534>c<td>d' * 5_000",
    "NULs": "'<p>\\0\\0' * 500_000",
    "unclosed comment": "'<!--' + '<a href=x>' * 500_000",
    "many unclosed comments": "'<!--' * 1_000_000",
    "unclosed script": "'<script>' + '</scrip' * 500_000",
    "unclosed tag": "'<a href=\"' + 'x' * 5_000_000",
    "entities": "'&amp;&#x41;&notanentity;&#99999999;' * 200_000",
    "ampersands": "'&' * 5_000_000",
    "plaintext": "'<plaintext>' + '<a href=x>' * 200_000",
    "angle brackets": "'<' * 5_000_000",
    "end tags": "'</p>' * 1_000_000",
    "misnested": "'<a><b></a></b><table><a>' * 50_000",
    "dates": "'<script>' + '\"datePublished\":' * 300_000 + '</script>'",
    "long title": "'<title>' + 'x ' * 4_000_000",
    "long base": "'<base href=\"/' + 'x' * 3_000_000 + '\"><a href=y>z'",
    "refresh": "'<meta http-equiv=refresh content=\"' + '0' * 1_000_000 + ';url=/x\">'",
    "zero width": "'\\u200b\\u200d' * 2_000_000",
    "doctypes": "'<!doctype html ' * 200_000",
    "emphasis": "'<p>' + '<b>x</b><i>y</i>' * 70_000",
    "line breaks": "'<p>x<br><br>' * 60_000 + '<br>' * 100_000",
    "rows of lines of code": "'<table>' + '<tr><td class=blob-num>1<td class=blob-code>x' * 60_000",
    "equal lines": "'<p>same</p>' * 90_000",
    "quotations around paragraphs": "'<blockquote>' * 250 + '<p>x</p>' * 140_000",
}

SCRIPT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
sys.path.insert(0, sys.argv[1])
from parse_kit import parse
from gossamer.dedup.exact import content_hash
from gossamer.dedup.simhash import simhash
from gossamer.model.url import Canonicalizer
from gossamer.parse.limits import ParseLimits
from gossamer.parse.markdown import page_markdown
html = eval(sys.stdin.read())
page = parse(html, content_hash=content_hash, simhash=simhash)
assert page.ok or page.problem
assert len(page.links) <= 5000 and len(page.headings) <= 50 and len(page.title) <= 300
assert len(page.text) <= 2_000_000 and all(len(x.anchor) <= 200 for x in page.links)
page.text.encode()
limits = ParseLimits()
markdown = page_markdown(html[: limits.max_bytes], page.text, page.url, Canonicalizer(), limits)
assert len(markdown.text.encode()) <= 4 * limits.max_text_chars
print("fine", page.ok, page.problem)
"""


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_ends_in_bounded_time_and_memory(name):
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)]
    done = subprocess.run(
        command, input=PAGES[name], capture_output=True, text=True, timeout=WATCHDOG, env=ALONE, check=False
    )
    assert done.stdout.startswith("fine True"), (done.returncode, done.stdout, done.stderr[-2000:])
