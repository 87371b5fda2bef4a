"""Write a site as JSON lines of Markdown, cut into pieces for a language model.

    python markdown_for_a_model.py https://www.example.org/ pieces.jsonl --contact you@example.org

Each piece begins at a heading and names its page, so that an answer can cite it.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

import gossamer

MOST = 2000
"""Characters of a piece, unless a paragraph is longer."""


def pieces(markdown: str) -> Iterator[str]:
    """The text in pieces: a new one at each heading, and where one gets too long."""
    piece = ""
    for paragraph in re.split(r"\n{2,}", markdown):
        if piece and (paragraph.startswith("#") or len(piece) + len(paragraph) > MOST):
            yield piece
            piece = ""
        piece += ("\n\n" if piece else "") + paragraph
    if piece:
        yield piece


parser = argparse.ArgumentParser(description="Write a site as JSON lines of Markdown.")
parser.add_argument("url")
parser.add_argument("output", type=Path)
parser.add_argument("--contact", help="your mail address: every request carries it")
parser.add_argument("--folder", default="model-data", help="where the crawl is kept")
arguments = parser.parse_args()

folder = gossamer.crawl(arguments.url, contact=arguments.contact, folder=arguments.folder).run()
with arguments.output.open("w", encoding="utf-8") as output:
    for page in folder.pages():
        for number, piece in enumerate(pieces(page.markdown)):
            row = {"url": page.url, "title": page.title, "date": page.date, "piece": number, "text": piece}
            output.write(json.dumps(row, ensure_ascii=False) + "\n")
