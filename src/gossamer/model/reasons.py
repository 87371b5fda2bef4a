"""Reasons that a worker writes into the table, and that others recognise there."""

NEEDS_SCRIPTS = "empty without JavaScript"
"""What the reason of a start page begins with that shows nothing because its scripts were not run."""
NO_TEXT = "the page has no text"
SHORT_TEXT = "the page has almost no text"
"""The reason of a start page that shows nothing, and has no scripts that would."""
PARTLY = "only partly read"
"""What the reason of a feed or sitemap begins with that could not be read to its end."""
