"""From bytes to a document: text, links, metadata, language, date. Pure, and never raises."""
