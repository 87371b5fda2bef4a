"""The verbs that crawl, and what they print."""
