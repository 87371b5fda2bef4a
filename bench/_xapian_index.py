"""Xapian's part of `index.py`, run by the system's Python, which has the binding (Debian package python3-xapian).

    /usr/bin/python3 bench/_xapian_index.py TEXTS FOLDER

TEXTS has one JSON object a line: url, title, text, lang. Set up as its manual tells: a term
generator with the stemmer of the page's language, positions, pairs of characters for writing
without spaces, and the text kept as the document's data.
"""

import json
import sys
from pathlib import Path
from typing import Any

import xapian

_COMMIT = 10_000


def main() -> None:
    """Index the file."""
    texts, folder = sys.argv[1:3]
    database = xapian.WritableDatabase(folder, xapian.DB_CREATE_OR_OVERWRITE)
    generators: dict[str, Any] = {}
    with Path(texts).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            page = json.loads(line)
            database.add_document(_document(page, _generator(page["lang"], generators)))
            if number % _COMMIT == 0:
                database.commit()
    database.commit()
    database.close()


def _generator(lang: str, known: dict[str, Any]) -> Any:
    if lang not in known:
        generator = xapian.TermGenerator()
        try:
            generator.set_stemmer(xapian.Stem(lang or "none"))
        except xapian.InvalidArgumentError:
            generator.set_stemmer(xapian.Stem("none"))
        generator.set_flags(generator.FLAG_CJK_NGRAM)
        known[lang] = generator
    return known[lang]


def _document(page: dict[str, str], generator: Any) -> Any:
    document = xapian.Document()
    generator.set_document(document)
    generator.set_termpos(0)
    generator.index_text(page["title"], 1, "S")
    generator.index_text(page["title"])
    generator.increase_termpos()
    generator.index_text(page["text"])
    document.set_data(json.dumps({"url": page["url"], "title": page["title"], "text": page["text"]}))
    # Unique ids are how a page is found again; long URLs would not fit into a term.
    document.add_boolean_term("Q" + page["url"][:200])
    return document


if __name__ == "__main__":
    main()
