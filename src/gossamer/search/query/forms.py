"""Other forms of what was typed, for a query that finds little as it stands: `Request.wider`.

The index keeps no positions of stems, so a phrase in any form is asked for as a phrase of alternatives: for each word
those words of the index that have its stem.
"""

from __future__ import annotations

from collections.abc import Sequence

import tantivy

from gossamer.index import analysis, schema
from gossamer.search.query.words import needle_of
from gossamer.search.view import View

Q = tantivy.Query
_LONGEST_PHRASE = 8
"""Words of a phrase whose other forms are looked for."""
_MOST_FORMS = 12
"""Forms of a word, those on most pages."""
_LOOKED_AT = 300
"""Words with the same beginning that are looked at."""
_SHORTEST = 3
"""Letters that a word and its forms must share: fewer begin too many words."""


def forms_of(word: str, view: View, languages: analysis.Languages) -> list[str]:
    """A word of the index and its other forms, as texts write them; the word first."""
    needle = needle_of(word, analysis.query_stems(word, languages), languages)
    if len(needle.prefix) < _SHORTEST or analysis.is_spaceless(word):
        return [word]
    terms = (term for term, _ in view.searcher.terms_with_prefix(schema.BODY, needle.prefix, None, _LOOKED_AT))
    others = [term for term in terms if term != word and needle.forms(term)]
    return [word, *others[: _MOST_FORMS - 1]]


def any_form(words: Sequence[str], field: str, view: View, languages: analysis.Languages) -> tantivy.Query | None:
    """Pages that have a phrase in any form; None where its words are too many.

    Also where this index knows no other form: of a divided index, another shard may, and the same query must score
    pages alike in all of them."""
    if not len(set(words)) == len(words) <= _LONGEST_PHRASE:  # a word that is repeated is read again each time
        return None
    forms = [forms_of(word, view, languages) for word in words]
    if len(words) == 1:
        return Q.term_set_query(view.schema, field, forms[0])
    if all(len(some) == 1 for some in forms):
        return Q.phrase_query(view.schema, field, list(words))
    # Terms are letters and digits only: none means anything in a regular expression.
    return Q.regex_phrase_query(view.schema, field, ["|".join(some) for some in forms])
