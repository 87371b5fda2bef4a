"""A setting in seconds is shown as people say it, too."""

from __future__ import annotations

import re

from gossamer.console.settings_form import fields
from gossamer.settings import Settings


def test_times_are_shown_in_words_whatever_their_sentence_begins_with() -> None:
    shown = {field.name: field for group in fields(Settings(), {}) for field in group.fields}
    assert shown["revisit.floor"].hint == "now 60 min"
    assert shown["feeds.floor"].hint == "now 4 min"
    assert not any(field.hint for field in shown.values() if not re.search("seconds", field.sentence, re.I))
